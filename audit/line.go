package audit

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/laketap/laketap"
)

// What a line tells of.
const (
	intent = "intent" // a request is about to be served
	access = "access" // a request was answered, or broke off
	gap    = "gap"    // lines are missing before this one
)

// A line is a line of the file; docs/formats/audit.md describes it.
type line struct {
	At        time.Time `json:"at"`
	Event     string    `json:"event"`
	RequestID string    `json:"request_id"`
	Op        string    `json:"op"`
	place
	Range     string  `json:"range,omitempty"`
	Also      []place `json:"also,omitempty"`
	Principal string  `json:"principal,omitempty"`
	Session   string  `json:"session,omitempty"`
	Engine    string  `json:"engine,omitempty"`
	Version   string  `json:"engine_version,omitempty"`
	Catalog   string  `json:"catalog,omitempty"`
	Table     string  `json:"table,omitempty"`
	TableUUID string  `json:"table_uuid,omitempty"`
	*outcome
}

// A place is an object. A key that is no text is in Base64.
type place struct {
	Origin   string `json:"origin,omitempty"`
	Bucket   string `json:"bucket,omitempty"`
	Key      string `json:"key,omitempty"`
	KeyBytes []byte `json:"key_base64,omitempty"`
}

// An outcome is what came of a request; an intent has none.
type outcome struct {
	Status   int     `json:"status"` // 0: the client left before one
	BytesIn  int64   `json:"bytes_in"`
	BytesOut int64   `json:"bytes_out"`
	Served   string  `json:"served"`
	Seconds  float64 `json:"seconds"`
	Error    string  `json:"error,omitempty"`
}

// encode appends the line of an access.
func encode(to []byte, event string, a *laketap.Access) []byte {
	l := line{
		At: a.At.UTC(), Event: event, RequestID: a.RequestID, Op: a.Op, place: placeOf(a.Object), Range: a.Range.String(),
		Principal: a.Principal, Session: a.Session, Engine: a.Engine.Name, Version: a.Engine.Version,
		Catalog: a.Catalog, Table: a.TableName, TableUUID: a.Table.UUID,
	}
	for _, name := range a.Also {
		l.Also = append(l.Also, placeOf(name))
	}
	if event == access {
		l.outcome = &outcome{
			Status: a.Status, BytesIn: a.BytesIn, BytesOut: a.BytesOut, Served: a.Served.String(), Seconds: a.Latency.Seconds(), Error: a.Err,
		}
	}
	return appendJSON(to, l)
}

// encodeGap appends a line that tells of lines that are missing.
func encodeGap(to []byte, now time.Time, lost int64) []byte {
	return appendJSON(to, struct {
		At    time.Time `json:"at"`
		Event string    `json:"event"`
		Lost  int64     `json:"lost"`
	}{now.UTC(), gap, lost})
}

func appendJSON(to []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil { // cannot be: strings, numbers and times
		text = fmt.Appendf(nil, `{"event":"gap","lost":1,"error":%q}`, err)
	}
	return append(append(to, text...), '\n')
}

func placeOf(name laketap.ObjectName) place {
	p := place{Origin: name.Origin, Bucket: name.Bucket, Key: name.Key}
	if !utf8.ValidString(name.Key) {
		p.Key, p.KeyBytes = "", []byte(name.Key)
	}
	return p
}
