package iceberg

import (
	"strings"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// A TransformKind is what a transform does.
type TransformKind uint8

// The kinds of transforms. A transform that is not known here keeps its name:
// partitions by it cannot be understood, but the table can be read.
const (
	Other TransformKind = iota
	Identity
	Bucket
	Truncate
	Year
	Month
	Day
	Hour
	Void
)

// A Transform turns values of columns into partition or sort values.
type Transform struct {
	Kind TransformKind
	N    int    // buckets, or width of a truncation
	Name string // as it was written
}

// String returns the transform as it was written.
func (t Transform) String() string { return t.Name }

// parseTransform parses a transform. Like Java's, it takes any case.
func parseTransform(text string) Transform {
	name, t := strings.ToLower(text), Transform{Name: text}
	switch name {
	case "identity":
		t.Kind = Identity
	case "year":
		t.Kind = Year
	case "month":
		t.Kind = Month
	case "day":
		t.Kind = Day
	case "hour":
		t.Kind = Hour
	case "void":
		t.Kind = Void
	}
	if inner, ok := cutAround(name, "bucket[", "]"); ok {
		if n, ok := number(inner); ok && n > 0 {
			t.Kind, t.N = Bucket, n
		}
	}
	if inner, ok := cutAround(name, "truncate[", "]"); ok {
		if n, ok := number(inner); ok && n > 0 {
			t.Kind, t.N = Truncate, n
		}
	}
	return t
}

// A PartitionField is one field of a partition.
type PartitionField struct {
	ID        int // of the partition field, from 1000 on
	Sources   []int
	Name      string
	Transform Transform
}

// A Spec is one partition spec of a table.
type Spec struct {
	ID     int
	Fields []PartitionField
}

// Field returns the partition field with an id.
func (s *Spec) Field(id int) (*PartitionField, bool) {
	for i := range s.Fields {
		if s.Fields[i].ID == id {
			return &s.Fields[i], true
		}
	}
	return nil, false
}

// firstPartitionID is the id of the first partition field of a table.
const firstPartitionID = 1000

// parseSpec parses a partition spec.
func parseSpec(s *jsonscan.Scanner) Spec {
	var spec Spec
	var m members
	s.Object(func(name string) {
		switch m.see(name); name {
		case "spec-id":
			spec.ID = s.Int32()
		case "fields":
			spec.Fields = parsePartitionFields(s)
		default:
			s.Skip()
		}
	})
	m.need(s, "partition spec", "spec-id", "fields")
	return spec
}

// parsePartitionFields parses the fields of a spec. Version 1 did not write
// their ids, which then count from 1000 in each spec; some but not all is an
// error, as it is in Java.
func parsePartitionFields(s *jsonscan.Scanner) []PartitionField {
	fields := []PartitionField{}
	with := 0
	s.Array(func(i int) {
		f := PartitionField{ID: firstPartitionID + i}
		var m members
		s.Object(func(name string) {
			switch m.see(name); name {
			case "field-id":
				f.ID = s.Int32()
				with++
			case "source-id":
				if id := s.Int32(); f.Sources == nil {
					f.Sources = []int{id}
				}
			case "source-ids":
				f.Sources = parseInts(s)
			case "name":
				f.Name = s.String()
			case "transform":
				f.Transform = parseTransform(s.String())
			default:
				s.Skip()
			}
		})
		m.need(s, "partition field", "name", "transform")
		if s.Err() == nil && len(f.Sources) == 0 {
			s.Fail("partition field without source-id")
		}
		fields = append(fields, f)
	})
	if s.Err() == nil && with != 0 && with != len(fields) {
		s.Failf("partition spec with %d field ids for %d fields", with, len(fields))
	}
	seen := make(map[int]bool, len(fields))
	for i := range fields {
		if seen[fields[i].ID] && s.Err() == nil {
			s.Failf("partition field %d comes twice in a spec", fields[i].ID)
		}
		seen[fields[i].ID] = true
	}
	return fields
}

// parseInts parses an array of ids.
func parseInts(s *jsonscan.Scanner) []int {
	ids := []int{}
	s.Array(func(int) { ids = append(ids, s.Int32()) })
	return ids
}

// A SortField is one field of a sort order.
type SortField struct {
	Sources    []int
	Transform  Transform
	Descending bool
	NullsLast  bool
}

// A SortOrder is one sort order of a table. Order 0 is unsorted.
type SortOrder struct {
	ID     int
	Fields []SortField
}

// parseSortOrder parses a sort order.
func parseSortOrder(s *jsonscan.Scanner) SortOrder {
	var order SortOrder
	var m members
	s.Object(func(name string) {
		switch m.see(name); name {
		case "order-id":
			order.ID = s.Int32()
		case "fields":
			s.Array(func(int) { order.Fields = append(order.Fields, parseSortField(s)) })
		default:
			s.Skip()
		}
	})
	m.need(s, "sort order", "order-id", "fields")
	if s.Err() == nil && order.ID == 0 && len(order.Fields) > 0 {
		s.Fail("sort order 0 is not unsorted")
	}
	return order
}

// parseSortField parses a field of a sort order.
func parseSortField(s *jsonscan.Scanner) SortField {
	var f SortField
	var direction, nulls string
	var m members
	s.Object(func(name string) {
		switch m.see(name); name {
		case "source-id":
			if id := s.Int32(); f.Sources == nil {
				f.Sources = []int{id}
			}
		case "source-ids":
			f.Sources = parseInts(s)
		case "transform":
			f.Transform = parseTransform(s.String())
		case "direction":
			direction = strings.ToLower(s.String())
		case "null-order":
			nulls = strings.ToLower(s.String())
		default:
			s.Skip()
		}
	})
	m.need(s, "sort field", "transform", "direction", "null-order")
	f.Descending, f.NullsLast = direction == "desc", nulls == "nulls-last"
	switch {
	case s.Err() != nil:
	case len(f.Sources) == 0:
		s.Fail("sort field without source-id")
	case direction != "asc" && direction != "desc":
		s.Failf("sort direction %q", direction)
	case nulls != "nulls-first" && nulls != "nulls-last":
		s.Failf("null order %q", nulls)
	}
	return f
}
