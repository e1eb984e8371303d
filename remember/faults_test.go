package remember_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/remember"
)

// writing runs a writer until the test ends.
func writing(t *testing.T, o remember.Options) *remember.Writer {
	t.Helper()
	w := remember.NewWriter(remember.WriterOptions{Memory: o, Every: 5 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

// opens is a batch of one opening.
func opens(i int) laketap.Batch {
	return laketap.Batch{Observations: []laketap.Observation{readOf(since.Add(time.Duration(i)*time.Hour), duck, fileOf("t/a", "", 10), 1)}}
}

// bytesOf is what is remembered to have been read.
func bytesOf(t *testing.T, o remember.Options) int64 {
	t.Helper()
	s, err := remember.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return habitsOf(t, s, laketap.TableHabit)["duckdb  0"].Bytes
}

// A database that goes and comes: nothing is lost that there was room for, and
// nobody has to restart anything.
func TestDatabaseGoesAndComes(t *testing.T) {
	p := newPostgres(t)
	w := writing(t, p.options()) // it is not running yet
	w.Remember(opens(0))
	eventually(t, "trouble is told", func() bool { return w.Problem() != "" })
	if _, err := w.Store(); err == nil {
		t.Error("the memory is open")
	}
	p.start(t)
	eventually(t, "it is written", func() bool { return w.Counts().Remembered == 1 && w.Problem() == "" })
	p.stop(t)
	w.Remember(opens(1))
	eventually(t, "trouble is told again", func() bool { return w.Problem() != "" && w.Counts().Failures > 0 })
	w.Remember(opens(2))
	p.start(t)
	eventually(t, "the rest is written", func() bool { return w.Counts().Remembered == 3 && w.Problem() == "" })
	if got := bytesOf(t, p.options()); got != 3*150 {
		t.Errorf("%d bytes are remembered, want %d", got, 3*150)
	}
}

// Somebody else holds the lock for longer than we wait.
func TestLockedFile(t *testing.T) {
	o := remember.Options{File: t.TempDir() + "/memory.db"}
	w := writing(t, o)
	w.Remember(opens(0))
	eventually(t, "it is written", func() bool { return w.Counts().Remembered == 1 })
	db, err := sql.Open("sqlite", "file:"+o.File+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Remember(opens(1))
	eventually(t, "trouble is told", func() bool { return w.Problem() != "" })
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is written", func() bool { return w.Counts().Remembered == 2 && w.Problem() == "" })
	if got := bytesOf(t, o); got != 2*150 {
		t.Errorf("%d bytes are remembered, want %d", got, 2*150)
	}
}

// A file that cannot be: once it can, it is.
func TestFolderInTheWay(t *testing.T) {
	o := remember.Options{File: filepath.Join(t.TempDir(), "memory.db")}
	if err := os.Mkdir(o.File, 0o700); err != nil {
		t.Fatal(err)
	}
	w := writing(t, o)
	w.Remember(opens(0))
	eventually(t, "trouble is told", func() bool { return w.Problem() != "" })
	if err := os.Remove(o.File); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is written", func() bool { return w.Counts().Remembered == 1 && w.Problem() == "" })
}

// A queue that nobody empties is bounded; who fills it is not kept waiting.
func TestQueueIsBounded(t *testing.T) {
	w := remember.NewWriter(remember.WriterOptions{Memory: remember.Options{File: t.TempDir() + "/memory.db"}})
	b := laketap.Batch{Observations: make([]laketap.Observation, 1000)}
	for range 200 {
		w.Remember(b)
	}
	if c := w.Counts(); c.QueueFull != 100_000 {
		t.Errorf("%d are dropped, want 100,000", c.QueueFull)
	}
	w.Remember(laketap.Batch{}) // of nothing
	if c := w.Counts(); c.QueueFull != 100_000 {
		t.Errorf("nothing is dropped, too: %d", c.QueueFull)
	}
}

// What waits for a database that never comes is bounded, too.
func TestDigestIsBounded(t *testing.T) {
	o := remember.Options{File: filepath.Join(t.TempDir(), "memory.db")}
	if err := os.Mkdir(o.File, 0o700); err != nil {
		t.Fatal(err)
	}
	w := writing(t, o)
	for i := range 40 {
		var b laketap.Batch
		for j := range 2_000 { // of several rows each
			b.Observations = append(b.Observations, readOf(since, duck, fileOf(fmt.Sprint("t/", i, "/", j), fmt.Sprint("1=", j), 10), 1))
		}
		before := w.Counts().QueueFull
		w.Remember(b)
		if w.Counts().QueueFull > before {
			break // faster than they are summed up
		}
	}
	eventually(t, "it is dropped and counted", func() bool { c := w.Counts(); return c.MemoryFull > 0 || c.QueueFull > 0 })
}

func TestTend(t *testing.T) {
	databases(t, func(t *testing.T, o remember.Options) {
		var b laketap.Batch
		for i := range 20 {
			b.Observations = append(b.Observations, readOf(since.Add(time.Duration(i)*day), duck, fileOf(fmt.Sprint("t/", i), fmt.Sprint("1=", i), 10), 1))
		}
		b.Changes = []laketap.Change{
			{At: since, Table: orders, To: 1, Operation: "append"},
			{At: since.Add(19 * day), Table: orders, From: 1, To: 2, Operation: "delete", Removed: []laketap.File{b.Observations[0].File}},
		}
		s := remembered(t, o, b)
		now := since.Add(20*day + time.Hour)
		if err := s.Tend(t.Context(), now, remember.Bounds{}); err != nil {
			t.Fatal(err)
		}
		if files, err := s.KnownFiles(t.Context(), orders.UUID); err != nil || len(files) != 19 { // the removed one is gone
			t.Errorf("%d files (%v)", len(files), err)
		}
		if changes, err := s.Changes(t.Context(), time.Time{}); err != nil || len(changes) != 1 || changes[0].To != 2 {
			t.Errorf("changes: %v (%v)", changes, err)
		}
		if err := s.Tend(t.Context(), now, remember.Bounds{Files: 5, Uses: 8, Idle: 10 * day}); err != nil {
			t.Fatal(err)
		}
		files, err := s.KnownFiles(t.Context(), orders.UUID)
		if err != nil || len(files) != 5 || files[0].Object.Key != "t/19" {
			t.Errorf("files: %v (%v)", files, err)
		}
		all, err := s.Habits(t.Context())
		if err != nil || len(all) == 0 || len(all) > 8 {
			t.Errorf("%d habits (%v)", len(all), err)
		}
		// The hottest are left: of the table and its column, and late partitions.
		if all[0].Kind != laketap.TableHabit && all[0].Kind != laketap.ColumnHabit {
			t.Errorf("hottest: %+v", all[0])
		}
	})
}

// Values of the data are not kept where people want none.
func TestLiteralsAreReplaced(t *testing.T) {
	o := remember.Options{File: t.TempDir() + "/memory.db"}
	f := fileOf("t/a", "1=secret/2=secret2", 10)
	write(t, remember.WriterOptions{Memory: o, Literal: func(string) string { return "#" }}, laketap.Batch{
		Observations: []laketap.Observation{readOf(since, duck, f, 1)},
		Changes:      []laketap.Change{{At: since, Table: orders, To: 1, Added: []laketap.File{f}, Removed: []laketap.File{f}}},
		Queries:      []laketap.Query{{At: since, Engine: duck, Table: orders, Predicate: laketap.Predicate{Key: "1 = 'secret'", Shape: "1 = ?"}}},
	})
	if holds(t, filepath.Dir(o.File), "secret") {
		t.Error("a literal is kept")
	}
	s, err := remember.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := habitsOf(t, s, laketap.PartitionHabit)["duckdb 1=#/2=# 0"]; got.Uses.Value != 1 {
		t.Errorf("partitions: %+v", habitsOf(t, s, laketap.PartitionHabit))
	}
}

// What is written is not written again because something goes wrong behind it.
func TestTroubleOfTendingWritesNothingTwice(t *testing.T) {
	o := remember.Options{File: t.TempDir() + "/memory.db"}
	s, err := remember.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+o.File)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "create trigger stop before delete on hours begin select raise(abort, 'made to fail'); end"); err != nil {
		t.Fatal(err)
	}
	long := opens(0)
	long.Observations[0].At = since.AddDate(-2, 0, 0) // an hour that tending takes away
	w := writing(t, o)
	w.Remember(long)
	eventually(t, "it is written", func() bool { return w.Counts().Remembered >= 1 })
	w.Remember(opens(1))
	eventually(t, "the next is written", func() bool { return w.Counts().Remembered >= 2 })
	if s, err = remember.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Tend(t.Context(), time.Now(), remember.Bounds{}); err == nil {
		t.Error("tending does not fail: this proves nothing")
	}
	if got := bytesOf(t, o); got != 2*150 {
		t.Errorf("%d bytes are remembered, want %d", got, 2*150)
	}
}
