package decide

import (
	"math"
	"slices"
	"time"

	"github.com/laketap/laketap"
)

// prefetch decides, for each table with habits, which columns are brought when a
// file of it is opened: those that are read in most files that are opened, but
// for those of which what was brought went unused.
func prefetch(v *View, tables []*habits, now time.Time, s *Settings) []laketap.Decision {
	var all []laketap.Decision
	stopped, standing := stoppedColumns(v, laketap.PrefetchPolicy, now, s), standingColumns(v, laketap.PrefetchPolicy, now)
	for _, t := range tables {
		if t.opened < s.MinOpens {
			continue
		}
		columns := slices.DeleteFunc(t.habitual(s.Threshold*slack), func(c columnShare) bool {
			of := subject{t.facts.ID, c.field}
			return stopped[of] || c.share < s.Threshold && !standing[of]
		})
		if len(columns) == 0 {
			continue
		}
		opens := t.perDay() * s.Validity.Hours() / 24
		reads := 0.0
		for _, c := range columns {
			reads += c.share
		}
		d := laketap.Decision{
			Policy: laketap.PrefetchPolicy, Target: t.target(columns), Evidence: t.evidence(columns),
			Gain: gainOf(opens*reads, bounded(opens*float64(t.bytesPerOpen(columns))), s),
		}
		d.Reason = about(d.Target.Columns, "fetch ", " when a file of "+t.facts.Name+" is opened") + ": " + readBy(t, columns)
		all = append(all, d)
	}
	return all
}

// slack is how much less likely a column may become before a decision that has
// it is made anew without: not each query is to turn it around.
const slack = 0.8

// standingColumns returns what decisions of a policy are about now.
func standingColumns(v *View, p laketap.Policy, now time.Time) map[subject]bool {
	standing := map[subject]bool{}
	for i := range v.Decisions {
		if d := &v.Decisions[i]; d.Policy == p && d.Stands(now) {
			for _, f := range d.Target.Fields {
				standing[subject{d.Target.Table, f}] = true
			}
		}
	}
	return standing
}

// A subject is a column of a table.
type subject struct {
	table laketap.TableID
	field int
}

// stoppedColumns returns what is left alone because too little of it was used.
// After a while it is tried again, which costs what a [Credit] allows.
func stoppedColumns(v *View, p laketap.Policy, now time.Time, s *Settings) map[subject]bool {
	stopped := map[subject]bool{}
	for i := range v.Came {
		if c := &v.Came[i]; c.Policy == p && c.Field > 0 && c.precision() < s.Floor && now.Sub(c.Last) < s.Retry {
			stopped[subject{c.Table, c.Field}] = true
		}
	}
	return stopped
}

// gainOf returns what is gained if so many requests do not wait.
func gainOf(requests float64, bytes int64, s *Settings) laketap.Gain {
	wait := requests * float64(s.RoundTrip)
	return laketap.Gain{Requests: math.Round(requests*10) / 10, Bytes: bytes, Wait: time.Duration(bounded(wait)).Round(time.Millisecond)}
}

// bounded returns a number of bytes as an integer, whatever the memory says.
func bounded(n float64) int64 {
	const most = 1 << 62
	switch {
	case !(n > 0):
		return 0
	case n >= most:
		return most
	}
	return int64(n)
}
