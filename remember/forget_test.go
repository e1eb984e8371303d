package remember_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/remember"
)

// What is forgotten is in no answer and in no file, and nothing else is gone.
func TestForget(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		o := remember.Options{File: t.TempDir() + "/memory.db"}
		testForget(t, o, filepath.Dir(o.File), func() {})
	})
	t.Run("postgres", func(t *testing.T) {
		p := newPostgres(t)
		p.start(t)
		testForget(t, p.options(), filepath.Join(p.dir, "data", "base"), func() { p.stop(t) }) // which writes what is in its buffers
	})
}

func testForget(t *testing.T, o remember.Options, dir string, settle func()) {
	t.Helper()
	secret := laketap.TableID{Catalog: "prod", UUID: "22222222-2222-2222-2222-222222222222"}
	var b laketap.Batch
	for i := range 300 { // enough for pages of their own
		mine := readOf(since.Add(time.Duration(i)*time.Hour), duck, fileOf("wipeme/"+strings.Repeat("x", i)+".parquet", "1=wipeme", 10), 1, 2)
		mine.Table = secret
		bobs := readOf(since.Add(time.Duration(i)*time.Hour), spark, fileOf("keepme/a.parquet", "1=keepme", 10), 1)
		bobs.Principal = "prod:bobwipeme"
		b.Observations = append(b.Observations, mine, bobs, readOf(since, duck, fileOf("keepme/b.parquet", "1=keepme", 10), 1))
	}
	b.Tables = []laketap.TableFacts{{At: since, ID: secret, Name: "ns.wipeme", Location: "s3://lake/wipeme"}, {At: since, ID: orders, Name: "ns.keepme"}}
	b.Changes = []laketap.Change{{At: since, Table: secret, To: 1, Added: []laketap.File{fileOf("wipeme/a", "", 1)}}}
	s := remembered(t, o, b)
	for _, subject := range []remember.Subject{{Table: "prod.ns.wipeme"}, {Principal: "prod:bobwipeme"}} {
		if err := s.Forget(t.Context(), subject); err != nil {
			t.Fatal(err)
		}
		if err := s.Forget(t.Context(), subject); !errors.Is(err, remember.ErrUnknown) {
			t.Errorf("forgotten twice: %v", err)
		}
	}
	all, err := s.Habits(t.Context())
	if err != nil || len(all) == 0 {
		t.Fatalf("nothing is left (%v)", err)
	}
	for _, h := range all {
		if h.Table != orders || h.Engine != duck {
			t.Errorf("left: %+v", h)
		}
	}
	if facts, err := s.Tables(t.Context()); err != nil || len(facts) != 1 || facts[0].ID != orders {
		t.Errorf("tables left: %v (%v)", facts, err)
	}
	settle()
	if holds(t, dir, "wipeme") {
		t.Error("bytes of what is forgotten are in the files")
	}
	if !holds(t, dir, "keepme") {
		t.Error("the rest is gone, too, or the search does not see it")
	}
}

// holds reports whether a text is in any file below a folder.
func holds(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		found = found || bytes.Contains(content, []byte(text))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// A writer forgets what it has yet to write as well.
func TestForgetWhatWaits(t *testing.T) {
	o := remember.Options{File: t.TempDir() + "/memory.db"}
	w := remember.NewWriter(remember.WriterOptions{Memory: o, Every: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	w.Remember(laketap.Batch{Observations: []laketap.Observation{readOf(since, duck, fileOf("a", "", 1), 1)}})
	if err := w.Forget(t.Context(), remember.Subject{Principal: "prod:alice"}); err != nil {
		t.Error(err)
	}
	if err := w.Forget(t.Context(), remember.Subject{}); err == nil {
		t.Error("forgot nobody")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := w.Forget(ctx, remember.Subject{Table: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
	if all, err := remembered(t, o).Habits(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("left: %v (%v)", all, err)
	}
}
