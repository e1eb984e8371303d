package observe_test

import (
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
	"github.com/laketap/laketap/observe"
)

// What an engine reads of a table is told as the table's manifests have it:
// every file of every sample, with its partition, rows, format and snapshot.
func TestFilesAreAsManifestsSay(t *testing.T) {
	dirs, err := filepath.Glob("../lake/iceberg/testdata/*/*.metadata.json")
	if err != nil || len(dirs) < 5 {
		t.Fatalf("samples: %v, %v", dirs, err)
	}
	kinds := map[laketap.PartKind]int{}
	for _, metadata := range dirs {
		t.Run(filepath.Base(filepath.Dir(metadata)), func(t *testing.T) {
			shelf, seen := sampleTable(t, filepath.Dir(metadata))
			for name := range shelf.files {
				shelf.put[name] = true
			}
			s := newScene(func(o *observe.InterpreterOptions) { o.Held = shelf.held })
			s.Table(seen)
			s.Live().Learn(t.Context())
			table, err := iceberg.ParseMetadata(seen.Metadata)
			if err != nil {
				t.Fatal(err)
			}
			current, ok := table.Current()
			if !ok {
				return
			}
			want := map[string]*iceberg.Entry{}
			for e, err := range table.Files(t.Context(), current.ID, shelf, iceberg.Options{Want: iceberg.WantPartition}) {
				if err != nil {
					t.Fatal(err)
				}
				want[objectOf(t, e.Path).Key] = e.Clone()
				name := objectOf(t, e.Path)
				s.observer.Access(laketap.Access{
					At: s.now, Tap: laketap.StorageTap, Op: "GetObject", Table: seen.ID, Object: name, Size: e.Size, Status: 200, BytesOut: e.Size,
				})
			}
			s.Interpret()
			s.now = s.now.Add(time.Minute) // the bytes of data files never come
			s.Interpret()
			for _, o := range s.taken() {
				e := want[o.File.Object.Key]
				delete(want, o.File.Object.Key)
				if e == nil {
					continue // a Puffin file, read once for each of its vectors
				}
				content := laketap.DataContent
				if e.Content != iceberg.Data {
					content = laketap.DeleteContent
				}
				if o.File.Content != content || o.File.Object.Size != e.Size || o.Snapshot != current.ID || (o.File.Partition == "") != (len(e.Partition) == 0) {
					t.Errorf("%s is told as %+v of snapshot %d", path.Base(e.Path), o.File, o.Snapshot)
				}
				var sum int64
				for _, p := range o.Parts {
					sum += p.Bytes
					kinds[p.Kind]++
				}
				if sum != e.Size {
					t.Errorf("parts of %s sum up to %d of %d", path.Base(e.Path), sum, e.Size)
				}
			}
			if len(want) > 0 {
				t.Errorf("nothing is told of %d files", len(want))
			}
		})
	}
	for _, kind := range []laketap.PartKind{laketap.DeleteFilePart, laketap.DeletionVectorPart, laketap.UnknownPart} {
		if kinds[kind] == 0 {
			t.Errorf("no part of kind %v is in the samples: %v", kind, kinds)
		}
	}
}

// A data file that its table does not name yet waits for the manifest; after a
// while it is told without.
func TestFileThatIsNotNamedYet(t *testing.T) {
	shelf, seen := sampleTable(t, "../lake/iceberg/testdata/spark_evolved")
	s := newScene(func(o *observe.InterpreterOptions) { o.Held = shelf.held })
	s.Table(seen)
	s.Live().Learn(t.Context())
	table, err := iceberg.ParseMetadata(seen.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	var file *iceberg.Entry
	for e, err := range table.Files(t.Context(), table.CurrentSnapshotID, shelf, iceberg.Options{Want: iceberg.WantPartition}) {
		if err != nil {
			t.Fatal(err)
		}
		file = e.Clone()
		break
	}
	read := func() {
		s.observer.Access(laketap.Access{At: s.now, Tap: laketap.StorageTap, Op: "GetObject", Table: seen.ID, Object: objectOf(t, file.Path), Size: file.Size, Status: 200, BytesOut: file.Size})
		s.Interpret()
	}
	read()
	if got := s.taken(); len(got) != 0 {
		t.Fatalf("told too early: %+v", got)
	}
	for name := range shelf.files {
		shelf.put[name] = true
	}
	current, _ := table.Current()
	shelf.pass(t, s.Live(), current.ManifestList)
	s.now = s.now.Add(20 * time.Second)
	s.Interpret()
	if got := s.taken(); len(got) != 1 || got[0].Snapshot != current.ID || got[0].File.Partition == "" {
		t.Fatalf("told %+v", got)
	}
}
