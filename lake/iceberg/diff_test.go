package iceberg_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
)

// keys spells files so that they can be compared as sets.
func keys(list []*iceberg.Entry) []string {
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, fmt.Sprint(e.Path, "@", e.ContentOffset))
	}
	slices.Sort(out)
	return out
}

// without returns what is in a and not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(append([]string{}, a...), func(s string) bool { return slices.Contains(b, s) })
}

// TestDiff compares every pair of snapshots of every sample with the
// difference of all their files.
func TestDiff(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			table := s.table(t)
			ids := append(make([]int64, 0, 1+len(table.Snapshots)), iceberg.None)
			files := map[int64][]string{}
			for i := range table.Snapshots {
				id := table.Snapshots[i].ID
				ids = append(ids, id)
				files[id] = keys(live(t, table, id, s.files))
			}
			for _, from := range ids {
				for _, to := range ids[1:] {
					d, err := table.Diff(t.Context(), from, to, s.files, iceberg.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(without(files[to], files[from]), keys(d.Added)); diff != "" {
						t.Errorf("%d to %d: added (-want +got):\n%s", from, to, diff)
					}
					if diff := cmp.Diff(without(files[from], files[to]), keys(d.Removed)); diff != "" {
						t.Errorf("%d to %d: removed (-want +got):\n%s", from, to, diff)
					}
				}
			}
		})
	}
}

// TestDiffReadsNewManifestsOnly holds each commit's difference to its own
// manifests, which is what makes following a table cheap.
func TestDiffReadsNewManifestsOnly(t *testing.T) {
	for _, s := range samples(t) {
		table := s.table(t)
		for i := range table.Snapshots {
			sn := &table.Snapshots[i]
			if _, ok := table.Snapshot(sn.Parent); !ok {
				continue
			}
			d, err := table.Diff(t.Context(), sn.Parent, sn.ID, s.files, iceberg.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d.Decoded != len(d.NewManifests) {
				t.Errorf("%s: %s %d: %d manifests read, %d new", s.name, sn.Operation, sn.ID, d.Decoded, len(d.NewManifests))
			}
		}
	}
}

func TestDiffRefuses(t *testing.T) {
	s := named(t, "spark_deletes")
	table := s.table(t)
	if _, err := table.Diff(t.Context(), iceberg.None, 1, s.files, iceberg.Options{}); !errors.Is(err, iceberg.ErrNotFound) {
		t.Errorf("unknown snapshot: %v", err)
	}
	first := table.Snapshots[0].ID
	if _, err := table.Diff(t.Context(), 1, first, s.files, iceberg.Options{}); !errors.Is(err, iceberg.ErrNotFound) {
		t.Errorf("unknown snapshot: %v", err)
	}
	if _, err := table.Diff(t.Context(), iceberg.None, first, s.files, iceberg.Options{MaxChanges: 1}); !errors.Is(err, iceberg.ErrLimit) {
		t.Errorf("too many files: %v", err)
	}
	d, err := table.Diff(t.Context(), first, first, s.files, iceberg.Options{})
	if err != nil || len(d.Added)+len(d.Removed)+len(d.NewManifests)+d.Decoded != 0 {
		t.Errorf("same snapshot: %+v, %v", d, err)
	}
}
