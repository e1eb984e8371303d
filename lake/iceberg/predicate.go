package iceberg

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/laketap/laketap"
)

// PredicateOptions say how an expression is read, and bound what it may cost.
type PredicateOptions struct {
	// CaseInsensitive finds fields whatever the case of their names.
	CaseInsensitive bool
	// Sanitized says that the expression is of a ScanReport, whose literals
	// Iceberg's Java library has replaced by descriptions such as
	// "(2-digit-int)": what looks like one is a literal that is not known.
	// Elsewhere the same text is a value like any other.
	Sanitized bool
	// MaxBytes bounds the expression. Zero: 256 KiB.
	MaxBytes int
	// MaxNodes bounds its predicates, ands, ors and nots. Zero: 4,096.
	MaxNodes int
	// MaxLiterals bounds the literals of all its lists. Zero: 2^15.
	MaxLiterals int
}

// withDefaults returns the options with zero values explained.
func (o PredicateOptions) withDefaults() PredicateOptions {
	o.MaxBytes = cmp.Or(max(o.MaxBytes, 0), 256<<10)
	o.MaxNodes = cmp.Or(max(o.MaxNodes, 0), 4096)
	o.MaxLiterals = cmp.Or(max(o.MaxLiterals, 0), 1<<15)
	return o
}

// A Condition is an expression of the REST catalog's grammar, bound to the
// fields of a schema and in normal form: no not, no and within an and, operands
// in one order and each once, a set where there was a choice of values, one
// bound of those on one side. It is true, false or unknown of just the rows of
// which the expression is, where a comparison with null is unknown and not is as
// Expressions.rewriteNot has it; and so it is for a reader to whom nothing is
// ever unknown.
type Condition struct{ root *node }

// ParseCondition reads an expression, with the names of the schema's fields. An
// expression that has more than the grammar, or a literal that is none of its
// column's type, is an error: its meaning would have to be guessed. Errors tell
// no literals.
func ParseCondition(expression []byte, schema *Schema, opts PredicateOptions) (*Condition, error) {
	opts = opts.withDefaults()
	if len(expression) > opts.MaxBytes {
		return nil, over("bytes of an expression", int64(len(expression)), int64(opts.MaxBytes))
	}
	p := &exprParser{opts: opts}
	e := p.expr(expression)
	if p.err != nil {
		return nil, p.err
	}
	b := &binder{opts: opts, fields: resolve(schema, p.refs, opts.CaseInsensitive)}
	root := b.bind(e, false)
	if b.err != nil {
		return nil, b.err
	}
	return &Condition{root}, nil
}

// ParsePredicate reads an expression and returns what its normal form is known
// by. An expression that is true of every row is no predicate.
func ParsePredicate(expression []byte, schema *Schema, opts PredicateOptions) (laketap.Predicate, error) {
	c, err := ParseCondition(expression, schema, opts)
	if err != nil {
		return laketap.Predicate{}, err
	}
	return c.Predicate(), nil
}

// Known reports whether all literals are known. If not, two conditions with one
// Key may be different ones.
func (c *Condition) Known() bool { return !c.root.unknown }

// Predicate returns what the condition is known by, the zero value if it is true
// of every row.
//
// Key spells it on field ids: "(#1 = 5 and #7 in ("a", "b"))". A literal in
// parentheses is all that is known of one. In Shape each literal, and each list
// of them whatever its length, is a "?". A text longer than 4 KiB ends in the
// SHA-256 of all of it.
func (c *Condition) Predicate() laketap.Predicate {
	if c.root.op == opTrue {
		return laketap.Predicate{}
	}
	var fields []int
	c.root.each(func(n *node) { fields = append(fields, n.term.field) })
	slices.Sort(fields)
	return laketap.Predicate{
		Key:    bounded(c.root.key),
		Shape:  bounded(c.root.shape),
		Fields: slices.Compact(fields),
	}
}

// maxPredicateText bounds the texts of a predicate, in bytes: they are kept.
const maxPredicateText = 4 << 10

// bounded returns a text that stands for another one, and only for it.
func bounded(text string) string {
	if len(text) <= maxPredicateText {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	end := "… sha256:" + hex.EncodeToString(sum[:])
	cut := maxPredicateText - len(end)
	for cut > 0 && text[cut]&0xc0 == 0x80 { // not within a character
		cut--
	}
	return text[:cut] + end
}
