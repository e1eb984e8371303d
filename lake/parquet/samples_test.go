package parquet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
)

func TestSamples(t *testing.T) {
	for name, b := range samples(t) {
		t.Run(name, func(t *testing.T) {
			l, err := parse(b, parquet.Options{})
			if strings.Contains(name, "encrypted") {
				if !errors.Is(err, parquet.ErrEncrypted) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkLayout(t, l)
			if l.Ignored() != 0 {
				t.Errorf("ignored %d", l.Ignored())
			}
			rows := int64(0)
			for g := range l.NumRowGroups() {
				rows += l.RowGroup(g).Rows
				for c := range l.NumColumns() {
					if _, err := l.Stats(g, c); err != nil {
						t.Error(err)
					}
				}
			}
			if rows != l.Rows() || l.CreatedBy() == "" {
				t.Errorf("%d rows in row groups, %d in the file, by %q", rows, l.Rows(), l.CreatedBy())
			}
			checkGaps(t, l, b)
		})
	}
}

// checkGaps demands that nothing is unknown but what some writers put behind a
// chunk for no reader: a copy of its metadata, which ends a struct.
func checkGaps(t *testing.T, l *parquet.Layout, b []byte) {
	t.Helper()
	end := int64(0)
	for p := range l.Parts(laketap.Extent{Len: l.Size()}) {
		e := p.Extent
		if p.Kind == parquet.Unknown && (e.Off != end || e.Len > 200 || b[e.Off+e.Len-1] != 0) {
			t.Errorf("gap of %d bytes at %d: %q", e.Len, e.Off, b[e.Off:e.Off+min(e.Len, 60)])
		}
		if p.Kind == parquet.ColumnChunk || p.Kind == parquet.Dictionary {
			end = e.Off + e.Len
		}
	}
}

// What a sample is for is in it.
func TestSampleFeatures(t *testing.T) {
	files := samples(t)
	tests := []struct {
		name string
		has  func(*parquet.Layout) bool
	}{
		{"pyarrow_ids.parquet", func(l *parquet.Layout) bool { return l.Column(3).Field == 103 && l.NumRowGroups() == 2 }},
		{"pyarrow_index.parquet", func(l *parquet.Layout) bool {
			return l.Chunk(2, 8).OffsetIndex.Len > 0 && l.Chunk(0, 0).ColumnIndex.Len > 0
		}},
		{"pyarrow_bloom.parquet", func(l *parquet.Layout) bool { return l.Chunk(1, 0).Bloom.Len > 0 }},
		{"pyarrow_plain.parquet", func(l *parquet.Layout) bool { return l.Chunk(0, 0).Dictionary.Len == 0 }},
		{"pyarrow_brotli.parquet", func(l *parquet.Layout) bool { return l.Chunk(0, 1).Codec == parquet.Brotli }},
		{"pyarrow_lz4.parquet", func(l *parquet.Layout) bool { return l.Chunk(0, 1).Codec == parquet.LZ4Raw }},
		{"pyarrow_split.parquet", func(l *parquet.Layout) bool { return l.Chunk(0, 1).Encodings.Has(parquet.ByteStreamSplit) }},
		{"pyarrow_summary.parquet", func(l *parquet.Layout) bool { return l.Chunk(0, 0).External }},
		{"pyarrow_empty.parquet", func(l *parquet.Layout) bool { return l.Rows() == 0 && l.NumColumns() == 9 }},
		{"duckdb_ids.parquet", func(l *parquet.Layout) bool { return l.Column(0).Field == 7 && l.Column(1).Field == 9 }},
		{"duckdb_groups.parquet", func(l *parquet.Layout) bool { return l.NumRowGroups() == 3 && l.Chunk(0, 0).Codec == parquet.Gzip }},
		{"datafusion_bloom.parquet", func(l *parquet.Layout) bool { return l.Chunk(0, 3).Bloom.Len > 0 }},
		{"clickhouse_bloom.parquet", func(l *parquet.Layout) bool { return l.Chunk(1, 0).Bloom.Len > 0 }},
		{"spark_bloom.parquet", func(l *parquet.Layout) bool { return l.Chunk(0, 1).Bloom.Len > 0 && l.Chunk(0, 1).OffsetIndex.Len > 0 }},
		{"trino_deletes.parquet", func(l *parquet.Layout) bool { return l.Column(0).Field == 2147483546 && l.NumColumns() == 2 }},
		{"trino_transforms.parquet", func(l *parquet.Layout) bool { return l.Column(0).Kind == parquet.UUID && l.NumColumns() == 16 }},
		{"daft_v2.parquet", func(l *parquet.Layout) bool { return l.Column(14).Field == 15 && l.Rows() > 0 }},
		{"spark_v2.parquet", func(l *parquet.Layout) bool { return l.Chunk(0, 0).Codec == parquet.Gzip }},
	}
	for _, tt := range tests {
		if l := mustParse(t, files[tt.name], parquet.Options{}); !tt.has(l) {
			t.Errorf("%s lacks what it is for", tt.name)
		}
	}
}
