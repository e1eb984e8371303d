package admin

import (
	"math"
	"strconv"
	"time"

	"github.com/laketap/laketap"
)

// A Refusal is the answer to a request that cannot be served.
type Refusal struct {
	Error string `json:"error"`
}

// An Access is a recorded access as the API tells it. The field names of this
// file are the words of docs/terms.md.
type Access struct {
	Seq           uint64    `json:"seq"`
	At            time.Time `json:"at"`
	Seconds       float64   `json:"seconds"`
	RequestID     string    `json:"request_id,omitempty"`
	Tap           string    `json:"tap"`
	Op            string    `json:"op"`
	Engine        string    `json:"engine"`
	EngineVersion string    `json:"engine_version,omitempty"`
	Principal     string    `json:"principal,omitempty"`
	Session       string    `json:"session,omitempty"`
	Catalog       string    `json:"catalog,omitempty"`
	Table         string    `json:"table,omitempty"`
	TableID       *TableID  `json:"table_id,omitempty"`
	Object        *Object   `json:"object,omitempty"`
	Range         string    `json:"range,omitempty"`
	Size          int64     `json:"size,omitempty"`
	Status        int       `json:"status"`
	BytesIn       int64     `json:"bytes_in"`
	BytesOut      int64     `json:"bytes_out"`
	Served        string    `json:"served"`
	Error         string    `json:"error,omitempty"`
}

// A TableID identifies a table.
type TableID struct {
	Catalog string `json:"catalog"`
	Prefix  string `json:"prefix,omitempty"`
	Ref     string `json:"ref,omitempty"`
	UUID    string `json:"uuid"`
}

// An Object is where an object lives.
type Object struct {
	Origin string `json:"origin"`
	Bucket string `json:"bucket"`
	Key    string `json:"key,omitempty"`
}

// A Page is the answer of /api/v1/accesses, oldest first.
type Page struct {
	Accesses []Access `json:"accesses"`
	Next     uint64   `json:"next"`   // ask after=next for what follows
	Missed   uint64   `json:"missed"` // accesses that were dropped before they could be read
}

// Missed is a line of the stream where accesses were dropped before they could
// be read.
type Missed struct {
	Missed uint64 `json:"missed"`
}

// A Use is what an engine did through one tap.
type Use struct {
	Requests int64            `json:"requests"`
	Errors   int64            `json:"errors"`
	BytesIn  int64            `json:"bytes_in"`
	BytesOut int64            `json:"bytes_out"`
	Served   map[string]int64 `json:"served"` // bytes_out by where they came from
	Seconds  float64          `json:"seconds"`
	First    time.Time        `json:"first,omitzero"`
	Last     time.Time        `json:"last,omitzero"`
}

// An EngineUse is what an engine did, by tap.
type EngineUse struct {
	Engine        string `json:"engine"`
	EngineVersion string `json:"engine_version,omitempty"`
	Catalog       Use    `json:"catalog"`
	Storage       Use    `json:"storage"`
}

// A TableUse is what engines did with a table. The table "" of a catalog stands
// for its requests that belong to no table.
type TableUse struct {
	Table    string      `json:"table"`
	TableID  TableID     `json:"table_id"`
	Location string      `json:"location,omitempty"`
	Snapshot string      `json:"snapshot,omitempty"` // a string: 64 bits are more than JavaScript's numbers hold
	Schema   *int        `json:"schema,omitempty"`
	Engines  []EngineUse `json:"engines"`
}

// Engines is the answer of /api/v1/engines.
type Engines struct {
	Engines []EngineUse `json:"engines"`
}

// Tables is the answer of /api/v1/tables.
type Tables struct {
	Tables []TableUse `json:"tables"`
}

// accessOf tells an access.
func accessOf(a *laketap.NumberedAccess) Access {
	told := Access{
		Seq: a.Seq, At: a.At.UTC(), Seconds: seconds(a.Latency), RequestID: a.RequestID,
		Tap: string(a.Tap), Op: a.Op, Engine: engineName(a.Engine), EngineVersion: a.Engine.Version,
		Principal: a.Principal, Session: a.Session, Catalog: a.Catalog, Table: a.TableName,
		Range: a.Range.String(), Size: a.Size, Status: a.Status, BytesIn: a.BytesIn, BytesOut: a.BytesOut,
		Served: a.Served.String(), Error: a.Err,
	}
	if a.Table.UUID != "" {
		id := TableID(a.Table)
		told.TableID = &id
	}
	if a.Object != (laketap.ObjectName{}) {
		object := Object(a.Object)
		told.Object = &object
	}
	return told
}

func engineName(e laketap.Engine) string { return laketap.Engine{Name: e.Name}.String() }

// seconds rounds to microseconds: more digits are noise.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e6 }

func useOf(u *laketap.Use) Use {
	told := Use{
		Requests: u.Requests, Errors: u.Errors, BytesIn: u.BytesIn, BytesOut: u.BytesOut,
		Served: map[string]int64{}, Seconds: seconds(u.Busy), First: u.First.UTC(), Last: u.Last.UTC(),
	}
	for served, n := range u.Served {
		told.Served[laketap.Served(served).String()] = n
	}
	return told
}

func engineUsesOf(uses []laketap.EngineUse) []EngineUse {
	told := make([]EngineUse, 0, len(uses))
	for _, u := range uses {
		told = append(told, EngineUse{
			Engine: engineName(u.Engine), EngineVersion: u.Engine.Version, Catalog: useOf(&u.Catalog), Storage: useOf(&u.Storage),
		})
	}
	return told
}

func tableUseOf(t *laketap.TableUse) TableUse {
	told := TableUse{Table: t.Name, TableID: TableID(t.ID), Location: t.Location, Engines: engineUsesOf(t.Engines)}
	if t.Snapshot >= 0 {
		told.Snapshot = strconv.FormatInt(t.Snapshot, 10)
	}
	if t.Schema >= 0 {
		told.Schema = &t.Schema
	}
	return told
}
