package parquet_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/parquet"
)

// mapping is a name mapping; it keeps what it was asked.
type mapping struct {
	ids   map[string]int
	asked []string
}

func (m *mapping) name(path []string) (int, bool) {
	p := strings.Join(path, ".")
	m.asked = append(m.asked, p)
	n, ok := m.ids[p]
	return n, ok
}

// Lists and maps come in many encodings; a mapping knows one name for each.
func TestNameMapping(t *testing.T) {
	repeated := func(name string, more ...field) value { return leaf(name, 2, more...) }
	tests := []struct {
		name   string
		schema list
		asked  []string
	}{
		{"flat", list{root(2), leaf("a", 0), leaf("b.c", 0)}, []string{"a", "b.c"}},
		{"struct", list{root(1), group("s", 1, 1), group("t", 0, 1), leaf("a", 0)}, []string{"s", "s.t", "s.t.a"}},
		{"list", list{root(1), group("l", 1, 1, kind(3)), group("list", 2, 1), leaf("element", 1)}, []string{"l", "l.element"}},
		{"list of other names", list{root(1), group("l", 1, 1, converted(3)), group("bag", 2, 1), leaf("array_element", 1)}, []string{"l", "l.element"}},
		{"list in two layers", list{root(1), group("l", 1, 1, converted(3)), repeated("element")}, []string{"l", "l.element"}},
		{"list of a struct of two", list{root(1), group("l", 1, 1, converted(3)), group("x", 2, 2), leaf("a", 0), leaf("b", 0)}, []string{"l", "l.element", "l.element.a", "l.element.b"}},
		{"list of struct array", list{root(1), group("l", 1, 1, converted(3)), group("array", 2, 1), leaf("a", 0)}, []string{"l", "l.element", "l.element.a"}},
		{"list of struct tuple", list{root(1), group("l", 1, 1, converted(3)), group("l_tuple", 2, 1), leaf("a", 0)}, []string{"l", "l.element", "l.element.a"}},
		{"list of a repeated field", list{root(1), group("l", 1, 1, converted(3)), group("x", 2, 1), repeated("a")}, []string{"l", "l.element", "l.element.a"}},
		{"list of lists", list{root(1), group("l", 1, 1, kind(3)), group("list", 2, 1), group("element", 1, 1, kind(3)), group("list", 2, 1), leaf("element", 1)}, []string{"l", "l.element", "l.element.element"}},
		{"list of lists in two layers", list{root(1), group("l", 1, 1, kind(3)), group("array", 2, 1, kind(3)), repeated("array")}, []string{"l", "l.element", "l.element.element"}},
		{"list in three layers within two", list{root(1), group("l", 1, 1, kind(3)), group("array", 2, 1, kind(3)), group("bag", 2, 1), leaf("x", 1)}, []string{"l", "l.element", "l.element.element"}},
		{"list of maps in two layers", list{root(1), group("l", 1, 1, kind(3)), group("array", 2, 1, kind(2)), group("map", 2, 2), leaf("k", 0), leaf("v", 0)}, []string{"l", "l.element", "l.element.key", "l.element.value"}},
		{"map", list{root(1), group("m", 1, 1, kind(2)), group("key_value", 2, 2), leaf("key", 0), leaf("value", 1)}, []string{"m", "m.key", "m.value"}},
		{"map of other names", list{root(1), group("m", 1, 1, converted(1)), group("map", 2, 2, converted(2)), leaf("k", 0), group("v", 1, 1), leaf("a", 0)}, []string{"m", "m.key", "m.value", "m.value.a"}},
		{"map as key-values", list{root(1), group("m", 1, 1, converted(2)), group("map", 2, 2), leaf("k", 0), leaf("v", 0)}, []string{"m", "m.key", "m.value"}},
		{"map without values", list{root(1), group("m", 1, 1, kind(2)), group("key_value", 2, 1), leaf("key", 0)}, []string{"m", "m.key"}},
		{"bare repetition", list{root(2), repeated("a"), group("g", 2, 1), leaf("b", 0)}, []string{"a", "g", "g.b"}},
		{"a list that is none", list{root(1), group("l", 1, 2, kind(3)), leaf("a", 0), leaf("b", 0)}, []string{"l", "l.a", "l.b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &mapping{ids: map[string]int{}}
			for i, p := range tt.asked {
				m.ids[p] = 10 + i
			}
			l := mustParse(t, file(data, schemaOf(tt.schema...)), parquet.Options{Names: m.name})
			if diff := cmp.Diff(tt.asked, m.asked); diff != "" {
				t.Error(diff)
			}
			if got, want := l.Column(l.NumColumns()-1).Field, 10+len(tt.asked)-1; got != want || l.HasFieldIDs() {
				t.Errorf("last column has id %d, want %d; ids of its own: %v", got, want, l.HasFieldIDs())
			}
		})
	}
}

// A file with any id of its own is read by its ids alone.
func TestNameMappingYieldsToIDs(t *testing.T) {
	m := &mapping{ids: map[string]int{"a": 5, "b": 6}}
	got := columnsOf(t, parquet.Options{Names: m.name}, root(2), leaf("a", 0, id(1)), leaf("b", 0))
	if diff := cmp.Diff([]string{"a #1 def 0 rep 0", "b #-1 def 0 rep 0"}, got); diff != "" || m.asked != nil {
		t.Errorf("asked %v: %s", m.asked, diff)
	}
}

// A column the mapping does not know, or knows under no possible id, has none.
func TestNameMappingGaps(t *testing.T) {
	m := &mapping{ids: map[string]int{"a": 1 << 40, "b": -3, "c": 0}}
	got := columnsOf(t, parquet.Options{Names: m.name}, root(4), leaf("a", 0), leaf("b", 0), leaf("c", 0), leaf("d", 0))
	want := []string{"a #-1 def 0 rep 0", "b #-1 def 0 rep 0", "c #0 def 0 rep 0", "d #-1 def 0 rep 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
