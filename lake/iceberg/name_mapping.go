package iceberg

import (
	"fmt"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// A NameMapping gives ids to the fields of files that were written without.
type NameMapping struct{ fields mappedFields }

// mappedFields are the fields of one level, by each of their names.
type mappedFields map[string]*mappedField

// A mappedField is one field, and what lies inside it.
type mappedField struct {
	id int // None if it has none
	in mappedFields
}

// NameMapping parses the table's name mapping; a table without one returns nil.
func (t *Table) NameMapping() (*NameMapping, error) {
	text := t.Properties["schema.name-mapping.default"]
	if text == "" {
		return nil, nil //nolint:nilnil // having none is no error
	}
	s := jsonscan.New([]byte(text))
	m := &NameMapping{fields: parseMapped(s, 0)}
	if err := s.End(); err != nil {
		return nil, fmt.Errorf("parse name mapping: %w", err)
	}
	return m, nil
}

// Field returns the id of the field at a path of names, where lists and maps
// have "element", "key" and "value". No mapping maps nothing.
func (m *NameMapping) Field(path []string) (id int, ok bool) {
	if m == nil || len(path) == 0 {
		return 0, false
	}
	fields, id := m.fields, None
	for _, name := range path {
		f := fields[name]
		if f == nil {
			return 0, false
		}
		fields, id = f.in, f.id
	}
	return id, id != None
}

// parseMapped parses the fields of a mapping. A name that stands for two of them
// is an error: the spec wants names to be different within a level.
func parseMapped(s *jsonscan.Scanner, depth int) mappedFields {
	if depth > maxTypeDepth {
		s.Wrap(over("fields inside fields", int64(depth), maxTypeDepth))
		return nil
	}
	fields := mappedFields{}
	s.Array(func(int) {
		f := &mappedField{id: None}
		var names []string
		var m members
		s.Object(func(name string) {
			switch m.see(name); name {
			case "field-id":
				if !s.Null() {
					f.id = s.Int32()
				}
			case "names":
				s.Array(func(int) { names = append(names, s.String()) })
			case "fields":
				f.in = parseMapped(s, depth+1)
			default:
				s.Skip()
			}
		})
		m.need(s, "mapped field", "names")
		for _, name := range names {
			if other := fields[name]; s.Err() == nil && other != nil && other != f {
				s.Failf("the name %q stands for two fields", name)
			}
			fields[name] = f
		}
	})
	return fields
}
