package iceberg

import "bytes"

// A Manifest is one manifest of a snapshot, as the manifest list tells it.
type Manifest struct {
	Path              string
	Length            int64 // bytes; None for those of a snapshot without a list
	SpecID            int   // None for those of a snapshot without a list
	Deletes           bool  // it holds delete files
	SequenceNumber    int64 // of the commit that added it; 0 in version 1
	MinSequenceNumber int64 // lowest data sequence number in it
	SnapshotID        int64 // that added it; None if not told
	AddedFiles        int64 // None if not told, as all counts
	ExistingFiles     int64
	DeletedFiles      int64
	AddedRows         int64
	ExistingRows      int64
	DeletedRows       int64
	FirstRowID        int64 // None if it has none
	Encrypted         bool  // it has key metadata
	KeyMetadata       []byte
	Partitions        []PartitionSummary // one per field of the spec, in its order
}

// A PartitionSummary says what values a partition field has in a manifest.
type PartitionSummary struct {
	HasNull    bool
	HasNaN     bool
	NaNIsKnown bool
	// Bounds by single-value serialization, nil if there are none.
	Lower, Upper []byte
}

// Live returns how many live files the manifest has, None if not told.
func (m *Manifest) Live() int64 {
	if m.AddedFiles == None || m.ExistingFiles == None {
		return None
	}
	return m.AddedFiles + m.ExistingFiles
}

// Clone returns a copy that stays as it is.
func (m *Manifest) Clone() *Manifest {
	c := *m
	c.KeyMetadata = bytes.Clone(m.KeyMetadata)
	c.Partitions = make([]PartitionSummary, len(m.Partitions))
	for i, p := range m.Partitions {
		p.Lower, p.Upper = bytes.Clone(p.Lower), bytes.Clone(p.Upper)
		c.Partitions[i] = p
	}
	return &c
}
