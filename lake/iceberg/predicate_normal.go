package iceberg

import (
	"slices"
	"strings"
)

// A node is a part of a condition in normal form. It does not change. Nodes are
// equal if their keys are, unless a literal in them is not known.
type node struct {
	op       op
	kids     []*node // of and and or: two or more, none of the same operation
	term     term
	literals []literal
	unknown  bool // a literal in it is not known

	key, shape string
}

// constantNode is true or false.
func constantNode(value bool) *node {
	o := opFalse
	if value {
		o = opTrue
	}
	return &node{op: o, key: opWords[o], shape: opWords[o]}
}

// leafNode is a predicate about a term. A set has each value once, and one of
// one value is a comparison with it. Literals that are not known may be two
// values though they look like one, and stay as many as they are.
func leafNode(o op, t term, literals []literal) *node {
	if o.set() {
		slices.SortFunc(literals, func(a, b literal) int { return strings.Compare(a.text(), b.text()) })
		literals = slices.CompactFunc(literals, func(a, b literal) bool { return !a.unknown && a == b })
		switch len(literals) {
		case 0:
			return constantNode(o == opNotIn)
		case 1:
			if o == opIn {
				o = opEq
			} else {
				o = opNotEq
			}
		}
	}
	n := &node{op: o, term: t, literals: literals}
	texts := make([]string, len(literals))
	for i, l := range literals {
		texts[i] = l.text()
		n.unknown = n.unknown || l.unknown
	}
	n.key, n.shape = t.text()+opWords[o], t.text()+opWords[o]
	switch {
	case o.set():
		n.key += "(" + strings.Join(texts, ", ") + ")"
		n.shape += "(?)"
	case o.comparison():
		n.key += texts[0]
		n.shape += "?"
	}
	return n
}

// join is the and or the or of nodes in normal form: flat, without what does not
// matter, each operand once, in one order. That is exact whatever an operand is:
// and, or and not of true, false and unknown are a lattice in which all this
// holds.
func join(o op, operands []*node) *node {
	absorbing, neutral := opFalse, opTrue // of and
	if o == opOr {
		absorbing, neutral = opTrue, opFalse
	}
	var kids []*node
	for _, n := range operands {
		switch n.op {
		case absorbing:
			return n
		case neutral:
		case o:
			kids = append(kids, n.kids...)
		default:
			kids = append(kids, n)
		}
	}
	kids = mergeBounds(o, mergeValues(o, kids))
	// By shape first, so that the shape does not depend on the literals.
	slices.SortFunc(kids, func(a, b *node) int {
		if c := strings.Compare(a.shape, b.shape); c != 0 {
			return c
		}
		return strings.Compare(a.key, b.key)
	})
	kids = slices.CompactFunc(kids, func(a, b *node) bool { return !a.unknown && !b.unknown && a.key == b.key })
	switch len(kids) {
	case 0:
		return constantNode(neutral == opTrue)
	case 1:
		return kids[0]
	}
	n := &node{op: o, kids: kids}
	keys, shapes := make([]string, len(kids)), make([]string, len(kids))
	for i, kid := range kids {
		keys[i], shapes[i] = kid.key, kid.shape
		n.unknown = n.unknown || kid.unknown
	}
	n.key = "(" + strings.Join(keys, opWords[o]) + ")"
	n.shape = "(" + strings.Join(shapes, opWords[o]) + ")"
	return n
}

// mergeValues makes one set of what one term may be (of an or) or may not be (of
// an and): "a = 1 or a = 2" is "a in (1, 2)".
func mergeValues(o op, kids []*node) []*node {
	one, many := opNotEq, opNotIn
	if o == opOr {
		one, many = opEq, opIn
	}
	first := map[string]int{}              // by term: where its set is in out
	merged := make([][]literal, len(kids)) // by where the set is
	out := make([]*node, 0, len(kids))
	for _, n := range kids {
		if n.op != one && n.op != many {
			out = append(out, n)
			continue
		}
		at, seen := first[n.term.text()]
		if !seen {
			first[n.term.text()] = len(out)
			out = append(out, n)
			continue
		}
		if merged[at] == nil {
			merged[at] = slices.Clone(out[at].literals)
		}
		merged[at] = append(merged[at], n.literals...)
	}
	for at := range out {
		if merged[at] != nil {
			out[at] = leafNode(many, out[at].term, merged[at])
		}
	}
	return out
}

// each calls f for every predicate about a term.
func (n *node) each(f func(*node)) {
	if n.op.unary() || n.op.comparison() || n.op.set() {
		f(n)
	}
	for _, kid := range n.kids {
		kid.each(f)
	}
}
