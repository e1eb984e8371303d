package iceberg

import (
	"bytes"
	"strconv"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

const (
	maxTypeDepth = 48 // types inside types
	// maxFields bounds the fields of one struct. A field takes a few times the
	// memory of its JSON, so a file's length alone is no bound.
	maxFields = 1 << 18
)

// parseSchema parses a schema. One without an id, as version 1 has, gets 0.
func parseSchema(s *jsonscan.Scanner) Schema {
	var schema Schema
	var m members
	s.Object(func(name string) {
		switch m.see(name); name {
		case "schema-id":
			schema.ID = s.Int32()
		case "fields":
			schema.Fields = parseFields(s, 0)
		case "identifier-field-ids":
			if !s.Null() {
				s.Array(func(int) { schema.Identifier = append(schema.Identifier, s.Int32()) })
			}
		case "type":
			if kind := s.String(); s.Err() == nil && kind != "struct" {
				s.Failf("schema of type %q", kind)
			}
		default:
			s.Skip()
		}
	})
	m.need(s, "schema", "fields")
	checkSchema(s, &schema)
	return schema
}

// checkSchema notes an error if ids are not unique, or if something refers to
// a field that is not there.
func checkSchema(s *jsonscan.Scanner, schema *Schema) {
	if s.Err() != nil {
		return
	}
	ids := map[int]bool{}
	schema.Walk(func(path []string, f *Field) bool {
		if ids[f.ID] {
			s.Failf("schema %d: field %q has the id %d of another", schema.ID, path, f.ID)
		}
		ids[f.ID] = true
		return s.Err() == nil
	})
	for _, id := range schema.Identifier {
		if !ids[id] {
			s.Failf("schema %d: identifier field %d is not there", schema.ID, id)
		}
	}
}

// parseFields parses the fields of a struct.
func parseFields(s *jsonscan.Scanner, depth int) []Field {
	fields := []Field{}
	s.Array(func(i int) {
		if i >= maxFields {
			s.Wrap(over("columns", int64(i)+1, maxFields))
			return
		}
		fields = append(fields, parseField(s, depth))
	})
	return fields
}

// parseField parses a field of a struct.
func parseField(s *jsonscan.Scanner, depth int) Field {
	var f Field
	var m members
	s.Object(func(name string) {
		switch m.see(name); name {
		case "id":
			f.ID = s.Int32()
		case "name":
			f.Name = s.String()
		case "required":
			f.Required = s.Bool()
		case "type":
			f.Type = parseType(s, depth+1)
		case "doc":
			if !s.Null() {
				f.Doc = s.String()
			}
		case "initial-default":
			f.InitialDefault = value(s)
		case "write-default":
			f.WriteDefault = value(s)
		default:
			s.Skip()
		}
	})
	m.need(s, "field", "id", "name", "required", "type")
	return f
}

// value returns a copy of a value's JSON, nil for null. What it means depends on
// the field's type, which may come behind it, and few ever ask.
func value(s *jsonscan.Scanner) []byte {
	if s.Null() {
		return nil
	}
	return bytes.Clone(s.Raw())
}

// parseType parses a type: a name or an object.
func parseType(s *jsonscan.Scanner, depth int) Type {
	if depth > maxTypeDepth {
		s.Wrap(over("types inside types", int64(depth), maxTypeDepth))
		return Type{}
	}
	if s.Next() == '"' {
		name := s.String()
		if s.Err() != nil {
			return Type{}
		}
		t, err := parsePrimitive(name)
		s.Wrap(err)
		return t
	}
	return parseNested(s, depth)
}

// parseNested parses a struct, list or map. Their members may come in any
// order, so which of them count is known at the end.
func parseNested(s *jsonscan.Scanner, depth int) Type {
	var kind string
	var fields []Field
	var m members
	elem, key, val := Field{Name: "element"}, Field{Name: "key", Required: true}, Field{Name: "value"}
	s.Object(func(name string) {
		switch m.see(name); name {
		case "type":
			kind = s.String()
		case "fields":
			fields = parseFields(s, depth)
		case "element-id":
			elem.ID = s.Int32()
		case "element-required":
			elem.Required = s.Bool()
		case "element":
			elem.Type = parseType(s, depth+1)
		case "key-id":
			key.ID = s.Int32()
		case "key":
			key.Type = parseType(s, depth+1)
		case "value-id":
			val.ID = s.Int32()
		case "value-required":
			val.Required = s.Bool()
		case "value":
			val.Type = parseType(s, depth+1)
		default:
			s.Skip()
		}
	})
	switch kind {
	case "struct":
		m.need(s, kind, "fields")
		return Type{Kind: Struct, Fields: fields}
	case "list":
		m.need(s, kind, "element-id", "element-required", "element")
		return Type{Kind: List, Fields: []Field{elem}}
	case "map":
		m.need(s, kind, "key-id", "key", "value-id", "value-required", "value")
		return Type{Kind: Map, Fields: []Field{key, val}}
	}
	s.Wrap(unsupported("type %s", strconv.Quote(kind)))
	return Type{}
}
