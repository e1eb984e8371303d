package iceberg

import (
	"slices"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

// The parts of an entry and of its file.
const (
	partStatus part = iota + 1
	partSnapshot
	partSequence
	partFileSequence
	partFile
	partContent
	partPath
	partFormat
	partPartition
	partRecords
	partSize
	partColumnSizes
	partValueCounts
	partNullCounts
	partNaNCounts
	partLower
	partUpper
	partKeyMetadata
	partSplits
	partEqualityIDs
	partSortOrder
	partFirstRow
	partReferenced
	partOffset
	partLength
)

// entryFields are the fields of manifest_entry.
func entryFields() []known {
	return []known{
		{part: partStatus, id: 0, name: "status", required: true},
		{part: partSnapshot, id: 1, name: "snapshot_id"},
		{part: partSequence, id: 3, name: "sequence_number"},
		{part: partFileSequence, id: 4, name: "file_sequence_number"},
		{part: partFile, id: 2, name: "data_file", shape: record, required: true},
	}
}

// fileFields are the fields of data_file.
func fileFields() []known {
	return []known{
		{part: partContent, id: 134, name: "content"},
		{part: partPath, id: 100, name: "file_path", shape: text, required: true},
		{part: partFormat, id: 101, name: "file_format", shape: text, required: true},
		{part: partPartition, id: 102, name: "partition", shape: record, want: WantPartition},
		{part: partRecords, id: 103, name: "record_count", required: true},
		{part: partSize, id: 104, name: "file_size_in_bytes", required: true},
		{part: partColumnSizes, id: 108, name: "column_sizes", shape: numberMap, want: WantSizes},
		{part: partValueCounts, id: 109, name: "value_counts", shape: numberMap, want: WantCounts},
		{part: partNullCounts, id: 110, name: "null_value_counts", shape: numberMap, want: WantCounts},
		{part: partNaNCounts, id: 137, name: "nan_value_counts", shape: numberMap, want: WantCounts},
		{part: partLower, id: 125, name: "lower_bounds", shape: blobMap, want: WantBounds},
		{part: partUpper, id: 128, name: "upper_bounds", shape: blobMap, want: WantBounds},
		{part: partKeyMetadata, id: 131, name: "key_metadata", shape: blob},
		{part: partSplits, id: 132, name: "split_offsets", shape: numberList, want: WantSplits},
		{part: partEqualityIDs, id: 135, name: "equality_ids", shape: numberList, want: WantEqualityIDs},
		{part: partSortOrder, id: 140, name: "sort_order_id"},
		{part: partFirstRow, id: 142, name: "first_row_id"},
		{part: partReferenced, id: 143, name: "referenced_data_file", shape: text},
		{part: partOffset, id: 144, name: "content_offset"},
		{part: partLength, id: 145, name: "content_size_in_bytes"},
	}
}

// A partitionStep decodes one partition field.
type partitionStep struct {
	step
	field  int
	millis bool // the writer counts milliseconds where the format has microseconds
}

// An entryPlan is how to decode the entries of manifests with one schema.
type entryPlan struct {
	entry     []step
	partition []partitionStep // nil if not wanted
	want      Want
}

// planEntries works out how to decode entries. The spec gives ids to partition
// fields that the writer left without.
func planEntries(t *avro.Type, spec *Spec, want Want) (*entryPlan, error) {
	p := &entryPlan{want: want}
	var err error
	if p.entry, err = plan(t, entryFields(), want); err != nil {
		return nil, err
	}
	file := slices.IndexFunc(p.entry, func(s step) bool { return s.part == partFile })
	if p.entry[file].null >= 0 {
		return nil, unsupported("optional data_file")
	}
	in, err := plan(p.entry[file].typ, fileFields(), want)
	if err != nil {
		return nil, err
	}
	p.entry[file].in = in
	for _, s := range in {
		if s.part != partPartition {
			continue
		}
		if s.null >= 0 {
			return nil, unsupported("optional partition")
		}
		if p.partition, err = planPartition(s.typ, spec); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// millis tells whether a logical type of Avro counts milliseconds.
func millis(logical string) bool {
	return logical == "timestamp-millis" || logical == "local-timestamp-millis" || logical == "time-millis"
}

// planPartition works out how to decode partition values.
func planPartition(t *avro.Type, spec *Spec) ([]partitionStep, error) {
	steps := make([]partitionStep, 0, len(t.Fields))
	for _, f := range t.Fields {
		s := partitionStep{field: f.ID}
		if s.field < 0 && spec != nil {
			for _, sf := range spec.Fields {
				if sf.Name == f.Name {
					s.field = sf.ID
				}
			}
		}
		if s.field < 0 {
			return nil, malformed("partition field %q has no id", f.Name)
		}
		if slices.ContainsFunc(steps, func(o partitionStep) bool { return o.field == s.field }) {
			return nil, malformed("partition field %d comes twice in the schema", s.field)
		}
		if s.typ, s.null = f.Type.Optional(); !valueType(s.typ) {
			return nil, unsupported("partition field %q: unexpected type", f.Name)
		}
		s.millis = millis(s.typ.Logical)
		steps = append(steps, s)
	}
	return steps, nil
}
