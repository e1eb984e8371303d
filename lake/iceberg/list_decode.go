package iceberg

import (
	"math"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

// The parts of a manifest list's entry.
const (
	partManifestPath part = iota + 1
	partManifestLength
	partSpec
	partDeletes
	partManifestSequence
	partMinSequence
	partManifestSnapshot
	partAddedFiles
	partExistingFiles
	partDeletedFiles
	partAddedRows
	partExistingRows
	partDeletedRows
	partSummaries
	partManifestKey
	partManifestFirstRow
)

// The parts of a partition summary.
const (
	partHasNull part = iota + 1
	partHasNaN
	partLowerBound
	partUpperBound
)

// listFields are the fields of manifest_file. Counts of files had other names
// before 1.0 of the Java library.
func listFields() []known {
	return []known{
		{part: partManifestPath, id: 500, name: "manifest_path", shape: text, required: true},
		{part: partManifestLength, id: 501, name: "manifest_length", required: true},
		{part: partSpec, id: 502, name: "partition_spec_id", required: true},
		{part: partDeletes, id: 517, name: "content"},
		{part: partManifestSequence, id: 515, name: "sequence_number"},
		{part: partMinSequence, id: 516, name: "min_sequence_number"},
		{part: partManifestSnapshot, id: 503, name: "added_snapshot_id"},
		{part: partAddedFiles, id: 504, name: "added_files_count", former: "added_data_files_count"},
		{part: partExistingFiles, id: 505, name: "existing_files_count", former: "existing_data_files_count"},
		{part: partDeletedFiles, id: 506, name: "deleted_files_count", former: "deleted_data_files_count"},
		{part: partAddedRows, id: 512, name: "added_rows_count"},
		{part: partExistingRows, id: 513, name: "existing_rows_count"},
		{part: partDeletedRows, id: 514, name: "deleted_rows_count"},
		{part: partSummaries, id: 507, name: "partitions", shape: summaryList, want: WantPartition},
		{part: partManifestKey, id: 519, name: "key_metadata", shape: blob},
		{part: partManifestFirstRow, id: 520, name: "first_row_id"},
	}
}

// summaryFields are the fields of field_summary.
func summaryFields() []known {
	return []known{
		{part: partHasNull, id: 509, name: "contains_null", shape: truth, required: true},
		{part: partHasNaN, id: 518, name: "contains_nan", shape: truth},
		{part: partLowerBound, id: 510, name: "lower_bound", shape: blob},
		{part: partUpperBound, id: 511, name: "upper_bound", shape: blob},
	}
}

// decodeManifest decodes the next entry of a manifest list.
func decodeManifest(c *avro.Cursor, steps []step, m *Manifest, a *arena, want Want) error {
	*m = Manifest{
		SnapshotID: None, FirstRowID: None, AddedFiles: None, ExistingFiles: None, DeletedFiles: None,
		AddedRows: None, ExistingRows: None, DeletedRows: None, Partitions: m.Partitions[:0],
	}
	for i := range steps {
		s := &steps[i]
		if s.part == 0 {
			c.Skip(s.typ)
			continue
		}
		if !s.present(c) {
			continue
		}
		switch s.part {
		case partManifestPath:
			m.Path = a.text(c.Bytes())
		case partManifestKey:
			m.KeyMetadata = c.Bytes()
			m.Encrypted = true
			if want&WantKeyMetadata == 0 {
				m.KeyMetadata = nil
			}
		case partSummaries:
			m.Partitions = decodeSummaries(c, s, m.Partitions)
		default:
			decodeManifestNumber(c, s.part, m)
		}
	}
	if err := c.Err(); err != nil {
		return err
	}
	return m.check()
}

// decodeManifestNumber decodes a number of a manifest list's entry.
func decodeManifestNumber(c *avro.Cursor, which part, m *Manifest) {
	n := c.Long()
	switch which {
	case partManifestLength:
		m.Length = n
	case partSpec:
		if n < 0 || n > math.MaxInt32 {
			c.Fail("partition spec %d", n)
		}
		m.SpecID = int(n)
	case partDeletes:
		if n != 0 && n != 1 {
			c.Fail("content %d of a manifest", n)
		}
		m.Deletes = n == 1
	case partManifestSequence:
		m.SequenceNumber = n
	case partMinSequence:
		m.MinSequenceNumber = n
	case partManifestSnapshot:
		m.SnapshotID = n
	case partAddedFiles:
		m.AddedFiles = n
	case partExistingFiles:
		m.ExistingFiles = n
	case partDeletedFiles:
		m.DeletedFiles = n
	case partAddedRows:
		m.AddedRows = n
	case partExistingRows:
		m.ExistingRows = n
	case partDeletedRows:
		m.DeletedRows = n
	case partManifestFirstRow:
		m.FirstRowID = n
	}
}

// decodeSummaries decodes the summaries of partition fields.
func decodeSummaries(c *avro.Cursor, s *step, list []PartitionSummary) []PartitionSummary {
	for {
		run := c.Items(1)
		if run.N == 0 {
			return list
		}
		for n := run.N; n > 0 && fits(c, len(list)); n-- {
			list = append(list, decodeSummary(c, s.in))
		}
		c.Ran(run)
	}
}

// decodeSummary decodes the summary of a partition field.
func decodeSummary(c *avro.Cursor, steps []step) PartitionSummary {
	var p PartitionSummary
	for i := range steps {
		s := &steps[i]
		if s.part == 0 {
			c.Skip(s.typ)
			continue
		}
		if !s.present(c) {
			continue
		}
		switch s.part {
		case partHasNull:
			p.HasNull = c.Boolean()
		case partHasNaN:
			p.HasNaN, p.NaNIsKnown = c.Boolean(), true
		case partLowerBound:
			p.Lower = c.Bytes()
		case partUpperBound:
			p.Upper = c.Bytes()
		}
	}
	return p
}

// check returns an error if the entry contradicts itself. Some writers put -1
// where a count or row id is not known; so does this package.
func (m *Manifest) check() error {
	if m.Path == "" {
		return malformed("manifest without a path")
	}
	if m.Length < 0 {
		return malformed("manifest %q of %d bytes", m.Path, m.Length)
	}
	if m.SequenceNumber < 0 || m.MinSequenceNumber < 0 {
		return malformed("manifest %q with the sequence numbers %d and %d", m.Path, m.SequenceNumber, m.MinSequenceNumber)
	}
	for _, n := range [...]int64{
		m.AddedFiles, m.ExistingFiles, m.DeletedFiles, m.AddedRows, m.ExistingRows, m.DeletedRows, m.FirstRowID,
	} {
		if n < None {
			return malformed("manifest %q with a count of %d", m.Path, n)
		}
	}
	return nil
}
