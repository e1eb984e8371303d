package iceberg

import (
	"strings"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// An expr is an expression as it was written: its names are not yet fields, and
// its literals have no type.
type expr struct {
	op       op
	kids     []*expr
	ref      reference
	literals []rawLiteral
}

// A reference names a field, or a transform of one.
type reference struct {
	name      string
	id        int
	byID      bool
	transform string // "": the field itself
}

// A rawLiteral is the JSON of a literal, and its type if that is written.
type rawLiteral struct {
	json []byte
	typ  string
}

// An exprParser reads expressions of the grammar of August 2026 ("child", "left"
// and "right" of value expressions) and of the one before ("term" and "value"),
// which engines send. It keeps its first error.
type exprParser struct {
	opts            PredicateOptions
	nodes, literals int
	refs            []reference
	err             error
}

// fail keeps the first error.
func (p *exprParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// exprMembers are all members that an object of the grammar may have, as JSON;
// nil is one that is not there.
type exprMembers struct {
	typ                                            string
	child, left, right, term, value, values        []byte
	name, id, transform, function, arguments, data []byte
}

// slot returns where a member belongs, nil if the grammar has none of the name.
func (m *exprMembers) slot(name string) *[]byte {
	switch name {
	case "child":
		return &m.child
	case "left":
		return &m.left
	case "right":
		return &m.right
	case "term":
		return &m.term
	case "value":
		return &m.value
	case "values":
		return &m.values
	case "name":
		return &m.name
	case "id":
		return &m.id
	case "transform":
		return &m.transform
	case "function":
		return &m.function
	case "arguments":
		return &m.arguments
	case "data-type":
		return &m.data
	}
	return nil
}

// object reads an object of the grammar. What it may have depends on its type,
// which may stand last, so members are kept as they are: each level is read
// once more, and there are jsonscan.MaxDepth at most.
func (p *exprParser) object(in []byte) (m exprMembers) {
	s := jsonscan.New(in)
	typed := false
	s.Object(func(name string) {
		if name == "type" {
			m.typ, typed = strings.ToLower(s.String()), true
			return
		}
		slot := m.slot(name)
		if slot == nil {
			s.Wrap(unsupported("member %q of an expression", name))
			return
		}
		*slot = s.Raw()
	})
	if err := s.End(); err != nil {
		p.fail(err)
	} else if !typed {
		p.fail(malformed("part of an expression without type"))
	}
	return m
}

// only fails if the object has members besides these.
func (p *exprParser) only(m exprMembers, allowed ...string) {
	for _, name := range allowed {
		*m.slot(name) = nil
	}
	for _, rest := range [][]byte{
		m.child, m.left, m.right, m.term, m.value, m.values, m.name, m.id, m.transform, m.function, m.arguments, m.data,
	} {
		if rest != nil {
			p.fail(unsupported("expression of type %q with members that it does not have", m.typ))
		}
	}
}

// expr reads an expression. The result is of use only if there is no error.
func (p *exprParser) expr(in []byte) *expr {
	if p.nodes++; p.nodes > p.opts.MaxNodes {
		p.fail(over("parts of an expression", int64(p.nodes), int64(p.opts.MaxNodes)))
	}
	if p.err != nil {
		return nil
	}
	if s := jsonscan.New(in); s.Next() != '{' {
		return p.constant(in)
	}
	m := p.object(in)
	if m.typ == "literal" {
		p.only(m, "value", "data-type")
		return p.constant(m.value)
	}
	o, ok := parseOp(m.typ)
	if !ok {
		p.fail(unsupported("expression of type %q", m.typ))
	}
	if p.err != nil {
		return nil
	}
	e := &expr{op: o}
	switch {
	case o == opTrue || o == opFalse:
		p.only(m)
	case o == opNot:
		p.only(m, "child")
		e.kids = []*expr{p.expr(m.child)}
	case o == opAnd || o == opOr:
		p.only(m, "left", "right")
		e.kids = []*expr{p.expr(m.left), p.expr(m.right)}
	case o.unary():
		p.only(m, "child", "term")
		e.ref = p.reference(m.child, m.term)
	case o.comparison():
		p.comparison(e, m)
	case o.set():
		p.only(m, "child", "term", "values")
		e.ref = p.reference(m.child, m.term)
		e.literals = p.list(m.values)
	}
	return e
}

// constant reads true or false.
func (p *exprParser) constant(in []byte) *expr {
	s := jsonscan.New(in)
	e := &expr{op: opFalse}
	if s.Bool() {
		e.op = opTrue
	}
	if err := s.End(); err != nil {
		p.fail(err)
	}
	return e
}

// comparison reads the sides of a comparison: of a field with a literal. In the
// newer grammar the literal may stand on the left.
func (p *exprParser) comparison(e *expr, m exprMembers) {
	if m.term != nil || m.value != nil {
		p.only(m, "term", "value")
		e.ref = p.reference(nil, m.term)
		e.literals = []rawLiteral{p.literal(m.value)}
		return
	}
	p.only(m, "left", "right")
	if !p.isReference(m.left) {
		turned, ok := mirrored[e.op]
		if !ok {
			p.fail(unsupported("%q with the literal on its left", m.typ))
		}
		e.op = turned
		m.left, m.right = m.right, m.left
	}
	if p.isReference(m.left) == p.isReference(m.right) {
		p.fail(unsupported("comparison of two fields, or of none"))
		return
	}
	e.ref = p.reference(m.left, nil)
	e.literals = []rawLiteral{p.literal(m.right)}
}

// list reads the literals of a set: an array, or an object that types them all.
func (p *exprParser) list(in []byte) (out []rawLiteral) {
	typ := ""
	if s := jsonscan.New(in); s.Next() == '{' {
		m := p.object(in)
		p.only(m, "values", "data-type")
		if m.typ != "literals" {
			p.fail(unsupported("values of type %q", m.typ))
		}
		typ, in = p.text(m.data), m.values
	}
	if p.err != nil {
		return nil
	}
	s := jsonscan.New(in)
	s.Array(func(int) {
		l := p.literal(s.Raw())
		if typ != "" {
			l.typ = typ
		}
		if out = append(out, l); p.err != nil {
			s.Wrap(p.err)
		}
	})
	if err := s.End(); err != nil {
		p.fail(err)
	}
	return out
}

// literal reads a literal, bare or as an object.
func (p *exprParser) literal(in []byte) (l rawLiteral) {
	if p.literals++; p.literals > p.opts.MaxLiterals {
		p.fail(over("literals", int64(p.literals), int64(p.opts.MaxLiterals)))
		return l
	}
	l.json = in
	if s := jsonscan.New(in); s.Next() == '{' {
		m := p.object(in)
		p.only(m, "value", "data-type")
		if m.typ != "literal" {
			p.fail(unsupported("literal of type %q", m.typ))
		}
		l.json = m.value
		if m.data != nil {
			l.typ = p.text(m.data)
		}
	}
	if len(l.json) == 0 {
		p.fail(malformed("predicate without a literal"))
	}
	return l
}

// text reads a string.
func (p *exprParser) text(in []byte) string {
	s := jsonscan.New(in)
	text := s.String()
	if err := s.End(); err != nil {
		p.fail(err)
	}
	return text
}
