package remember_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/remember"
)

// databases runs a test on both.
func databases(t *testing.T, test func(*testing.T, remember.Options)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, remember.Options{File: t.TempDir() + "/memory.db"}) })
	t.Run("postgres", func(t *testing.T) {
		p := newPostgres(t)
		p.start(t)
		test(t, p.options())
	})
}

var (
	day    = 24 * time.Hour
	duck   = laketap.Engine{Name: "duckdb", Version: "1.5"}
	spark  = laketap.Engine{Name: "spark", Version: "4.1"}
	orders = laketap.TableID{Catalog: "prod", Prefix: "p", Ref: "main", UUID: "11111111-1111-1111-1111-111111111111"}
)

// fileOf is a data file of a table.
func fileOf(key, partition string, size int64) laketap.File {
	return laketap.File{
		Object:  laketap.Object{ObjectName: laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: key}, Size: size},
		Content: laketap.DataContent, Format: "parquet", Rows: size / 10, Partition: partition,
	}
}

// readOf is an observation of some columns of a file, 100 bytes each, with its
// footer of 50.
func readOf(at time.Time, who laketap.Engine, f laketap.File, fields ...int) laketap.Observation {
	o := laketap.Observation{
		At: at, Engine: who, Principal: "prod:alice", Session: "LTA" + at.Format(time.RFC3339Nano), Table: orders, File: f, Weight: 1,
		Asked: 50, Bytes: 50, Parts: []laketap.PartBytes{{Part: laketap.Part{Kind: laketap.FooterPart}, Bytes: 50, First: true}},
	}
	for _, field := range fields {
		o.Parts = append(o.Parts, laketap.PartBytes{Part: laketap.Part{Kind: laketap.ColumnChunkPart, Field: field}, Bytes: 100, First: true})
		o.Asked += 100
		o.Bytes += 100
	}
	return o
}

// remembered writes batches and returns the memory to look at.
func remembered(t *testing.T, o remember.Options, batches ...laketap.Batch) *remember.Store {
	t.Helper()
	write(t, remember.WriterOptions{Memory: o}, batches...)
	s, err := remember.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// write runs a writer over batches until its end.
func write(t *testing.T, o remember.WriterOptions, batches ...laketap.Batch) {
	t.Helper()
	w := remember.NewWriter(o)
	for _, b := range batches {
		w.Remember(b)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	cancel() // what is left is written all the same
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if p := w.Problem(); p != "" {
		t.Fatal(p)
	}
}

// habitsOf reads habits of one kind, by engine.
func habitsOf(t *testing.T, s *remember.Store, kind laketap.HabitKind) map[string]laketap.Habit {
	t.Helper()
	all, err := s.Habits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]laketap.Habit{}
	for _, h := range all {
		if h.Kind == kind {
			found[h.Engine.Name+" "+h.Value+" "+string(rune('0'+h.Field))] = h
		}
	}
	return found
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

func TestHabits(t *testing.T) {
	databases(t, func(t *testing.T, o remember.Options) {
		f := fileOf("t/data/a.parquet", "1=2026-12-01", 1000)
		first := readOf(since, duck, f, 1, 2)
		second := readOf(since.Add(7*day), duck, f, 1)
		other := readOf(since.Add(7*day), spark, fileOf("t/data/b.parquet", "1=2026-12-02", 1000), 1, 2, 3)
		other.Principal = "prod:bob"
		s := remembered(t, o,
			laketap.Batch{Observations: []laketap.Observation{first}},
			laketap.Batch{
				Observations: []laketap.Observation{second, other},
				Queries:      []laketap.Query{{At: since, Engine: duck, Table: orders, Fields: []int{1}, Predicate: laketap.Predicate{Key: "1 = 'secret'", Shape: "1 = ?"}}},
			})
		tables := habitsOf(t, s, laketap.TableHabit)
		// Two uses a half-life apart: one and a half at the latter.
		if got := tables["duckdb  0"]; !near(got.Uses.Value, 1.5) || !got.Uses.Time.Equal(second.At) || got.Bytes != 400 || !got.First.Equal(first.At) || got.Table != orders {
			t.Errorf("table: %+v", got)
		}
		columns := habitsOf(t, s, laketap.ColumnHabit)
		for key, want := range map[string]float64{"duckdb  1": 1.5, "duckdb  2": 1, "spark  3": 1} {
			if got := columns[key]; !near(got.Uses.Value, want) {
				t.Errorf("column %s: %+v, want %v", key, got.Uses, want)
			}
		}
		partitions := habitsOf(t, s, laketap.PartitionHabit)
		if got := partitions["duckdb 1=2026-12-01 0"]; !near(got.Uses.Value, 1.5) || len(partitions) != 2 {
			t.Errorf("partitions: %+v", partitions)
		}
		if got := habitsOf(t, s, laketap.PredicateHabit)["duckdb 1 = ? 0"]; !near(got.Uses.Value, 1) {
			t.Errorf("predicate: %+v", got)
		}
		if got := habitsOf(t, s, laketap.HourHabit)["duckdb 36 0"]; !near(got.Uses.Value, 1.5) { // Tuesday noon
			t.Errorf("hour: %+v", habitsOf(t, s, laketap.HourHabit))
		}
	})
}

func TestFacts(t *testing.T) {
	databases(t, func(t *testing.T, o remember.Options) {
		facts := laketap.TableFacts{
			At: since, ID: orders, Name: "ns.orders", Location: "s3://lake/t", Snapshot: math.MaxInt64,
			Columns:   []laketap.Column{{Field: 1, Name: "a", Type: "long"}, {Field: 2, Name: "b\x00.c", Type: "string", Dropped: true}},
			Snapshots: []laketap.Snapshot{{ID: math.MaxInt64, Parent: 3, Sequence: 2, At: since, Operation: "append"}},
		}
		older := facts
		older.At, older.Name = since.Add(-time.Hour), "ns.old"
		change := laketap.Change{At: since, Table: orders, From: 3, To: math.MaxInt64, Operation: "append", Added: []laketap.File{fileOf("t/data/a.parquet", "1=x", 10)}}
		s := remembered(t, o, laketap.Batch{Tables: []laketap.TableFacts{facts}, Changes: []laketap.Change{change, change}})
		s2 := remembered(t, o, laketap.Batch{Tables: []laketap.TableFacts{older}})
		want := facts
		want.Columns = []laketap.Column{facts.Columns[0], {Field: 2, Name: "b\uFFFD.c", Type: "string", Dropped: true}}
		for _, s := range []*remember.Store{s, s2} {
			got, err := s.Tables(t.Context())
			if diff := cmp.Diff([]laketap.TableFacts{want}, got); err != nil || diff != "" {
				t.Errorf("tables (%v) (-want +got):\n%s", err, diff)
			}
			changes, err := s.Changes(t.Context(), since)
			if diff := cmp.Diff([]laketap.Change{change}, changes); err != nil || diff != "" {
				t.Errorf("changes (%v) (-want +got):\n%s", err, diff)
			}
			if later, err := s.Changes(t.Context(), since.Add(time.Second)); err != nil || len(later) != 0 {
				t.Errorf("later changes: %v (%v)", later, err)
			}
		}
	})
}
