package laketap

import "time"

// A Tap is one of the two places where engine traffic enters.
type Tap string

// The taps.
const (
	CatalogTap Tap = "catalog"
	StorageTap Tap = "storage"
)

// An Access is one request of an engine as a tap saw it, recorded when its
// answer has been written. It carries no secret: Session is the key id of a
// vended or static key, never its secret or token.
type Access struct {
	At        time.Time     // when the request arrived
	Latency   time.Duration // until the last byte of the answer was written
	RequestID string
	Tap       Tap
	Op        string // Iceberg REST operation ("loadTable") or S3 API action ("GetObject")
	Engine    Engine
	Principal string // who the upstream catalog let in; "" is not known
	Session   string // access key id; "" on the catalog tap

	Catalog   string  // configured name of the upstream; "" is not known
	Table     TableID // of the path that was asked for; zero if it belongs to no known table
	TableName string  // dotted, for people; "" if unknown

	Object ObjectName // zero on the catalog tap
	// Also are further objects that the request named: the source of a copy, the
	// keys of a DeleteObjects. For who audits; nobody keeps them otherwise.
	Also  []ObjectName
	Range Range // as asked for; zero is the whole object
	// ETag and Size are of the version that the answer to a read came from; ""
	// and 0 if that is not known.
	ETag     string
	Size     int64
	Status   int   // HTTP status that the client was sent; 0 if it left before one
	BytesIn  int64 // body bytes received from the client
	BytesOut int64 // body bytes written to the client
	Served   Served
	Err      string // why the request was refused or broke off; "" is none
}

// Served says where the bytes of an answer came from.
type Served uint8

// Where bytes can come from.
const (
	FromOrigin Served = iota // the store or the catalog behind us
	FromDisk
	FromMemory
	FromTap // the tap itself: a refusal, an error, a report it swallowed
)

// String returns the word used in the API and in metrics.
func (s Served) String() string {
	switch s {
	case FromDisk:
		return "disk"
	case FromMemory:
		return "memory"
	case FromTap:
		return "tap"
	}
	return "origin"
}
