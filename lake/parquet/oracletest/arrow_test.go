package oracletest_test

import (
	"fmt"
	"strings"

	arrow "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
	"github.com/laketap/laketap/lake/parquet/oracletest"
)

// arrowFacts reads a file with arrow-go, which panics on some bad ones.
func arrowFacts(file []byte) (f facts, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("arrow-go panics: %v", p)
		}
	}()
	m, err := metadata.NewFileMetaData(oracletest.Metadata(file), nil)
	if err != nil {
		return f, err
	}
	f = facts{Version: int(m.FileMetaData.Version), Rows: m.NumRows, CreatedBy: m.GetCreatedBy()}
	for _, kv := range m.FileMetaData.KeyValueMetadata {
		f.KeyValues = append(f.KeyValues, kv.Key+"="+kv.GetValue())
	}
	for c := range m.Schema.NumColumns() {
		k := arrowColumn(m.Schema.Column(c))
		if m.IsSetColumnOrders() {
			switch order := m.ColumnOrders[c]; {
			case order.IsSetTYPE_ORDER():
				k.Order = 1
			case order.IsSetIEEE_754_TOTAL_ORDER():
				k.Order = 2
			}
		}
		f.Columns = append(f.Columns, k)
	}
	rows := int64(0)
	for g, group := range m.RowGroups {
		f.FirstRowGroupRow = append(f.FirstRowGroupRow, rows)
		rows += group.NumRows
		out := groupFacts{Rows: group.NumRows, Bytes: group.TotalByteSize}
		for c := range group.Columns {
			out.Chunks = append(out.Chunks, arrowChunk(m, g, c))
		}
		f.Groups = append(f.Groups, out)
	}
	return f, nil
}

// arrowColumn reads a column of arrow-go's schema out.
func arrowColumn(c *schema.Column) columnFacts {
	f := columnFacts{
		Path: c.Path(), Field: -1, Type: c.PhysicalType().String(),
		Def: int(c.MaxDefinitionLevel()), Rep: int(c.MaxRepetitionLevel()),
		Logical: arrowLogical(c.LogicalType()),
	}
	if c.PhysicalType() == arrow.Types.FixedLenByteArray {
		f.Length = c.TypeLength()
	}
	for n := c.SchemaNode(); n.Parent() != nil && f.Field < 0; n = n.Parent() {
		f.Field = max(int(n.FieldID()), -1)
	}
	return f
}

// arrowLogical translates what arrow-go makes of logical and converted types.
func arrowLogical(l schema.LogicalType) parquet.Logical {
	unit := func(u schema.TimeUnitType) parquet.TimeUnit { return parquet.TimeUnit(u) + parquet.Millis }
	switch l := l.(type) {
	case schema.StringLogicalType:
		return parquet.Logical{Kind: parquet.String}
	case schema.EnumLogicalType:
		return parquet.Logical{Kind: parquet.Enum}
	case schema.DecimalLogicalType:
		return parquet.Logical{Kind: parquet.Decimal, Precision: l.Precision(), Scale: l.Scale()}
	case schema.DateLogicalType:
		return parquet.Logical{Kind: parquet.Date}
	case schema.TimeLogicalType:
		return parquet.Logical{Kind: parquet.Time, Unit: unit(l.TimeUnit()), UTC: l.IsAdjustedToUTC()}
	case schema.TimestampLogicalType:
		return parquet.Logical{Kind: parquet.Timestamp, Unit: unit(l.TimeUnit()), UTC: l.IsAdjustedToUTC()}
	case schema.IntLogicalType:
		return parquet.Logical{Kind: parquet.Integer, Bits: l.BitWidth(), Signed: l.IsSigned()}
	case schema.NullLogicalType:
		return parquet.Logical{Kind: parquet.Null}
	case schema.JSONLogicalType:
		return parquet.Logical{Kind: parquet.JSON}
	case schema.BSONLogicalType:
		return parquet.Logical{Kind: parquet.BSON}
	case schema.UUIDLogicalType:
		return parquet.Logical{Kind: parquet.UUID}
	case schema.IntervalLogicalType:
		return parquet.Logical{Kind: parquet.Interval}
	case schema.Float16LogicalType:
		return parquet.Logical{Kind: parquet.Float16}
	case schema.GeometryLogicalType, *schema.GeometryLogicalType:
		return parquet.Logical{Kind: parquet.Geometry}
	case schema.GeographyLogicalType, *schema.GeographyLogicalType:
		return parquet.Logical{Kind: parquet.Geography}
	}
	return parquet.Logical{}
}

// arrowChunk reads a chunk out. Where it starts is said here once more, in the
// words of arrow-go's reader (file.Reader, getColumnChunk): at the dictionary
// page, if there is one before the data.
func arrowChunk(m *metadata.FileMetaData, g, c int) chunkFacts {
	k := m.RowGroups[g].Columns[c]
	meta := k.MetaData
	f := chunkFacts{
		Off: meta.DataPageOffset, Len: meta.TotalCompressedSize, Data: meta.DataPageOffset,
		Values: meta.NumValues, Raw: meta.TotalUncompressedSize,
		Codec:       meta.Codec.String(),
		ColumnIndex: laketap.Extent{Off: k.GetColumnIndexOffset(), Len: int64(k.GetColumnIndexLength())},
		OffsetIndex: laketap.Extent{Off: k.GetOffsetIndexOffset(), Len: int64(k.GetOffsetIndexLength())},
		Bloom:       laketap.Extent{Off: meta.GetBloomFilterOffset(), Len: int64(meta.GetBloomFilterLength())},
		Stats:       statsText(nil, nil, nil, nil, -1, -1, -1, 0, 0),
	}
	if d := meta.DictionaryPageOffset; d != nil && *d > 0 && *d < f.Off {
		f.Off = *d
	}
	if meta.NumValues == 0 && f.Off == 0 && meta.DictionaryPageOffset != nil {
		// Arrow writes so a chunk that has a dictionary page and no data page.
		// arrow-go would read it from offset 0, over the magic number. That the
		// dictionary's offset is the right one was established from the files:
		// its chunks then follow one another from byte 4 up to the footer.
		f.Off = *meta.DictionaryPageOffset
		f.Data = f.Off + f.Len
	}
	if f.Len == 0 || k.GetFilePath() != "" {
		f.Off, f.Len, f.Data = 0, 0, 0
	}
	set := map[parquet.Encoding]string{}
	for _, e := range meta.Encodings {
		set[parquet.Encoding(e)] = e.String()
	}
	var names []string
	for e := range parquet.OtherEncoding {
		if name, ok := set[e]; ok {
			names = append(names, name)
		}
	}
	f.Encodings = strings.Join(names, " ")
	if s := meta.Statistics; s != nil {
		f.Stats = statsText(s.Min, s.Max, s.MinValue, s.MaxValue, count(s.NullCount), count(s.DistinctCount), count(s.NanCount),
			exact(s.IsMinValueExact), exact(s.IsMaxValueExact))
	}
	return f
}

func count(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

func exact(b *bool) int {
	switch {
	case b == nil:
		return int(parquet.NotSaid)
	case *b:
		return int(parquet.Exact)
	}
	return int(parquet.Inexact)
}
