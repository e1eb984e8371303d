package observe_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
	"github.com/laketap/laketap/observe"
)

// A shelf is what is at hand of a sample table, by the last part of its name.
type shelf struct {
	mu    sync.Mutex
	files map[string][]byte
	put   map[string]bool // what is at hand
}

// sampleTable reads one of the tables that engines wrote for lake/iceberg.
func sampleTable(t testing.TB, dir string) (*shelf, laketap.TableSeen) {
	t.Helper()
	s := &shelf{files: map[string][]byte{}, put: map[string]bool{}}
	seen := laketap.TableSeen{ID: laketap.TableID{Catalog: "c", UUID: dir}, Name: "db.t", Origin: "main", Snapshot: -1, At: time.Unix(1, 0)}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		s.files[e.Name()] = b
		if strings.HasSuffix(e.Name(), ".metadata.json") {
			seen.Metadata, seen.MetadataLocation = b, "s3://lake/metadata/"+e.Name()
		}
	}
	return s, seen
}

func (s *shelf) held(name laketap.ObjectName, off, n int64) ([]byte, laketap.Object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base := path.Base(name.Key)
	b, ok := s.files[base]
	if off != 0 || n != -1 || name.Origin != "main" {
		return nil, laketap.Object{}, false
	}
	return b, laketap.Object{ObjectName: name, Size: int64(len(b))}, ok && s.put[base]
}

// Open implements iceberg.Opener over the whole sample.
func (s *shelf) Open(_ context.Context, location string) (io.ReadCloser, int64, error) {
	b, ok := s.files[path.Base(location)]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

// objectOf is where a location lies.
func objectOf(t *testing.T, location string) laketap.ObjectName {
	t.Helper()
	bucket, key, ok := strings.Cut(strings.TrimPrefix(location, "s3://"), "/")
	if !ok {
		t.Fatalf("%s is in no bucket", location)
	}
	return laketap.ObjectName{Origin: "main", Bucket: bucket, Key: key}
}

// pass puts a file at hand, as if an engine had just read it.
func (s *shelf) pass(t *testing.T, l *observe.Live, location string) {
	t.Helper()
	s.mu.Lock()
	s.put[path.Base(location)] = true
	s.mu.Unlock()
	l.Access(laketap.Access{Tap: laketap.StorageTap, Status: 206, Object: objectOf(t, location)})
	l.Learn(t.Context())
}

// What Live learns from manifests as they pass is, in the end, just what the
// table's snapshots have; and at no time more.
func TestLiveLearnsWhatPasses(t *testing.T) {
	dirs, err := filepath.Glob("../lake/iceberg/testdata/*/*.metadata.json")
	if err != nil || len(dirs) < 5 {
		t.Fatalf("samples: %v, %v", dirs, err)
	}
	for _, metadata := range dirs {
		dir := filepath.Dir(metadata)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			s, seen := sampleTable(t, dir)
			table, err := iceberg.ParseMetadata(seen.Metadata)
			if err != nil {
				t.Fatal(err)
			}
			l := observe.NewLive(observe.LiveOptions{Held: s.held})
			l.Table(seen)
			l.Learn(t.Context())
			version := func(location string) (int64, bool) {
				v, ok := l.Version(seen.ID, objectOf(t, location))
				return v.Size, ok
			}
			if size, ok := version(seen.MetadataLocation); !ok || size != -1 {
				t.Errorf("metadata: %d, %v", size, ok)
			}
			for i := range table.Snapshots {
				list := table.Snapshots[i].ManifestList
				if list == "" {
					continue
				}
				if size, ok := version(list); !ok || size != -1 {
					t.Errorf("list %s: %d, %v", list, size, ok)
				}
				s.pass(t, l, list)
				for m, err := range table.Manifests(t.Context(), table.Snapshots[i].ID, s, iceberg.Options{}) {
					if err != nil {
						t.Fatal(err)
					}
					if size, ok := version(m.Path); !ok || size != m.Length {
						t.Errorf("manifest %s: %d, %v; want %d", m.Path, size, ok, m.Length)
					}
					s.pass(t, l, m.Path)
				}
				for e, err := range table.Files(t.Context(), table.Snapshots[i].ID, s, iceberg.Options{}) {
					if err != nil {
						t.Fatal(err)
					}
					if size, ok := version(e.Path); !ok || size != e.Size {
						t.Errorf("file %s: %d, %v; want %d", e.Path, size, ok, e.Size)
					}
				}
			}
		})
	}
}

func TestLiveVouchesForOneTableAlone(t *testing.T) {
	s, seen := sampleTable(t, "../lake/iceberg/testdata/spark_evolved")
	for name := range s.files {
		s.put[name] = true
	}
	l := observe.NewLive(observe.LiveOptions{Held: s.held})
	l.Table(seen)
	l.Learn(t.Context())
	name := objectOf(t, seen.MetadataLocation)
	if _, ok := l.Version(seen.ID, name); !ok {
		t.Error("own table is not vouched for")
	}
	if _, ok := l.Version(laketap.TableID{Catalog: "c", UUID: "other"}, name); ok {
		t.Error("another table's session is answered")
	}
	name.Origin = "other"
	if _, ok := l.Version(seen.ID, name); ok {
		t.Error("another store's object is vouched for")
	}
	// The table is dropped from what its next metadata does not name.
	table, err := iceberg.ParseMetadata(seen.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	list := objectOf(t, table.Snapshots[0].ManifestList)
	if _, ok := l.Version(seen.ID, list); !ok {
		t.Error("list of a live snapshot is not vouched for")
	}
	empty, emptied := sampleTable(t, "../lake/iceberg/testdata/spark_empty")
	_ = empty
	emptied.ID, emptied.At = seen.ID, time.Unix(2, 0)
	l.Table(emptied)
	l.Learn(t.Context())
	if _, ok := l.Version(seen.ID, list); ok {
		t.Error("list of a snapshot that is gone is vouched for")
	}
}

// Metadata that cannot be read, or is of no store of ours, is passed over.
func TestLiveOfNonsense(t *testing.T) {
	s, seen := sampleTable(t, "../lake/iceberg/testdata/spark_evolved")
	l := observe.NewLive(observe.LiveOptions{Held: s.held, Tables: 1})
	name := objectOf(t, seen.MetadataLocation)
	broken := seen
	broken.Metadata = []byte(`{"format-version":`)
	foreign := seen
	foreign.Origin = ""
	for _, bad := range []laketap.TableSeen{broken, foreign, {}} {
		l.Table(bad)
		l.Learn(t.Context())
		if _, ok := l.Version(seen.ID, name); ok {
			t.Errorf("%+v is vouched for", bad)
		}
	}
	// A manifest that is damaged is not taken for one without files.
	table, err := iceberg.ParseMetadata(seen.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	list := table.Snapshots[0].ManifestList
	s.files[path.Base(list)] = s.files[path.Base(list)][:100]
	l.Table(seen)
	s.pass(t, l, list)
	if _, ok := l.Version(seen.ID, objectOf(t, list)); !ok {
		t.Error("the list itself is not vouched for")
	}
	full := observe.NewLive(observe.LiveOptions{Held: s.held, Files: 1})
	full.Table(seen)
	full.Learn(t.Context())
}

func TestLiveRuns(t *testing.T) {
	s, seen := sampleTable(t, "../lake/iceberg/testdata/spark_evolved")
	l := observe.NewLive(observe.LiveOptions{Held: s.held})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- l.Run(ctx) }()
	l.Table(seen)
	name := objectOf(t, seen.MetadataLocation)
	for deadline := time.Now().Add(10 * time.Second); ; {
		if _, ok := l.Version(seen.ID, name); ok {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing is learned")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
