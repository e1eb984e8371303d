package iceberg_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
)

const minimal1 = `{"format-version":1,"location":"s3://b/t","last-updated-ms":1,"last-column-id":1,
	"schema":{"type":"struct","fields":[{"id":1,"name":"x","required":true,"type":"long"}]},"partition-spec":[]}`

const minimal2 = `{"format-version":2,"table-uuid":"u","location":"s3://b/t","last-sequence-number":34,"last-updated-ms":1,
	"last-column-id":3,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[
	{"id":1,"name":"x","required":true,"type":"long"},
	{"id":2,"name":"m","required":false,"type":{"type":"map","key-id":3,"key":"string","value-id":4,"value-required":true,
	 "value":{"type":"list","element-id":5,"element-required":false,"element":"decimal(9, 2)"}}}]}],
	"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[{"name":"p","transform":"bucket[16]","source-id":1,"field-id":1000}]}],
	"last-partition-id":1000,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}]`

// with adds members to the minimal metadata of version 2.
func with(members string) string { return minimal2 + "," + members + "}" }

func TestParseMinimal(t *testing.T) {
	table, err := iceberg.ParseMetadata([]byte(minimal1))
	if err != nil {
		t.Fatal(err)
	}
	if table.CurrentSnapshotID != iceberg.None || table.LastPartitionID != 999 || len(table.SortOrders) != 1 ||
		len(table.Specs) != 1 || table.CurrentSchema().Fields[0].Name != "x" {
		t.Errorf("version 1: %+v", table)
	}
	table, err = iceberg.ParseMetadata([]byte(minimal2 + "}"))
	if err != nil {
		t.Fatal(err)
	}
	schema := table.CurrentSchema()
	if name := schema.Name(5); name != "m.value.element" {
		t.Errorf("field 5 is %q", name)
	}
	if f, ok := schema.Field(5); !ok || f.Type.Kind != iceberg.Decimal || f.Type.Precision != 9 || f.Type.Scale != 2 {
		t.Errorf("field 5: %+v", f)
	}
	want := iceberg.PartitionField{ID: 1000, Sources: []int{1}, Name: "p", Transform: iceberg.Transform{Kind: iceberg.Bucket, N: 16, Name: "bucket[16]"}}
	if diff := cmp.Diff([]iceberg.PartitionField{want}, table.Specs[0].Fields); diff != "" {
		t.Error(diff)
	}
}

const snapshots = `"current-snapshot-id":9223372036854775807,"snapshots":[
	{"snapshot-id":9223372036854775807,"parent-snapshot-id":1,"sequence-number":34,"timestamp-ms":5,"manifest-list":"s3://b/l.avro",
	 "summary":{"operation":"append","k":"v"},"schema-id":0,"first-row-id":7,"added-rows":3,"key-id":null}]`

func TestParseSnapshots(t *testing.T) {
	table, err := iceberg.ParseMetadata([]byte(with(snapshots)))
	if err != nil {
		t.Fatal(err)
	}
	sn, ok := table.Current()
	want := &iceberg.Snapshot{
		ID: 9223372036854775807, Parent: 1, SequenceNumber: 34, Timestamp: 5, ManifestList: "s3://b/l.avro",
		Operation: "append", Summary: map[string]string{"operation": "append", "k": "v"}, FirstRowID: 7, AddedRows: 3,
	}
	if diff := cmp.Diff(want, sn); !ok || diff != "" {
		t.Error(diff)
	}
	if ref := table.Refs["main"]; !ref.Branch || ref.Snapshot != sn.ID {
		t.Errorf("main is %+v", ref)
	}
	if table.SchemaAt(sn) != table.CurrentSchema() {
		t.Error("the snapshot's schema is not the current one")
	}
}

func TestParseRest(t *testing.T) {
	table, err := iceberg.ParseMetadata([]byte(with(snapshots + `,
		"refs":{"main":{"snapshot-id":9223372036854775807,"type":"branch","min-snapshots-to-keep":2},
			"t":{"snapshot-id":9223372036854775807,"type":"tag","max-ref-age-ms":9}},
		"snapshot-log":[{"snapshot-id":1,"timestamp-ms":2}],"metadata-log":[{"metadata-file":"s3://b/0.json","timestamp-ms":3}],
		"statistics":[{"snapshot-id":1,"statistics-path":"s3://b/s.puffin","file-size-in-bytes":10,"file-footer-size-in-bytes":4,
			"blob-metadata":[{"type":"apache-datasketches-theta-v1","snapshot-id":1,"sequence-number":2,"fields":[1],"properties":{"ndv":"5"}}]}],
		"partition-statistics":[{"snapshot-id":1,"statistics-path":"s3://b/p.parquet","file-size-in-bytes":11}],
		"encryption-keys":[{"key-id":"k","encrypted-key-metadata":"AA==","encrypted-by-id":"m"}],
		"properties":{"write.data.path":"s3://b/data//","schema.name-mapping.default":"[{\"field-id\":1,\"names\":[\"x\",\"y\"]}]"},
		"unknown":{"a":[1,{"b":null}]}`)))
	if err != nil {
		t.Fatal(err)
	}
	if !table.Encrypted() {
		t.Error("keys were not seen")
	}
	if p := table.DataPath(); p != "s3://b/data" {
		t.Errorf("data path %q", p)
	}
	if p := table.MetadataPath(); p != "s3://b/t/metadata" {
		t.Errorf("metadata path %q", p)
	}
	if got := table.Refs["t"]; got.Branch || got.MaxAge != 9 || got.MinSnapshots != iceberg.None {
		t.Errorf("tag: %+v", got)
	}
	if got := table.Statistics[0].Blobs[0]; got.Properties["ndv"] != "5" || got.Fields[0] != 1 {
		t.Errorf("blob: %+v", got)
	}
	if got := table.PartitionStatistics[0]; got.Size != 11 {
		t.Errorf("partition statistics: %+v", got)
	}
	mapping, err := table.NameMapping()
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := mapping.Field([]string{"y"}); !ok || id != 1 {
		t.Errorf("y maps to %d, %v", id, ok)
	}
	if _, ok := mapping.Field([]string{"x", "z"}); ok {
		t.Error("x.z maps to something")
	}
}

func TestTypes(t *testing.T) {
	tests := []struct {
		text string
		want iceberg.Type
	}{
		{`"boolean"`, iceberg.Type{Kind: iceberg.Boolean}},
		{`"fixed[16]"`, iceberg.Type{Kind: iceberg.Fixed, Length: 16}},
		{`"decimal(38,0)"`, iceberg.Type{Kind: iceberg.Decimal, Precision: 38}},
		{`"timestamptz_ns"`, iceberg.Type{Kind: iceberg.TimestampTZNS}},
		{`"variant"`, iceberg.Type{Kind: iceberg.Variant}},
		{`"unknown"`, iceberg.Type{Kind: iceberg.Unknown}},
		{`"geometry(srid:4326)"`, iceberg.Type{Kind: iceberg.Geometry, CRS: "srid:4326"}},
		{`"geography(OGC:CRS84, karney)"`, iceberg.Type{Kind: iceberg.Geography, CRS: "OGC:CRS84", Edges: "karney"}},
		{`"decimal(39,0)"`, iceberg.Type{}},
		{`"decimal(9,10)"`, iceberg.Type{}},
		{`"fixed[-1]"`, iceberg.Type{}},
		{`"interval"`, iceberg.Type{}},
		{`{"type":"set","element":"int"}`, iceberg.Type{}},
	}
	for _, tt := range tests {
		text := strings.Replace(minimal1, `"long"`, tt.text+`,"initial-default":{"a":1.50},"write-default":null`, 1)
		table, err := iceberg.ParseMetadata([]byte(text))
		if tt.want.Kind == 0 {
			if !errors.Is(err, iceberg.ErrUnsupported) {
				t.Errorf("%s: %v", tt.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		f := table.CurrentSchema().Fields[0]
		if diff := cmp.Diff(tt.want, f.Type); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
		if string(f.InitialDefault) != `{"a":1.50}` || f.WriteDefault != nil {
			t.Errorf("defaults %s, %s", f.InitialDefault, f.WriteDefault)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat(`{"type":"list","element-id":2,"element-required":true,"element":`, 100)
	tests := map[string]struct {
		text string
		want error
	}{
		"empty":             {"", iceberg.ErrMalformed},
		"no object":         {"[]", iceberg.ErrMalformed},
		"version 4":         {strings.Replace(minimal2, `n":2`, `n":4`, 1) + "}", iceberg.ErrUnsupported},
		"version 0":         {strings.Replace(minimal2, `n":2`, `n":0`, 1) + "}", iceberg.ErrUnsupported},
		"version 3":         {strings.Replace(minimal2, `n":2`, `n":3`, 1) + "}", iceberg.ErrMalformed}, // no next-row-id
		"fraction":          {strings.Replace(minimal2, `:34`, `:34.0`, 1) + "}", iceberg.ErrMalformed},
		"exponent":          {strings.Replace(minimal2, `:34`, `:1e3`, 1) + "}", iceberg.ErrMalformed},
		"65 bits":           {strings.Replace(minimal2, `:34`, `:9223372036854775808`, 1) + "}", iceberg.ErrMalformed},
		"33 bits":           {strings.Replace(minimal2, `"last-column-id":3`, `"last-column-id":2147483648`, 1) + "}", iceberg.ErrMalformed},
		"number as text":    {strings.Replace(minimal2, `:34`, `:"34"`, 1) + "}", iceberg.ErrMalformed},
		"location twice":    {with(`"location":"s3://other"`), iceberg.ErrMalformed},
		"no location":       {strings.Replace(minimal2, `"location"`, `"LOCATION"`, 1) + "}", iceberg.ErrMalformed},
		"not UTF-8":         {strings.Replace(minimal2, `s3://b/t`, "s3://\xff", 1) + "}", iceberg.ErrMalformed},
		"no schema":         {strings.Replace(minimal2, `"current-schema-id":0`, `"current-schema-id":7`, 1) + "}", iceberg.ErrMalformed},
		"id twice":          {strings.Replace(minimal2, `"element-id":5`, `"element-id":1`, 1) + "}", iceberg.ErrMalformed},
		"no spec":           {strings.Replace(minimal2, `"default-spec-id":0`, `"default-spec-id":7`, 1) + "}", iceberg.ErrMalformed},
		"no order":          {strings.Replace(minimal2, `"default-sort-order-id":0`, `"default-sort-order-id":7`, 1) + "}", iceberg.ErrMalformed},
		"no snapshot":       {with(`"current-snapshot-id":5`), iceberg.ErrMalformed},
		"ref to nowhere":    {with(`"refs":{"x":{"snapshot-id":5,"type":"tag"}}`), iceberg.ErrMalformed},
		"main elsewhere":    {with(strings.Replace(snapshots, `"current-snapshot-id":9223372036854775807,`, "", 1) + `,"refs":{"main":{"snapshot-id":9223372036854775807,"type":"branch"}}`), iceberg.ErrMalformed},
		"late sequence":     {with(strings.Replace(snapshots, `:34`, `:35`, 1)), iceberg.ErrMalformed},
		"no manifest list":  {with(strings.Replace(snapshots, `manifest-list`, `manifestlist`, 1)), iceberg.ErrMalformed},
		"more follows":      {minimal1 + "{}", iceberg.ErrMalformed},
		"space in number":   {strings.Replace(minimal1, `"last-column-id":`, `"last-column-id":- `, 1), iceberg.ErrMalformed},
		"escape of unknown": {with(`"unknown":{"a":"\q"}`), iceberg.ErrMalformed},
		"digits of unknown": {with(`"unknown":["\uZZZZ"]`), iceberg.ErrMalformed},
		"too much":          {with(`"encryption-keys":[` + strings.Repeat(`{"key-id":""},`, 1<<22) + `{"key-id":""}]`), iceberg.ErrLimit},
		"deep types":        {strings.Replace(minimal1, `"long"`, deep, 1), iceberg.ErrLimit},
		"deep unknown":      {with(`"x":` + strings.Repeat("[", 1<<20)), iceberg.ErrMalformed},
		"deep objects":      {with(`"x":` + strings.Repeat(`{"a":`, 1<<20)), iceberg.ErrMalformed},
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		if _, err := iceberg.ParseMetadata([]byte(tests[name].text)); !errors.Is(err, tests[name].want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMetadataCut and its like hold that a file cut anywhere is an error.
func TestMetadataCut(t *testing.T) {
	text := with(snapshots)
	for n := range len(text) {
		if _, err := iceberg.ParseMetadata([]byte(text[:n])); !isOurs(err) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

func TestMetadataFlipped(t *testing.T) {
	text := []byte(with(snapshots))
	for i := range text {
		for _, bit := range []byte{1, 0x20, 0x80, 0xff} {
			text[i] ^= bit
			if _, err := iceberg.ParseMetadata(text); err != nil && !isOurs(err) {
				t.Fatalf("byte %d: %v", i, err)
			}
			text[i] ^= bit
		}
	}
}

// Many columns cost memory in proportion, and time no more than that.
func TestManyColumns(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, `{"id":%d,"name":"x","required":true,"type":"long"},`, i+2)
	}
	text := strings.Replace(minimal1, `"fields":[`, `"fields":[`+b.String(), 1)
	table, err := iceberg.ParseMetadata([]byte(text))
	if err != nil || len(table.CurrentSchema().Fields) != 200_001 {
		t.Error(err)
	}
}

// The members of one object may be as many as its bytes allow.
func TestManyProperties(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, `"%d":"",`, i)
	}
	table, err := iceberg.ParseMetadata([]byte(with(`"properties":{` + b.String() + `"x":"y"}`)))
	if err != nil || len(table.Properties) != 100_001 {
		t.Error(err)
	}
	if _, err := iceberg.ParseMetadata([]byte(with(`"properties":{` + b.String() + `"77":"y"}`))); !errors.Is(err, iceberg.ErrMalformed) {
		t.Errorf("a property twice: %v", err)
	}
}
