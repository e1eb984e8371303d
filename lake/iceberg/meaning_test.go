package iceberg_test

import (
	"slices"
	"testing"

	"github.com/laketap/laketap/lake/iceberg"
)

func TestBranches(t *testing.T) {
	s := named(t, "spark_branches")
	table := s.table(t)
	side, one := table.Refs["side"], table.Refs["one"]
	if !side.Branch || side.MinSnapshots != 2 || side.MaxAge != 7*24*3600*1000 {
		t.Errorf("side is %+v", side)
	}
	if one.Branch || one.MinSnapshots != iceberg.None || table.Refs["main"].Snapshot != table.CurrentSnapshotID {
		t.Errorf("one is %+v, main %+v", one, table.Refs["main"])
	}
	if n := len(live(t, table, side.Snapshot, s.files)); n != 3 {
		t.Errorf("%d files in side, want 3", n)
	}
	d, err := table.Diff(t.Context(), table.CurrentSnapshotID, side.Snapshot, s.files, iceberg.Options{})
	if err != nil || len(d.Added) == 0 {
		t.Errorf("main to side: %+v, %v", d, err)
	}
}

// Deletion vectors of one commit share a Puffin file and are told apart by
// their place in it.
func TestVectors(t *testing.T) {
	s := named(t, "spark_vectors")
	table := s.table(t)
	places := map[string][]int64{}
	for i := range table.Snapshots {
		for _, e := range live(t, table, table.Snapshots[i].ID, s.files) {
			if !e.IsVector() {
				if e.FirstRowID == iceberg.None {
					t.Errorf("%s has no row ids", e.Path)
				}
				continue
			}
			if e.ReferencedFile == "" || e.ContentOffset+e.ContentSize > e.Size {
				t.Errorf("vector %+v", e.File)
			}
			if !slices.Contains(places[e.Path], e.ContentOffset) {
				places[e.Path] = append(places[e.Path], e.ContentOffset)
			}
		}
	}
	shared := 0
	for _, p := range places {
		shared = max(shared, len(p))
	}
	if shared < 2 {
		t.Errorf("at most %d vectors in one file", shared)
	}
}

// Files keep the partition of the spec they were written with. Field case P10.
func TestEvolvedSpecs(t *testing.T) {
	s := named(t, "spark_evolved")
	table := s.table(t)
	seen := map[int]bool{}
	for i := range table.Snapshots {
		for _, e := range live(t, table, table.Snapshots[i].ID, s.files) {
			spec, ok := table.Spec(e.SpecID)
			if !ok {
				t.Fatalf("no spec %d", e.SpecID)
			}
			seen[e.SpecID] = true
			if len(spec.Fields) != len(e.Partition) {
				t.Errorf("%s: %d values for %d fields", e.Path, len(e.Partition), len(spec.Fields))
			}
			for _, f := range spec.Fields {
				v, ok := e.PartitionValue(f.ID)
				if !ok {
					t.Errorf("%s: no value of %d", e.Path, f.ID)
				}
				if f.Transform.Kind == iceberg.Void && !v.Null() {
					t.Errorf("%s: void value of %d", e.Path, f.ID)
				}
				if source, ok := table.Field(f.Sources[0]); !ok || source.Name == "" {
					t.Errorf("source %d of partition field %d is not known", f.Sources[0], f.ID)
				}
			}
		}
	}
	if len(seen) < 3 {
		t.Errorf("files of specs %v only", seen)
	}
}

func TestTransforms(t *testing.T) {
	table := named(t, "spark_transforms").table(t)
	kinds := map[iceberg.TransformKind]bool{}
	for _, f := range table.Specs[0].Fields {
		kinds[f.Transform.Kind] = true
	}
	for kind := iceberg.Identity; kind <= iceberg.Hour; kind++ {
		if !kinds[kind] {
			t.Errorf("no transform of kind %d", kind)
		}
	}
	if len(table.PartitionStatistics) != 1 {
		t.Errorf("partition statistics %+v", table.PartitionStatistics)
	}
}

func TestNewTypes(t *testing.T) {
	table := named(t, "spark_v3").table(t)
	if f, ok := table.Field(2); !ok || f.Type.Kind != iceberg.Variant {
		t.Errorf("field 2: %+v", f)
	}
	if got := table.CurrentSchema().Identifier; len(got) != 1 || got[0] != 1 {
		t.Errorf("identifier %v", got)
	}
	if p := table.DataPath(); p != "s3://lake/elsewhere/data" {
		t.Errorf("data path %q", p)
	}
	mapping, err := table.NameMapping()
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := mapping.Field([]string{"l", "element", "a"}); !ok || id != 7 {
		t.Errorf("l.element.a is %d, %v", id, ok)
	}
	if id, ok := (*iceberg.NameMapping)(nil).Field([]string{"id"}); ok {
		t.Errorf("no mapping maps to %d", id)
	}
}
