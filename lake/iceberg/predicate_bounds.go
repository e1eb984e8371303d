package iceberg

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// mergeBounds keeps one bound of those that a term has on one side: of an and
// the tightest, of an or the loosest. The others say nothing besides, in any
// order of values and of null with them. Whether the bounds of both sides leave
// anything is not asked.
func mergeBounds(o op, kids []*node) []*node {
	type side struct {
		term  string
		upper bool
	}
	kept := map[side]int{} // where in out
	out := make([]*node, 0, len(kids))
	for _, n := range kids {
		if !n.bounds() {
			out = append(out, n)
			continue
		}
		key := side{n.term.text(), n.upper()}
		at, seen := kept[key]
		switch {
		case !seen:
			kept[key] = len(out)
			out = append(out, n)
		case n.tighter(out[at]) == (o == opAnd):
			out[at] = n
		}
	}
	return out
}

// upper reports whether a bound is one from above.
func (n *node) upper() bool { return n.op == opLt || n.op == opLtEq }

// bounds reports whether a node is a bound that can be laid beside others.
func (n *node) bounds() bool {
	switch n.op {
	case opLt, opLtEq, opGt, opGtEq:
		return !n.unknown && n.literals[0].ordered(n.term.typ.Kind)
	}
	return false
}

// tighter reports whether a bound lets less through than one of the same side of
// the same term.
func (n *node) tighter(than *node) bool {
	c := compareLiterals(n.term.typ.Kind, n.literals[0].json, than.literals[0].json)
	if c == 0 {
		return n.op == opLt || n.op == opGt
	}
	return (c < 0) == n.upper()
}

// ordered reports whether a literal stands in one order with others, whoever
// compares. Zeros do not, for some hold -0 less than 0 and some the same, nor do
// UUIDs, whose halves Java takes for signed numbers.
func (l literal) ordered(k Kind) bool {
	switch k {
	case Float, Double:
		return floatOf(l.json) != 0
	case Boolean, UUID:
		return false
	}
	return true
}

// compareLiterals compares two ordered literals, each in the one spelling of its
// type: texts by their code points, bytes as unsigned ones, as Java's
// Comparators do.
func compareLiterals(k Kind, a, b string) int {
	switch k {
	case Int, Long:
		return cmp.Compare(integerOf(a), integerOf(b))
	case Date, Time, Timestamp, TimestampTZ, TimestampNS, TimestampTZNS:
		return cmp.Compare(instantOf(k, a), instantOf(k, b))
	case Float, Double:
		return cmp.Compare(floatOf(a), floatOf(b))
	case Decimal:
		return decimalOf(a).Cmp(decimalOf(b))
	case String:
		return strings.Compare(jsonscan.New([]byte(a)).String(), jsonscan.New([]byte(b)).String())
	}
	return strings.Compare(a, b) // upper-case hexadecimal
}

// These read a literal's spelling, which its type has been made sure of before.

func integerOf(spelling string) int64 {
	n, _ := strconv.ParseInt(spelling, 10, 64)
	return n
}

func floatOf(spelling string) float64 {
	v, _ := strconv.ParseFloat(strings.Trim(spelling, `"`), 64) // an infinity is quoted
	return v
}

func decimalOf(spelling string) *big.Rat {
	v, _ := new(big.Rat).SetString(strings.Trim(spelling, `"`))
	return v
}

func instantOf(k Kind, spelling string) int64 {
	text, quoted := cutAround(spelling, `"`, `"`)
	if !quoted {
		return integerOf(spelling)
	}
	n, _ := storedTime(text, true, k)
	return n
}
