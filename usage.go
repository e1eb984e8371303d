package laketap

import "time"

// An AccessQuery selects recorded accesses by number and by words. An empty
// word matches everything.
type AccessQuery struct {
	After  uint64 // those with a higher number; 0: from the oldest that is kept
	Newest bool   // instead of After: the newest Limit that match
	Limit  int    // at most so many; 0: 1,000

	Tap    Tap
	Op     string
	Engine string // its name, or "name/version"
	Table  string // its dotted name, or its UUID
}

// A NumberedAccess is an Access with the number it got when it was recorded.
// Numbers begin at 1 when the process starts and have no gaps.
type NumberedAccess struct {
	Seq uint64
	Access
}

// An AccessPage answers an [AccessQuery], oldest first.
type AccessPage struct {
	Accesses []NumberedAccess
	Next     uint64 // ask After this for what follows
	Missed   uint64 // accesses after After that were dropped before they could be read
}

// LatencyBounds are the upper bounds of [Use].Latency; the last count is of
// all that took longer.
var LatencyBounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond,
	500 * time.Millisecond, 2 * time.Second, 10 * time.Second,
}

// Use is what an engine did through one tap, summed up.
type Use struct {
	Requests int64
	Errors   int64 // answered 400 or above other than 404, refused, or broken off
	BytesIn  int64
	BytesOut int64
	Served   [FromTap + 1]int64 // BytesOut by where they came from
	Status   [6]int64           // requests by the first digit of their status; [0]: broken off before one
	Latency  [len(LatencyBounds) + 1]int64
	Busy     time.Duration // sum of latencies
	First    time.Time
	Last     time.Time
}

// EngineUse is the use of one engine, by tap.
type EngineUse struct {
	Engine  Engine
	Catalog Use
	Storage Use
}

// TableUse is the use of one table, by engine. An ID without a UUID stands for
// the requests to a catalog that belong to no known table.
type TableUse struct {
	ID       TableID
	Name     string // the last one seen; "" if never told
	Location string // "" if no catalog answer has told
	Snapshot int64  // current when last seen; -1: none or unknown
	Schema   int    // current schema id when last seen; -1: unknown
	Engines  []EngineUse
}

// A NumberedObservation is an Observation with the number it got when it was
// made. Numbers begin at 1 when the process starts and have no gaps.
type NumberedObservation struct {
	Seq uint64
	Observation
}

// An ObservationPage is some of the newest observations, oldest first.
type ObservationPage struct {
	Observations []NumberedObservation
	Next         uint64 // ask after Next for what follows
	Missed       uint64 // observations that were dropped before they could be read
}
