package iceberg

import (
	"strconv"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// isReference tells a reference, or what is applied to one, from a literal.
func (p *exprParser) isReference(in []byte) bool {
	if s := jsonscan.New(in); p.err != nil || s.Next() != '{' {
		return false
	}
	return p.object(in).typ != "literal"
}

// reference reads the term of a predicate: a value expression of the newer
// grammar, or a term of the older one, in which a string is a name.
func (p *exprParser) reference(value, term []byte) (r reference) {
	switch {
	case p.err != nil:
		return r
	case (value == nil) == (term == nil):
		p.fail(malformed("predicate with no term or two"))
		return r
	case value != nil:
		return p.referenceObject(value)
	}
	if s := jsonscan.New(term); s.Next() == '"' {
		return p.named(term)
	}
	return p.referenceObject(term)
}

// named is a reference by name.
func (p *exprParser) named(in []byte) reference {
	r := reference{name: p.text(in)}
	p.refs = append(p.refs, r)
	return r
}

// referenceObject reads a reference, or a transform of one.
func (p *exprParser) referenceObject(in []byte) (r reference) {
	m := p.object(in)
	if p.err != nil {
		return r
	}
	switch m.typ {
	case "reference":
		return p.plainReference(m)
	case "transform":
		p.only(m, "transform", "term")
		r = p.reference(nil, m.term)
		return p.transformed(r, m.transform)
	case "apply":
		p.only(m, "function", "arguments")
		return p.transformed(p.argument(m.arguments), m.function)
	}
	p.fail(unsupported("term of type %q", m.typ))
	return r
}

// plainReference reads a reference by id, or by name, which Java calls "term".
func (p *exprParser) plainReference(m exprMembers) (r reference) {
	p.only(m, "id", "name", "term")
	switch {
	case m.id != nil && m.name == nil && m.term == nil:
		s := jsonscan.New(m.id)
		r.id, r.byID = s.Int32(), true
		p.refs = append(p.refs, r)
		if err := s.End(); err != nil {
			p.fail(err)
		}
	case m.id == nil && m.name != nil && m.term == nil:
		r = p.named(m.name)
	case m.id == nil && m.name == nil && m.term != nil:
		r = p.named(m.term)
	default:
		p.fail(malformed("reference by nothing, or by more than one"))
	}
	return r
}

// transformed adds a transform to a reference.
func (p *exprParser) transformed(r reference, transform []byte) reference {
	if s := jsonscan.New(transform); p.err == nil && s.Next() != '"' {
		p.fail(unsupported("function that is not named by a text"))
	}
	if p.err != nil {
		return r
	}
	if r.transform != "" {
		p.fail(unsupported("transform of a transform"))
	}
	if r.transform = p.text(transform); r.transform == "" {
		p.fail(malformed("transform without a name"))
	}
	return r
}

// argument reads the arguments of a function. The grammar does not say what
// functions are called; those that are transforms have one, a reference.
func (p *exprParser) argument(in []byte) (r reference) {
	n := 0
	s := jsonscan.New(in)
	s.Array(func(int) {
		arg := s.Raw()
		if n++; n > 1 || s.Err() != nil {
			return
		}
		if !p.isReference(arg) {
			p.fail(unsupported("function of a literal"))
			return
		}
		r = p.referenceObject(arg)
	})
	if err := s.End(); err != nil {
		p.fail(err)
	}
	if n != 1 {
		p.fail(unsupported("function of %d arguments", n))
	}
	return r
}

// A term is what a predicate asks about: a field, or a transform of one.
type term struct {
	field     int
	transform Transform // Kind Identity: the field itself
	typ       Type      // of what is asked about
	required  bool      // it is never null
}

// text spells the term.
func (t *term) text() string {
	ref := "#" + strconv.Itoa(t.field)
	if t.transform.Kind == Identity {
		return ref
	}
	return t.name() + "(" + ref + ")"
}

// name is the one spelling of the term's transform.
func (t *term) name() string {
	switch t.transform.Kind {
	case Bucket:
		return "bucket[" + strconv.Itoa(t.transform.N) + "]"
	case Truncate:
		return "truncate[" + strconv.Itoa(t.transform.N) + "]"
	case Year:
		return "year"
	case Month:
		return "month"
	case Day:
		return "day"
	case Hour:
		return "hour"
	}
	return "void"
}

// transformType returns the type that a transform turns a type into; ok is false
// if it takes no such values.
func transformType(t Transform, in Type) (out Type, ok bool) {
	instant := in.Kind == Timestamp || in.Kind == TimestampTZ || in.Kind == TimestampNS || in.Kind == TimestampTZNS
	switch t.Kind {
	case Identity, Void:
		return in, true
	case Year, Month:
		return Type{Kind: Int}, instant || in.Kind == Date
	case Day:
		return Type{Kind: Date}, instant || in.Kind == Date
	case Hour:
		return Type{Kind: Int}, instant
	case Bucket:
		switch in.Kind {
		case Int, Long, Decimal, Date, Time, String, UUID, Fixed, Binary:
			return Type{Kind: Int}, true
		}
		return Type{Kind: Int}, instant
	case Truncate:
		switch in.Kind {
		case Int, Long, Decimal, String, Binary:
			return in, true
		}
	}
	return in, false
}
