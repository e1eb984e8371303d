package durable_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/laketap/laketap/internal/durable"
)

// wantFile fails the test unless the file is all that its folder has, with the
// content, for its owner only.
func wantFile(t *testing.T, name, content string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(name) {
			t.Errorf("%s is left over", e.Name())
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || string(got) != content {
		t.Fatalf("got %q, %v, want %q", got, err, content)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
}

func TestCreate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if err := durable.Create(name, []byte("first")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, name, "first")
	if err := durable.Create(name, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: got %v, want ErrExist", err)
	}
	wantFile(t, name, "first")
}

func TestReplace(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list")
	for _, content := range []string{"first", "", "the third is longer"} {
		if err := durable.Replace(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
		wantFile(t, name, content)
	}
}

// Of many who make a file at once one does, and the others are told.
func TestCreateAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	var made atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			switch err := durable.Create(name, bytes.Repeat([]byte{'a' + byte(i)}, 9)); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(name)
	if err != nil || made.Load() != 1 || !bytes.Equal(got, bytes.Repeat(got[:1], 9)) {
		t.Errorf("%d made it, with %q, %v", made.Load(), got, err)
	}
}

// Whoever reads while it is replaced finds one or the other, whole.
func TestReplaceIsSeenWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list")
	contents := [][]byte{bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<12)}
	if err := durable.Replace(name, contents[0]); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 50 {
			if err := durable.Replace(name, contents[i%2]); err != nil {
				t.Error(err)
			}
		}
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
			t.Fatalf("found %d bytes, %v", len(got), err)
		}
	}
}

// Trouble leaves everything as it was, and nothing behind.
func TestTrouble(t *testing.T) {
	dir := t.TempDir()
	for name, write := range map[string]func(string, []byte) error{"create": durable.Create, "replace": durable.Replace} {
		if err := write(filepath.Join(dir, "none", "file"), []byte("x")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s in a folder that is not there: got %v", name, err)
		}
		taken := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(taken, "full"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := write(taken, []byte("x")); err == nil {
			t.Errorf("%s in place of a folder is done", name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}
