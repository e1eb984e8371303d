package iceberg

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A Kind is what kind of type a column has.
type Kind uint8

// The kinds of types, those of version 3 last.
const (
	Boolean Kind = iota + 1
	Int
	Long
	Float
	Double
	Decimal
	Date
	Time
	Timestamp
	TimestampTZ
	String
	UUID
	Fixed
	Binary
	Struct
	List
	Map
	TimestampNS
	TimestampTZNS
	Unknown
	Variant
	Geometry
	Geography
)

// A Type is the type of a column, element, key or value.
type Type struct {
	Kind      Kind
	Precision int     // of a decimal
	Scale     int     // of a decimal
	Length    int     // of a fixed, in bytes
	CRS       string  // of a geometry or geography, "" for the default OGC:CRS84
	Edges     string  // of a geography, "" for the default spherical
	Fields    []Field // of a struct; the element of a list; key and value of a map
}

// A Field is a column, or what lies inside one. Elements, keys and values of
// lists and maps are fields named "element", "key" and "value".
type Field struct {
	ID       int
	Name     string
	Required bool
	Type     Type
	Doc      string
	// The JSON of the defaults (single-value serialization), nil if none.
	InitialDefault, WriteDefault json.RawMessage
}

// A Schema is one schema of a table.
type Schema struct {
	ID         int
	Fields     []Field
	Identifier []int // ids of the fields that identify a row
}

// Walk calls f for each field, outer ones first, until it returns false. The
// path holds the names that lead to the field and is valid during the call.
func (s *Schema) Walk(f func(path []string, field *Field) bool) { walk(s.Fields, nil, f) }

// walk is Walk below a path.
func walk(fields []Field, path []string, f func([]string, *Field) bool) bool {
	for i := range fields {
		field := &fields[i]
		path := append(path, field.Name)
		if !f(path, field) || !walk(field.Type.Fields, path, f) {
			return false
		}
	}
	return true
}

// Field returns the field with an id, wherever it lies.
func (s *Schema) Field(id int) (*Field, bool) {
	var found *Field
	s.Walk(func(_ []string, f *Field) bool {
		if f.ID == id {
			found = f
		}
		return found == nil
	})
	return found, found != nil
}

// Name returns the dotted name of the field with an id, "" if there is none.
func (s *Schema) Name(id int) string {
	var name string
	s.Walk(func(path []string, f *Field) bool {
		if f.ID == id {
			name = strings.Join(path, ".")
		}
		return name == ""
	})
	return name
}

// plainTypes are the types that a word alone names.
var plainTypes = map[string]Kind{
	"boolean": Boolean, "int": Int, "long": Long, "float": Float, "double": Double,
	"date": Date, "time": Time, "timestamp": Timestamp, "timestamptz": TimestampTZ,
	"string": String, "uuid": UUID, "binary": Binary, "timestamp_ns": TimestampNS,
	"timestamptz_ns": TimestampTZNS, "unknown": Unknown, "variant": Variant,
	"geometry": Geometry, "geography": Geography,
}

// parsePrimitive parses the name of a primitive type, case as it comes: Java
// reads names of types in any.
func parsePrimitive(text string) (Type, error) {
	name := strings.ToLower(text)
	if kind, ok := plainTypes[name]; ok {
		return Type{Kind: kind}, nil
	}
	if inner, ok := cutAround(name, "fixed[", "]"); ok {
		if n, ok := number(inner); ok {
			return Type{Kind: Fixed, Length: n}, nil
		}
	}
	if inner, ok := cutAround(name, "decimal(", ")"); ok {
		p, s, _ := strings.Cut(inner, ",")
		precision, ok1 := number(p)
		scale, ok2 := number(s)
		if ok1 && ok2 && precision >= 1 && precision <= 38 && scale <= precision {
			return Type{Kind: Decimal, Precision: precision, Scale: scale}, nil
		}
	}
	if _, ok := cutAround(name, "geometry(", ")"); ok {
		return Type{Kind: Geometry, CRS: strings.TrimSpace(text[len("geometry(") : len(text)-1])}, nil
	}
	if _, ok := cutAround(name, "geography(", ")"); ok {
		crs, edges, _ := strings.Cut(text[len("geography("):len(text)-1], ",")
		return Type{Kind: Geography, CRS: strings.TrimSpace(crs), Edges: strings.TrimSpace(edges)}, nil
	}
	return Type{}, unsupported("type %q", text)
}

// cutAround returns what lies between a start and an end.
func cutAround(s, start, end string) (string, bool) {
	s, ok1 := strings.CutPrefix(s, start)
	s, ok2 := strings.CutSuffix(s, end)
	return s, ok1 && ok2
}

// number parses a small number without sign.
func number(s string) (int, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31)
	return int(n), err == nil //nolint:gosec // 31 bits
}
