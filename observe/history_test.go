package observe_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
	"github.com/laketap/laketap/observe"
)

// A listener keeps what Live tells.
type listener struct {
	facts   []laketap.TableFacts
	changes []laketap.Change
}

func (l *listener) options(s *shelf) observe.LiveOptions {
	return observe.LiveOptions{
		Held:   s.held,
		Facts:  func(f laketap.TableFacts) { l.facts = append(l.facts, f) },
		Change: func(c laketap.Change) { l.changes = append(l.changes, c) },
	}
}

// apply plays a change on a set of files; what does not fit is an error.
func apply(t *testing.T, files map[string]bool, c *laketap.Change) {
	t.Helper()
	for _, f := range c.Removed {
		if !files[f.Object.Key] {
			t.Errorf("%s is removed by %d and was not there", f.Object.Key, c.To)
		}
		delete(files, f.Object.Key)
	}
	for _, f := range c.Added {
		files[f.Object.Key] = true
	}
}

// back returns the metadata of a table as it was at each of its snapshots.
func back(t *testing.T, seen laketap.TableSeen) (states []laketap.TableSeen, current []int64) {
	t.Helper()
	table, err := iceberg.ParseMetadata(seen.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	order := slices.Clone(table.Snapshots)
	slices.SortStableFunc(order, func(a, b iceberg.Snapshot) int { return int(a.SequenceNumber - b.SequenceNumber) })
	for i, s := range order {
		state := seen
		state.At, state.Snapshot = time.Unix(int64(i+1), 0), s.ID
		state.Metadata = withCurrent(t, seen.Metadata, s.ID)
		states, current = append(states, state), append(current, s.ID)
	}
	return states, current
}

// Whatever way a table went, the changes that were told add up to the files
// that its snapshots have; each sample table is walked through its own history,
// with all of it seen and with the even snapshots missed.
func TestChangesAddUp(t *testing.T) {
	dirs, err := filepath.Glob("../lake/iceberg/testdata/*/*.metadata.json")
	if err != nil || len(dirs) < 5 {
		t.Fatalf("samples: %v, %v", dirs, err)
	}
	for _, metadata := range dirs {
		for _, every := range []int{1, 2} {
			dir := filepath.Dir(metadata)
			t.Run(filepath.Base(dir), func(t *testing.T) {
				s, seen := sampleTable(t, dir)
				for name := range s.files {
					s.put[name] = true
				}
				heard := &listener{}
				l := observe.NewLive(heard.options(s))
				table, err := iceberg.ParseMetadata(seen.Metadata)
				if err != nil {
					t.Fatal(err)
				}
				states, current := back(t, seen)
				files := map[string]bool{}
				for i, state := range states {
					if i%every != 0 {
						continue
					}
					heard.changes = nil
					l.Table(state)
					l.Learn(t.Context())
					if len(heard.changes) == 0 {
						t.Fatalf("nothing is told of snapshot %d", current[i])
					}
					for _, c := range heard.changes {
						if c.Incomplete || c.Table != seen.ID {
							t.Errorf("change %+v", c)
						}
						apply(t, files, &c)
					}
					want := map[string]bool{}
					for e, err := range table.Files(t.Context(), current[i], s, iceberg.Options{}) {
						if err != nil {
							t.Fatal(err)
						}
						want[objectOf(t, e.Path).Key] = true
					}
					if diff := cmp.Diff(want, files); diff != "" {
						t.Errorf("files of snapshot %d (-want +got):\n%s", current[i], diff)
					}
				}
				if told := len(heard.changes); told > 0 {
					l.Table(states[len(states)-1])
					l.Learn(t.Context())
				}
			})
		}
	}
}

// A commit is told when its manifests have passed, and not before; if they never
// do, it is told without its files.
func TestChangeWaits(t *testing.T) {
	s, seen := sampleTable(t, "../lake/iceberg/testdata/spark_evolved")
	heard := &listener{}
	l := observe.NewLive(heard.options(s))
	l.Table(seen)
	l.Learn(t.Context())
	if len(heard.facts) != 1 || len(heard.changes) != 0 {
		t.Fatalf("told %d facts and %d changes", len(heard.facts), len(heard.changes))
	}
	table, err := iceberg.ParseMetadata(seen.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	current, _ := table.Current()
	s.pass(t, l, current.ManifestList)
	var paths []string
	for m, err := range table.Manifests(t.Context(), current.ID, s, iceberg.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, m.Path)
	}
	for _, path := range paths {
		if len(heard.changes) != 0 {
			t.Errorf("told before %s has passed", path)
		}
		s.pass(t, l, path)
	}
	if len(heard.changes) != 1 || heard.changes[0].From != 0 || heard.changes[0].To != current.ID || heard.changes[0].Incomplete {
		t.Fatalf("told %+v", heard.changes)
	}

	never := &listener{}
	l = observe.NewLive(never.options(&shelf{files: s.files, put: map[string]bool{}}))
	l.Table(seen)
	l.Learn(t.Context())
	seen.At = seen.At.Add(time.Hour)
	l.Table(seen)
	l.Learn(t.Context())
	if len(never.changes) != 1 || !never.changes[0].Incomplete || len(never.changes[0].Added) != 0 {
		t.Errorf("told %+v", never.changes)
	}
}

// Facts have every column of every schema once, by its newest name.
func TestFacts(t *testing.T) {
	s, seen := sampleTable(t, "../lake/iceberg/testdata/spark_evolved")
	heard := &listener{}
	l := observe.NewLive(heard.options(s))
	l.Table(seen)
	l.Learn(t.Context())
	table, err := iceberg.ParseMetadata(seen.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	got := heard.facts[0]
	if got.ID != seen.ID || got.Name != seen.Name || got.Snapshot != table.CurrentSnapshotID || len(got.Snapshots) != len(table.Snapshots) {
		t.Errorf("facts %+v", got)
	}
	fields := map[int]string{}
	for i := range table.Schemas {
		table.Schemas[i].Walk(func(_ []string, f *iceberg.Field) bool { fields[f.ID] = ""; return true })
	}
	if len(fields) != len(got.Columns) {
		t.Errorf("%d columns, want %d", len(got.Columns), len(fields))
	}
	dropped := 0
	for _, c := range got.Columns {
		name := table.CurrentSchema().Name(c.Field)
		if c.Dropped != (name == "") || name != "" && c.Name != name || c.Name == "" || c.Type == "" {
			t.Errorf("column %+v, now called %q", c, name)
		}
		if c.Dropped {
			dropped++
		}
		delete(fields, c.Field)
	}
	if len(fields) > 0 || dropped == 0 {
		t.Errorf("without the fields %v; %d dropped", slices.Collect(maps.Keys(fields)), dropped)
	}
	for i, snapshot := range got.Snapshots {
		if i > 0 && snapshot.Sequence < got.Snapshots[i-1].Sequence {
			t.Errorf("snapshot %d is out of order", snapshot.ID)
		}
	}
}
