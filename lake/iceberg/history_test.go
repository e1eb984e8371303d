package iceberg_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
)

// A told is an entry as a made-up writer puts it into a manifest.
type told struct {
	status   iceberg.Status
	snapshot int64
	sequence int64 // None to be inherited
	path     string
}

// encode spells the entry by entrySchema.
func (e told) encode() string {
	sequence := none()
	if e.sequence != iceberg.None {
		sequence = some(long(e.sequence))
	}
	return long(int64(e.status)) + some(long(e.snapshot)) + sequence + sequence + text(e.path) + text("PARQUET") + long(10) + long(100)
}

// entrySchema is of entries that say of a file no more than they must.
func entrySchema() string {
	return rec("manifest_entry", field(0, "status", tInt), field(1, "snapshot_id", opt(tLong)),
		field(3, "sequence_number", opt(tLong)), field(4, "file_sequence_number", opt(tLong)), field(2, "data_file", minimalFile()))
}

// A made is a manifest with what is in it.
type made struct {
	name     string
	snapshot int64
	sequence int64
	size     int64
	entries  []told
	counted  bool // its list says how many
}

// encode spells what a list says of the manifest.
func (m *made) encode() string {
	counts := none() + none() + none()
	if m.counted {
		var n [3]int64
		for _, e := range m.entries {
			n[e.status]++
		}
		counts = some(long(n[iceberg.Added])) + some(long(n[iceberg.Existing])) + some(long(n[iceberg.Deleted]))
	}
	return text("s3://b/"+m.name) + long(m.size) + long(0) + long(0) + long(m.sequence) + long(m.snapshot) + counts
}

// listSchema is of lists that say of a manifest what Diff needs.
func listSchema() string {
	return rec("manifest_file", field(500, "manifest_path", tText), field(501, "manifest_length", tLong),
		field(502, "partition_spec_id", tInt), field(517, "content", tInt), field(515, "sequence_number", tLong),
		field(503, "added_snapshot_id", tLong), field(504, "added_files_count", opt(tInt)),
		field(505, "existing_files_count", opt(tInt)), field(506, "deleted_files_count", opt(tInt)))
}

// A history is a table that commits of all kinds are made to, with what each
// snapshot holds by the history's own account.
type history struct {
	r         *rand.Rand
	files     files
	snapshots []map[string]any
	manifests map[int64][]*made
	live      map[int64]map[string]bool
	gone      []string // paths that were deleted once
	n         int
}

// next returns a name that is new.
func (h *history) next(kind string) string {
	h.n++
	return fmt.Sprintf("%s%d", kind, h.n)
}

// manifest makes a manifest.
func (h *history) manifest(id int64, entries []told) *made {
	m := &made{name: h.next("m"), snapshot: id, sequence: id, entries: entries, counted: h.r.IntN(8) > 0}
	values := make([]string, len(entries))
	for i, e := range entries {
		values[i] = e.encode()
	}
	h.files[m.name] = container(entrySchema(), nil, values...)
	m.size = int64(len(h.files[m.name]))
	return m
}

// commit makes a snapshot out of another's manifests.
func (h *history) commit(parent int64, change func(id int64, list []*made) []*made) int64 {
	id := int64(len(h.snapshots) + 1)
	list := change(id, slices.Clone(h.manifests[parent]))
	live, encoded := map[string]bool{}, make([]string, len(list))
	for i, m := range list {
		encoded[i] = m.encode()
		for _, e := range m.entries {
			if e.status != iceberg.Deleted {
				live[e.path] = true
			}
		}
	}
	name := h.next("l")
	h.files[name] = container(listSchema(), nil, encoded...)
	snapshot := map[string]any{"snapshot-id": id, "sequence-number": id, "timestamp-ms": id, "manifest-list": "s3://b/" + name}
	if parent != iceberg.None {
		snapshot["parent-snapshot-id"] = parent
	}
	h.snapshots = append(h.snapshots, snapshot)
	h.manifests[id], h.live[id] = list, live
	return id
}

// pathsIn returns the paths that manifests speak of.
func pathsIn(list []*made) map[string]bool {
	here := map[string]bool{}
	for _, m := range list {
		for _, e := range m.entries {
			here[e.path] = true
		}
	}
	return here
}

// add appends a manifest of new files, or of some that were there before.
func (h *history) add(id int64, list []*made) []*made {
	here := pathsIn(list)
	entries := make([]told, 0, 4)
	for range 1 + h.r.IntN(4) {
		path := h.next("f")
		if n := len(h.gone); n > 0 && h.r.IntN(4) == 0 && !here[h.gone[n-1]] {
			path, h.gone = h.gone[n-1], h.gone[:n-1]
			here[path] = true
		}
		entries = append(entries, told{iceberg.Added, id, iceberg.None, path})
	}
	return append(list, h.manifest(id, entries))
}

// remove rewrites a manifest without some of its files, and says which.
func (h *history) remove(id int64, list []*made) []*made {
	if len(list) == 0 {
		return h.add(id, list)
	}
	i := h.r.IntN(len(list))
	old := list[i]
	var entries []told
	for _, e := range old.entries {
		if e.status == iceberg.Deleted {
			continue
		}
		if e.sequence == iceberg.None {
			e.sequence = old.sequence
		}
		e.status = iceberg.Existing
		if h.r.IntN(2) == 0 {
			e.status, e.snapshot = iceberg.Deleted, id
			h.gone = append(h.gone, e.path)
		}
		entries = append(entries, e)
	}
	list[i] = h.manifest(id, entries)
	return list
}

// merge puts all manifests into one, which changes no file.
func (h *history) merge(id int64, list []*made) []*made {
	var entries []told
	for _, m := range list {
		for _, e := range m.entries {
			if e.status != iceberg.Deleted {
				e.status = iceberg.Existing
				if e.sequence == iceberg.None {
					e.sequence = m.sequence
				}
				entries = append(entries, e)
			}
		}
	}
	return []*made{h.manifest(id, entries)}
}

// drop leaves a manifest out without saying that its files are deleted.
func (h *history) drop(id int64, list []*made) []*made {
	if len(list) < 2 {
		return h.add(id, list)
	}
	return slices.Delete(list, 0, 1)
}

// adopt takes over a manifest of any other snapshot as it is.
func (h *history) adopt(id int64, list []*made) []*made {
	here := pathsIn(list)
	for _, other := range slices.Sorted(maps.Keys(h.manifests)) {
		for _, m := range h.manifests[other] {
			if !slices.ContainsFunc(m.entries, func(e told) bool { return here[e.path] }) {
				return append(list, m)
			}
		}
	}
	return h.add(id, list)
}

// table returns the table, without the snapshots that expired.
func (h *history) table(t *testing.T, expired map[int64]bool) *iceberg.Table {
	t.Helper()
	kept := slices.DeleteFunc(slices.Clone(h.snapshots), func(s map[string]any) bool { return expired[s["snapshot-id"].(int64)] })
	b, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	head := strings.Replace(minimal2, `"last-sequence-number":34`, `"last-sequence-number":1000`, 1)
	table, err := iceberg.ParseMetadata([]byte(head + `,"snapshots":` + string(b) + "}"))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// checkDiffs holds the difference of each pair of snapshots against what they
// hold by the history's account.
func (h *history) checkDiffs(t *testing.T, seed uint64, table *iceberg.Table) {
	t.Helper()
	for i := range table.Snapshots {
		to := table.Snapshots[i].ID
		if got := paths(live(t, table, to, h.files)); !slices.Equal(got, slices.Sorted(maps.Keys(h.live[to]))) {
			t.Fatalf("seed %d: snapshot %d has %q", seed, to, got)
		}
		for j := -1; j < len(table.Snapshots); j++ {
			from := int64(iceberg.None)
			if j >= 0 {
				from = table.Snapshots[j].ID
			}
			d, err := table.Diff(t.Context(), from, to, h.files, iceberg.Options{})
			if err != nil {
				t.Fatalf("seed %d: %d to %d: %v", seed, from, to, err)
			}
			had, has := slices.Sorted(maps.Keys(h.live[from])), slices.Sorted(maps.Keys(h.live[to]))
			if diff := cmp.Diff(without(has, had), append([]string{}, paths(d.Added)...)); diff != "" {
				t.Fatalf("seed %d: %d to %d: added (-want +got):\n%s", seed, from, to, diff)
			}
			if diff := cmp.Diff(without(had, has), append([]string{}, paths(d.Removed)...)); diff != "" {
				t.Fatalf("seed %d: %d to %d: removed (-want +got):\n%s", seed, from, to, diff)
			}
		}
	}
}

// paths returns the paths of entries, sorted.
func paths(list []*iceberg.Entry) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.Path
	}
	slices.Sort(out)
	return out
}

// TestHistories makes up tables by commits of all kinds, well-behaved and not:
// appends, deletes that are told and such that are not, manifests put together
// and taken over from other branches, roll-backs, expired snapshots.
func TestHistories(t *testing.T) {
	for seed := range uint64(40) {
		h := newHistory(seed)
		changes := []func(int64, []*made) []*made{h.add, h.add, h.remove, h.remove, h.merge, h.drop, h.adopt}
		parent := int64(iceberg.None)
		for range 9 {
			parent = h.commit(parent, changes[h.r.IntN(len(changes))])
			if h.r.IntN(5) == 0 { // rolled back, or another branch
				parent = 1 + h.r.Int64N(parent)
			}
		}
		h.checkDiffs(t, seed, h.table(t, nil))
		expired := map[int64]bool{}
		for range 3 {
			expired[1+h.r.Int64N(9)] = true
		}
		h.checkDiffs(t, seed, h.table(t, expired))
	}
}

// newHistory returns a table without snapshots.
func newHistory(seed uint64) *history {
	return &history{
		r: rand.New(rand.NewPCG(seed, 1)), files: files{}, //nolint:gosec // the same each time
		manifests: map[int64][]*made{}, live: map[int64]map[string]bool{},
	}
}

// A file may be in a table twice, where people added it twice. Its manifests
// put together without a word about it, it is still there.
func TestDiffOfFileAddedTwice(t *testing.T) {
	h := newHistory(1)
	twice := func(id int64, list []*made) []*made {
		return append(list, h.manifest(id, []told{{iceberg.Added, id, iceberg.None, "f"}}))
	}
	first := h.commit(h.commit(iceberg.None, twice), twice)
	last := h.commit(first, func(id int64, _ []*made) []*made {
		return []*made{h.manifest(id, []told{{iceberg.Existing, 1, 1, "f"}})}
	})
	d, err := h.table(t, nil).Diff(t.Context(), first, last, h.files, iceberg.Options{})
	if err != nil || len(d.Added)+len(d.Removed) > 0 || len(d.GoneManifests) != 2 {
		t.Errorf("%+v, %v", d, err)
	}
}

// A commit that says what it did is taken at its word without a look at what
// it replaced; one that does not is compared with it.
func TestDiffReadsWhatItMust(t *testing.T) {
	h := newHistory(1)
	entry := func(status iceberg.Status, by int64, path string) told { return told{status, by, 1, path} }
	both := h.commit(iceberg.None, func(id int64, _ []*made) []*made {
		m := h.manifest(id, []told{entry(iceberg.Added, id, "a"), entry(iceberg.Added, id, "b")})
		m.counted = true
		return []*made{m}
	})
	tests := map[string]struct {
		entries []told
		decoded int
	}{
		"told":             {[]told{entry(iceberg.Existing, 1, "a"), entry(iceberg.Deleted, 0, "b")}, 1},
		"not told":         {[]told{entry(iceberg.Existing, 1, "a")}, 2},
		"told by another":  {[]told{entry(iceberg.Existing, 1, "a"), entry(iceberg.Deleted, 77, "b")}, 2},
		"added by another": {[]told{entry(iceberg.Added, 1, "a"), entry(iceberg.Deleted, 0, "b")}, 2},
	}
	for name, tt := range tests {
		id := h.commit(both, func(id int64, _ []*made) []*made {
			entries := slices.Clone(tt.entries)
			for i := range entries {
				if entries[i].snapshot == 0 {
					entries[i].snapshot = id
				}
			}
			return []*made{h.manifest(id, entries)}
		})
		d, err := h.table(t, nil).Diff(t.Context(), both, id, h.files, iceberg.Options{})
		if err != nil || len(d.Added) > 0 || len(d.Removed) != 1 || d.Removed[0].Path != "b" || d.Decoded != tt.decoded {
			t.Errorf("%s: %+v, %v; want b removed and %d manifests read", name, d, err, tt.decoded)
		}
	}
}

// Parents that go in circles are no chain, and no endless loop.
func TestDiffOfCircle(t *testing.T) {
	h := newHistory(2)
	last := h.commit(h.commit(h.commit(iceberg.None, h.add), h.add), h.add)
	h.snapshots[0]["parent-snapshot-id"] = int64(2)
	h.snapshots[1]["parent-snapshot-id"] = int64(1)
	h.checkDiffs(t, 2, h.table(t, map[int64]bool{}))
	d, err := h.table(t, nil).Diff(t.Context(), iceberg.None, last, h.files, iceberg.Options{})
	if err != nil || len(d.Added) == 0 {
		t.Errorf("%+v, %v", d, err)
	}
}
