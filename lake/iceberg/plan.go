package iceberg

import "github.com/laketap/laketap/lake/iceberg/avro"

// A part is a field of a manifest's or manifest list's records that means
// something to us. The zero part is passed over.
type part uint8

// A shape is what a field must be encoded as for us to read it.
type shape uint8

const (
	wholeNumber shape = iota // int or long
	truth
	text // string, or bytes as some writers have it
	blob
	record
	numberList  // array of ints or longs
	numberMap   // array of {key int, value long}
	blobMap     // array of {key int, value bytes}
	summaryList // array of records
)

// A known is a field that the format defines.
type known struct {
	part     part
	id       int
	name     string
	former   string // name of it in the past, if another
	shape    shape
	required bool
	want     Want // 0 if always decoded
}

// A step decodes, or passes over, one field of a record.
type step struct {
	part part
	null int        // branch of null, -1 if the field is not optional
	need string     // name of a field that is null in no file that is right; "" of others
	typ  *avro.Type // of the field, without the option
	in   []step     // of a record, or of the elements of a list
}

// plan works out how to decode the records of a type: what the format defines
// and is wanted, in the writer's order, and how to pass over the rest. Fields
// are found by id; by name only where the writer gave no id.
func plan(t *avro.Type, fields []known, want Want) ([]step, error) {
	if t.Kind != avro.Record {
		return nil, malformed("records expected, found another type")
	}
	steps := make([]step, 0, len(t.Fields))
	seen := map[part]bool{}
	for _, f := range t.Fields {
		k := find(fields, f)
		if k == nil {
			steps = append(steps, step{null: -1, typ: f.Type})
			continue
		}
		if seen[k.part] {
			return nil, malformed("field %d comes twice in the schema", k.id)
		}
		seen[k.part] = true
		if k.want != 0 && k.want&want == 0 {
			steps = append(steps, step{null: -1, typ: f.Type})
			continue
		}
		s := step{part: k.part}
		if k.required { // some writers make everything optional
			s.need = k.name
		}
		if s.typ, s.null = f.Type.Optional(); s.typ.Kind == avro.Null {
			if k.required {
				return nil, malformed("the field %s is never there", k.name)
			}
			steps = append(steps, step{null: -1, typ: f.Type})
			continue
		}
		var err error
		if s.in, err = fit(s.typ, k.shape); err != nil {
			return nil, unsupported("field %s: %v", f.Name, err)
		}
		steps = append(steps, s)
	}
	for _, k := range fields {
		if k.required && !seen[k.part] {
			return nil, malformed("the schema lacks the field %s", k.name)
		}
	}
	return steps, nil
}

// find returns what a writer's field is, nil if it is not known.
func find(fields []known, f avro.Field) *known {
	for i := range fields {
		k := &fields[i]
		if f.ID >= 0 && f.ID == k.id || f.ID < 0 && (f.Name == k.name || f.Name == k.former) {
			return k
		}
	}
	return nil
}

// fit returns an error if a type is not encoded in a shape that we read, else
// how to decode the elements, of shapes that have some.
func fit(t *avro.Type, s shape) ([]step, error) {
	ok := false
	switch s {
	case wholeNumber:
		ok = t.Kind == avro.Int || t.Kind == avro.Long
	case truth:
		ok = t.Kind == avro.Boolean
	case text, blob:
		ok = t.Kind == avro.String || t.Kind == avro.Bytes
	case record:
		ok = t.Kind == avro.Record
	case numberList:
		ok = t.Kind == avro.Array && (t.Elem.Kind == avro.Int || t.Elem.Kind == avro.Long)
	case summaryList:
		ok = t.Kind == avro.Array && t.Elem.Kind == avro.Record
		if ok {
			return plan(t.Elem, summaryFields(), WantAll)
		}
	case numberMap, blobMap:
		ok = t.Kind == avro.Array && t.Elem.Kind == avro.Record
		if ok {
			return planPairs(t.Elem, s)
		}
	}
	if !ok {
		return nil, unsupported("unexpected type")
	}
	return nil, nil
}

// The parts of a pair.
const (
	pairKey part = iota + 1
	pairValue
)

// planPairs works out how to decode the pairs of a map that is written as an
// array. Its ids differ from map to map, so names tell key and value apart.
func planPairs(t *avro.Type, s shape) ([]step, error) {
	value := wholeNumber
	if s == blobMap {
		value = blob
	}
	fields := []known{
		{part: pairKey, id: -2, name: "key", shape: wholeNumber, required: true},
		{part: pairValue, id: -2, name: "value", shape: value, required: true},
	}
	for i, f := range t.Fields {
		for j := range fields {
			if f.Name == fields[j].name {
				fields[j].id = t.Fields[i].ID
			}
		}
	}
	steps, err := plan(t, fields, WantAll)
	for _, st := range steps {
		if err == nil && st.part != 0 && st.null >= 0 {
			err = unsupported("optional key or value")
		}
	}
	return steps, err
}

// present decodes whether an optional field is there.
func (s *step) present(c *avro.Cursor) bool {
	if s.null < 0 {
		return true
	}
	branch := c.Long()
	if branch != 0 && branch != 1 {
		c.Fail("branch %d of a union of 2", branch)
	}
	if there := branch != int64(s.null); there || s.need == "" {
		return there && c.Err() == nil
	}
	c.Fail("%s is null", s.need)
	return false
}
