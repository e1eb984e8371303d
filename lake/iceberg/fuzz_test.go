package iceberg_test

import (
	"strings"
	"testing"

	"github.com/laketap/laketap/lake/iceberg"
)

func FuzzMetadata(f *testing.F) {
	for _, s := range samples(f) {
		if b := s.files[s.metadata]; len(b) > 0 && b[0] == '{' && len(b) < 20_000 {
			f.Add(b)
		}
	}
	f.Add([]byte(minimal1))
	f.Add([]byte(with(snapshots)))
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := iceberg.ParseMetadata(b)
		if err != nil {
			if !isOurs(err) {
				t.Error(err)
			}
			return
		}
		if table.CurrentSchema() == nil || table.Location == "" {
			t.Error("metadata in order lacks what it must have")
		}
		if _, ok := table.Current(); !ok && table.CurrentSnapshotID != iceberg.None {
			t.Error("the current snapshot is not there")
		}
		if _, err := table.NameMapping(); err != nil && !isOurs(err) {
			t.Error(err)
		}
		table.DataPath()
		table.MetadataPath()
		table.Encrypted()
	})
}

// FuzzNameMapping: a mapping that is taken maps each name within a level to one
// field, whatever it is written like.
func FuzzNameMapping(f *testing.F) {
	f.Add(`[{"field-id":1,"names":["id","record_id"]},{"field-id":2,"names":["data"],"fields":[{"field-id":3,"names":["element"]}]},{"names":[]}]`, "data")
	f.Add(`[{"field-id":1,"names":["a"]},{"field-id":2,"names":["a"]}]`, "a")
	f.Fuzz(func(t *testing.T, text, name string) {
		table := iceberg.Table{Properties: map[string]string{"schema.name-mapping.default": text}}
		m, err := table.NameMapping()
		if err != nil {
			if !isOurs(err) {
				t.Error(err)
			}
			return
		}
		id, ok := m.Field([]string{name})
		if again, also := m.Field([]string{name}); again != id || also != ok {
			t.Errorf("%q is %d and %d", name, id, again)
		}
		if inside, ok := m.Field([]string{name, name}); ok && inside == iceberg.None {
			t.Errorf("%q inside itself is no field", name)
		}
	})
}

// seeds adds the small files of the samples whose names start so, or else do
// not start so.
func seeds(f *testing.F, prefix string, with bool) {
	for _, s := range samples(f) {
		for name, b := range s.files {
			if strings.HasSuffix(name, ".avro") && strings.HasPrefix(name, prefix) == with && len(b) < 12_000 {
				f.Add(b)
			}
		}
	}
}

func FuzzManifestList(f *testing.F) {
	seeds(f, "snap-", true)
	f.Fuzz(func(t *testing.T, b []byte) {
		for m, err := range iceberg.ReadManifestList(t.Context(), "x", files{"x": b}, iceberg.Options{Want: iceberg.WantAll, Avro: small}) {
			if err != nil {
				if !isOurs(err) {
					t.Error(err)
				}
				return
			}
			if m.Path == "" || m.Length < 0 || m.Live() < iceberg.None {
				t.Errorf("manifest %+v", m)
			}
			m.Clone()
		}
	})
}

func FuzzManifest(f *testing.F) {
	seeds(f, "snap-", false)
	f.Fuzz(func(t *testing.T, b []byte) {
		var counts []int
		for _, want := range []iceberg.Want{0, iceberg.WantAll} {
			n, failed := 0, false
			for e, err := range iceberg.ReadManifest(t.Context(), manifest(b), nil, files{"x": b}, iceberg.Options{Want: want, Avro: small}) {
				if err != nil {
					if failed = true; !isOurs(err) {
						t.Error(err)
					}
					break
				}
				if e.Path == "" || e.Records < 0 || e.Size < 0 || e.FirstRowID < iceberg.None {
					t.Errorf("entry %+v", e)
				}
				e.Clone()
				n++
			}
			if !failed {
				counts = append(counts, n)
			}
		}
		// What is passed over and what is decoded must be the same bytes.
		if len(counts) == 2 && counts[0] != counts[1] {
			t.Errorf("%d entries projected, %d full", counts[0], counts[1])
		}
	})
}
