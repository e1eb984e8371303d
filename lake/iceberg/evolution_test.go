package iceberg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
)

// column declares a column of a schema.
func column(id int, name, typ string) string {
	return fmt.Sprintf(`{"id":%d,"name":%q,"required":false,"type":%s}`, id, name, typ)
}

// evolved is a table of these schemas, ids from 0, the last of which is current,
// and of snapshots that were written with them, ids from 1.
func evolved(t *testing.T, schemas ...[]string) *iceberg.Table {
	t.Helper()
	list, snapshots := make([]string, len(schemas)), make([]string, len(schemas))
	for i, columns := range schemas {
		list[i] = fmt.Sprintf(`{"type":"struct","schema-id":%d,"fields":[%s]}`, i, strings.Join(columns, ","))
		snapshots[i] = fmt.Sprintf(`{"snapshot-id":%d,"sequence-number":%d,"timestamp-ms":%d,"schema-id":%d,"manifest-list":"s3://b/%d"}`, i+1, i+1, i+1, i, i)
	}
	table, err := iceberg.ParseMetadata([]byte(fmt.Sprintf(`{"format-version":2,"table-uuid":"u","location":"s3://b/t",
		"last-sequence-number":34,"last-updated-ms":1,"last-column-id":9,"current-schema-id":%d,"schemas":[%s],
		"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,
		"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"snapshots":[%s]}`,
		len(schemas)-1, strings.Join(list, ","), strings.Join(snapshots, ","))))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// A column that was dropped and added again has the same name and another id.
// Which one a name means depends on the snapshot; an id means the same always. Field case P17.
func TestNamesOfSnapshots(t *testing.T) {
	table := evolved(t,
		[]string{column(1, "id", tInt), column(2, "c", tLong), column(3, "d", `"date"`)},
		[]string{column(1, "id", tInt), column(2, "c2", tLong)},
		[]string{column(1, "id", tLong), column(2, "c2", tLong), column(4, "d", tText)},
	)
	names := func(s *iceberg.Schema) map[string]int {
		ids := map[string]int{}
		s.Walk(func(path []string, f *iceberg.Field) bool {
			ids[strings.Join(path, ".")] = f.ID
			return true
		})
		return ids
	}
	want := []map[string]int{{"id": 1, "c": 2, "d": 3}, {"id": 1, "c2": 2}, {"id": 1, "c2": 2, "d": 4}}
	for i := range want {
		if diff := cmp.Diff(want[i], names(table.SchemaAt(&table.Snapshots[i]))); diff != "" {
			t.Errorf("snapshot %d: %s", i+1, diff)
		}
	}
	// Whoever reads an old file finds what its columns were.
	for _, tt := range []struct {
		id   int
		name string
		kind iceberg.Kind
	}{{1, "id", iceberg.Long}, {2, "c2", iceberg.Long}, {3, "d", iceberg.Date}, {4, "d", iceberg.String}} {
		if f, ok := table.Field(tt.id); !ok || f.Name != tt.name || f.Type.Kind != tt.kind {
			t.Errorf("field %d: %+v, %v", tt.id, f, ok)
		}
	}
	if f, ok := table.Field(5); ok {
		t.Errorf("field 5: %+v", f)
	}
	// A snapshot that does not say its schema, or whose schema is gone.
	for _, id := range []int{iceberg.None, 77} {
		if s := table.SchemaAt(&iceberg.Snapshot{SchemaID: id}); s != table.CurrentSchema() {
			t.Errorf("snapshot of schema %d: schema %d", id, s.ID)
		}
	}
}

// What lies inside structs, lists and maps has ids too, and keeps them.
func TestNestedNames(t *testing.T) {
	table := evolved(t, []string{column(1, "m", `{"type":"map","key-id":2,"key":"string","value-id":3,"value-required":true,
		"value":{"type":"struct","fields":[`+column(4, "a", `{"type":"list","element-id":5,"element-required":true,"element":"uuid"}`)+`,`+column(6, "b", `"time"`)+`]}}`)})
	s := table.CurrentSchema()
	for id, name := range map[int]string{1: "m", 2: "m.key", 3: "m.value", 4: "m.value.a", 5: "m.value.a.element", 6: "m.value.b", 7: ""} {
		if got := s.Name(id); got != name {
			t.Errorf("field %d is %q, want %q", id, got, name)
		}
	}
	for id, required := range map[int]bool{1: false, 2: true, 3: true, 4: false, 5: true, 6: false} {
		if f, ok := s.Field(id); !ok || f.Required != required {
			t.Errorf("field %d: %+v, %v", id, f, ok)
		}
	}
	var seen []int
	s.Walk(func(_ []string, f *iceberg.Field) bool {
		seen = append(seen, f.ID)
		return f.ID != 4
	})
	if diff := cmp.Diff([]int{1, 2, 3, 4}, seen); diff != "" {
		t.Errorf("walked until 4: %s", diff)
	}
}

// TestDefaults reads the defaults that the Java library wrote: the JSON of each
// as it is, for the initial one is what a file without the column holds. Field
// case P19.
func TestDefaults(t *testing.T) {
	table := named(t, "java_defaults").table(t)
	want := map[string][2]string{
		"ok": {"true", "true"}, "n": {"-5", "6"}, "d": {`"2026-01-02"`, `"2026-01-02"`},
		"ts": {`"2026-01-02T03:04:05.000006"`, `"2026-01-02T03:04:05.000006"`}, "price": {`"-1.25"`, `"-1.25"`},
		"name": {`"süd \"ost\""`, `"süd \"ost\""`}, "f": {"1.5", "1.5"}, "must": {"9", "9"}, "p.y": {"7", "7"},
		"u": {`"12151fd2-7586-11e9-8f9e-2a86e4085a59"`, `"12151fd2-7586-11e9-8f9e-2a86e4085a59"`},
	}
	got := map[string][2]string{}
	table.CurrentSchema().Walk(func(path []string, f *iceberg.Field) bool {
		if f.InitialDefault != nil || f.WriteDefault != nil {
			got[strings.Join(path, ".")] = [2]string{string(f.InitialDefault), string(f.WriteDefault)}
		}
		return true
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// The schema that the first file was written with knows nothing of them.
	if s := table.SchemaAt(&table.Snapshots[0]); s.ID == table.CurrentSchemaID || s.Name(4) != "" {
		t.Errorf("schema %d has field 4: %q", s.ID, s.Name(4))
	}
}

// A file from before a partition field was there has no value of it, which is
// not the same as null: nothing about the file follows from it.
// Field case P10.
func TestPartitionFieldOfLater(t *testing.T) {
	s := named(t, "trino_evolved")
	table := s.table(t)
	found := map[bool]int{}
	for i := range table.Snapshots {
		for _, e := range live(t, table, table.Snapshots[i].ID, s.files) {
			spec, ok := table.Spec(e.SpecID)
			if !ok {
				t.Fatalf("no spec %d", e.SpecID)
			}
			for _, other := range table.Specs {
				for _, f := range other.Fields {
					_, in := spec.Field(f.ID)
					if _, has := e.PartitionValue(f.ID); has != in {
						t.Errorf("%s of spec %d: value of field %d: %v", e.Path, e.SpecID, f.ID, has)
					}
					found[in]++
				}
			}
		}
	}
	if found[true] == 0 || found[false] == 0 {
		t.Errorf("fields that files have and have not: %v", found)
	}
}

// A partition column that the files lack, as directories of Hive leave it, is
// in the manifest alone: the value is there, and no count of it is. Field case P19.
func TestPartitionColumnOnlyInManifest(t *testing.T) {
	pairs := `{"type":"array","items":` + rec("k", field(119, "key", tInt), field(120, "value", tLong)) + `}`
	schema := minimalEntry(minimalFile(field(102, "partition", rec("r102", field(1000, "p", opt(tText)))), field(110, "null_value_counts", opt(pairs))))
	value := func(p string) string {
		return long(1) + text("f"+p) + text("PARQUET") + long(2) + long(1) + p + some(long(1)+long(1)+long(0)+long(0))
	}
	got, err := read(t, container(schema, nil, value(some(text("a"))), value(none())), listed(), nil)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d entries, %v", len(got), err)
	}
	for i, want := range []string{"a", ""} {
		v, ok := got[i].PartitionValue(1000)
		if !ok || v.Text() != want || v.Null() != (want == "") {
			t.Errorf("value %d: %q, null %v, %v", i, v.Text(), v.Null(), ok)
		}
		if diff := cmp.Diff([]iceberg.ColumnCount{{Field: 1}}, got[i].NullCounts); diff != "" {
			t.Errorf("counts: %s", diff)
		}
	}
}
