package iceberg_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
)

// What is looked up by id is found by it and by nothing else.
func TestLookups(t *testing.T) {
	table, err := iceberg.ParseMetadata([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := table.SortOrder(1); !ok || len(o.Fields) != 1 || !o.Fields[0].NullsLast || o.Fields[0].Descending {
		t.Errorf("order 1: %+v, %v", o, ok)
	}
	if o, ok := table.SortOrder(0); ok {
		t.Errorf("order 0: %+v", o)
	}
	spec, ok := table.Spec(0)
	if !ok {
		t.Fatal("no spec 0")
	}
	if f, ok := spec.Field(1000); !ok || f.Transform.String() != "day" || f.Transform.Kind != iceberg.Day {
		t.Errorf("field 1000: %+v, %v", f, ok)
	}
	if f, ok := spec.Field(1001); ok {
		t.Errorf("field 1001: %+v", f)
	}
	if s, ok := table.Spec(1); ok {
		t.Errorf("spec 1: %+v", s)
	}
	if s, ok := table.Schema(1); ok {
		t.Errorf("schema 1: %+v", s)
	}
	if s, ok := table.Snapshot(6); ok {
		t.Errorf("snapshot 6: %+v", s)
	}
	if s, ok := table.Current(); !ok || s.ID != 7 || s.KeyID != "k" {
		t.Errorf("current: %+v, %v", s, ok)
	}
	if !table.Encrypted() || !table.Statistics[0].Encrypted || table.EncryptionKeys[0].EncryptedBy != "m" {
		t.Errorf("keys %+v, statistics %+v", table.EncryptionKeys, table.Statistics)
	}
}

// A snapshot whose list is encrypted is said to be so, and not opened.
func TestEncryptedList(t *testing.T) {
	table, err := iceberg.ParseMetadata([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range table.Files(t.Context(), 7, nil, iceberg.Options{}) {
		if n++; !errors.Is(err, iceberg.ErrEncrypted) {
			t.Errorf("%v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d files", n)
	}
	if _, err := table.Diff(t.Context(), iceberg.None, 7, nil, iceberg.Options{}); !errors.Is(err, iceberg.ErrEncrypted) {
		t.Errorf("diff: %v", err)
	}
}

// Transforms as writers spell them. One that is not known is kept by its name,
// so that the table can be read and nobody takes it for another.
func TestTransformNames(t *testing.T) {
	type transform = iceberg.Transform
	for text, want := range map[string]transform{
		"identity": {Kind: iceberg.Identity}, "Identity": {Kind: iceberg.Identity}, "void": {Kind: iceberg.Void},
		"year": {Kind: iceberg.Year}, "month": {Kind: iceberg.Month}, "day": {Kind: iceberg.Day}, "HOUR": {Kind: iceberg.Hour},
		"bucket[16]": {Kind: iceberg.Bucket, N: 16}, "truncate[2147483647]": {Kind: iceberg.Truncate, N: 1<<31 - 1},
		"bucket[0]": {}, "bucket[-1]": {}, "bucket[]": {}, "bucket[2147483648]": {}, "bucket[1": {}, "truncate[x]": {}, "truncate[1.5]": {},
		"days": {}, "zorder": {}, "": {}, "identity[1]": {},
	} {
		want.Name = text
		table, err := iceberg.ParseMetadata([]byte(strings.Replace(everything, `"transform":"day"`, fmt.Sprintf(`"transform":%q`, text), 1)))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, table.Specs[0].Fields[0].Transform); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// Fields of specs and orders of several columns, and the words that contradict
// each other.
func TestSpecsAndOrders(t *testing.T) {
	spec := func(fields string) string {
		return strings.Replace(everything, `{"name":"p","transform":"day","source-id":1,"field-id":1000}`, fields, 1)
	}
	order := func(field string) string {
		return strings.Replace(everything, `"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-last"`, field, 1)
	}
	tests := map[string]struct {
		text string
		want error
	}{
		"several sources":       {spec(`{"name":"p","transform":"zorder","source-ids":[1,8],"field-id":1000}`), nil},
		"both":                  {spec(`{"name":"p","transform":"day","source-ids":[1],"source-id":1,"field-id":1000}`), nil},
		"no field":              {spec(""), nil},
		"no ids":                {spec(`{"name":"p","transform":"day","source-id":1},{"name":"q","transform":"day","source-id":1}`), nil},
		"no source":             {spec(`{"name":"p","transform":"day","source-ids":[],"field-id":1000}`), iceberg.ErrMalformed},
		"some ids":              {spec(`{"name":"p","transform":"day","source-id":1,"field-id":1000},{"name":"q","transform":"day","source-id":1}`), iceberg.ErrMalformed},
		"id twice":              {spec(`{"name":"p","transform":"day","source-id":1,"field-id":1000},{"name":"q","transform":"day","source-id":1,"field-id":1000}`), iceberg.ErrMalformed},
		"id of 2^31":            {spec(`{"name":"p","transform":"day","source-id":1,"field-id":2147483648}`), iceberg.ErrMalformed},
		"any case":              {order(`"source-id":1,"transform":"identity","direction":"DESC","null-order":"Nulls-First"`), nil},
		"order of several":      {order(`"source-ids":[1,8],"transform":"zorder","direction":"asc","null-order":"nulls-last"`), nil},
		"sideways":              {order(`"source-id":1,"transform":"identity","direction":"sideways","null-order":"nulls-last"`), iceberg.ErrMalformed},
		"nulls anywhere":        {order(`"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls"`), iceberg.ErrMalformed},
		"order of no source":    {order(`"source-ids":[],"transform":"identity","direction":"asc","null-order":"nulls-last"`), iceberg.ErrMalformed},
		"order 0 that is one":   {strings.Replace(strings.Replace(everything, `"order-id":1`, `"order-id":0`, 1), `sort-order-id":1`, `sort-order-id":0`, 1), iceberg.ErrMalformed},
		"schema that is a list": {strings.Replace(everything, `"schemas":[{"type":"struct"`, `"schemas":[{"type":"list"`, 1), iceberg.ErrMalformed},
		"identifier elsewhere":  {strings.Replace(everything, `"identifier-field-ids":[1]`, `"identifier-field-ids":[77]`, 1), iceberg.ErrMalformed},
		"identifier inside":     {strings.Replace(everything, `"identifier-field-ids":[1]`, `"identifier-field-ids":[8]`, 1), nil},
		"snapshot twice":        {strings.Replace(everything, `"snapshots":[`, `"snapshots":[{"snapshot-id":7,"timestamp-ms":5,"manifest-list":"l"},`, 1), iceberg.ErrMalformed},
		"spec twice":            {strings.Replace(everything, `"partition-specs":[`, `"partition-specs":[{"spec-id":0,"fields":[]},`, 1), iceberg.ErrMalformed},
		"schema twice":          {strings.Replace(everything, `"schemas":[`, `"schemas":[{"type":"struct","schema-id":0,"fields":[]},`, 1), iceberg.ErrMalformed},
		"empty manifest list":   {strings.Replace(everything, `s3://b/l.avro`, ``, 1), iceberg.ErrMalformed},
		"empty location":        {strings.Replace(everything, `"location":"s3://b/t"`, `"location":""`, 1), iceberg.ErrMalformed},
		"ref of a third kind":   {strings.Replace(everything, `"type":"branch"`, `"type":"twig"`, 1), iceberg.ErrMalformed},
	}
	for name, tt := range tests {
		if tt.text == everything {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := iceberg.ParseMetadata([]byte(tt.text)); !errors.Is(err, tt.want) || err != nil && tt.want == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Paths of data and metadata: by the properties that say so, oldest last.
func TestPaths(t *testing.T) {
	for properties, want := range map[string][2]string{
		`{}`: {"s3://b/t/data", "s3://b/t/metadata"},
		`{"write.folder-storage.path":"s3://x/f/"}`:                                               {"s3://x/f", "s3://b/t/metadata"},
		`{"write.folder-storage.path":"s3://x/f","write.object-storage.path":"s3://x/o"}`:         {"s3://x/o", "s3://b/t/metadata"},
		`{"write.object-storage.path":"s3://x/o","write.data.path":"s3://x/d//"}`:                 {"s3://x/d", "s3://b/t/metadata"},
		`{"write.metadata.path":"s3://x/m/","write.data.path":"","write.folder-storage.path":""}`: {"s3://b/t/data", "s3://x/m"},
	} {
		table, err := iceberg.ParseMetadata([]byte(strings.Replace(everything, `{"k":"v"}`, properties, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{table.DataPath(), table.MetadataPath()}; got != want {
			t.Errorf("%s: %q, want %q", properties, got, want)
		}
	}
}

// Mappings of names that files without ids are read by.
func TestNameMappings(t *testing.T) {
	deep := strings.Repeat(`[{"names":["x"],"fields":`, 60) + "[]" + strings.Repeat("}]", 60)
	tests := map[string]struct {
		mapping string
		path    []string
		id      int // None: none
		err     error
	}{
		"a name":               {`[{"field-id":1,"names":["a","b"]}]`, []string{"b"}, 1, nil},
		"another":              {`[{"field-id":1,"names":["a","b"]}]`, []string{"c"}, iceberg.None, nil},
		"no path":              {`[{"field-id":1,"names":["a","b"]}]`, nil, iceberg.None, nil},
		"inside":               {`[{"names":["s"],"fields":[{"field-id":2,"names":["a"]}]}]`, []string{"s", "a"}, 2, nil},
		"outside has no id":    {`[{"names":["s"],"fields":[{"field-id":2,"names":["a"]}]}]`, []string{"s"}, iceberg.None, nil},
		"id null":              {`[{"field-id":null,"names":["s"]}]`, []string{"s"}, iceberg.None, nil},
		"no names":             {`[{"field-id":1,"names":[]}]`, []string{""}, iceberg.None, nil},
		"no list of names":     {`[{"field-id":1}]`, nil, 0, iceberg.ErrMalformed},
		"no list":              {`{}`, nil, 0, iceberg.ErrMalformed},
		"a name of two":        {`[{"field-id":1,"names":["a"]},{"field-id":2,"names":["b","a"]}]`, nil, 0, iceberg.ErrMalformed},
		"a name twice":         {`[{"field-id":1,"names":["a","a"]}]`, []string{"a"}, 1, nil},
		"a name of two levels": {`[{"field-id":1,"names":["a"],"fields":[{"field-id":2,"names":["a"]}]}]`, []string{"a", "a"}, 2, nil},
		"deep":                 {deep, nil, 0, iceberg.ErrLimit},
		"cut":                  {`[{"field-id":1,"names":["a"`, nil, 0, iceberg.ErrMalformed},
		"id over 32 bits":      {`[{"field-id":4294967297,"names":["a"]}]`, nil, 0, iceberg.ErrMalformed},
		"unknown is no matter": {`[{"field-id":1,"names":["a"],"x":{"y":[1]}}]`, []string{"a"}, 1, nil},
	}
	for name, tt := range tests {
		text := strings.Replace(everything, `{"k":"v"}`, fmt.Sprintf(`{"schema.name-mapping.default":%q}`, tt.mapping), 1)
		table, err := iceberg.ParseMetadata([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m, err := table.NameMapping()
		if !errors.Is(err, tt.err) || err != nil && tt.err == nil {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if id, ok := m.Field(tt.path); ok != (tt.id != iceberg.None) || ok && id != tt.id {
			t.Errorf("%s: %d, %v", name, id, ok)
		}
	}
}
