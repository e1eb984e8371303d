package oracletest_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	peer "github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/laketap/laketap/lake/iceberg"
	"github.com/laketap/laketap/lake/iceberg/oracletest"
)

// everyType is a schema and a spec with an identity partition of every type
// that can be one, and a value of each. Of those that become an Avro fixed
// there is one at a time: iceberg-go calls each of them "fixed", and cannot
// write two.
func everyType(fixed int) (*peer.Schema, peer.PartitionSpec, map[int]any) {
	types := []struct {
		typ   peer.Type
		value any
	}{
		{peer.PrimitiveTypes.Bool, true},
		{peer.PrimitiveTypes.Int32, int32(-7)},
		{peer.PrimitiveTypes.Int64, int64(-1 << 62)},
		{peer.PrimitiveTypes.Date, peer.Date(-5)},
		{peer.PrimitiveTypes.Time, peer.Time(86399999999)},
		{peer.PrimitiveTypes.Timestamp, peer.Timestamp(-1)},
		{peer.PrimitiveTypes.TimestampTz, peer.Timestamp(1767225600000001)},
		{peer.PrimitiveTypes.String, "é/=\x00"},
		{peer.PrimitiveTypes.UUID, uuid.MustParse("f79c3e09-677c-4bbd-a479-3f349cb785e7")},
		{peer.PrimitiveTypes.Binary, []byte{}},
		{peer.FixedTypeOf(3), []byte{0, 255, 1}},
		{peer.DecimalTypeOf(9, 2), peer.DecimalLiteral{Val: decimal128.FromI64(-12345), Scale: 2}},
		{peer.DecimalTypeOf(38, 0), peer.DecimalLiteral{Val: decimal128.New(1<<40, 7), Scale: 0}},
	}
	types[9], types = types[9+fixed], types[:10]
	fields := make([]peer.NestedField, len(types))
	parts := make([]peer.PartitionField, len(types))
	values := map[int]any{}
	for i, t := range types {
		fields[i] = peer.NestedField{ID: i + 1, Name: fmt.Sprintf("c%d", i), Type: t.typ}
		parts[i] = peer.PartitionField{SourceIDs: []int{i + 1}, FieldID: 1000 + i, Name: fmt.Sprintf("p%d", i), Transform: peer.IdentityTransform{}}
		values[1000+i] = t.value
	}
	return peer.NewSchema(1, fields...), peer.NewPartitionSpecID(3, parts...), values
}

// dataFile builds a file with all that can be said of one.
func dataFile(t *testing.T, spec peer.PartitionSpec, content peer.ManifestEntryContent, version, i int, partition map[int]any) peer.DataFile {
	t.Helper()
	format := peer.ParquetFile
	vector := version == 3 && content == peer.EntryContentPosDeletes
	if vector {
		format = peer.PuffinFile
	}
	b, err := peer.NewDataFileBuilder(spec, content, fmt.Sprintf("s3://b/%d-%d", content, i), format, partition, nil, nil, int64(10+i), int64(1<<34+i))
	if err != nil {
		t.Fatal(err)
	}
	b.ColumnSizes(map[int]int64{1: 1 << 40, 2147483546: 2}).ValueCounts(map[int]int64{1: 10}).
		NullValueCounts(map[int]int64{1: 0}).NaNValueCounts(map[int]int64{2: 3}).
		LowerBoundValues(map[int][]byte{1: {}, 2: []byte("a")}).UpperBoundValues(map[int][]byte{1: bytes.Repeat([]byte{255}, 200)}).
		KeyMetadata([]byte("key")).SplitOffsets([]int64{4, 1 << 33}).SortOrderID(2)
	if content == peer.EntryContentEqDeletes {
		b.EqualityFieldIDs([]int{1, 3})
	}
	if content == peer.EntryContentPosDeletes && version >= 2 {
		b.ReferencedDataFile("s3://b/0-1")
	}
	if vector {
		b.ContentOffset(4).ContentSizeInBytes(int64(50 + i))
	}
	if version == 3 && content == peer.EntryContentData && i == 2 {
		b.FirstRowID(77)
	}
	return b.Build()
}

// TestGenerated compares manifests and lists with all there can be in them:
// every status with and without its numbers, every content, every version.
func TestGenerated(t *testing.T) {
	for version := 1; version <= 3; version++ {
		for _, content := range []peer.ManifestEntryContent{peer.EntryContentData, peer.EntryContentPosDeletes, peer.EntryContentEqDeletes} {
			if version == 1 && content != peer.EntryContentData {
				continue
			}
			t.Run(fmt.Sprintf("v%d/%s", version, content), func(t *testing.T) {
				for fixed := range 4 {
					schema, spec, values := everyType(fixed)
					generated(t, version, content, schema, spec, values)
				}
			})
		}
	}
}

// generated writes a manifest and its list, and compares both.
func generated(t *testing.T, version int, content peer.ManifestEntryContent, schema *peer.Schema, spec peer.PartitionSpec, values map[int]any) {
	t.Helper()
	snapshot, older := int64(9), int64(8)
	entries := make([]peer.ManifestEntry, 0, 7)
	for i, e := range []struct {
		status    peer.ManifestEntryStatus
		snapshot  *int64
		seq, file *int64
	}{
		{peer.EntryStatusADDED, &snapshot, nil, nil},
		{peer.EntryStatusADDED, nil, nil, nil},
		{peer.EntryStatusADDED, &snapshot, new(int64(2)), nil},
		{peer.EntryStatusEXISTING, &older, new(int64(3)), new(int64(4))},
		{peer.EntryStatusEXISTING, &older, new(int64(3)), nil},
		{peer.EntryStatusDELETED, &snapshot, new(int64(1)), new(int64(1))},
		{peer.EntryStatusADDED, &snapshot, nil, nil},
	} {
		partition := values
		if i == 1 {
			partition = map[int]any{}
			for id := range values {
				partition[id] = nil
			}
		}
		if version == 1 && e.snapshot == nil {
			e.snapshot = &snapshot
		}
		entries = append(entries, peer.NewManifestEntry(e.status, e.snapshot, e.seq, e.file, dataFile(t, spec, content, version, i, partition)))
	}
	manifestContent := peer.ManifestContentData
	if content != peer.EntryContentData {
		manifestContent = peer.ManifestContentDeletes
	}
	var out bytes.Buffer
	w, err := peer.NewManifestWriter(version, &out, spec, schema, snapshot, peer.WithManifestWriterContent(manifestContent))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		var err error
		switch e.Status() {
		case peer.EntryStatusADDED:
			err = w.Add(e)
		case peer.EntryStatusEXISTING:
			err = w.Existing(e)
		default:
			err = w.Delete(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	mf, err := w.ToManifestFile("m.avro", int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files := oracletest.Memory{"m.avro": out.Bytes()}
	var list bytes.Buffer
	seq := int64(12)
	if err := peer.WriteManifestList(version, &list, snapshot, &older, &seq, 1000, []peer.ManifestFile{mf}); err != nil {
		t.Fatal(err)
	}
	files["list.avro"] = list.Bytes()
	theirs, err := peer.ReadManifestList(bytes.NewReader(list.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for m, err := range iceberg.ReadManifestList(t.Context(), "list.avro", files, iceberg.Options{Want: iceberg.WantAll}) {
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "list", theirManifest(theirs[n]), ourManifest(m))
		compareEntries(t, theirs[n], m.Clone(), files, files)
		n++
	}
	if n != 1 {
		t.Errorf("%d manifests", n)
	}
}
