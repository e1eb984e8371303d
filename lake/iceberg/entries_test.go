package iceberg_test

import (
	"errors"
	"math"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
)

// TestEqualityDeletes holds what decides which deletes apply: a delete applies
// to data of a lower sequence number, and a file put together from older ones
// keeps their number, not that of the commit. Field case P1.
func TestEqualityDeletes(t *testing.T) {
	s := named(t, "java_equality")
	table := s.table(t)
	type numbers struct {
		Content        iceberg.Content
		Sequence, File int64
		Spec           int
		Fields         []int
	}
	got := map[string]numbers{}
	for _, e := range live(t, table, table.CurrentSnapshotID, s.files) {
		got[path.Base(e.Path)] = numbers{e.Content, e.SequenceNumber, e.FileSequenceNumber, e.SpecID, e.EqualityIDs}
	}
	want := map[string]numbers{
		"b.parquet": {iceberg.Data, 2, 2, 0, nil}, "b-eq.parquet": {iceberg.EqualityDeletes, 2, 2, 0, []int{1, 2}},
		"c.parquet": {iceberg.Data, 3, 3, 1, nil}, "c-eq.parquet": {iceberg.EqualityDeletes, 3, 3, 1, []int{1}},
		"d.parquet": {iceberg.Data, 1, 4, 1, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Manifests are of data or of deletes, and what they hold is of the same kind,
// for every writer; so data can be counted without a delete among it. Field case
// P13.
func TestDataAndDeletesApart(t *testing.T) {
	seen := map[iceberg.Content]int{}
	for _, s := range samples(t) {
		table := s.table(t)
		for i := range table.Snapshots {
			for m, err := range table.Manifests(t.Context(), table.Snapshots[i].ID, s.files, iceberg.Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				var n int64
				for e, err := range iceberg.ReadManifest(t.Context(), m, nil, s.files, iceberg.Options{}) {
					if err != nil {
						t.Fatal(err)
					}
					if (e.Content == iceberg.Data) == m.Deletes {
						t.Errorf("%s: %s of content %d in %s", s.name, e.Path, e.Content, m.Path)
					}
					seen[e.Content]++
					if e.Live() {
						n++
					}
				}
				if m.Live() != iceberg.None && m.Live() != n {
					t.Errorf("%s: %s has %d live files, its list says %d", s.name, m.Path, n, m.Live())
				}
			}
		}
	}
	for _, content := range []iceberg.Content{iceberg.Data, iceberg.PositionDeletes, iceberg.EqualityDeletes} {
		if seen[content] == 0 {
			t.Errorf("no file of content %d in any sample", content)
		}
	}
}

// A manifest that was only rewritten adds nothing and is read all the same;
// what it says is deleted is not part of the snapshot. Version 1 leaves numbers
// and counts out. Field case P12.
func TestRewrittenManifest(t *testing.T) {
	old := rec("manifest_file", field(500, "manifest_path", tText), field(501, "manifest_length", tLong), field(502, "partition_spec_id", tInt),
		field(503, "added_snapshot_id", opt(tLong)), field(504, "added_files_count", opt(tInt)), field(505, "existing_files_count", opt(tInt)))
	entries := container(entrySchema(), nil,
		told{iceberg.Existing, 5, iceberg.None, "a"}.encode(), told{iceberg.Deleted, 6, iceberg.None, "b"}.encode(), told{iceberg.Existing, 7, 3, "c"}.encode())
	head := text("s3://b/m") + long(int64(len(entries)))
	for name, tt := range map[string]struct {
		list     string
		existing int64
		sequence int64
	}{
		"counted":                 {head + long(0) + some(long(9)) + some(long(0)) + some(long(2)), 2, 0},
		"version 1, counts null":  {head + long(0) + some(long(9)) + none() + none(), iceberg.None, 0},
		"version 1, no snapshot":  {head + long(0) + none() + none() + none(), iceberg.None, 0},
		"counted but not existed": {head + long(0) + some(long(9)) + some(long(0)) + none(), iceberg.None, 0},
	} {
		h := newHistory(1)
		id := h.commit(iceberg.None, func(int64, []*made) []*made { return nil })
		h.files["l1"] = container(old, nil, tt.list)
		h.files["m"] = entries
		table := h.table(t, nil)
		for m, err := range table.Manifests(t.Context(), id, h.files, iceberg.Options{}) {
			if err != nil || m.ExistingFiles != tt.existing || m.SequenceNumber != tt.sequence {
				t.Errorf("%s: manifest %+v, %v", name, m, err)
			}
		}
		got := live(t, table, id, h.files)
		if diff := cmp.Diff([]string{"a", "c"}, paths(got)); diff != "" {
			t.Fatalf("%s: %s", name, diff)
		}
		if got[0].SequenceNumber != 0 || got[0].FileSequenceNumber != 0 || got[1].SequenceNumber != 3 || got[0].SnapshotID != 5 {
			t.Errorf("%s: %+v, %+v", name, got[0], got[1])
		}
	}
}

// Bounds and counts are told as they were written, however odd: what follows
// from them is for those to say who know the column's type. A count that was
// not written is not 0. Field case P7.
func TestOddBounds(t *testing.T) {
	pairs := func(name, value string) string {
		return opt(`{"type":"array","items":` + rec(name, field(0, "key", tInt), field(0, "value", value)) + `}`)
	}
	schema := minimalEntry(minimalFile(field(137, "nan_value_counts", pairs("a", tLong)), field(125, "lower_bounds", pairs("b", tBytes)), field(128, "upper_bounds", pairs("c", tBytes))))
	bounds := func(list ...string) string {
		for i := 1; i < len(list); i += 2 {
			list[i] = text(list[i])
		}
		return some(long(int64(len(list)/2)) + strings.Join(list, "") + long(0))
	}
	nan, three, minus := "\x00\x00\x00\x00\x00\x00\xf8\x7f", "\x00\x00\x00\x00\x00\x00\x08\x40", "\x00\x00\x00\x00\x00\x00\x00\x80"
	value := long(1) + text("p") + text("PARQUET") + long(3) + long(1) + some(long(1)+long(1)+long(1)+long(0)) +
		bounds(long(1), three, long(2), nan, long(3), three, long(4), minus, long(5), "") +
		bounds(long(1), three, long(2), three, long(3), minus, long(9), "z")
	got, err := read(t, container(schema, nil, value), listed(), nil)
	if err != nil {
		t.Fatal(err)
	}
	type bound = iceberg.ColumnBound
	if diff := cmp.Diff([]bound{{1, []byte(three)}, {2, []byte(nan)}, {3, []byte(three)}, {4, []byte(minus)}, {5, []byte{}}}, got[0].LowerBounds); diff != "" {
		t.Errorf("lower: %s", diff)
	}
	if diff := cmp.Diff([]bound{{1, []byte(three)}, {2, []byte(three)}, {3, []byte(minus)}, {9, []byte("z")}}, got[0].UpperBounds); diff != "" {
		t.Errorf("upper: %s", diff)
	}
	if diff := cmp.Diff([]iceberg.ColumnCount{{Field: 1, N: 1}}, got[0].NaNCounts); diff != "" {
		t.Errorf("counts: %s", diff)
	}
}

// TestPartitionValues reads each kind of value that Trino writes, uuid and decimal
// among them. Field case P11.
func TestPartitionValues(t *testing.T) {
	s := named(t, "trino_transforms")
	table := s.table(t)
	spec := table.Specs[table.DefaultSpecID]
	byOK := map[string]map[string]iceberg.Value{}
	for _, e := range live(t, table, table.CurrentSnapshotID, s.files) {
		values := map[string]iceberg.Value{}
		for _, f := range spec.Fields {
			v, ok := e.PartitionValue(f.ID)
			if !ok {
				t.Fatalf("no value of %s", f.Name)
			}
			values[f.Name] = v
		}
		key := "null"
		if v := values["ok"]; !v.Null() {
			key = map[bool]string{true: "true", false: "false"}[v.Bool()]
		}
		byOK[key] = values
	}
	for name, v := range byOK["null"] {
		if !v.Null() {
			t.Errorf("%s of nulls: %+v", name, v)
		}
	}
	row := byOK["true"]
	ints := map[string]int64{
		"n": 17, "l_trunc": 0, "d_year": 56, "d2_month": -1, "ts_day": 20455, "ts2_hour": -87645, "clock": 3723000004,
	}
	for name, want := range ints {
		if v := row[name]; v.Kind != iceberg.IntValue || v.Int() != want {
			t.Errorf("%s is %d of kind %d, want %d", name, v.Int(), v.Kind, want)
		}
	}
	texts := map[string]string{"k": "\x12\x15\x1f\xd2\x75\x86\x11\xe9\x8f\x9e\x2a\x86\xe4\x08\x5a\x59", "region": "süd/ost =", "raw": "\x01\x02"}
	for name, want := range texts {
		if v := row[name]; v.Text() != want {
			t.Errorf("%s is %x, want %x", name, v.Text(), want)
		}
	}
	if v := row["r"]; v.Kind != iceberg.FloatValue || v.Float() != 1.5 {
		t.Errorf("r is %v", v.Float())
	}
	if v := row["f"]; v.Kind != iceberg.DoubleValue || v.Float() != 2.5 {
		t.Errorf("f is %v", v.Float())
	}
	row = byOK["false"]
	if v := row["f"]; !math.IsNaN(v.Float()) {
		t.Errorf("f is %v, want NaN", v.Float())
	}
	if v := row["r"]; v.Float() != 0 {
		t.Errorf("r is %v, want a zero", v.Float())
	}
	// The formula of the specification, v - (v mod 10), goes round below -2^63:
	// a planner must not think that truncation keeps an order there.
	if v := row["l_trunc"]; v.Int() != math.MaxInt64-1 {
		t.Errorf("l_trunc of -2^63 is %d", v.Int())
	}
}

// A catalog may answer with no metadata at all; that is an error, not a table.
// Field case P16.
func TestNoMetadata(t *testing.T) {
	for _, text := range []string{"", "null", "{}", "[]", `"x"`, "0", "{\"metadata\":null}"} {
		if table, err := iceberg.ParseMetadata([]byte(text)); !errors.Is(err, iceberg.ErrMalformed) || table != nil {
			t.Errorf("%q: %+v, %v", text, table, err)
		}
	}
	// A member that is null is as if it were not there.
	table, err := iceberg.ParseMetadata([]byte(with(`"current-snapshot-id":null,"snapshots":null,"refs":null,"properties":null,"statistics":null`)))
	if err != nil || table.CurrentSnapshotID != iceberg.None || len(table.Snapshots)+len(table.Refs)+len(table.Properties) > 0 {
		t.Errorf("%+v, %v", table, err)
	}
}
