package laketap

import "time"

// An Observation is an access to the storage tap with its meaning: which file
// of which table, and which parts of it the bytes belonged to.
type Observation struct {
	At        time.Time
	Latency   time.Duration
	Engine    Engine  // by catalog and storage User-Agent together
	Principal string  // "" is not known
	Session   string  // access key id
	Table     TableID // zero: of no known table
	Snapshot  int64   // the newest known that has the file; 0: not known, or several and none
	File      File    // Object is always set; the rest as far as it is known
	Served    Served
	Asked     int64 // bytes of the range that was asked for, as far as the object has them
	Bytes     int64 // bytes that were written to the engine
	// Parts say what Bytes were, in the order of their offsets; their Bytes sum
	// up to Bytes. A part that was read in pieces is named once.
	Parts []PartBytes
	// Weight is how many accesses this one stands for: 1, or more when accesses
	// were sampled, so that sums stay right on average.
	Weight float64
}

// PartBytes are bytes of one part of a file.
type PartBytes struct {
	Part
	Bytes int64 // that were read of it
	First bool  // the observation has the part's first byte: a use begins
}

// A Part is what a byte range of a file is.
type Part struct {
	Kind     PartKind
	RowGroup int // -1: of none
	Field    int // the field id of a column's part; 0: of no column, or unknown
	Extent   Extent
}

// A PartKind is what bytes of a file are there for.
type PartKind uint8

// The kinds of parts. The numbers are kept in the memory.
const (
	UnknownPart        PartKind = iota // nothing explains the bytes, or not yet
	TableMetadataPart                  // a metadata.json
	ManifestListPart                   //
	ManifestPart                       //
	StatisticsPart                     // of a table or its partitions
	FooterPart                         // of a Parquet file, its magic numbers included
	ColumnChunkPart                    // data pages of one column in one row group
	DictionaryPart                     // the dictionary page of a column chunk
	ColumnIndexPart                    //
	OffsetIndexPart                    //
	BloomFilterPart                    //
	DeleteFilePart                     // any part of a file of deletes
	DeletionVectorPart                 // one vector of a Puffin file
	DataPart                           // of a data file that has no map: ORC, Avro, encrypted
	PartKinds                          // how many there are
)

var partKindNames = [PartKinds]string{
	"unknown", "metadata", "manifest_list", "manifest", "statistics", "footer", "column_chunk", "dictionary",
	"column_index", "offset_index", "bloom_filter", "delete_file", "deletion_vector", "data",
}

// String returns the word used in the API and in metrics.
func (k PartKind) String() string {
	if k < PartKinds {
		return partKindNames[k]
	}
	return partKindNames[UnknownPart]
}

// Column reports whether bytes of this kind belong to a column.
func (k PartKind) Column() bool {
	switch k {
	case ColumnChunkPart, DictionaryPart, ColumnIndexPart, OffsetIndexPart, BloomFilterPart:
		return true
	}
	return false
}

// A Query is what one scan of one table was after, as the engine told it or,
// where it tells nothing, as exact ranges show it.
type Query struct {
	At        time.Time
	Engine    Engine
	Principal string
	ID        string // the engine's own name for the query; "" if it gives none
	Table     TableID
	Snapshot  int64 // 0: not told
	Fields    []int // that were used, ascending, those of the predicate included
	Predicate Predicate
	Source    string // "scan-report", "trino-query", "ranges"
	Files     int64  // that it read; 0: not told
}

// A Batch is what was understood of what passed since the last one. Whoever
// gets it may keep it and must not change it.
type Batch struct {
	Tables       []TableFacts
	Changes      []Change
	Observations []Observation
	Queries      []Query
}
