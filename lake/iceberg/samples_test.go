package iceberg_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/laketap/laketap/lake/iceberg"
)

// files holds files by the last element of their location.
type files map[string][]byte

// Open implements iceberg.Opener.
func (f files) Open(_ context.Context, location string) (io.ReadCloser, int64, error) {
	b, ok := f[path.Base(location)]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

// A sample is a table in testdata.
type sample struct {
	name     string
	metadata string // name of its file
	files    files
}

// samples reads the tables in testdata; testdata/make.py made them.
func samples(tb testing.TB) []sample {
	tb.Helper()
	dirs, err := filepath.Glob("testdata/*/*.metadata.json")
	if err != nil || len(dirs) == 0 {
		tb.Fatalf("no samples: %v", err)
	}
	list := make([]sample, 0, len(dirs))
	for _, metadata := range dirs {
		dir := filepath.Dir(metadata)
		s := sample{name: filepath.Base(dir), metadata: filepath.Base(metadata), files: files{}}
		entries, err := os.ReadDir(dir)
		if err != nil {
			tb.Fatal(err)
		}
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				tb.Fatal(err)
			}
			s.files[e.Name()] = b
		}
		list = append(list, s)
	}
	return list
}

// named returns one sample.
func named(tb testing.TB, name string) sample {
	tb.Helper()
	for _, s := range samples(tb) {
		if s.name == name {
			return s
		}
	}
	tb.Fatalf("no sample %s", name)
	return sample{}
}

// table reads a sample's metadata.
func (s sample) table(tb testing.TB) *iceberg.Table {
	tb.Helper()
	t, err := iceberg.ReadMetadata(tb.Context(), s.metadata, s.files)
	if err != nil {
		tb.Fatalf("%s: %v", s.name, err)
	}
	return t
}

// isOurs tells whether an error is one that this package promises.
func isOurs(err error) bool {
	for _, target := range []error{
		iceberg.ErrMalformed, iceberg.ErrLimit, iceberg.ErrUnsupported, iceberg.ErrEncrypted,
		iceberg.ErrNotFound, fs.ErrNotExist,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// live returns the live files of a snapshot.
func live(tb testing.TB, t *iceberg.Table, snapshot int64, open iceberg.Opener) []*iceberg.Entry {
	tb.Helper()
	var list []*iceberg.Entry
	for e, err := range t.Files(tb.Context(), snapshot, open, iceberg.Options{Want: iceberg.WantAll}) {
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, e.Clone())
	}
	return list
}
