package iceberg_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/laketap/laketap/lake/iceberg"
	"github.com/laketap/laketap/lake/iceberg/avro"
)

// small bounds what hostile files may cost in tests.
var small = avro.Limits{Header: 1 << 20, Schema: 1 << 18, Block: 1 << 22}

// manifest returns what a list would say of a manifest, of the content that its
// header tells.
func manifest(b []byte) *iceberg.Manifest {
	r := avro.NewReader(small)
	defer r.Close()
	deletes := r.Reset(bytes.NewReader(b)) == nil && string(r.Meta("content")) == "deletes"
	return &iceberg.Manifest{
		Path: "x", Length: iceberg.None, SpecID: iceberg.None, Deletes: deletes, SequenceNumber: 5, SnapshotID: 7, FirstRowID: 100,
	}
}

// readAll reads a manifest or manifest list to its end or first error.
func readAll(ctx context.Context, b []byte, list bool, want iceberg.Want) error {
	opts := iceberg.Options{Want: want, Avro: small}
	if list {
		for _, err := range iceberg.ReadManifestList(ctx, "x", files{"x": b}, opts) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, err := range iceberg.ReadManifest(ctx, manifest(b), nil, files{"x": b}, opts) {
		if err != nil {
			return err
		}
	}
	return nil
}

// library returns whose code writes the manifests of a sample.
func library(sample string) string {
	engine, _, _ := strings.Cut(sample, "_")
	switch engine {
	case "spark", "trino", "java":
		return "java"
	case "pyiceberg", "daft":
		return "pyiceberg"
	}
	return engine
}

// smallest returns the smallest list and manifest of each library that writes.
func smallest(tb testing.TB) map[string][]byte {
	tb.Helper()
	found := map[string][]byte{}
	for _, s := range samples(tb) {
		for name, b := range s.files {
			if !strings.HasSuffix(name, ".avro") {
				continue
			}
			key := library(s.name) + "/manifest"
			if strings.HasPrefix(name, "snap-") {
				key = library(s.name) + "/list"
			}
			if old, ok := found[key]; !ok || len(b) < len(old) {
				found[key] = b
			}
		}
	}
	return found
}

// Every file cut at every byte. Field case P15.
func TestCutFiles(t *testing.T) {
	for name, b := range smallest(t) {
		list := strings.HasSuffix(name, "/list")
		if err := readAll(t.Context(), b, list, iceberg.WantAll); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// A file cut between header and first block is whole, and empty; the
		// length that its list states tells.
		m := manifest(b)
		m.Length = int64(len(b))
		for n := range b {
			var err error
			if list {
				err = readAll(t.Context(), b[:n], true, iceberg.WantAll)
				if err == nil && n > len(b)-100 {
					t.Errorf("%s cut at %d of %d: no error", name, n, len(b))
				}
				continue
			}
			for _, e := range iceberg.ReadManifest(t.Context(), m, nil, files{"x": b[:n]}, iceberg.Options{Avro: small}) {
				if e != nil {
					err = e
				}
			}
			if !isOurs(err) {
				t.Fatalf("%s cut at %d of %d: %v", name, n, len(b), err)
			}
		}
	}
}

// Every byte of files with a bit flipped. Field case P15.
func TestFlippedFiles(t *testing.T) {
	for name, b := range smallest(t) {
		b = bytes.Clone(b)
		m := manifest(b)
		for i := range b {
			bit := byte(1) << (i % 8)
			b[i] ^= bit
			var err error
			if strings.HasSuffix(name, "/list") {
				err = readAll(t.Context(), b, true, iceberg.WantAll)
			} else {
				_, err = read(t, b, m, nil)
			}
			if err != nil && !isOurs(err) {
				t.Fatalf("%s byte %d: %v", name, i, err)
			}
			b[i] ^= bit
		}
	}
}

func TestCancelled(t *testing.T) {
	h := newHistory(1)
	id := int64(iceberg.None)
	for range 40 {
		id = h.commit(id, h.add)
	}
	table := h.table(t, nil)
	readers := map[string]func(context.Context, iceberg.Opener) error{
		"files": func(ctx context.Context, open iceberg.Opener) error {
			for _, err := range table.Files(ctx, id, open, iceberg.Options{}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"manifests": func(ctx context.Context, open iceberg.Opener) error {
			for _, err := range table.Manifests(ctx, id, open, iceberg.Options{}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"diff": func(ctx context.Context, open iceberg.Opener) error {
			_, err := table.Diff(ctx, iceberg.None, id, open, iceberg.Options{})
			return err
		},
	}
	for name, read := range readers {
		opened := 0
		count := opener(func(ctx context.Context, location string) (io.ReadCloser, int64, error) {
			opened++
			return h.files.Open(ctx, location)
		})
		if err := read(t.Context(), count); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for last := range opened { // the context ends when so many files have been opened
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			err := read(ctx, opener(func(ctx context.Context, location string) (io.ReadCloser, int64, error) {
				if n++; n > last {
					cancel()
				}
				return h.files.Open(t.Context(), location)
			}))
			cancel()
			if !errors.Is(err, context.Canceled) || errors.Is(err, iceberg.ErrMalformed) || n != last+1 {
				t.Errorf("%s: cancelled after %d files of %d: %v, %d were opened", name, last, opened, err, n)
			}
		}
	}
}

// An opener is a function that opens.
type opener func(ctx context.Context, location string) (io.ReadCloser, int64, error)

func (o opener) Open(ctx context.Context, location string) (io.ReadCloser, int64, error) {
	return o(ctx, location)
}

// A context that ends while a file goes on without values ends the reading.
func TestCancelledInAFile(t *testing.T) {
	head := container(minimalEntry(minimalFile()), nil)
	empty := bytes.Repeat([]byte(long(0)+long(0)+"0123456789abcdef"), 1<<10)
	for name, in := range map[string]func(read func()) io.Reader{
		"empty blocks": func(read func()) io.Reader {
			return io.MultiReader(bytes.NewReader(head), readerFunc(func(p []byte) (int, error) { read(); return copy(p, empty), nil }))
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		m := listed()
		m.Path = "x"
		var last error
		for _, err := range iceberg.ReadManifest(ctx, m, nil, opener(func(context.Context, string) (io.ReadCloser, int64, error) {
			return io.NopCloser(in(cancel)), iceberg.None, nil
		}), iceberg.Options{}) {
			last = err
		}
		if cancel(); !errors.Is(last, context.Canceled) {
			t.Errorf("%s: %v", name, last)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// What went wrong on the way is not taken for what is wrong with the bytes.
func TestBrokenConnection(t *testing.T) {
	b := container(minimalEntry(minimalFile()), nil, long(1)+text("p")+text("PARQUET")+long(1)+long(1))
	for _, broken := range []error{io.ErrUnexpectedEOF, io.ErrClosedPipe, errors.New("reset by peer")} {
		for n := range len(b) + 1 {
			in := io.MultiReader(bytes.NewReader(b[:n]), readerFunc(func([]byte) (int, error) { return 0, broken }))
			m := listed()
			m.Path = "x"
			var last error
			for _, err := range iceberg.ReadManifest(t.Context(), m, nil, opener(func(context.Context, string) (io.ReadCloser, int64, error) {
				return io.NopCloser(in), int64(len(b)), nil
			}), iceberg.Options{}) {
				last = err
			}
			if !errors.Is(last, broken) || errors.Is(last, iceberg.ErrMalformed) {
				t.Fatalf("%v after %d bytes of %d: %v", broken, n, len(b), last)
			}
		}
	}
}

// A consumer that stops is asked nothing more.
func TestStops(t *testing.T) {
	for _, s := range samples(t) {
		table := s.table(t)
		for _, err := range table.Files(t.Context(), table.CurrentSnapshotID, s.files, iceberg.Options{}) {
			if err != nil {
				t.Logf("%s: %v", s.name, err)
			}
			break
		}
	}
}

// What is lost is said: a manifest that the store no longer has. Field case
// P16.
func TestMissingManifest(t *testing.T) {
	s := named(t, "spark_deletes")
	table := s.table(t)
	for name := range s.files {
		if strings.HasSuffix(name, ".avro") && !strings.HasPrefix(name, "snap-") {
			delete(s.files, name)
		}
	}
	var failed error
	for _, err := range table.Files(t.Context(), table.CurrentSnapshotID, s.files, iceberg.Options{}) {
		failed = err
	}
	if !isOurs(failed) {
		t.Errorf("%v", failed)
	}
}
