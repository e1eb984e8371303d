package laketap

import "time"

// A Recorder is told what the taps see. Its methods must not block and must
// not fail: the engine's request comes first.
type Recorder interface {
	Access(Access)
	Table(TableSeen)
	Report(Report)
}

// TableSeen is a table as a catalog answered it to someone.
type TableSeen struct {
	At       time.Time
	ID       TableID
	Name     string // dotted namespace and table
	Location string // s3://…, as the metadata has it
	Origin   string // configured name of the store that the location is in; "" if it is in none of ours
	// MetadataLocation is the file that Metadata came from; "" for a staged create.
	MetadataLocation string
	Snapshot         int64  // current; -1: none
	Schema           int    // current schema id
	Metadata         []byte // raw table metadata JSON; the receiver must not change it
}

// A Report is what an engine told of itself: a scan, a commit, a query.
type Report struct {
	At        time.Time
	Kind      string // "scan-report", "commit-report", QueryReport; "" if the body does not say
	Engine    Engine
	Principal string
	Catalog   string
	TableName string
	Body      []byte // as received, bounded by the tap; of a query, what Query holds as JSON
	// Query is set if Kind is QueryReport. Its TableName is then "": a query has many.
	Query *QueryEvent
}
