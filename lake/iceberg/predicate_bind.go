package iceberg

import (
	"strconv"
	"strings"
)

// A named is a field as a reference leads to it.
type named struct {
	field    *Field
	required bool // it and all around it: no row lacks it
	count    int  // how many fields the reference may mean
}

// A resolver finds the fields that an expression refers to.
type resolver struct {
	fold        bool
	full, short map[string]*named
	ids         map[int]*named
}

// resolve looks the references up in one walk over the schema.
func resolve(schema *Schema, refs []reference, fold bool) *resolver {
	r := &resolver{fold: fold, full: map[string]*named{}, short: map[string]*named{}, ids: map[int]*named{}}
	for _, ref := range refs {
		if ref.byID {
			r.ids[ref.id] = &named{}
		} else {
			r.full[r.key(ref.name)], r.short[r.key(ref.name)] = &named{}, &named{}
		}
	}
	if len(refs) > 0 {
		r.walk(schema.Fields, "", "", true)
	}
	return r
}

// key is the name as it is compared.
func (r *resolver) key(name string) string {
	if r.fold {
		return strings.ToLower(name)
	}
	return name
}

// walk notes the fields that are referred to, where required tells whether all
// around them is. As in Java, "element" and "value" may be left out where a
// struct lies in a list or map: that is the short name.
func (r *resolver) walk(fields []Field, full, short string, required bool) {
	for i := range fields {
		f := &fields[i]
		full, short, required := full+f.Name, short+f.Name, required && f.Required
		r.note(f, full, short, required)
		switch f.Type.Kind {
		case Struct:
			r.walk(f.Type.Fields, full+".", short+".", required)
		case List, Map:
			r.inside(f.Type.Fields, full+".", short+".")
		}
	}
}

// inside is walk for what a list or map holds, of which a row has any number.
func (r *resolver) inside(parts []Field, full, short string) {
	for i := range parts {
		part := &parts[i]
		full, own := full+part.Name, short+part.Name
		r.note(part, full, own, false)
		switch {
		case part.Type.Kind == Struct && part.Name != "key":
			r.walk(part.Type.Fields, full+".", short, false)
		case part.Type.Kind == Struct:
			r.walk(part.Type.Fields, full+".", own+".", false)
		default:
			r.inside(part.Type.Fields, full+".", own+".")
		}
	}
}

// note takes down the field where somebody asks for it.
func (r *resolver) note(f *Field, full, short string, required bool) {
	found := func(n *named) {
		if n != nil {
			n.field, n.required, n.count = f, required, n.count+1
		}
	}
	found(r.ids[f.ID])
	found(r.full[r.key(full)])
	if short != full {
		found(r.short[r.key(short)])
	}
}

// find returns the field of a reference.
func (r *resolver) find(ref reference) (*named, error) {
	n, what := r.ids[ref.id], "with the id "+strconv.Itoa(ref.id)
	if !ref.byID {
		n, what = r.full[r.key(ref.name)], strconv.Quote(ref.name)
		if n.count == 0 {
			n = r.short[r.key(ref.name)]
		}
	}
	switch n.count {
	case 0:
		return nil, malformed("the schema has no field %s", what)
	case 1:
		return n, nil
	}
	return nil, malformed("the schema has %d fields %s", n.count, what)
}

// A binder turns an expression into nodes in normal form. It keeps its first
// error.
type binder struct {
	opts   PredicateOptions
	fields *resolver
	err    error
}

// bind returns the normal form of the expression, or of its negation.
func (b *binder) bind(e *expr, negate bool) *node {
	if b.err != nil {
		return constantNode(false)
	}
	o := e.op
	if o == opNot {
		return b.bind(e.kids[0], !negate)
	}
	if negate {
		o = negations[o]
	}
	switch o {
	case opTrue, opFalse:
		return constantNode(o == opTrue)
	case opAnd, opOr:
		kids := make([]*node, len(e.kids))
		for i, kid := range e.kids {
			kids[i] = b.bind(kid, negate)
		}
		return join(o, kids)
	}
	t := b.term(e.ref)
	b.check(o, &t)
	if b.err != nil {
		return constantNode(false)
	}
	if t.required && (o == opIsNull || o == opNotNull) {
		return constantNode(o == opNotNull)
	}
	literals := make([]literal, len(e.literals))
	for i, raw := range e.literals {
		var err error
		if literals[i], err = b.literal(raw, t.typ); err != nil {
			b.err = err
			return constantNode(false)
		}
	}
	return leafNode(o, t, literals)
}

// term finds the field that is referred to, and what is asked about it.
func (b *binder) term(r reference) (t term) {
	n, err := b.fields.find(r)
	if err != nil {
		b.err = err
		return t
	}
	t = term{field: n.field.ID, transform: Transform{Kind: Identity}, typ: n.field.Type, required: n.required}
	if r.transform == "" {
		return t
	}
	t.transform = parseTransform(r.transform)
	typ, ok := transformType(t.transform, n.field.Type)
	switch {
	case t.transform.Kind == Other:
		b.err = unsupported("transform %q", r.transform)
	case !ok:
		b.err = malformed("transform %q of a field of another type", r.transform)
	case t.transform.Kind != Identity:
		t.required = false // void is null where its field is not
	}
	t.typ = typ
	return t
}

// check notes an error if the operation cannot be asked of the term.
func (b *binder) check(o op, t *term) {
	if b.err != nil {
		return
	}
	kind := t.typ.Kind
	switch o {
	case opIsNaN, opNotNaN:
		if kind != Float && kind != Double {
			b.err = malformed("question for NaN of a field that has none")
		}
	case opStartsWith, opNotStartsWith:
		if kind != String {
			b.err = malformed("question for the start of a field that is no string")
		}
	}
}
