package laketap

import "time"

// QueryReport is the Kind of a [Report] that holds a query event of Trino.
const QueryReport = "trino-query"

// A QueryEvent is one query as its engine told of it when it had ended, beside
// the requests that it made. Secrets have been taken out of its texts.
type QueryEvent struct {
	At      time.Time // when the engine was given the query
	Ended   time.Time // zero: not told
	Engine  Engine
	Catalog string // configured name of the upstream; "": not known, Tables tell the engine's names
	QueryID string // as the engine names it
	User    string // whom the engine ran it for
	State   string // how it ended, in the engine's words: "FINISHED", "FAILED"
	Tables  []QueryTable
	SQL     string // at most 4 KiB
}

// A QueryTable is what a query read of one table.
type QueryTable struct {
	Catalog   string   // as the engine names it, which is not how we do
	Name      string   // dotted namespace and table
	Snapshot  int64    // 0: not told
	Columns   []string // as the query named them
	Predicate string   // in the engine's words; "": none, or not told
}
