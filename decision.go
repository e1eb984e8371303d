package laketap

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"time"
)

// A Policy is a kind of decision.
type Policy string

// The policies.
const (
	KeepPolicy     Policy = "keep"     // what stays in the cache longest
	PrefetchPolicy Policy = "prefetch" // what is fetched when a file is opened
	WarmPolicy     Policy = "warm"     // what is fetched when a commit is seen
)

// A Decision is an act on a target that evidence speaks for. It stands from
// Made until Until, or until a person undoes it.
type Decision struct {
	ID       string // ULID
	Policy   Policy
	Target   Target
	Reason   string // one English sentence
	Evidence []Evidence
	Gain     Gain    // expected, per Until - Made
	Control  float64 // share of targets left alone, to compare with: 0 to 1
	Made     time.Time
	Until    time.Time
	Undone   time.Time // when a person took it back; zero: nobody did
	Advice   bool      // told, not carried out
}

// Stands reports whether a decision holds at t.
func (d *Decision) Stands(t time.Time) bool { return d.Undone.IsZero() && t.Before(d.Until) }

// Fingerprint is what a decision is recognised by when it is made again: its
// policy and its table. What a person undid does not come back under the same
// one, whatever columns or snapshots it would be about by then.
func (d *Decision) Fingerprint() string {
	t := d.Target.Table
	return string(d.Policy) + "\x00" + t.Catalog + "\x00" + t.Prefix + "\x00" + t.Ref + "\x00" + t.UUID
}

// HeldOut reports whether an object is left alone, so that there is something to
// compare with. It is the same at any time and on any node, and says nothing
// about what the object is.
func (d *Decision) HeldOut(object ObjectName) bool {
	sum := sha256.Sum256([]byte(d.Fingerprint() + "\x00" + object.Origin + "\x00" + object.Bucket + "\x00" + object.Key))
	return float64(binary.BigEndian.Uint64(sum[:])) < d.Control*math.Exp2(64)
}

// A Target is what a decision is about, in terms of the table.
type Target struct {
	Table      TableID
	Name       string   // of the table, for people
	Snapshot   int64    // of a warm; 0 elsewhere
	Fields     []int    // columns by field id, ascending; nil: the files' metadata and footers alone
	Columns    []string // their names, for people
	Partitions []string // hot ones first; nil: all alike
}

// Evidence is what one engine taught.
type Evidence struct {
	Engine Engine
	Uses   float64 // heat: uses, decayed
	Share  float64 // of the files it opened, those in which it read what is targeted
	Bytes  int64   // it read of it
	Since  time.Time
	Last   time.Time
}

// Gain is what something saved or is expected to save.
type Gain struct {
	Requests float64       `json:"requests"` // that did not wait for the origin
	Bytes    int64         `json:"bytes"`
	Wait     time.Duration `json:"wait"`
}

// An Outcome is what came of a decision for one engine on one target, or of
// leaving that target alone. That of an object as a whole tells what reading it
// cost, and of the bytes brought those of no column; one each for its columns
// tell which of them were used.
type Outcome struct {
	At       time.Time
	Decision string
	Engine   Engine // who reused it; zero for what nobody used
	Object   ObjectName
	Field    int           // of a column that was brought; 0: of the object as a whole
	Held     bool          // a held-out target: nothing was done, and this is what it cost
	Used     bool          // what was brought was used
	Requests int64         // that waited for the origin
	Bytes    int64         // brought and used, or read from the origin where held out
	Wasted   int64         // bytes brought that nobody used
	Wait     time.Duration // that reads of the target took, summed up
}
