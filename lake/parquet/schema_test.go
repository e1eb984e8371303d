package parquet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/parquet"
)

func kind(n int) field      { return field{10, obj{{n, obj{}}}} }
func converted(n int) field { return field{6, i32(n)} }

// columnsOf reads a file of this schema and no rows.
func columnsOf(t *testing.T, opts parquet.Options, elements ...value) []string {
	t.Helper()
	l := mustParse(t, file(data, schemaOf(elements...)), opts)
	checkLayout(t, l)
	got := make([]string, 0, l.NumColumns())
	for c := range l.NumColumns() {
		k := l.Column(c)
		got = append(got, fmt.Sprintf("%s #%d def %d rep %d", strings.Join(l.Path(c), "."), k.Field, k.MaxDefinition, k.MaxRepetition))
	}
	return got
}

// nestedSchema has a struct, a list of structs in three layers, a map, and a
// shredded variant, whose parts have no ids.
func nestedSchema() list {
	return list{
		root(4),
		group("p", 1, 2, id(1)), leaf("x", 0, id(2)), leaf("y", 1, id(3)),
		group("l", 1, 1, id(4), kind(3)), group("list", 2, 1), group("element", 1, 1, id(5)), leaf("z", 0, id(6)),
		group("m", 0, 1, id(7), converted(1)), group("key_value", 2, 2), leaf("key", 0, id(8)), leaf("value", 1, id(9)),
		group("v", 1, 2, id(10), kind(16)), leaf("metadata", 0), group("typed_value", 1, 1), leaf("value", 1),
	}
}

func TestColumns(t *testing.T) {
	want := []string{
		"p.x #2 def 1 rep 0",
		"p.y #3 def 2 rep 0",
		"l.list.element.z #6 def 3 rep 1",
		"m.key_value.key #8 def 1 rep 1",
		"m.key_value.value #9 def 2 rep 1",
		"v.metadata #10 def 1 rep 0",
		"v.typed_value.value #10 def 3 rep 0",
	}
	if diff := cmp.Diff(want, columnsOf(t, parquet.Options{}, nestedSchema()...)); diff != "" {
		t.Error(diff)
	}
	l := mustParse(t, file(data, schemaOf(nestedSchema()...)), parquet.Options{})
	tests := []struct{ fields, want []int }{
		{[]int{1}, []int{0, 1}},
		{[]int{3}, []int{1}},
		{[]int{5}, []int{2}},
		{[]int{4, 9}, []int{2, 4}},
		{[]int{10}, []int{5, 6}},
		{[]int{-1, 0, 99}, nil},
		{nil, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, l.Columns(tt.fields)); diff != "" {
			t.Errorf("columns of %v: %s", tt.fields, diff)
		}
	}
}

// Negative ids are what some writers put for none.
func TestNegativeIDs(t *testing.T) {
	got := columnsOf(t, parquet.Options{}, root(2), leaf("a", 0, id(-1)), leaf("b", 0, id(-1<<31)))
	if diff := cmp.Diff([]string{"a #-1 def 0 rep 0", "b #-1 def 0 rep 0"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLogical(t *testing.T) {
	unit := func(n int) field { return field{2, obj{{n, obj{}}}} }
	type l = parquet.Logical
	tests := []struct {
		name  string
		field field
		want  l
	}{
		{"string", kind(1), l{Kind: parquet.String}},
		{"old string", converted(0), l{Kind: parquet.String}},
		{"decimal", field{10, obj{{5, obj{{1, i32(2)}, {2, i32(38)}}}}}, l{Kind: parquet.Decimal, Scale: 2, Precision: 38}},
		{"time", field{10, obj{{7, obj{{1, flag(false)}, unit(2)}}}}, l{Kind: parquet.Time, Unit: parquet.Micros}},
		{"timestamp", field{10, obj{{8, obj{{1, flag(true)}, unit(3)}}}}, l{Kind: parquet.Timestamp, Unit: parquet.Nanos, UTC: true}},
		{"timestamp in a new unit", field{10, obj{{8, obj{{1, flag(true)}, unit(4)}}}}, l{Kind: parquet.Timestamp, UTC: true}},
		{"old timestamp", converted(9), l{Kind: parquet.Timestamp, Unit: parquet.Millis, UTC: true}},
		{"integer", field{10, obj{{10, obj{{1, raw{3, "\x10"}}, {2, flag(true)}}}}}, l{Kind: parquet.Integer, Bits: 16, Signed: true}},
		{"old unsigned", converted(14), l{Kind: parquet.Integer, Bits: 64}},
		{"geometry", field{10, obj{{17, obj{{1, str("OGC:CRS84")}}}}}, l{Kind: parquet.Geometry}},
		{"old interval", converted(21), l{Kind: parquet.Interval}},
		{"new", kind(33), l{Kind: parquet.OtherLogical}},
		{"retired number", kind(9), l{Kind: parquet.OtherLogical}},
		{"old and unknown", converted(22), l{}},
		{"none of the union", field{10, obj{}}, l{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := file(data, schemaOf(root(1), leaf("a", 0, tt.field)))
			got := mustParse(t, b, parquet.Options{}).Column(0).Logical
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	scaled := file(data, schemaOf(root(1), leaf("a", 0, converted(5), field{7, i32(3)}, field{8, i32(9)}, field{1, i32(7)}, field{2, i32(4)})))
	want := parquet.Column{
		Name: "a", Field: -1, Type: parquet.FixedLenByteArray, Length: 4,
		Logical: l{Kind: parquet.Decimal, Scale: 3, Precision: 9},
	}
	if diff := cmp.Diff(want, mustParse(t, scaled, parquet.Options{}).Column(0)); diff != "" {
		t.Error(diff)
	}
}

func TestEnumNames(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{
		"INT96":                  parquet.Int96,
		"Type(9)":                parquet.Physical(9),
		"ZSTD":                   parquet.Zstd,
		"CompressionCodec(200)":  parquet.Codec(200),
		"RLE_DICTIONARY":         parquet.RLEDictionary,
		"Encoding(1)":            parquet.Encoding(1),
		"PLAIN RLE Encoding(31)": parquet.Encodings(1<<parquet.Plain | 1<<parquet.RLE | 1<<parquet.OtherEncoding),
		"INTERVAL":               parquet.Interval,
		"LogicalType(255)":       parquet.OtherLogical,
		"VARIANT":                parquet.Variant,
		"bloom filter":           parquet.BloomFilter,
	} {
		if got.String() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if parquet.NoLogical.String() != "" {
		t.Error("no logical type has a name")
	}
}
