package remember

import (
	"math"
	"time"

	"github.com/laketap/laketap"
)

// landmark is the time that heat in the database is told at: a use of weight v
// at t counts v·2^((t-landmark)/HalfLife). So heat of different times, and of
// different nodes, is added by adding, in the database itself, and an order by
// it is an order by heat at any time. It lies so far from now that a double has
// room for uses from 2017 to 2054.
var landmark = time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)

// maxHalfLives bounds the exponent: a clock that is years off must not make
// heat infinite.
const maxHalfLives = 960

// stored returns heat as the database has it.
func stored(h laketap.Heat) float64 {
	lives := float64(h.Time.Sub(landmark)) / float64(laketap.HalfLife)
	return h.Value * math.Exp2(min(max(lives, -maxHalfLives), maxHalfLives))
}

// restored returns heat of the database as its value at the latest use.
func restored(sum float64, last time.Time) laketap.Heat {
	lives := float64(last.Sub(landmark)) / float64(laketap.HalfLife)
	return laketap.Heat{Value: sum / math.Exp2(min(max(lives, -maxHalfLives), maxHalfLives)), Time: last}
}

// A use is what a subject was used by one actor.
type use struct {
	heat        laketap.Heat
	bytes       int64
	since, last time.Time
}

// add adds n uses and bytes at a time; n may be 0, of a use that goes on.
func (u *use) add(at time.Time, n float64, bytes int64) {
	if n > 0 {
		u.heat = u.heat.Add(at, n)
	}
	u.bytes += bytes
	if u.since.IsZero() || at.Before(u.since) {
		u.since = at
	}
	if at.After(u.last) {
		u.last = at
	}
}
