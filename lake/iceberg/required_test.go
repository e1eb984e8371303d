package iceberg_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
)

// everything is metadata of version 3 with all members that the format has.
const everything = `{"format-version":3,"table-uuid":"u","location":"s3://b/t","last-sequence-number":34,"last-updated-ms":1,
	"last-column-id":9,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"identifier-field-ids":[1],"fields":[
		{"id":1,"name":"x","required":true,"type":"long","doc":"d","initial-default":1,"write-default":2},
		{"id":2,"name":"m","required":false,"type":{"type":"map","key-id":3,"key":"string","value-id":4,"value-required":true,"value":"int"}},
		{"id":5,"name":"l","required":false,"type":{"type":"list","element-id":6,"element-required":false,"element":"int"}},
		{"id":7,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":8,"name":"i","required":false,"type":"int"}]}}]}],
	"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[{"name":"p","transform":"day","source-id":1,"field-id":1000}]}],
	"last-partition-id":1000,"default-sort-order-id":1,
	"sort-orders":[{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-last"}]}],
	"current-snapshot-id":7,"snapshots":[{"snapshot-id":7,"parent-snapshot-id":6,"sequence-number":34,"timestamp-ms":5,
		"manifest-list":"s3://b/l.avro","summary":{"operation":"append"},"schema-id":0,"first-row-id":7,"added-rows":3,"key-id":"k"}],
	"refs":{"main":{"snapshot-id":7,"type":"branch","min-snapshots-to-keep":2,"max-snapshot-age-ms":3,"max-ref-age-ms":4}},
	"snapshot-log":[{"snapshot-id":1,"timestamp-ms":2}],"metadata-log":[{"metadata-file":"s3://b/0.json","timestamp-ms":3}],
	"statistics":[{"snapshot-id":1,"statistics-path":"s3://b/s.puffin","file-size-in-bytes":10,"file-footer-size-in-bytes":4,"key-metadata":"AA==",
		"blob-metadata":[{"type":"t","snapshot-id":1,"sequence-number":2,"fields":[1],"properties":{"ndv":"5"}}]}],
	"partition-statistics":[{"snapshot-id":1,"statistics-path":"s3://b/p.parquet","file-size-in-bytes":11}],
	"encryption-keys":[{"key-id":"k","encrypted-key-metadata":"AA==","encrypted-by-id":"m"}],"next-row-id":10,"properties":{"k":"v"}}`

// needed are the members without which metadata of version 3 is refused, by
// what the specification requires of each object, less a few that writers do
// leave out and that mean nothing here. The current snapshot is among them as
// main names it.
const needed = `
current-schema-id current-snapshot-id default-sort-order-id default-spec-id format-version last-column-id last-partition-id
last-sequence-number last-updated-ms location next-row-id partition-specs schemas snapshots sort-orders table-uuid
encryption-keys[].key-id metadata-log[].metadata-file metadata-log[].timestamp-ms
partition-specs[].fields partition-specs[].fields[].name partition-specs[].fields[].source-id partition-specs[].fields[].transform
partition-specs[].spec-id partition-statistics[].file-size-in-bytes partition-statistics[].snapshot-id partition-statistics[].statistics-path
refs.main.snapshot-id refs.main.type
schemas[].fields schemas[].fields[].id schemas[].fields[].name schemas[].fields[].required schemas[].fields[].type
schemas[].fields[].type.element schemas[].fields[].type.element-id schemas[].fields[].type.element-required
schemas[].fields[].type.fields schemas[].fields[].type.fields[].id schemas[].fields[].type.fields[].name
schemas[].fields[].type.fields[].required schemas[].fields[].type.fields[].type
schemas[].fields[].type.key schemas[].fields[].type.key-id schemas[].fields[].type.type
schemas[].fields[].type.value schemas[].fields[].type.value-id schemas[].fields[].type.value-required
snapshot-log[].snapshot-id snapshot-log[].timestamp-ms snapshots[].manifest-list snapshots[].snapshot-id snapshots[].timestamp-ms
sort-orders[].fields sort-orders[].fields[].direction sort-orders[].fields[].null-order sort-orders[].fields[].source-id
sort-orders[].fields[].transform sort-orders[].order-id
statistics[].blob-metadata statistics[].blob-metadata[].fields statistics[].blob-metadata[].sequence-number
statistics[].blob-metadata[].snapshot-id statistics[].blob-metadata[].type statistics[].file-footer-size-in-bytes
statistics[].file-size-in-bytes statistics[].snapshot-id statistics[].statistics-path`

// edit calls f for every member of every object in a JSON value, with its path
// and the object; f may change the object and has to put it back.
func edit(v any, path string, f func(path string, in map[string]any, name string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			f(at, v, name)
			edit(v[name], at, f)
		}
	case []any:
		for _, item := range v {
			edit(item, path+"[]", f)
		}
	}
}

// decoded decodes a JSON text, numbers as they are.
func decoded(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// parsed parses what a value is as JSON.
func parsed(t *testing.T, v any) (*iceberg.Table, error) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return iceberg.ParseMetadata(text)
}

func TestRequiredMembers(t *testing.T) {
	whole := decoded(t, everything)
	if _, err := parsed(t, whole); err != nil {
		t.Fatal(err)
	}
	missing, null := map[string]bool{}, map[string]bool{}
	edit(whole, "", func(path string, in map[string]any, name string) {
		was := in[name]
		delete(in, name)
		if _, err := parsed(t, whole); err != nil {
			if !isOurs(err) {
				t.Errorf("without %s: %v", path, err)
			}
			missing[path] = true
		}
		in[name] = nil
		if _, err := parsed(t, whole); err != nil {
			null[path] = true
		}
		in[name] = was
	})
	want := map[string]bool{}
	for path := range strings.FieldsSeq(needed) {
		want[path] = true
		if !null[path] {
			t.Errorf("null for %s, which must be there, is taken", path)
		}
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("members that must be there (-want +got):\n%s", diff)
	}
}

// A member that the format does not know is passed over wherever it stands,
// whatever it holds; one that comes twice is refused, as it has no one meaning.
func TestUnknownAndDoubledMembers(t *testing.T) {
	whole := decoded(t, everything)
	plain, err := parsed(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	odd := decoded(t, `{"a":[1,{"b":null},"\ud83d\ude00"],"c":{"d":[[],{}]}}`)
	edit(whole, "", func(path string, in map[string]any, name string) {
		if strings.HasSuffix(path, "summary.operation") || strings.HasPrefix(path, "properties.") ||
			strings.HasSuffix(path, "properties.ndv") || path == "refs.main" {
			return // their members are the table's own words
		}
		in["unheard-of"] = odd
		got, err := parsed(t, whole)
		if diff := cmp.Diff(plain, got); err != nil || diff != "" {
			t.Errorf("beside %s: %v %s", path, err, diff)
		}
		delete(in, "unheard-of")
		one, err := json.Marshal(in[name])
		if err != nil {
			t.Fatal(err)
		}
		was := in[name]
		in[name] = "@@" // found again in the text, and put there twice
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		in[name] = was
		twice := fmt.Appendf(nil, "%s,%q:%s", one, name, one)
		text = bytes.Replace(text, []byte(`"@@"`), twice, 1)
		if _, err := iceberg.ParseMetadata(text); !errors.Is(err, iceberg.ErrMalformed) {
			t.Errorf("%s twice: %v", path, err)
		}
	})
}

// A member of another type than its own is refused, never read as something.
func TestMembersOfAnotherType(t *testing.T) {
	whole := decoded(t, everything)
	free := map[string]bool{ // defaults are any JSON; what lies in keys is of no use
		"schemas[].fields[].initial-default": true, "schemas[].fields[].write-default": true,
		"statistics[].key-metadata": true, "encryption-keys[].encrypted-key-metadata": true,
	}
	others := []any{json.Number("-1.5"), "\x00", true, []any{[]any{}}, map[string]any{"x": json.Number("1")}}
	edit(whole, "", func(path string, in map[string]any, name string) {
		if free[path] {
			return
		}
		was, taken := in[name], 0
		for _, other := range others {
			in[name] = other
			if table, err := parsed(t, whole); err == nil {
				taken++
				if table.CurrentSchema() == nil {
					t.Errorf("%s as %v: a table without a schema", path, other)
				}
			} else if !isOurs(err) {
				t.Errorf("%s as %v: %v", path, other, err)
			}
		}
		in[name] = was
		if taken > 1 { // one of the five may be of its type
			t.Errorf("%s is taken as %d of five types", path, taken)
		}
	})
}

// Numbers of the format that are negative where that means nothing.
func TestNegativeNumbers(t *testing.T) {
	refused := []string{
		`"last-sequence-number":34`, `"next-row-id":10`, `"sequence-number":34,"timestamp-ms"`, `"file-size-in-bytes":10`,
		`"file-size-in-bytes":11`, `"file-footer-size-in-bytes":4`, `"first-row-id":7`, `"added-rows":3`,
	}
	for _, member := range refused {
		name, _, _ := strings.Cut(member, ":")
		for _, n := range []string{"-2", "-9223372036854775808"} {
			text := strings.Replace(everything, member, name+":"+n+strings.TrimLeft(member[len(name)+1:], "0123456789"), 1)
			if text == everything {
				t.Fatalf("no %s", member)
			}
			if _, err := iceberg.ParseMetadata([]byte(text)); !errors.Is(err, iceberg.ErrMalformed) {
				t.Errorf("%s of %s: %v", name, n, err)
			}
		}
	}
	long := strings.Replace(everything, `"file-footer-size-in-bytes":4`, `"file-footer-size-in-bytes":11`, 1)
	if _, err := iceberg.ParseMetadata([]byte(long)); !errors.Is(err, iceberg.ErrMalformed) {
		t.Errorf("a footer longer than its file: %v", err)
	}
}
