package parquet_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/parquet"
)

// statsOf reads a file whose one chunk, of ten values, has these statistics.
func statsOf(t *testing.T, opts parquet.Options, stats ...field) (parquet.Stats, error) {
	t.Helper()
	meta := column(4, 40, "a")
	if stats != nil {
		meta = meta.with(field{12, obj(stats)})
	}
	return mustParse(t, file(data, one(chunk(meta))), opts).Stats(0, 0)
}

// What a writer did not count is unknown, not 0. Field case P14.
func TestStats(t *testing.T) {
	none := parquet.Stats{Nulls: -1, Distinct: -1, NaNs: -1}
	tests := []struct {
		name string
		in   []field
		want parquet.Stats
	}{
		{"absent", nil, none},
		{"empty", []field{}, none},
		{
			"all",
			[]field{
				{1, str("y")},
				{2, str("c")},
				{3, i64(0)},
				{4, i64(4)},
				{5, str("z")},
				{6, str("b")},
				{7, flag(false)},
				{8, flag(true)},
				{9, i64(2)},
			},
			parquet.Stats{
				Min: []byte("b"), Max: []byte("z"), MinExact: parquet.Exact, MaxExact: parquet.Inexact,
				OldMin: []byte("c"), OldMax: []byte("y"), Nulls: 0, Distinct: 4, NaNs: 2,
			},
		},
		{"empty bounds", []field{{5, str("")}, {6, str("")}}, parquet.Stats{Min: []byte{}, Max: []byte{}, Nulls: -1, Distinct: -1, NaNs: -1}},
		{"one bound", []field{{6, str("b")}, {77, list{str("new")}}}, parquet.Stats{Min: []byte("b"), Nulls: -1, Distinct: -1, NaNs: -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := statsOf(t, parquet.Options{}, tt.in...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			got, err = statsOf(t, parquet.Options{DropFooter: true}, tt.in...)
			if diff := cmp.Diff(none, got); diff != "" || err != nil {
				t.Errorf("with the footer dropped: %v %s", err, diff)
			}
		})
	}
}

// Bad statistics are an error when they are asked for; the map of the file is
// right all the same.
func TestMalformedStats(t *testing.T) {
	for name, f := range map[string]field{
		"minimum no string": {6, i64(1)},
		"negative nulls":    {3, i64(-1)},
		"nulls no number":   {3, str("1")},
		"exact no boolean":  {7, i32(1)},
		"maximum twice":     {5, str("y")},
		"nulls over all":    {3, i64(11)},
		"distinct over all": {4, i64(11)},
		"NaNs over all":     {9, i64(1 << 62)},
	} {
		got, err := statsOf(t, parquet.Options{}, field{5, str("z")}, f)
		if !errors.Is(err, parquet.ErrMalformed) || got.Max != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
