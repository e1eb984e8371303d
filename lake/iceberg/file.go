package iceberg

import (
	"bytes"
	"slices"
)

// A Status is what a commit did to a file.
type Status uint8

// What a commit did to a file, as the manifest it wrote tells.
const (
	Existing Status = iota
	Added
	Deleted
)

// A Content is what a file holds.
type Content uint8

// What a file holds.
const (
	Data Content = iota
	PositionDeletes
	EqualityDeletes
)

// A Format is how a file is written, in upper case.
type Format string

// The formats of files.
const (
	Parquet Format = "PARQUET"
	Avro    Format = "AVRO"
	ORC     Format = "ORC"
	Puffin  Format = "PUFFIN"
)

// An Entry is a file with its history.
type Entry struct {
	Status     Status
	SnapshotID int64 // that added it or, if deleted, deleted it; None if not told
	// SequenceNumber orders data and deletes: deletes apply by it. None if it is
	// neither told nor inherited; which deletes apply is then not known.
	SequenceNumber int64
	// FileSequenceNumber is that of the commit that added the file. None if it
	// is neither told nor inherited, as old writers left it.
	FileSequenceNumber int64
	File
}

// A File is a data or delete file as its manifest tells it.
type File struct {
	Content     Content
	Path        string
	Format      Format
	SpecID      int
	Partition   []PartitionValue // in the order of the manifest's spec
	Records     int64
	Size        int64 // of the whole file, in bytes
	SortOrderID int   // None if not told
	FirstRowID  int64 // None if it has none
	Encrypted   bool  // it has key metadata
	KeyMetadata []byte

	// ReferencedFile is the one data file that these deletes are for, "" if
	// they may be for several.
	ReferencedFile string
	// ContentOffset and ContentSize say where in the file a deletion vector
	// lies. None for other files.
	ContentOffset, ContentSize int64

	SplitOffsets []int64
	EqualityIDs  []int // ids of the fields that equality deletes compare

	ColumnSizes, ValueCounts, NullCounts, NaNCounts []ColumnCount
	LowerBounds, UpperBounds                        []ColumnBound
}

// A ColumnCount is a number about a column, by the id of its field.
type ColumnCount struct {
	Field int
	N     int64
}

// A ColumnBound is a bound of a column's values by single-value serialization.
type ColumnBound struct {
	Field int
	Value []byte
}

// IsVector tells whether the file is a deletion vector: a blob in a Puffin file.
func (f *File) IsVector() bool { return f.Content == PositionDeletes && f.Format == Puffin }

// PartitionValue returns the value of a partition field by its id. A file of a
// spec without the field has none.
func (f *File) PartitionValue(field int) (Value, bool) {
	for _, p := range f.Partition {
		if p.Field == field {
			return p.Value, true
		}
	}
	return Value{}, false
}

// Live tells whether the file is part of the snapshot.
func (e *Entry) Live() bool { return e.Status != Deleted }

// Clone returns a copy that stays as it is.
func (e *Entry) Clone() *Entry {
	c := *e
	c.Partition = slices.Clone(e.Partition)
	c.KeyMetadata = bytes.Clone(e.KeyMetadata)
	c.SplitOffsets = slices.Clone(e.SplitOffsets)
	c.EqualityIDs = slices.Clone(e.EqualityIDs)
	c.ColumnSizes = slices.Clone(e.ColumnSizes)
	c.ValueCounts = slices.Clone(e.ValueCounts)
	c.NullCounts = slices.Clone(e.NullCounts)
	c.NaNCounts = slices.Clone(e.NaNCounts)
	c.LowerBounds = cloneBounds(e.LowerBounds)
	c.UpperBounds = cloneBounds(e.UpperBounds)
	return &c
}

// weight returns about how many bytes of memory a clone takes, with its place in
// a map.
func (e *Entry) weight() int64 {
	const itself, pair, bound, value = 512, 16, 32, 40
	n := itself + len(e.Path) + len(e.ReferencedFile) + len(e.KeyMetadata) + 8*(len(e.SplitOffsets)+len(e.EqualityIDs)) +
		pair*(len(e.ColumnSizes)+len(e.ValueCounts)+len(e.NullCounts)+len(e.NaNCounts)) +
		bound*(len(e.LowerBounds)+len(e.UpperBounds)) + value*len(e.Partition)
	for _, p := range e.Partition {
		n += len(p.Value.text)
	}
	for _, bounds := range [...][]ColumnBound{e.LowerBounds, e.UpperBounds} {
		for _, b := range bounds {
			n += len(b.Value)
		}
	}
	return int64(n)
}

// cloneBounds copies bounds and what they hold, which takes two allocations.
func cloneBounds(bounds []ColumnBound) []ColumnBound {
	var n int
	for _, b := range bounds {
		n += len(b.Value)
	}
	values := make([]byte, 0, n)
	c := slices.Clone(bounds)
	for i, b := range bounds {
		start := len(values)
		values = append(values, b.Value...)
		c[i].Value = values[start:len(values):len(values)]
	}
	return c
}

// reset empties the entry and keeps its memory for the next.
func (e *Entry) reset() {
	*e = Entry{
		SnapshotID: None, SequenceNumber: None, FileSequenceNumber: None,
		File: File{
			SpecID: e.SpecID, SortOrderID: None, FirstRowID: None, ContentOffset: None, ContentSize: None,
			Partition: e.Partition[:0], SplitOffsets: e.SplitOffsets[:0], EqualityIDs: e.EqualityIDs[:0],
			ColumnSizes: e.ColumnSizes[:0], ValueCounts: e.ValueCounts[:0], NullCounts: e.NullCounts[:0],
			NaNCounts: e.NaNCounts[:0], LowerBounds: e.LowerBounds[:0], UpperBounds: e.UpperBounds[:0],
		},
	}
}
