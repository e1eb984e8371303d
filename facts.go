package laketap

import "time"

// TableFacts are what a table's metadata says, as far as it outlives a query.
type TableFacts struct {
	At        time.Time // when the catalog answered it
	ID        TableID
	Name      string // dotted; an alias that may change
	Location  string
	Snapshot  int64      // current; -1: none
	Columns   []Column   // of all schemas, nested ones too, by field id
	Snapshots []Snapshot // that are live, oldest first
}

// A Column is a field of a table over its whole history.
type Column struct {
	Field   int
	Name    string // dotted path in the newest schema that has it
	Type    string // as the metadata spells it; "struct", "list", "map" for what has children
	Dropped bool   // the current schema has it no more
}

// A Snapshot is a state of a table.
type Snapshot struct {
	ID, Parent int64 // Parent 0: none
	Sequence   int64
	At         time.Time
	Operation  string // append, replace, overwrite, delete; "" if not told
}

// A File is a file that a table's metadata names.
type File struct {
	Object    Object // without ETag where a manifest names it; Size -1: not stated
	Content   FileContent
	Format    string // "parquet", "orc", "avro", "puffin", "json"; "" if not known
	Rows      int64  // -1: not stated
	Partition string // canonical: "field-id=value" of each partition field, joined by "/"; "" if not partitioned or not known
}

// FileContent is what a file is to a table.
type FileContent uint8

// The contents of files. The numbers are kept in the memory.
const (
	UnknownContent FileContent = iota
	MetadataContent
	DataContent
	DeleteContent // positions or equality
)

// A Change is what lies between two snapshots of a table.
type Change struct {
	At         time.Time // of the newer snapshot
	Table      TableID
	From, To   int64 // snapshots; From 0: To is the first one seen, and all its files are Added
	Operation  string
	Added      []File // data and delete files
	Removed    []File
	Incomplete bool // more has changed than is listed
}
