package parquet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
)

func TestSelect(t *testing.T) {
	l := mustParse(t, indexed(), parquet.Options{})
	type sel = parquet.Selection
	tests := []struct {
		name string
		sel  sel
		want [][2]int64
	}{
		{"all", sel{}, [][2]int64{{4, 40}, {50, 40}}},
		{"all, over the gap", sel{Gap: 6}, [][2]int64{{4, 86}}},
		{"gap too small", sel{Gap: 5}, [][2]int64{{4, 40}, {50, 40}}},
		{"a", sel{Fields: []int{1}}, [][2]int64{{4, 20}, {50, 20}}},
		{"b and what is not there", sel{Fields: []int{2, 77}}, [][2]int64{{24, 20}, {70, 20}}},
		{"no field", sel{Fields: []int{}}, nil},
		{"what has no id", sel{Fields: []int{parquet.NoField}}, nil},
		{"second row group", sel{RowGroups: []int{1, 9}}, [][2]int64{{50, 40}}},
		{"no row group", sel{RowGroups: []int{}}, nil},
		{"a with indexes", sel{Fields: []int{1}, RowGroups: []int{0}, Indexes: true}, [][2]int64{{4, 20}, {100, 10}, {150, 1}, {200, 5}}},
		{"all with indexes", sel{Indexes: true, Gap: 4}, [][2]int64{{4, 40}, {50, 40}, {100, 40}, {150, 19}, {200, 20}}},
		{"everything", sel{Indexes: true, Gap: 100}, [][2]int64{{4, 216}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := l.Select(tt.sel)
			var want []laketap.Extent
			for _, e := range tt.want {
				want = append(want, laketap.Extent{Off: e[0], Len: e[1]})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExtents(t *testing.T) {
	l := mustParse(t, indexed(), parquet.Options{})
	if diff := cmp.Diff([]laketap.Extent{{Off: 4, Len: 40}, {Off: 50, Len: 40}}, l.Extents([]int{2, 1, 2})); diff != "" {
		t.Error(diff)
	}
	if got := l.Extents(nil); got != nil {
		t.Errorf("no fields need %v", got)
	}
}

// A filter may lie between the chunks; extents are ascending all the same.
func TestSelectIndexesAmongChunks(t *testing.T) {
	meta := func(off int64, bloom int64) value {
		return rowGroup(chunk(column(off, 10, "a").with(field{14, i64(bloom)}, field{15, i32(6)})))
	}
	l := mustParse(t, file(data, metadata(list{root(1), leaf("a", 0)}, meta(4, 14), meta(20, 40))), parquet.Options{})
	checkLayout(t, l)
	want := []laketap.Extent{{Off: 4, Len: 26}, {Off: 40, Len: 6}}
	if diff := cmp.Diff(want, l.Select(parquet.Selection{Indexes: true})); diff != "" {
		t.Error(diff)
	}
}

// What is read of a column is its chunk, from where it starts for as long as it
// is: page indexes that are too short, as a popular writer leaves them, are
// places whose contents nobody here believes, and a row group's own offset and
// a dictionary at 0 change nothing. Field case P20.
func TestExtentsIgnorePageIndex(t *testing.T) {
	file := func(index string, more ...field) []byte {
		c := chunk(column(4, 40, "a"), field{4, i64(50)}, field{5, i32(8)}, field{6, i64(60)}, field{7, i32(8)})
		b := file(data, metadata(list{root(1), leaf("a", 0, id(1))}, rowGroup(c).with(more...)))
		copy(b[50:58], index)
		copy(b[60:68], index)
		return b
	}
	want := []laketap.Extent{{Off: 4, Len: 40}}
	for name, b := range map[string][]byte{
		"in order": file(""), "zeros": file("\x00\x00\x00\x00\x00\x00\x00\x00"), "endless": file("\xff\xff\xff\xff\xff\xff\xff\xff"),
		"row group elsewhere": file("", field{5, i64(1 << 40)}), "dictionary at 0": indexless(field{11, i64(0)}), "dictionary past the end": indexless(field{11, i64(1 << 50)}),
	} {
		l := mustParse(t, b, parquet.Options{})
		if diff := cmp.Diff(want, l.Extents([]int{1})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if p := l.PartAt(43); p.Kind != parquet.ColumnChunk {
			t.Errorf("%s: the chunk's last byte is of %v", name, p)
		}
	}
}

// indexless is a file of one chunk without indexes.
func indexless(f field) []byte {
	return file(data, metadata(list{root(1), leaf("a", 0, id(1))}, rowGroup(chunk(column(4, 40, "a").with(f)))))
}
