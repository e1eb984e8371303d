package avro

import (
	"fmt"
	"strings"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// ParseSchema parses the JSON of a schema.
func ParseSchema(text []byte) (*Type, error) {
	p := parser{named: map[string]*Type{}}
	root, err := p.document(text, "", 0)
	if err != nil {
		return nil, fmt.Errorf("parse Avro schema: %w", err)
	}
	if err := finishAll(root); err != nil {
		return nil, fmt.Errorf("parse Avro schema: %w", err)
	}
	return root, nil
}

// A parser parses one schema.
type parser struct {
	named map[string]*Type
	types int
}

// document parses one type's text.
func (p *parser) document(text []byte, space string, depth int) (*Type, error) {
	s := jsonscan.New(text)
	t := p.parse(s, space, depth)
	if err := s.End(); err != nil {
		return nil, err
	}
	return t, nil
}

// parse parses the next type: a name, a union or an object.
func (p *parser) parse(s *jsonscan.Scanner, space string, depth int) *Type {
	if depth > maxSchemaDepth {
		s.Wrap(over("types inside types", int64(depth), maxSchemaDepth))
	}
	if p.types++; p.types > maxTypes {
		s.Wrap(over("types in a schema", int64(p.types), maxTypes))
	}
	if s.Err() != nil {
		return &Type{}
	}
	switch s.Next() {
	case '"':
		return p.reference(s, s.String(), space)
	case '[':
		t := &Type{Kind: Union}
		s.Array(func(int) { t.Branches = append(t.Branches, p.parse(s, space, depth+1)) })
		if len(t.Branches) == 0 {
			s.Fail("union without a branch")
		}
		return t
	}
	return p.object(s, space, depth)
}

// reference returns the type that a name stands for.
func (p *parser) reference(s *jsonscan.Scanner, name, space string) *Type {
	if kind, ok := primitive(name); ok {
		return &Type{Kind: kind}
	}
	if t := p.named[fullName(name, space)]; t != nil {
		return t
	}
	if t := p.named[name]; t != nil {
		return t
	}
	s.Failf("unknown type %q", name)
	return &Type{}
}

// A declaration is the text of a type's attributes; they may come in any order,
// so that what depends on the name has to wait for it.
type declaration struct {
	kind, fields, items, values []byte
	name, space, logical        string
	size, symbols               int64
	elemID                      int
	spaced                      bool // a namespace is given
}

// object parses {"type": …}.
func (p *parser) object(s *jsonscan.Scanner, space string, depth int) *Type {
	d := declaration{elemID: -1, size: -1}
	s.Object(func(name string) {
		switch name {
		case "type":
			d.kind = s.Raw()
		case "name":
			d.name = s.String()
		case "namespace":
			if d.spaced = !s.Null(); d.spaced {
				d.space = s.String()
			}
		case "fields":
			d.fields = s.Raw()
		case "items":
			d.items = s.Raw()
		case "values":
			d.values = s.Raw()
		case "symbols":
			s.Array(func(int) { d.symbols++; s.Skip() })
		case "size":
			d.size = s.Int64()
		case "logicalType":
			d.logical = s.String()
		case "element-id", "value-id":
			d.elemID = s.Int32()
		default:
			s.Skip()
		}
	})
	if s.Err() != nil {
		return &Type{}
	}
	t, err := p.declare(d, space, depth)
	if err != nil {
		s.Wrap(err)
		return &Type{}
	}
	return t
}

// declare makes the type that attributes describe.
func (p *parser) declare(d declaration, space string, depth int) (*Type, error) {
	if d.kind == nil {
		return nil, malformed("type without its kind")
	}
	s := jsonscan.New(d.kind)
	if s.Next() != '"' { // {"type": {"type": …}}
		return p.document(d.kind, space, depth+1)
	}
	kind := s.String()
	if err := s.End(); err != nil {
		return nil, err
	}
	t := &Type{Logical: d.logical, ElemID: d.elemID}
	var err error
	switch kind {
	case "array":
		t.Kind = Array
		t.Elem, err = p.part(d.items, "items of an array", space, depth)
		return t, err
	case "map":
		t.Kind = Map
		t.Elem, err = p.part(d.values, "values of a map", space, depth)
		return t, err
	case "record", "error":
		t.Kind = Record
	case "enum":
		t.Kind, t.Symbols = Enum, int(d.symbols)
	case "fixed":
		if d.size < 0 || d.size > 1<<30 {
			return nil, malformed("fixed of %d bytes", d.size)
		}
		t.Kind, t.Size = Fixed, int(d.size)
	default:
		return p.plain(kind, space, t)
	}
	return t, p.declareNamed(t, d, space, depth)
}

// plain makes t a primitive, or returns the type declared before by that name.
func (p *parser) plain(name, space string, t *Type) (*Type, error) {
	if kind, ok := primitive(name); ok {
		t.Kind = kind
		return t, nil
	}
	if named := p.named[fullName(name, space)]; named != nil {
		return named, nil
	}
	return nil, malformed("unknown type %q", name)
}

// declareNamed gives a record, enum or fixed its name and parts.
func (p *parser) declareNamed(t *Type, d declaration, space string, depth int) error {
	if d.name == "" {
		return malformed("named type without a name")
	}
	if d.spaced {
		space = d.space
	}
	t.Name = fullName(d.name, space)
	if old := p.named[t.Name]; old != nil && old.Kind == Fixed && t.Kind == Fixed && old.Size == t.Size {
		return nil // PyIceberg declares the same decimal for each field that is one
	}
	if _, ok := primitive(d.name); ok || p.named[t.Name] != nil {
		return malformed("type %q is declared twice", t.Name)
	}
	p.named[t.Name] = t
	if t.Kind != Record {
		return nil
	}
	if i := strings.LastIndexByte(t.Name, '.'); i >= 0 {
		space = t.Name[:i]
	} else {
		space = ""
	}
	if d.fields == nil {
		return malformed("record %s without fields", t.Name)
	}
	s := jsonscan.New(d.fields)
	s.Array(func(int) { t.Fields = append(t.Fields, p.field(s, space, depth)) })
	return s.End()
}

// field parses one field of a record.
func (p *parser) field(s *jsonscan.Scanner, space string, depth int) Field {
	f := Field{ID: -1}
	s.Object(func(name string) {
		switch name {
		case "name":
			f.Name = s.String()
		case "field-id":
			f.ID = s.Int32()
		case "type":
			f.Type = p.parse(s, space, depth+1)
		default:
			s.Skip()
		}
	})
	if s.Err() == nil && (f.Name == "" || f.Type == nil) {
		s.Fail("field without a name or a type")
	}
	if f.Type == nil {
		f.Type = &Type{}
	}
	return f
}

// part parses the type of elements or values.
func (p *parser) part(text []byte, what, space string, depth int) (*Type, error) {
	if text == nil {
		return nil, malformed("no %s", what)
	}
	return p.document(text, space, depth+1)
}

// fullName returns a name with its namespace.
func fullName(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}
