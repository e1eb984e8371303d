package iceberg_test

import (
	"bytes"
	"context"
	"errors"
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
	s := named(t, "spark_deletes")
	table := s.table(t)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	var last error
	for _, err := range table.Files(ctx, table.CurrentSnapshotID, s.files, iceberg.Options{}) {
		if n++; n == 1 {
			cancel()
		}
		last = err
	}
	if n > 1 && !errors.Is(last, context.Canceled) {
		t.Errorf("after %d files: %v", n, last)
	}
	cancel()
	for _, err := range table.Files(ctx, table.CurrentSnapshotID, s.files, iceberg.Options{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if _, err := table.Diff(ctx, iceberg.None, table.CurrentSnapshotID, s.files, iceberg.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("diff: %v", err)
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
