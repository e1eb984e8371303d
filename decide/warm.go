package decide

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/laketap/laketap"
)

// warm decides, for each commit that added files, what of them is brought before
// anybody asks: their metadata and footers, and the columns that are read in most
// files of the table, those of hot partitions first. Nothing is brought of tables
// that nobody reads, and no more than its share of the cache.
func warm(v *View, tables []*habits, now time.Time, s *Settings) []laketap.Decision {
	byTable := map[laketap.TableID]*habits{}
	for _, t := range tables {
		byTable[t.facts.ID] = t
	}
	left := bounded(float64(s.Cache) * s.Share)
	decided := map[commit]bool{}
	for i := range v.Decisions {
		if d := &v.Decisions[i]; d.Policy == laketap.WarmPolicy {
			decided[commit{d.Target.Table, d.Target.Snapshot}] = true
			if d.Stands(now) && !d.Advice {
				left = max(0, left-max(d.Gain.Bytes, 0)) // another setting may have left them more
			}
		}
	}
	stopped := stoppedColumns(v, laketap.WarmPolicy, now, s)
	var all []laketap.Decision
	for _, c := range byHeat(v.Changes, byTable) {
		t, of := byTable[c.Table], commit{c.Table, c.To}
		if t == nil || t.opened < s.MinOpens || decided[of] || !fresh(c, now, s) {
			continue
		}
		decided[of] = true
		columns := slices.DeleteFunc(t.habitual(s.Threshold), func(c columnShare) bool { return stopped[subject{t.facts.ID, c.field}] })
		if d, ok := t.warm(c, columns, left, now, s); ok {
			left -= d.Gain.Bytes
			all = append(all, d)
		}
	}
	return all
}

// A commit is a snapshot of a table.
type commit struct {
	table    laketap.TableID
	snapshot int64
}

// byHeat returns changes, those of the busiest tables first and of each table the
// newest.
func byHeat(changes []laketap.Change, tables map[laketap.TableID]*habits) []*laketap.Change {
	all := make([]*laketap.Change, 0, len(changes))
	for i := range changes {
		if tables[changes[i].Table] != nil {
			all = append(all, &changes[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *laketap.Change) int {
		return cmp.Or(cmp.Compare(tables[b.Table].opened, tables[a.Table].opened), b.At.Compare(a.At), cmp.Compare(a.To, b.To))
	})
	return all
}

// fresh reports whether a change brought data that is worth bringing now.
func fresh(c *laketap.Change, now time.Time, s *Settings) bool {
	if age := now.Sub(c.At); age >= s.WarmFor || age < -s.WarmFor {
		return false // nor what another node's clock has in the far future
	}
	return slices.ContainsFunc(c.Added, isData)
}

func isData(f laketap.File) bool { return f.Content == laketap.DataContent }

// warm decides about one change. ok is false if there is no room.
func (t *habits) warm(c *laketap.Change, columns []columnShare, room int64, now time.Time, s *Settings) (d laketap.Decision, ok bool) {
	sizes := map[string]int64{}
	counts := map[string]int{}
	files, bytes := 0, int64(0)
	for i := range c.Added {
		if f := &c.Added[i]; isData(*f) {
			size := min(t.part(f, columns), room+1) // no sum of sizes overflows
			sizes[f.Partition] = min(sizes[f.Partition]+size, room+1)
			counts[f.Partition]++
			bytes = min(bytes+size, room+1)
			files++
		}
	}
	target := t.target(columns)
	target.Snapshot = c.To
	// Where not all fits or only some is hot, what is hot comes first.
	if hot := t.hotOf(sizes); bytes > room || len(hot) > 0 && len(hot) < len(sizes) || len(hot) > 1 {
		files, bytes = 0, 0
		for _, p := range hot {
			if bytes+sizes[p] > room {
				continue
			}
			target.Partitions = append(target.Partitions, p)
			files, bytes = files+counts[p], bytes+sizes[p]
		}
		if len(target.Partitions) == 0 {
			return d, false
		}
	}
	requests := float64(files) * float64(1+len(columns))
	d = laketap.Decision{
		Policy: laketap.WarmPolicy, Target: target, Evidence: t.evidence(columns), Gain: gainOf(requests, bytes, s), Until: now.Add(s.WarmFor),
	}
	what := "footers"
	if len(columns) > 0 {
		what += about(target.Columns, " and ", "")
	}
	d.Reason = fmt.Sprintf("fetch %s of %s that the %s of snapshot %d brought to %s: %s", what,
		count(files, "new data file", "new data files"), cmp.Or(c.Operation, "commit"), c.To, t.facts.Name, readBy(t, columns))
	return d, true
}

// hotOf returns which of the partitions of a change are read, the hottest first.
func (t *habits) hotOf(sizes map[string]int64) []string {
	return slices.DeleteFunc(t.hot(), func(p string) bool { _, has := sizes[p]; return !has })
}

// footerGuess is about how much of a file is not its columns'.
const footerGuess = 64 << 10

// part is about how much of a file the columns are: no more than all of it, and
// if nothing is known of how much is read of files, just that.
func (t *habits) part(f *laketap.File, columns []columnShare) int64 {
	size := max(f.Object.Size, 0)
	if len(columns) == 0 {
		return min(size, footerGuess)
	}
	read := t.bytesPerOpen(columns)
	if read == 0 {
		return size
	}
	return min(size, read+footerGuess)
}
