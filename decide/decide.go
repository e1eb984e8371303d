package decide

import (
	"slices"
	"time"

	"github.com/laketap/laketap"
)

// maxDecisions bounds how many decisions of a policy there are at a time.
const maxDecisions = 1000

// Decide returns what should be done, as far as the memory tells: decisions that
// have no id yet, those of the busiest tables first. What a person undid is not
// among it.
func Decide(v *View, now time.Time, settings Settings) []laketap.Decision {
	s := settings.withDefaults()
	undone := map[string]bool{}
	for i := range v.Decisions {
		if d := &v.Decisions[i]; !d.Undone.IsZero() {
			undone[d.Fingerprint()] = true
		}
	}
	tables := habitsOf(v, now)
	facts := map[laketap.TableID]*laketap.TableFacts{}
	for _, t := range tables {
		facts[t.facts.ID] = t.facts
	}
	var all []laketap.Decision
	for _, wanted := range [][]laketap.Decision{
		keep(tables, now, &s), prefetch(v, tables, now, &s), warm(v, tables, now, &s),
	} {
		n := 0
		for _, d := range wanted {
			mode := s.mode(d.Policy, facts[d.Target.Table])
			if mode == Observe || undone[d.Fingerprint()] || n == maxDecisions {
				continue
			}
			n++
			d.Advice, d.Control, d.Made = mode == Advise, s.Control, now
			if d.Until.IsZero() {
				d.Until = now.Add(s.Validity)
			}
			all = append(all, d)
		}
	}
	return all
}

// Reconcile compares what is wanted with what stands and returns what is to be
// written down: what is new, under ids from newID; what goes on, when half of its
// time is over; and what ends, because other columns are wanted by now or none.
func Reconcile(known, wanted []laketap.Decision, now time.Time, newID func() string) []laketap.Decision {
	standing := map[string]*laketap.Decision{}
	for i := range known {
		// What was decided about a commit is done once and not taken back.
		if d := &known[i]; d.Stands(now) && d.Policy != laketap.WarmPolicy {
			standing[d.Fingerprint()] = d
		}
	}
	var changed []laketap.Decision
	for _, d := range wanted {
		old := standing[d.Fingerprint()]
		delete(standing, d.Fingerprint())
		switch {
		case old == nil:
		case same(old, &d):
			if old.Until.Sub(now) < d.Until.Sub(now)/2 {
				d.ID, d.Made = old.ID, old.Made
				changed = append(changed, d)
			}
			continue
		default:
			changed = append(changed, ended(old, now))
		}
		d.ID = newID()
		changed = append(changed, d)
	}
	for i := range known {
		if d := standing[known[i].Fingerprint()]; d == &known[i] {
			changed = append(changed, ended(d, now))
		}
	}
	return changed
}

// ended returns a decision that stands no longer.
func ended(d *laketap.Decision, now time.Time) laketap.Decision {
	over := *d
	over.Until = now
	return over
}

// same reports whether two decisions ask for the same. Which partitions are hot
// changes with every query, and is no reason for another decision.
func same(a, b *laketap.Decision) bool {
	return a.Advice == b.Advice && a.Control == b.Control && slices.Equal(a.Target.Fields, b.Target.Fields)
}
