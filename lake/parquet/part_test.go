package parquet_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
)

// indexed is a file of two row groups of two columns whose every part has a
// place: the chunks, then filters, column indexes, offset indexes, with gaps.
func indexed() []byte {
	at := func(c, off int64, name string, k int64) value {
		meta := column(off, 20, name).with(field{11, i64(off)}, field{9, i64(off + 5)}, field{14, i64(100 + 10*k)}, field{15, i32(10)})
		return chunk(meta,
			field{4, i64(200 + 5*k)}, field{5, i32(5)},
			field{6, i64(150 + 5*k)}, field{7, i32(c + 1)})
	}
	meta := metadata(
		list{root(2), leaf("a", 0, id(1)), leaf("b", 1, id(2))},
		rowGroup(at(0, 4, "a", 0), at(1, 24, "b", 1)),
		rowGroup(at(2, 50, "a", 2), at(3, 70, "b", 3)),
	)
	return file(string(make([]byte, 300)), meta)
}

func TestPartAt(t *testing.T) {
	b := indexed()
	l := mustParse(t, b, parquet.Options{})
	checkLayout(t, l)
	size := int64(len(b))
	none := func(kind parquet.Kind, off, n int64) parquet.Part {
		return parquet.Part{Kind: kind, RowGroup: -1, Column: -1, Field: -1, Extent: laketap.Extent{Off: off, Len: n}}
	}
	of := func(kind parquet.Kind, g, c int, off, n int64) parquet.Part {
		return parquet.Part{Kind: kind, RowGroup: g, Column: c, Field: c + 1, Extent: laketap.Extent{Off: off, Len: n}}
	}
	tests := []struct {
		off  int64
		want parquet.Part
	}{
		{math.MinInt64, none(parquet.Unknown, math.MinInt64, 0)},
		{-1, none(parquet.Unknown, -1, 0)},
		{0, none(parquet.Magic, 0, 4)},
		{3, none(parquet.Magic, 0, 4)},
		{4, of(parquet.Dictionary, 0, 0, 4, 5)},
		{8, of(parquet.Dictionary, 0, 0, 4, 5)},
		{9, of(parquet.ColumnChunk, 0, 0, 4, 20)},
		{23, of(parquet.ColumnChunk, 0, 0, 4, 20)},
		{24, of(parquet.Dictionary, 0, 1, 24, 5)},
		{44, none(parquet.Unknown, 44, 6)},
		{49, none(parquet.Unknown, 44, 6)},
		{60, of(parquet.ColumnChunk, 1, 0, 50, 20)},
		{89, of(parquet.ColumnChunk, 1, 1, 70, 20)},
		{90, none(parquet.Unknown, 90, 10)},
		{100, of(parquet.BloomFilter, 0, 0, 100, 10)},
		{139, of(parquet.BloomFilter, 1, 1, 130, 10)},
		{150, of(parquet.ColumnIndex, 0, 0, 150, 1)},
		{151, none(parquet.Unknown, 151, 4)},
		{168, of(parquet.ColumnIndex, 1, 1, 165, 4)},
		{169, none(parquet.Unknown, 169, 31)},
		{204, of(parquet.OffsetIndex, 0, 0, 200, 5)},
		{220, none(parquet.Unknown, 220, 84)},
		{303, none(parquet.Unknown, 220, 84)},
		{304, none(parquet.Footer, 304, size-304)},
		{size - 1, none(parquet.Footer, 304, size-304)},
		{size, none(parquet.Unknown, size, 0)},
		{math.MaxInt64, none(parquet.Unknown, math.MaxInt64, 0)},
	}
	for _, tt := range tests {
		if got := l.PartAt(tt.off); got != tt.want {
			t.Errorf("at %d: %v, want %v", tt.off, got, tt.want)
		}
	}
}

func TestParts(t *testing.T) {
	l := mustParse(t, indexed(), parquet.Options{})
	tests := []struct {
		e    laketap.Extent
		want []string
	}{
		{laketap.Extent{Off: 0, Len: 0}, nil},
		{laketap.Extent{Off: 10, Len: -1}, nil},
		{laketap.Extent{Off: -10, Len: 3}, []string{"magic"}},
		{laketap.Extent{Off: 2, Len: 22}, []string{"magic", "dictionary", "column chunk"}},
		{laketap.Extent{Off: 2, Len: 23}, []string{"magic", "dictionary", "column chunk", "dictionary"}},
		{laketap.Extent{Off: 23, Len: 1}, []string{"column chunk"}},
		{laketap.Extent{Off: 219, Len: math.MaxInt64}, []string{"offset index", "unknown", "footer"}},
		{laketap.Extent{Off: math.MaxInt64, Len: math.MaxInt64}, nil},
	}
	for _, tt := range tests {
		var got []string
		for p := range l.Parts(tt.e) {
			got = append(got, p.Kind.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("parts of %v: %s", tt.e, diff)
		}
	}
	for range l.Parts(laketap.Extent{Len: 100}) {
		break // may stop at any time
	}
}

// Chunks need not lie in the order in which the footer lists them.
func TestPartsOutOfOrder(t *testing.T) {
	b := file(data, metadata(
		list{root(2), leaf("a", 0, id(1)), leaf("b", 0, id(2))},
		rowGroup(chunk(column(64, 20, "a")), chunk(column(44, 20, "b"))),
		rowGroup(chunk(column(84, 20, "a")), chunk(column(4, 40, "b"))),
	))
	l := mustParse(t, b, parquet.Options{})
	checkLayout(t, l)
	var got [][2]int
	for p := range l.Parts(laketap.Extent{Off: 4, Len: 100}) {
		got = append(got, [2]int{p.RowGroup, p.Field})
	}
	if diff := cmp.Diff([][2]int{{1, 2}, {0, 2}, {0, 1}, {1, 1}}, got); diff != "" {
		t.Error(diff)
	}
}

// Locations of indexes and filters that cannot be true are forgotten, and the
// rest of the file keeps its meaning. Field case P20.
func TestStrayLocations(t *testing.T) {
	place := func(f ...field) value { return chunk(column(4, 40, "a"), f...) }
	bloom := func(off, n int64) value {
		return chunk(column(4, 40, "a").with(field{14, i64(off)}, field{15, i32(n)}))
	}
	tests := []struct {
		name    string
		chunk   value
		ignored int
	}{
		{"none", place(), 0},
		{"index outside", place(field{4, i64(1 << 60)}, field{5, i32(5)}), 1},
		{"index at the end", place(field{4, i64(100)}, field{5, i32(4)}), 0},
		{"index into the footer", place(field{4, i64(100)}, field{5, i32(5)}), 1},
		{"index at 2^63-1", place(field{6, i64(math.MaxInt64)}, field{7, i32(math.MaxInt32)}), 1},
		{"index of length -1", place(field{6, i64(50)}, field{7, i32(-1)}), 1},
		{"index without length", place(field{6, i64(50)}), 1},
		{"index without offset", place(field{7, i32(9)}), 1},
		{"index over its chunk", place(field{6, i64(40)}, field{7, i32(9)}), 1},
		{"index over the magic", place(field{6, i64(1)}, field{7, i32(2)}), 1},
		{"both indexes over one another", place(field{4, i64(50)}, field{5, i32(9)}, field{6, i64(58)}, field{7, i32(9)}), 2},
		{"both side by side", place(field{4, i64(50)}, field{5, i32(9)}, field{6, i64(59)}, field{7, i32(9)}), 0},
		{"filter outside", bloom(1<<40, 9), 1},
		{"filter negative", bloom(-1, -1), 1},
		{"filter over its chunk", bloom(4, 40), 1},
		{"filter without length", bloom(50, 0), 0},
		{"filter outside without length", bloom(500, 0), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := mustParse(t, file(data, one(tt.chunk)), parquet.Options{})
			checkLayout(t, l)
			if l.Ignored() != tt.ignored {
				t.Errorf("ignored %d, want %d", l.Ignored(), tt.ignored)
			}
			if p := l.PartAt(43); p.Kind != parquet.ColumnChunk {
				t.Errorf("the chunk's last byte is of %v", p)
			}
		})
	}
}

// A filter whose length is not told is a place, but explains no byte.
func TestBloomWithoutLength(t *testing.T) {
	l := mustParse(t, file(data, one(chunk(column(4, 40, "a").with(field{14, i64(50)})))), parquet.Options{})
	if got, want := l.Chunk(0, 0).Bloom, (laketap.Extent{Off: 50}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if p := l.PartAt(50); p.Kind != parquet.Unknown {
		t.Errorf("got %v", p)
	}
}

// Three indexes over one another are all forgotten; the fourth stays.
func TestIndexesOverOneAnother(t *testing.T) {
	c := func(off, at, n int64) value {
		return rowGroup(chunk(column(off, 10, "a"), field{4, i64(at)}, field{5, i32(n)}))
	}
	b := file(data, metadata(list{root(1), leaf("a", 0)}, c(4, 60, 20), c(14, 62, 3), c(24, 64, 2), c(34, 80, 4)))
	l := mustParse(t, b, parquet.Options{})
	checkLayout(t, l)
	if l.Ignored() != 3 || l.PartAt(65).Kind != parquet.Unknown || l.PartAt(80).Kind != parquet.OffsetIndex {
		t.Errorf("ignored %d, %v, %v", l.Ignored(), l.PartAt(65), l.PartAt(80))
	}
}

func TestDictionaryAlone(t *testing.T) {
	b := file(data, one(chunk(column(0, 14, "a").with(field{5, i64(0)}, field{11, i64(4)}))))
	l := mustParse(t, b, parquet.Options{})
	want := laketap.Extent{Off: 4, Len: 14}
	if k := l.Chunk(0, 0); k.Extent != want || k.Dictionary != want {
		t.Errorf("got %+v", k)
	}
}

// Chunks of a "_metadata" file lie elsewhere: nothing here is theirs.
func TestExternalChunks(t *testing.T) {
	l := mustParse(t, file(data, one(chunk(column(4, 40, "a"), field{1, str("part-0.parquet")}))), parquet.Options{})
	k := l.Chunk(0, 0)
	if !k.External || k.Extent != (laketap.Extent{}) || k.Values != 10 {
		t.Errorf("got %+v", k)
	}
	if p := l.PartAt(10); p.Kind != parquet.Unknown || l.RowGroup(0).Compressed != 0 {
		t.Errorf("got %v", p)
	}
	if got := l.Select(parquet.Selection{}); got != nil {
		t.Errorf("selects %v", got)
	}
}

func TestNoSuchColumnPanics(t *testing.T) {
	l := mustParse(t, indexed(), parquet.Options{})
	defer func() {
		if recover() == nil {
			t.Error("column 2 of row group 0 was taken for column 0 of row group 1")
		}
	}()
	l.Chunk(0, 2)
}
