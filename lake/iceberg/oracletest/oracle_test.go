package oracletest_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	peer "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"

	"github.com/laketap/laketap/lake/iceberg"
	"github.com/laketap/laketap/lake/iceberg/oracletest"
)

// samples reads the tables in the testdata of lake/iceberg.
func samples(t *testing.T) map[string]oracletest.Memory {
	t.Helper()
	found, err := filepath.Glob("../testdata/*/*.metadata.json")
	if err != nil || len(found) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	all := map[string]oracletest.Memory{}
	for _, metadata := range found {
		m := oracletest.Memory{}
		entries, err := os.ReadDir(filepath.Dir(metadata))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(filepath.Dir(metadata), e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			m[e.Name()] = b
			if e.Name() == filepath.Base(metadata) {
				m["metadata"] = b
			}
		}
		all[filepath.Base(filepath.Dir(metadata))] = m
	}
	return all
}

// unpacked returns metadata without gzip.
func unpacked(t *testing.T, b []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSamples(t *testing.T) {
	for name, m := range samples(t) {
		t.Run(name, func(t *testing.T) {
			ours, err := iceberg.ReadMetadata(t.Context(), "metadata", m)
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := table.ParseMetadataBytes(unpacked(t, m["metadata"]))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "metadata", theirMetadata(theirs), ourMetadata(ours))
			for _, sn := range theirs.Snapshots() {
				compareSnapshot(t, ours, sn, m)
			}
		})
	}
}

// compare reports what differs.
func compare[T any](t *testing.T, what string, theirs, ours T) {
	t.Helper()
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("%s (-iceberg-go +ours):\n%s", what, diff)
	}
}

// compareSnapshot compares the manifests of a snapshot and all their entries.
func compareSnapshot(t *testing.T, ours *iceberg.Table, sn table.Snapshot, m oracletest.Memory) {
	t.Helper()
	theirs, err := sn.Manifests(m.FS())
	if err != nil {
		t.Fatal(err)
	}
	var list []*iceberg.Manifest
	for mf, err := range ours.Manifests(t.Context(), sn.SnapshotID, m, iceberg.Options{Want: iceberg.WantAll}) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, mf.Clone())
	}
	if len(theirs) != len(list) {
		t.Fatalf("%d manifests, iceberg-go has %d", len(list), len(theirs))
	}
	for i := range list {
		compare(t, "manifest", theirManifest(theirs[i]), ourManifest(list[i]))
		compareEntries(t, theirs[i], list[i], m, m)
	}
}

// compareEntries compares the entries of a manifest, which either side reads from
// files of its own.
func compareEntries(t *testing.T, theirs peer.ManifestFile, ours *iceberg.Manifest, m, own oracletest.Memory) {
	t.Helper()
	want, got := []string{}, []string{}
	decimals := map[int]bool{} // partition fields that are some: a manifest does not tell us
	for e, err := range theirs.Entries(m.FS(), false) {
		if err != nil && strings.Contains(err.Error(), "'content' metadata is missing") {
			// ClickHouse leaves it out, though version 2 requires it. The Java
			// library reads such manifests by what their list says, as we do.
			// The entries are compared once the header says that.
			compareEntries(t, theirs, ours, withContent(t, m, ours), m)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, theirEntry(e, decimals))
	}
	for e, err := range iceberg.ReadManifest(context.Background(), ours, nil, own, iceberg.Options{Want: iceberg.WantAll}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ourEntry(e, decimals))
	}
	compare(t, ours.Path, want, got)
}

// withContent returns files of which a manifest's header says what its list
// does. A map of Avro may come in several runs, so the word stands in one of its
// own before the others.
func withContent(t *testing.T, m oracletest.Memory, of *iceberg.Manifest) oracletest.Memory {
	t.Helper()
	const magic = "Obj\x01"
	content := "\x08data"
	if of.Deletes {
		content = "\x0edeletes"
	}
	name := path.Base(of.Path)
	rest, ok := bytes.CutPrefix(m[name], []byte(magic))
	if !ok || bytes.Contains(rest[:min(len(rest), 4096)], []byte("\x0econtent")) {
		t.Fatalf("%s is no manifest that lacks the word", name)
	}
	with := maps.Clone(m)
	with[name] = slices.Concat([]byte(magic+"\x02\x0econtent"+content), rest)
	return with
}

// or returns a number that may not be there.
func or[T int | int64](n *T) int64 {
	if n == nil {
		return iceberg.None
	}
	return int64(*n)
}

// theirMetadata spells metadata as iceberg-go reads it.
func theirMetadata(m table.Metadata) []string {
	var out []string
	add := func(args ...any) { out = append(out, fmt.Sprintln(args...)) }
	add(m.Version(), m.TableUUID(), m.Location(), m.LastUpdatedMillis(), m.LastColumnID(), m.LastSequenceNumber(),
		m.DefaultPartitionSpec(), or(m.LastPartitionSpecID()), m.DefaultSortOrder(), m.CurrentSchema().ID, m.NextRowID())
	for _, s := range m.Schemas() {
		add("schema", s.ID, s.IdentifierFieldIDs)
		for _, f := range s.Fields() {
			theirField(f, "", add)
		}
	}
	for _, spec := range m.PartitionSpecs() {
		for _, f := range spec.Fields() {
			add("spec", spec.ID(), f.FieldID, f.SourceIDs, f.Name, f.Transform)
		}
	}
	for _, o := range m.SortOrders() {
		add("order", o.OrderID())
		for _, f := range o.Fields() {
			add("by", f.SourceIDs, f.Transform, f.Direction, f.NullOrder)
		}
	}
	for _, s := range m.Snapshots() {
		op := ""
		if s.Summary != nil {
			op = string(s.Summary.Operation)
		}
		add("snapshot", s.SnapshotID, or(s.ParentSnapshotID), s.SequenceNumber, s.TimestampMs, s.ManifestList, op,
			or(s.SchemaID), or(s.FirstRowID), or(s.AddedRows))
	}
	var refs []string
	for name, r := range m.Refs() {
		refs = append(refs, fmt.Sprintln(name, r.SnapshotID, r.SnapshotRefType == table.BranchRef, or(r.MinSnapshotsToKeep), or(r.MaxSnapshotAgeMs), or(r.MaxRefAgeMs)))
	}
	slices.Sort(refs)
	out = append(out, refs...)
	for e := range m.SnapshotLogs() {
		add("log", e.SnapshotID, e.TimestampMs)
	}
	for e := range m.PreviousFiles() {
		add("file", e.MetadataFile, e.TimestampMs)
	}
	for s := range m.Statistics() {
		add("statistics", s.SnapshotID, s.StatisticsPath, s.FileSizeInBytes, s.FileFooterSizeInBytes)
		for _, b := range s.BlobMetadata {
			add("blob", b.Type, b.SnapshotID, b.SequenceNumber, b.Fields, b.Properties)
		}
	}
	for s := range m.PartitionStatistics() {
		add("by partition", s.SnapshotID, s.StatisticsPath, s.FileSizeInBytes)
	}
	add("properties", map[string]string(m.Properties()))
	return out
}

// theirField spells a field and what lies inside it.
func theirField(f peer.NestedField, indent string, add func(...any)) {
	name := f.Type.Type()
	if _, ok := f.Type.(peer.NestedType); !ok {
		name = strings.ReplaceAll(f.Type.String(), " ", "")
	}
	add(indent, f.ID, f.Name, f.Required, name, f.Doc)
	if in, ok := f.Type.(peer.NestedType); ok {
		for _, f := range in.Fields() {
			theirField(f, indent+"-", add)
		}
	}
}

// kinds are the names of types.
var kinds = map[iceberg.Kind]string{
	iceberg.Boolean: "boolean", iceberg.Int: "int", iceberg.Long: "long", iceberg.Float: "float", iceberg.Double: "double",
	iceberg.Date: "date", iceberg.Time: "time", iceberg.Timestamp: "timestamp", iceberg.TimestampTZ: "timestamptz",
	iceberg.String: "string", iceberg.UUID: "uuid", iceberg.Binary: "binary", iceberg.Struct: "struct", iceberg.List: "list",
	iceberg.Map: "map", iceberg.TimestampNS: "timestamp_ns", iceberg.TimestampTZNS: "timestamptz_ns",
	iceberg.Unknown: "unknown", iceberg.Variant: "variant", iceberg.Geometry: "geometry", iceberg.Geography: "geography",
}

// ourField spells a field and what lies inside it.
func ourField(f iceberg.Field, indent string, add func(...any)) {
	name := kinds[f.Type.Kind]
	switch f.Type.Kind {
	case iceberg.Fixed:
		name = fmt.Sprintf("fixed[%d]", f.Type.Length)
	case iceberg.Decimal:
		name = fmt.Sprintf("decimal(%d,%d)", f.Type.Precision, f.Type.Scale)
	}
	add(indent, f.ID, f.Name, f.Required, name, f.Doc)
	for _, f := range f.Type.Fields {
		ourField(f, indent+"-", add)
	}
}

// ourMetadata spells metadata as we read it.
func ourMetadata(m *iceberg.Table) []string {
	var out []string
	add := func(args ...any) { out = append(out, fmt.Sprintln(args...)) }
	add(m.FormatVersion, m.UUID, m.Location, m.LastUpdated, m.LastColumnID, m.LastSequenceNumber,
		m.DefaultSpecID, m.LastPartitionID, m.DefaultSortOrderID, m.CurrentSchemaID, m.NextRowID)
	for _, s := range m.Schemas {
		add("schema", s.ID, s.Identifier)
		for _, f := range s.Fields {
			ourField(f, "", add)
		}
	}
	for _, spec := range m.Specs {
		for _, f := range spec.Fields {
			add("spec", spec.ID, f.ID, f.Sources, f.Name, f.Transform)
		}
	}
	for _, o := range m.SortOrders {
		add("order", o.ID)
		for _, f := range o.Fields {
			direction, nulls := "asc", "nulls-first"
			if f.Descending {
				direction = "desc"
			}
			if f.NullsLast {
				nulls = "nulls-last"
			}
			add("by", f.Sources, f.Transform, direction, nulls)
		}
	}
	for _, s := range m.Snapshots {
		add("snapshot", s.ID, s.Parent, s.SequenceNumber, s.Timestamp, s.ManifestList, s.Operation, s.SchemaID, s.FirstRowID, s.AddedRows)
	}
	refs := make([]string, 0, len(m.Refs))
	for name, r := range m.Refs {
		refs = append(refs, fmt.Sprintln(name, r.Snapshot, r.Branch, r.MinSnapshots, r.MaxSnapshotAge, r.MaxAge))
	}
	slices.Sort(refs)
	out = append(out, refs...)
	for _, e := range m.SnapshotLog {
		add("log", e.Snapshot, e.Timestamp)
	}
	for _, e := range m.MetadataLog {
		add("file", e.File, e.Timestamp)
	}
	for _, s := range m.Statistics {
		add("statistics", s.Snapshot, s.Path, s.Size, s.FooterSize)
		for _, b := range s.Blobs {
			add("blob", b.Type, b.Snapshot, b.SequenceNumber, b.Fields, b.Properties)
		}
	}
	for _, s := range m.PartitionStatistics {
		add("by partition", s.Snapshot, s.Path, s.Size)
	}
	add("properties", m.Properties)
	return out
}

// theirManifest spells a manifest as iceberg-go reads it.
func theirManifest(m peer.ManifestFile) string {
	var summaries strings.Builder
	for _, p := range m.Partitions() {
		nan, lower, upper := "?", "-", "-"
		if p.ContainsNaN != nil {
			nan = strconv.FormatBool(*p.ContainsNaN)
		}
		if p.LowerBound != nil {
			lower = hex.EncodeToString(*p.LowerBound)
		}
		if p.UpperBound != nil {
			upper = hex.EncodeToString(*p.UpperBound)
		}
		fmt.Fprintln(&summaries, p.ContainsNull, nan, lower, upper)
	}
	return fmt.Sprint(m.FilePath(), m.Length(), m.PartitionSpecID(), m.ManifestContent() == peer.ManifestContentDeletes,
		m.SequenceNum(), m.MinSequenceNum(), m.SnapshotID(), m.AddedDataFiles(), m.ExistingDataFiles(), m.DeletedDataFiles(),
		m.AddedRows(), m.ExistingRows(), m.DeletedRows(), or(m.FirstRowID()), hex.EncodeToString(m.KeyMetadata()), summaries.String())
}

// ourManifest spells a manifest as we read it.
func ourManifest(m *iceberg.Manifest) string {
	var summaries strings.Builder
	for _, p := range m.Partitions {
		nan, lower, upper := "?", "-", "-"
		if p.NaNIsKnown {
			nan = strconv.FormatBool(p.HasNaN)
		}
		if p.Lower != nil {
			lower = hex.EncodeToString(p.Lower)
		}
		if p.Upper != nil {
			upper = hex.EncodeToString(p.Upper)
		}
		fmt.Fprintln(&summaries, p.HasNull, nan, lower, upper)
	}
	return fmt.Sprint(m.Path, m.Length, m.SpecID, m.Deletes, m.SequenceNumber, m.MinSequenceNumber, m.SnapshotID,
		m.AddedFiles, m.ExistingFiles, m.DeletedFiles, m.AddedRows, m.ExistingRows, m.DeletedRows, m.FirstRowID,
		hex.EncodeToString(m.KeyMetadata), summaries.String())
}

// theirEntry spells an entry as iceberg-go reads it.
func theirEntry(e peer.ManifestEntry, decimals map[int]bool) string {
	f := e.DataFile()
	ref := ""
	if r := f.ReferencedDataFile(); r != nil {
		ref = *r
	}
	bounds := func(m map[int][]byte) map[int]string {
		out := map[int]string{}
		for k, v := range m {
			out[k] = hex.EncodeToString(v)
		}
		return out
	}
	partition := map[int]string{}
	for id, v := range f.Partition() {
		partition[id] = theirValue(v)
		decimals[id] = decimals[id] || strings.HasPrefix(partition[id], "decimal")
	}
	return fmt.Sprintln(int(e.Status()), e.SnapshotID(), e.SequenceNum(), or(e.FileSequenceNum()), int(f.ContentType()), f.FilePath(),
		strings.ToUpper(string(f.FileFormat())), f.SpecID(), f.Count(), f.FileSizeBytes(), or(f.SortOrderID()), or(f.FirstRowID()), ref, or(f.ContentOffset()),
		or(f.ContentSizeInBytes()), hex.EncodeToString(f.KeyMetadata()), f.SplitOffsets(), f.EqualityFieldIDs(),
		or0(f.ColumnSizes()), or0(f.ValueCounts()), or0(f.NullValueCounts()), or0(f.NaNValueCounts()),
		bounds(f.LowerBoundValues()), bounds(f.UpperBoundValues()), partition)
}

// or0 makes no map an empty one.
func or0(m map[int]int64) map[int]int64 {
	if m == nil {
		return map[int]int64{}
	}
	return m
}

// theirValue spells a partition value of iceberg-go.
func theirValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case []byte:
		return hex.EncodeToString(v)
	case string:
		return hex.EncodeToString([]byte(v))
	case uuid.UUID:
		return hex.EncodeToString(v[:])
	case peer.DecimalLiteral:
		return "decimal " + v.Val.BigInt().String()
	case peer.Optional[peer.Literal]:
		return theirValue(v.Val.Any())
	}
	return fmt.Sprint(v)
}

// ourEntry spells an entry as we read it.
func ourEntry(e *iceberg.Entry, decimals map[int]bool) string {
	counts := func(list []iceberg.ColumnCount) map[int]int64 {
		m := map[int]int64{}
		for _, c := range list {
			m[c.Field] = c.N
		}
		return m
	}
	bounds := func(list []iceberg.ColumnBound) map[int]string {
		m := map[int]string{}
		for _, b := range list {
			m[b.Field] = hex.EncodeToString(b.Value)
		}
		return m
	}
	partition := map[int]string{}
	for _, p := range e.Partition {
		partition[p.Field] = ourValue(p, decimals[p.Field])
	}
	return fmt.Sprintln(int(e.Status), e.SnapshotID, e.SequenceNumber, e.FileSequenceNumber, int(e.Content), e.Path,
		e.Format, e.SpecID, e.Records, e.Size, e.SortOrderID, e.FirstRowID, e.ReferencedFile, e.ContentOffset, e.ContentSize,
		hex.EncodeToString(e.KeyMetadata), e.SplitOffsets, e.EqualityIDs, counts(e.ColumnSizes), counts(e.ValueCounts),
		counts(e.NullCounts), counts(e.NaNCounts), bounds(e.LowerBounds), bounds(e.UpperBounds), partition)
}

// ourValue spells a partition value of ours.
func ourValue(p iceberg.PartitionValue, decimal bool) string {
	switch v := p.Value; v.Kind {
	case iceberg.NullValue:
		return "null"
	case iceberg.BoolValue:
		return strconv.FormatBool(v.Bool())
	case iceberg.IntValue:
		return strconv.FormatInt(v.Int(), 10)
	case iceberg.FloatValue:
		return fmt.Sprint(float32(v.Float()))
	case iceberg.DoubleValue:
		return fmt.Sprint(v.Float())
	}
	if decimal {
		return unscaled([]byte(p.Value.Text()))
	}
	return hex.EncodeToString([]byte(p.Value.Text()))
}

// unscaled spells the bytes of a decimal.
func unscaled(b []byte) string {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return "decimal " + n.String()
}

// theirFolder returns where the sources of iceberg-go are.
func theirFolder(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/apache/iceberg-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// refused are files that iceberg-go reads and the Java library, the reference,
// refuses (TableMetadataParser: the id is required where the list is there).
// Which schema or spec is the current one would be a guess; so we refuse too.
var refused = []string{
	"TableMetadataV1PartitionSpecsWithoutDefaultId.json",
	"TableMetadataV1SchemasWithoutCurrentId.json",
}

// TestTheirFiles holds us to the files that iceberg-go is tested with.
func TestTheirFiles(t *testing.T) {
	found, err := filepath.Glob(theirFolder(t) + "/table/testdata/TableMetadata*.json")
	if err != nil || len(found) < 10 {
		t.Fatalf("%d files, %v", len(found), err)
	}
	for _, file := range found {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		ours, ourErr := iceberg.ReadMetadata(t.Context(), name, oracletest.Memory{name: b})
		if strings.Contains(name, ".zstd.") {
			if ourErr != nil {
				t.Errorf("%s: %v", name, ourErr)
			}
			continue
		}
		if slices.Contains(refused, name) {
			if !errors.Is(ourErr, iceberg.ErrMalformed) {
				t.Errorf("%s: %v", name, ourErr)
			}
			continue
		}
		theirs, theirErr := table.ParseMetadataBytes(b)
		if (ourErr == nil) != (theirErr == nil) {
			t.Errorf("%s: ours %v, theirs %v", name, ourErr, theirErr)
			continue
		}
		if ourErr == nil {
			compare(t, name, theirMetadata(theirs), ourMetadata(ours))
		}
	}
}

// TestTheirList reads the manifest list that DuckDB wrote and iceberg-go keeps.
func TestTheirList(t *testing.T) {
	b, err := os.ReadFile(theirFolder(t) + "/testdata/duckdb_v3_manifest_list.avro")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := peer.ReadManifestList(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	got, want := []string{}, make([]string, 0, len(theirs))
	for _, m := range theirs {
		want = append(want, theirManifest(m))
	}
	for m, err := range iceberg.ReadManifestList(t.Context(), "x", oracletest.Memory{"x": b}, iceberg.Options{Want: iceberg.WantAll}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ourManifest(m))
	}
	compare(t, "list", want, got)
}
