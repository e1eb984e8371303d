package oracletest_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	writer "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	peer "github.com/parquet-go/parquet-go"

	"github.com/laketap/laketap/lake/parquet"
)

// Files of random schemas and options, written by arrow-go.
func TestGenerated(t *testing.T) {
	compared := 0
	for seed := range uint64(150) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			var out bytes.Buffer
			fields := make([]arrow.Field, 1+r.IntN(8))
			for i := range fields {
				fields[i] = randomField(r, fmt.Sprintf("f%d", i), 3)
			}
			if err := writeRandom(r, &out, arrow.NewSchema(fields, nil)); err != nil {
				t.Log(err) // arrow-go cannot write every schema that it can make
				return
			}
			compare(t, out.Bytes())
			compared++
		})
	}
	if compared < 120 {
		t.Errorf("compared %d files, want 120", compared)
	}
}

var primitives = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32,
	arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time64us,
	arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Nanosecond}, arrow.FixedWidthTypes.Float16,
	&arrow.FixedSizeBinaryType{ByteWidth: 16}, &arrow.Decimal128Type{Precision: 20, Scale: 3},
}

// randomField makes a field that nests at most so deep.
func randomField(r *rand.Rand, name string, depth int) arrow.Field {
	f := arrow.Field{Name: name, Nullable: r.IntN(3) > 0, Type: primitives[r.IntN(len(primitives))]}
	if r.IntN(2) == 0 {
		f.Metadata = arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(r.IntN(1000))})
	}
	if depth == 0 {
		return f
	}
	switch r.IntN(6) {
	case 0:
		f.Type = arrow.ListOfField(randomField(r, "item", depth-1))
	case 1:
		inner := make([]arrow.Field, 1+r.IntN(3))
		for i := range inner {
			inner[i] = randomField(r, fmt.Sprintf("%s.%d", name, i), depth-1)
		}
		f.Type = arrow.StructOf(inner...)
	case 2:
		f.Type = arrow.MapOf(arrow.BinaryTypes.String, randomField(r, "value", depth-1).Type)
	}
	return f
}

// writeRandom writes a few rows of nulls and empty values.
func writeRandom(r *rand.Rand, out *bytes.Buffer, schema *arrow.Schema) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("arrow-go panics: %v", p)
		}
	}()
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Brotli}
	yes := func() bool { return r.IntN(2) == 0 }
	options := []writer.WriterProperty{
		writer.WithCompression(codecs[r.IntN(len(codecs))]), writer.WithDictionaryDefault(yes()), writer.WithStats(yes()),
		writer.WithPageIndexEnabled(yes()), writer.WithBloomFilterEnabled(yes()), writer.WithMaxBloomFilterBytes(256),
		writer.WithMaxRowGroupLength(int64(5 + r.IntN(40))), writer.WithStoreDecimalAsInteger(yes()),
	}
	if yes() {
		options = append(options, writer.WithDataPageVersion(writer.DataPageV2), writer.WithVersion(writer.V1_0))
	}
	arrowOptions := []pqarrow.WriterOption{}
	if yes() {
		arrowOptions = append(arrowOptions, pqarrow.WithStoreSchema())
	}
	w, err := pqarrow.NewFileWriter(schema, out, writer.NewWriterProperties(options...), pqarrow.NewArrowWriterProperties(arrowOptions...))
	if err != nil {
		return err
	}
	for range 1 + r.IntN(3) {
		rows := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i, f := range schema.Fields() {
			for range 10 {
				if f.Nullable && yes() {
					rows.Field(i).AppendNull()
				} else {
					rows.Field(i).AppendEmptyValue()
				}
			}
		}
		if err := w.WriteBuffered(rows.NewRecordBatch()); err != nil {
			return err
		}
	}
	return w.Close()
}

// A file of parquet-go, whose Bloom filters and page index lie elsewhere.
func TestParquetGoFiles(t *testing.T) {
	type point struct {
		X float64 `parquet:"x,id(5)"`
	}
	type row struct {
		ID   int64            `parquet:"id,id(1)"`
		Name string           `parquet:"name,id(2),dict,zstd"`
		Tags []string         `parquet:"tags,id(3),list"`
		P    *point           `parquet:"p,id(4),optional"`
		M    map[string]int32 `parquet:"m,id(6)"`
	}
	var out bytes.Buffer
	w := peer.NewGenericWriter[row](&out,
		peer.MaxRowsPerRowGroup(10), peer.PageBufferSize(64), peer.DataPageStatistics(true),
		peer.BloomFilters(peer.SplitBlockFilter(10, "name"), peer.SplitBlockFilter(10, "id")))
	for i := range 35 {
		r := row{ID: int64(i), Name: fmt.Sprint("n", i%3), Tags: []string{"a"}, M: map[string]int32{"k": 1}}
		if i%2 == 0 {
			r.P = &point{X: 1}
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	compare(t, out.Bytes())
	l, err := parquet.ParseFooter(out.Bytes(), int64(out.Len()), parquet.Options{})
	if err != nil || l.Ignored() != 0 || l.NumRowGroups() != 4 || l.Chunk(3, 1).Bloom.Len == 0 {
		t.Errorf("%v, %d ignored, %d row groups, filter %v", err, l.Ignored(), l.NumRowGroups(), l.Chunk(3, 1).Bloom)
	}
}
