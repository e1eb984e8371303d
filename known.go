package laketap

import "time"

// A KnownTable is what is remembered of a table, for people.
type KnownTable struct {
	ID       TableID
	Name     string   // "" if no catalog answer has told
	Aliases  []string // names that it had before
	Location string
	Snapshot int64     // -1: none, or not known
	Since    time.Time // watched since
	Last     time.Time // read last; zero: never
	Uses     Heat      // files that were opened
	Queries  Heat      // scans, as far as engines or ranges told of them
	Bytes    int64     // read, whatever of
	Engines  []EngineHeat
}

// EngineHeat is how much of something is one engine's.
type EngineHeat struct {
	Engine Engine
	Uses   Heat
	Bytes  int64
	Last   time.Time
}

// A KnownColumn is what is remembered of a column. That it was read and that
// it was used are two measures: some engines read over columns that nobody
// asked for.
type KnownColumn struct {
	Column

	Aliases []string
	Read    Heat // files in which bytes of it were read
	Used    Heat // scans that named it
	Bytes   int64
	Last    time.Time
	Engines []EngineHeat // that read it
}

// A KnownFile is what is remembered of a file.
type KnownFile struct {
	File

	Uses  Heat // times that it was opened; carried over from files that it replaced, too
	Bytes int64
	Last  time.Time          // read or named
	Gone  time.Time          // when a commit removed it; zero: it has not
	Parts map[PartKind]int64 // bytes read by kind of part
}

// An Unused is a table or, with a column, that column, which nobody has read
// for a while.
type Unused struct {
	Table  TableID
	Name   string
	Column string    // "": the whole table
	Since  time.Time // watched since: what was before is not known
	Last   time.Time // zero: never
}
