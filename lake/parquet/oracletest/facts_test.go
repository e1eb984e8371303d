package oracletest_test

import (
	"fmt"
	"strings"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
)

// facts are what both readers must tell of a file, in words of neither.
type facts struct {
	Version          int
	Rows             int64
	CreatedBy        string
	KeyValues        []string
	Columns          []columnFacts
	Groups           []groupFacts
	FirstRowGroupRow []int64 // rows before each row group
}

type columnFacts struct {
	Path     string
	Field    int
	Type     string
	Length   int // of FIXED_LEN_BYTE_ARRAY
	Logical  parquet.Logical
	Def, Rep int
	Order    int // the member of union ColumnOrder; 0: none
}

type groupFacts struct {
	Rows, Bytes int64
	Chunks      []chunkFacts
}

type chunkFacts struct {
	Off, Len, Data           int64 // the range to read, and its first data page
	Values, Raw              int64
	Codec                    string
	Encodings                string
	ColumnIndex, OffsetIndex laketap.Extent
	Bloom                    laketap.Extent
	Stats                    string
}

// factsOf reads a layout out.
func factsOf(l *parquet.Layout) (facts, error) {
	f := facts{Version: l.Version(), Rows: l.Rows(), CreatedBy: l.CreatedBy()}
	for k, v := range l.KeyValues() {
		f.KeyValues = append(f.KeyValues, k+"="+v)
	}
	for c := range l.NumColumns() {
		f.Columns = append(f.Columns, columnOf(l, c))
	}
	rows := int64(0)
	for g := range l.NumRowGroups() {
		f.FirstRowGroupRow = append(f.FirstRowGroupRow, rows)
		rows += l.RowGroup(g).Rows
		group := groupFacts{Rows: l.RowGroup(g).Rows, Bytes: l.RowGroup(g).Uncompressed}
		for c := range l.NumColumns() {
			k, err := chunkOf(l, g, c)
			if err != nil {
				return f, err
			}
			group.Chunks = append(group.Chunks, k)
		}
		f.Groups = append(f.Groups, group)
	}
	return f, nil
}

// columnOf reads a column out.
func columnOf(l *parquet.Layout, c int) columnFacts {
	k := l.Column(c)
	f := columnFacts{
		Path: strings.Join(l.Path(c), "."), Field: k.Field, Type: k.Type.String(),
		Logical: k.Logical, Def: k.MaxDefinition, Rep: k.MaxRepetition, Order: int(k.Order),
	}
	if k.Type == parquet.FixedLenByteArray {
		f.Length = k.Length
	}
	return f
}

// chunkOf reads a chunk out.
func chunkOf(l *parquet.Layout, g, c int) (chunkFacts, error) {
	k := l.Chunk(g, c)
	s, err := l.Stats(g, c)
	if err != nil {
		return chunkFacts{}, err
	}
	f := chunkFacts{
		Off: k.Extent.Off, Len: k.Extent.Len, Data: k.Extent.Off + k.Dictionary.Len,
		Values: k.Values, Raw: k.Uncompressed,
		Codec: k.Codec.String(), Encodings: k.Encodings.String(),
		ColumnIndex: k.ColumnIndex, OffsetIndex: k.OffsetIndex, Bloom: k.Bloom,
		Stats: statsText(s.OldMin, s.OldMax, s.Min, s.Max, s.Nulls, s.Distinct, s.NaNs, int(s.MinExact), int(s.MaxExact)),
	}
	return f, nil
}

// statsText is one text for the statistics of either reader; counts of -1 and
// exactness of 0 are absent, as nil bounds are.
func statsText(oldMin, oldMax, lo, hi []byte, nulls, distinct, nans int64, loExact, hiExact int) string {
	bound := func(b []byte) string {
		if b == nil {
			return "-"
		}
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("old %s %s new %s %s nulls %d distinct %d nan %d exact %d %d",
		bound(oldMin), bound(oldMax), bound(lo), bound(hi), nulls, distinct, nans, loExact, hiExact)
}
