package decide

import (
	"time"

	"github.com/laketap/laketap"
)

// keep decides which columns and partitions of a table are worth most to the
// cache. It is said of every table that is read at all: that nothing of a table
// is habitual is worth knowing too.
func keep(tables []*habits, _ time.Time, s *Settings) []laketap.Decision {
	var all []laketap.Decision
	for _, t := range tables {
		if t.opened < s.MinOpens {
			continue
		}
		// What is read in a good part of all files comes back, even where it is
		// too seldom to be brought unasked.
		columns := t.habitual(s.Threshold / 2)
		d := laketap.Decision{Policy: laketap.KeepPolicy, Target: t.target(columns), Evidence: t.evidence(columns)}
		d.Target.Partitions = t.hot()
		d.Reason = about(d.Target.Columns, "keep ", " of "+t.facts.Name+" longest") + ": " + readBy(t, columns)
		all = append(all, d)
	}
	return all
}
