package remember

import (
	"time"

	"github.com/laketap/laketap"
)

// pause is how long a session reads nothing of a file before what it reads
// then is a new opening.
const pause = time.Minute

// maxOpenings bounds the openings that are watched. Past it all are taken for
// ended: some uses are then counted twice.
const maxOpenings = 50_000

// An opening is all that one session reads of one file in one go: it ends with
// a pause, or when the session reads the footer anew. It is what a use of a
// file, and of a column in it, is counted by, however many requests and row
// groups it takes.
type opening struct {
	last   time.Time
	footer bool // has been read
	fields map[int]bool
}

type openingKey struct {
	session string
	actor   actor
	file    laketap.ObjectName
}

// openings are those that go on.
type openings map[openingKey]*opening

// of returns the opening that an observation belongs to; fresh is true for the
// first of it.
func (all openings) of(o *laketap.Observation) (op *opening, fresh bool) {
	key := openingKey{o.Session, actorOf(o.Engine, o.Principal), o.File.Object.ObjectName}
	footer := false
	for i := range o.Parts {
		footer = footer || o.Parts[i].Kind == laketap.FooterPart && o.Parts[i].First
	}
	op = all[key]
	if op == nil || o.At.Sub(op.last) >= pause || footer && op.footer {
		if len(all) >= maxOpenings {
			clear(all)
		}
		op, fresh = &opening{fields: map[int]bool{}}, true
		all[key] = op
	}
	op.footer = op.footer || footer
	if o.At.After(op.last) {
		op.last = o.At
	}
	return op, fresh
}

// expire forgets those that ended before a time.
func (all openings) expire(now time.Time) {
	for key, op := range all {
		if now.Sub(op.last) >= pause {
			delete(all, key)
		}
	}
}
