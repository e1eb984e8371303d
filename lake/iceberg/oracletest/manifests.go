package oracletest

import (
	"bytes"
	"encoding/binary"
	"fmt"

	peer "github.com/apache/iceberg-go"
)

// A Sample is a manifest with what its list would say of it.
type Sample struct {
	Name     string
	Manifest peer.ManifestFile
	Spec     peer.PartitionSpec
	Files    Memory
}

// Wide writes a manifest of version 2 as tables in use have them: partitioned,
// with sizes, counts and bounds of so many columns for each file.
func Wide(entries, columns int) (*Sample, error) {
	fields := []peer.NestedField{
		{ID: 1, Name: "id", Type: peer.PrimitiveTypes.Int64},
		{ID: 2, Name: "day", Type: peer.PrimitiveTypes.Date},
		{ID: 3, Name: "region", Type: peer.PrimitiveTypes.String},
	}
	for i := len(fields); i < columns; i++ {
		fields = append(fields, peer.NestedField{ID: i + 1, Name: fmt.Sprintf("c%d", i), Type: peer.PrimitiveTypes.Int64})
	}
	schema := peer.NewSchema(1, fields...)
	spec := peer.NewPartitionSpec(
		peer.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Name: "day", Transform: peer.IdentityTransform{}},
		peer.PartitionField{SourceIDs: []int{3}, FieldID: 1001, Name: "region", Transform: peer.IdentityTransform{}},
	)
	snapshot := int64(4242424242424242)
	list := make([]peer.ManifestEntry, entries)
	for i := range list {
		b, err := peer.NewDataFileBuilder(spec, peer.EntryContentData,
			fmt.Sprintf("s3://warehouse/db/table/data/day=2026-01-%02d/region=north/00000-%d-7b0c3f5e-0f4f-4d6c-9f0b-3d1f5d1d2c4e-00001.parquet", i%28, i),
			peer.ParquetFile, map[int]any{1000: peer.Date(20000 + i%28), 1001: "north"}, nil, nil, int64(1000+i), int64(1<<20+i))
		if err != nil {
			return nil, err
		}
		sizes, values, nulls := map[int]int64{}, map[int]int64{}, map[int]int64{}
		lower, upper := map[int][]byte{}, map[int][]byte{}
		for c := 1; c <= columns; c++ {
			sizes[c], values[c], nulls[c] = int64(1000*c+i), int64(1000+i), int64(i%7)
			lower[c] = binary.LittleEndian.AppendUint64(nil, uint64(i*c))
			upper[c] = binary.LittleEndian.AppendUint64(nil, uint64(i*c+100000))
		}
		b.ColumnSizes(sizes).ValueCounts(values).NullValueCounts(nulls).LowerBoundValues(lower).UpperBoundValues(upper)
		b.SplitOffsets([]int64{4, 1 << 19}).SortOrderID(0)
		list[i] = peer.NewManifestEntry(peer.EntryStatusADDED, &snapshot, nil, nil, b.Build())
	}
	var out bytes.Buffer
	m, err := peer.WriteManifest("wide.avro", &out, 2, spec, schema, snapshot, list)
	if err != nil {
		return nil, err
	}
	return &Sample{Name: "wide", Manifest: m, Spec: spec, Files: Memory{"wide.avro": out.Bytes()}}, nil
}
