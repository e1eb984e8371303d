package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/laketap/laketap"
)

// maxFields and maxPartitions bound what one decision names.
const (
	maxFields     = 64
	maxPartitions = 64
)

// A habits is what engines do with one table.
type habits struct {
	facts   *laketap.TableFacts
	now     time.Time
	engines []laketap.Engine // that opened files, the busiest first

	opens      map[laketap.Engine]*laketap.Habit
	columns    map[int]map[laketap.Engine]*laketap.Habit
	partitions map[string]float64
	opened     float64 // of all engines
}

// habitsOf sorts habits by table. Those of tables that nobody knows are left out.
func habitsOf(v *View, now time.Time) []*habits {
	known := map[laketap.TableID]*habits{}
	var all []*habits
	for i := range v.Tables {
		t := &v.Tables[i]
		if t.ID.UUID == "" || known[t.ID] != nil {
			continue
		}
		known[t.ID] = &habits{
			facts: t, now: now, opens: map[laketap.Engine]*laketap.Habit{},
			columns: map[int]map[laketap.Engine]*laketap.Habit{}, partitions: map[string]float64{},
		}
		all = append(all, known[t.ID])
	}
	for i := range v.Habits {
		if h := &v.Habits[i]; known[h.Table] != nil {
			known[h.Table].take(h)
		}
	}
	for _, h := range all {
		for e := range h.opens {
			h.engines = append(h.engines, e)
		}
		slices.SortFunc(h.engines, func(a, b laketap.Engine) int {
			return cmp.Or(cmp.Compare(h.opens[b].Uses.At(now), h.opens[a].Uses.At(now)), cmp.Compare(a.String(), b.String()))
		})
		// Sums are taken in this order: in that of a map they would differ in their
		// last bits from one time to the next, and decisions with them.
		for _, e := range h.engines {
			h.opened += h.opens[e].Uses.At(now)
		}
	}
	// The busiest first, so that what has no room is what matters least.
	slices.SortStableFunc(all, func(a, b *habits) int { return cmp.Compare(b.opened, a.opened) })
	return all
}

// take notes a habit.
func (t *habits) take(h *laketap.Habit) {
	uses := h.Uses.At(t.now)
	if !(uses > 0) { // NaN is nothing either
		return
	}
	switch h.Kind {
	case laketap.TableHabit:
		t.opens[h.Engine] = h
	case laketap.ColumnHabit:
		if t.columns[h.Field] == nil {
			t.columns[h.Field] = map[laketap.Engine]*laketap.Habit{}
		}
		t.columns[h.Field][h.Engine] = h
	case laketap.PartitionHabit:
		t.partitions[h.Value] += uses
	}
}

// share is how likely an engine that opens a file of the table reads the column
// in it, over all engines, each as heavy as it is busy. One open too many is
// counted, so that little evidence says little.
func (t *habits) share(field int) float64 {
	reads := 0.0
	for _, e := range t.engines {
		if h := t.columns[field][e]; h != nil {
			// No more than the files that the engine opened: the two are counted
			// apart, and may not agree at the edges.
			reads += min(h.Uses.At(t.now), t.opens[e].Uses.At(t.now))
		}
	}
	return reads / (t.opened + 1)
}

// A columnShare is a column with how likely it is read.
type columnShare struct {
	field int
	share float64
}

// habitual returns the columns of the current schema that are read in at least a
// share of the files that are opened, the likeliest first.
func (t *habits) habitual(atLeast float64) []columnShare {
	var all []columnShare
	for i := range t.facts.Columns {
		c := &t.facts.Columns[i]
		if share := t.share(c.Field); !c.Dropped && c.Field > 0 && share >= atLeast {
			all = append(all, columnShare{c.Field, share})
		}
	}
	slices.SortFunc(all, func(a, b columnShare) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.field, b.field))
	})
	all = slices.CompactFunc(all, func(a, b columnShare) bool { return a.field == b.field })
	return all[:min(len(all), maxFields)]
}

// hot returns the partitions that are read, the hottest first.
func (t *habits) hot() []string {
	all := make([]string, 0, len(t.partitions))
	for p := range t.partitions {
		if p != "" {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.partitions[b], t.partitions[a]), cmp.Compare(a, b))
	})
	return all[:min(len(all), maxPartitions)]
}

// target returns what a decision about columns of the table is about.
func (t *habits) target(columns []columnShare) laketap.Target {
	target := laketap.Target{Table: t.facts.ID, Name: t.facts.Name}
	for _, c := range columns {
		target.Fields = append(target.Fields, c.field)
	}
	slices.Sort(target.Fields)
	for _, f := range target.Fields {
		target.Columns = append(target.Columns, t.name(f))
	}
	return target
}

// name returns the name of a column.
func (t *habits) name(field int) string {
	for i := range t.facts.Columns {
		if c := &t.facts.Columns[i]; c.Field == field {
			return c.Name
		}
	}
	return ""
}

// evidence tells what each engine taught about columns; of none, about the table.
func (t *habits) evidence(columns []columnShare) []laketap.Evidence {
	var all []laketap.Evidence
	for _, e := range t.engines[:min(len(t.engines), maxEngines)] {
		opens := t.opens[e]
		ev := laketap.Evidence{Engine: e, Uses: opens.Uses.At(t.now), Share: 1, Bytes: opens.Bytes, Since: opens.First, Last: opens.Last}
		if len(columns) > 0 {
			ev.Share, ev.Bytes = 0, 0
			for _, c := range columns {
				if h := t.columns[c.field][e]; h != nil {
					ev.Share += min(1, h.Uses.At(t.now)/ev.Uses) / float64(len(columns))
					ev.Bytes += h.Bytes
				}
			}
		}
		if ev.Share > 0 {
			all = append(all, ev)
		}
	}
	return all
}

// maxEngines bounds the evidence of a decision.
const maxEngines = 16

// perDay is how many files of the table are opened in a day, as heat has it: with
// a rate r its value comes to r × half-life / ln 2.
func (t *habits) perDay() float64 {
	const ln2 = 0.693147
	return t.opened * ln2 * (24 * time.Hour).Hours() / laketap.HalfLife.Hours()
}

// bytesPerOpen is about how much of columns is read of each file; uses have
// faded since, so it is at least that.
func (t *habits) bytesPerOpen(columns []columnShare) int64 {
	bytes, uses := 0.0, 0.0
	for _, e := range t.engines {
		for _, c := range columns {
			if h := t.columns[c.field][e]; h != nil {
				bytes += float64(max(h.Bytes, 0))
			}
		}
		uses += max(t.opens[e].Uses.Value, 1)
	}
	return bounded(bytes / max(uses, 1))
}
