package iceberg_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/laketap/laketap/lake/iceberg"
)

// read reads the entries of a manifest and returns its first error.
func read(t *testing.T, b []byte, m *iceberg.Manifest, spec *iceberg.Spec) ([]*iceberg.Entry, error) {
	t.Helper()
	m.Path = "x"
	var list []*iceberg.Entry
	for e, err := range iceberg.ReadManifest(t.Context(), m, spec, files{"x": b}, iceberg.Options{Want: iceberg.WantAll}) {
		if err != nil {
			return list, err
		}
		list = append(list, e.Clone())
	}
	return list, nil
}

// listed is a manifest as a list of version 2 tells it.
func listed() *iceberg.Manifest {
	return &iceberg.Manifest{Length: iceberg.None, SpecID: iceberg.None, SequenceNumber: 5, SnapshotID: 7, FirstRowID: iceberg.None}
}

// minimalFile is a data_file with only what it must have.
func minimalFile(more ...string) string {
	return rec("data_file", append([]string{
		field(100, "file_path", tText), field(101, "file_format", tText),
		field(103, "record_count", tLong), field(104, "file_size_in_bytes", tLong),
	}, more...)...)
}

// minimalEntry is a manifest_entry with only what it must have.
func minimalEntry(file string) string {
	return rec("manifest_entry", field(0, "status", tInt), field(2, "data_file", file))
}

// A manifest as version 1 wrote it: no ids, no content, no sequence numbers,
// maps in runs that state their size, null last. Field case P12.
func TestOldManifest(t *testing.T) {
	schema := rec("manifest_entry",
		field(0, "status", tInt), field(0, "snapshot_id", tLong),
		field(0, "data_file", rec("r2",
			field(0, "file_path", tText), field(0, "file_format", tText),
			field(0, "partition", rec("r102", field(0, "day", opt(`{"type":"long","logicalType":"timestamp-millis"}`)), field(0, "kind", `["string","null"]`))),
			field(0, "record_count", tLong), field(0, "file_size_in_bytes", tLong), field(0, "block_size_in_bytes", tLong),
			field(0, "value_counts", opt(`{"type":"array","items":`+rec("k", field(0, "key", tInt), field(0, "value", tLong))+`}`)),
			field(0, "unheard_of", opt(`{"type":"map","values":"bytes"}`)),
		)))
	pairs := long(3) + long(30) + long(4) + long(40)
	value := long(1) + long(9) + text("s3://b/f") + text("parquet") + some(long(-5)) + long(0) + text("a") +
		long(10) + long(20) + long(99) + some(long(-2)+long(int64(len(pairs)))+pairs+long(0)) +
		some(long(1)+text("k")+text("v")+long(0))
	spec := &iceberg.Spec{Fields: []iceberg.PartitionField{{ID: 1000, Name: "day"}, {ID: 1001, Name: "kind"}}}
	m := listed()
	m.SequenceNumber = 0
	got, err := read(t, container(schema, []string{"partition-spec-id", "0"}, value), m, spec)
	if err != nil {
		t.Fatal(err)
	}
	want := &iceberg.Entry{
		Status: iceberg.Added, SnapshotID: 9,
		File: iceberg.File{
			Path: "s3://b/f", Format: iceberg.Parquet, Records: 10, Size: 20, SortOrderID: iceberg.None, FirstRowID: iceberg.None,
			ContentOffset: iceberg.None, ContentSize: iceberg.None,
			ValueCounts: []iceberg.ColumnCount{{Field: 3, N: 30}, {Field: 4, N: 40}},
		},
	}
	if diff := cmp.Diff(want, got[0], cmpopts.IgnoreFields(iceberg.File{}, "Partition"), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if v, ok := got[0].PartitionValue(1000); !ok || v.Int() != -5000 {
		t.Errorf("day is %v microseconds, %v", v.Int(), ok)
	}
	if v, ok := got[0].PartitionValue(1001); !ok || v.Text() != "a" {
		t.Errorf("kind is %q, %v", v.Text(), ok)
	}
	if _, ok := got[0].PartitionValue(1002); ok {
		t.Error("there is a value of a field that is not there")
	}
	if _, err := read(t, container(schema, nil, value), m, nil); !errors.Is(err, iceberg.ErrMalformed) {
		t.Errorf("partition fields without ids and spec: %v", err)
	}
}

// What entries leave to their list, field cases P1 and P12.
func TestInheritance(t *testing.T) {
	schema := rec("manifest_entry", field(0, "status", tInt), field(1, "snapshot_id", opt(tLong)),
		field(3, "sequence_number", opt(tLong)), field(4, "file_sequence_number", opt(tLong)),
		field(2, "data_file", minimalFile(field(142, "first_row_id", opt(tLong)))))
	entry := func(status int64, numbers, firstRow string) string {
		return long(status) + numbers + text("p") + text("ORC") + long(10) + long(1) + firstRow
	}
	values := []string{
		entry(1, none()+none()+none(), none()),
		entry(2, none()+none()+none(), none()), // deleted: takes no row ids
		entry(0, some(long(6))+some(long(4))+none(), none()),
		entry(0, some(long(6))+none()+none(), some(long(3))),
		entry(1, none()+some(long(2))+none(), none()),
	}
	m := listed()
	m.FirstRowID = 100
	got, err := read(t, container(schema, nil, values...), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	type numbers struct{ Snapshot, Sequence, File, Row int64 }
	want := []numbers{
		{7, 5, 5, 100},
		{7, iceberg.None, iceberg.None, iceberg.None},
		{6, 4, iceberg.None, 110},
		{6, iceberg.None, iceberg.None, 3},
		{7, 2, 5, 120},
	}
	for i, e := range got {
		if n := (numbers{e.SnapshotID, e.SequenceNumber, e.FileSequenceNumber, e.FirstRowID}); n != want[i] {
			t.Errorf("entry %d: %+v, want %+v", i, n, want[i])
		}
	}
	m.FirstRowID = 1<<63 - 15
	if _, err := read(t, container(schema, nil, values...), m, nil); !errors.Is(err, iceberg.ErrMalformed) {
		t.Errorf("row ids of more than 64 bits: %v", err)
	}
}

func TestManifestRefuses(t *testing.T) {
	plain := long(1) + text("p") + text("PARQUET") + long(1) + long(1)
	content := minimalEntry(minimalFile(field(134, "content", tInt), field(135, "equality_ids", opt(`{"type":"array","items":"int"}`)),
		field(144, "content_offset", opt(tLong)), field(145, "content_size_in_bytes", opt(tLong)), field(143, "referenced_data_file", opt(tText))))
	vector := func(offset, size, of string) string {
		return long(1) + text("p") + text("puffin") + long(1) + long(100) + long(1) + none() + offset + size + of
	}
	sequenced := rec("manifest_entry", field(0, "status", tInt), field(3, "sequence_number", opt(tLong)), field(2, "data_file", minimalFile()))
	tests := map[string]struct {
		schema string
		meta   []string
		value  string
		change func(*iceberg.Manifest)
		want   error
	}{
		"in order":            {minimalEntry(minimalFile()), nil, plain, nil, nil},
		"status 3":            {minimalEntry(minimalFile()), nil, long(3) + plain[1:], nil, iceberg.ErrMalformed},
		"no path":             {minimalEntry(minimalFile()), nil, long(1) + text("") + plain[3:], nil, iceberg.ErrMalformed},
		"negative records":    {minimalEntry(minimalFile()), nil, plain[:len(plain)-2] + long(-1) + long(1), nil, iceberg.ErrMalformed},
		"more bytes":          {minimalEntry(minimalFile()), nil, plain + "x", nil, iceberg.ErrMalformed},
		"no field":            {minimalEntry(strings.Replace(minimalFile(), ":103", ":999", 1)), nil, plain, nil, iceberg.ErrMalformed},
		"field twice":         {minimalEntry(strings.Replace(minimalFile(), ":103", ":104", 1)), nil, plain, nil, iceberg.ErrMalformed},
		"odd type":            {minimalEntry(strings.Replace(minimalFile(), tLong, `"double"`, 1)), nil, plain, nil, iceberg.ErrUnsupported},
		"no records":          {`"long"`, nil, plain, nil, iceberg.ErrMalformed},
		"version 4":           {minimalEntry(minimalFile()), []string{"format-version", "4"}, plain, nil, iceberg.ErrUnsupported},
		"version x":           {minimalEntry(minimalFile()), []string{"format-version", "x"}, plain, nil, iceberg.ErrMalformed},
		"content by header":   {minimalEntry(minimalFile()), []string{"content", "deletes"}, plain, nil, iceberg.ErrMalformed},
		"content x":           {minimalEntry(minimalFile()), []string{"content", "x"}, plain, nil, iceberg.ErrMalformed},
		"other spec":          {minimalEntry(minimalFile()), []string{"partition-spec-id", "4"}, plain, func(m *iceberg.Manifest) { m.SpecID = 3 }, iceberg.ErrMalformed},
		"same spec":           {minimalEntry(minimalFile()), []string{"partition-spec-id", "3"}, plain, func(m *iceberg.Manifest) { m.SpecID = 3 }, nil},
		"codec":               {minimalEntry(minimalFile()), []string{"avro.codec", "xz"}, plain, nil, iceberg.ErrUnsupported},
		"encrypted":           {minimalEntry(minimalFile()), nil, plain, func(m *iceberg.Manifest) { m.Encrypted = true }, iceberg.ErrEncrypted},
		"longer than told":    {minimalEntry(minimalFile()), nil, plain, func(m *iceberg.Manifest) { m.Length = 50 }, iceberg.ErrMalformed},
		"shorter than told":   {minimalEntry(minimalFile()), nil, plain, func(m *iceberg.Manifest) { m.Length = 1 << 20 }, iceberg.ErrMalformed},
		"data among deletes":  {minimalEntry(minimalFile()), nil, plain, func(m *iceberg.Manifest) { m.Deletes = true }, iceberg.ErrMalformed},
		"deletes among data":  {content, nil, plain + long(1) + none() + none() + none() + none(), nil, iceberg.ErrMalformed},
		"content 3":           {content, nil, plain + long(3) + none() + none() + none() + none(), nil, iceberg.ErrMalformed},
		"equality of nothing": {content, nil, plain + long(2) + none() + none() + none() + none(), deletes, iceberg.ErrMalformed},
		"vector":              {content, nil, vector(some(long(4)), some(long(5)), some(text("s3://f"))), deletes, nil},
		"vector nowhere":      {content, nil, vector(none(), some(long(5)), some(text("s3://f"))), deletes, iceberg.ErrMalformed},
		"vector too far":      {content, nil, vector(some(long(1<<63-1)), some(long(5)), some(text("s3://f"))), deletes, iceberg.ErrMalformed},
		"vector of nothing":   {content, nil, vector(some(long(4)), some(long(0)), some(text("s3://f"))), deletes, iceberg.ErrMalformed},
		"vector to the end":   {content, nil, vector(some(long(4)), some(long(96)), some(text("s3://f"))), deletes, nil},
		"vector past the end": {content, nil, vector(some(long(4)), some(long(97)), some(text("s3://f"))), deletes, iceberg.ErrMalformed},
		"blob before":         {content, nil, plain + long(0) + none() + some(long(-77)) + none() + none(), nil, iceberg.ErrMalformed},
		"blob of less":        {content, nil, plain + long(0) + none() + none() + some(long(-50)) + none(), nil, iceberg.ErrMalformed},
		"null records":        {minimalEntry(strings.Replace(minimalFile(), tLong, opt(tLong), 1)), nil, long(1) + text("p") + text("PARQUET") + none() + long(1), nil, iceberg.ErrMalformed},
		"optional records":    {minimalEntry(strings.Replace(minimalFile(), tLong, opt(tLong), 1)), nil, long(1) + text("p") + text("PARQUET") + some(long(1)) + long(1), nil, nil},
		"sequence of -2":      {sequenced, nil, long(1) + some(long(-2)) + plain[1:], nil, iceberg.ErrMalformed},
		"sequence of -1":      {sequenced, nil, long(1) + some(long(-1)) + plain[1:], nil, nil}, // as some write what is not known
		"vector for nothing":  {content, nil, vector(some(long(4)), some(long(5)), none()), deletes, iceberg.ErrMalformed},
		"union of three":      {minimalEntry(strings.Replace(minimalFile(), tLong, `["null","long","int"]`, 1)), nil, plain, nil, iceberg.ErrUnsupported},
	}
	for name, tt := range tests {
		m := listed()
		if tt.change != nil {
			tt.change(m)
		}
		if _, err := read(t, container(tt.schema, tt.meta, tt.value), m, nil); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// deletes makes a manifest one of delete files.
func deletes(m *iceberg.Manifest) { m.Deletes = true }

// The counts of files had other names once.
func TestOldList(t *testing.T) {
	schema := rec("manifest_file", field(0, "manifest_path", tText), field(0, "manifest_length", tLong), field(0, "partition_spec_id", tInt),
		field(0, "added_snapshot_id", tLong), field(0, "added_data_files_count", opt(tInt)), field(0, "existing_data_files_count", opt(tInt)),
		field(0, "deleted_data_files_count", opt(tInt)), field(0, "key_metadata", opt(tBytes)))
	b := container(schema, nil,
		text("s3://b/m")+long(7)+long(2)+long(3)+some(long(4))+some(long(5))+none()+none(),
		text("s3://b/n")+long(7)+long(2)+long(3)+none()+none()+none()+some(text("k")))
	var got []*iceberg.Manifest
	for m, err := range iceberg.ReadManifestList(t.Context(), "x", files{"x": b}, iceberg.Options{Want: iceberg.WantKeyMetadata}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Clone())
	}
	unknown := iceberg.Manifest{
		Path: "s3://b/n", Length: 7, SpecID: 2, SnapshotID: 3, AddedFiles: -1, ExistingFiles: -1, DeletedFiles: -1,
		AddedRows: -1, ExistingRows: -1, DeletedRows: -1, FirstRowID: -1, Encrypted: true, KeyMetadata: []byte("k"),
	}
	known := unknown
	known.Path, known.AddedFiles, known.ExistingFiles, known.Encrypted, known.KeyMetadata = "s3://b/m", 4, 5, false, nil
	if diff := cmp.Diff([]*iceberg.Manifest{&known, &unknown}, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if got[0].Live() != 9 || got[1].Live() != iceberg.None {
		t.Errorf("live: %d, %d", got[0].Live(), got[1].Live())
	}
	v2 := container(schema, []string{"format-version", "2"})
	for _, err := range iceberg.ReadManifestList(t.Context(), "x", files{"x": v2}, iceberg.Options{}) {
		if !errors.Is(err, iceberg.ErrMalformed) {
			t.Errorf("list of version 2 without content: %v", err)
		}
	}
	for _, err := range iceberg.ReadManifestList(t.Context(), "x", files{"x": b}, iceberg.Options{MaxManifests: 1}) {
		if err != nil && !errors.Is(err, iceberg.ErrLimit) {
			t.Errorf("too many manifests: %v", err)
		}
	}
}

// Snapshots of version 1 may name their manifests themselves.
func TestSnapshotWithoutList(t *testing.T) {
	table, err := iceberg.ParseMetadata([]byte(strings.TrimSuffix(minimal1, "}") +
		`,"current-snapshot-id":7,"snapshots":[{"snapshot-id":7,"timestamp-ms":1,"manifests":["s3://b/a.avro","s3://b/b.avro"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	b := container(minimalEntry(minimalFile()), []string{"partition-spec-id", "0"}, long(1)+text("p")+text("PARQUET")+long(1)+long(1))
	list := live(t, table, 7, files{"a.avro": b, "b.avro": b})
	if len(list) != 2 || list[0].SpecID != 0 || list[0].SnapshotID != 7 || list[0].SequenceNumber != 0 {
		t.Errorf("%+v", list)
	}
	for _, err := range table.Files(t.Context(), 8, files{}, iceberg.Options{}) {
		if !errors.Is(err, iceberg.ErrNotFound) {
			t.Errorf("unknown snapshot: %v", err)
		}
	}
	n := 0
	skip := iceberg.Options{Manifests: func(m *iceberg.Manifest) bool { return m.Path != "s3://b/a.avro" }}
	for _, err := range table.Files(t.Context(), 7, files{"b.avro": b}, skip) {
		if err != nil {
			t.Error(err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d files of the manifest that was chosen", n)
	}
}

// What was read stays as it was when more is read.
func TestTextsStay(t *testing.T) {
	s := named(t, "spark_deletes")
	table := s.table(t)
	var paths, copies []string
	for e, err := range table.Files(t.Context(), table.Snapshots[0].ID, s.files, iceberg.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		paths, copies = append(paths, e.Path), append(copies, strings.Clone(e.Path))
	}
	if diff := cmp.Diff(copies, paths); diff != "" {
		t.Error(diff)
	}
}
