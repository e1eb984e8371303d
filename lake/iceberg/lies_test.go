package iceberg_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
	"github.com/laketap/laketap/lake/iceberg/avro"
)

// bounded runs something that hostile bytes cause and holds it to time and
// memory: what it may allocate in all is of the bytes there are.
func bounded(t *testing.T, name string, most uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > most || took > time.Minute {
		t.Errorf("%s: %v and %d MiB, at most %d MiB", name, took, grown>>20, most>>20)
	}
}

const (
	min64 = -1 << 63
	max64 = 1<<63 - 1
)

// wideEntry is a manifest_entry with all that can be long.
func wideEntry() string {
	pair := func(name, value string) string {
		return opt(`{"type":"array","items":` + rec(name, field(0, "key", tInt), field(0, "value", value)) + `}`)
	}
	return minimalEntry(minimalFile(
		field(102, "partition", rec("r102", field(1000, "p", opt(tText)))),
		field(109, "value_counts", pair("a", tLong)), field(125, "lower_bounds", pair("b", tBytes)),
		field(131, "key_metadata", opt(tBytes)), field(132, "split_offsets", opt(`{"type":"array","items":"long"}`)),
		field(135, "equality_ids", opt(`{"type":"array","items":"int"}`)), field(0, "unheard_of", opt(`{"type":"map","values":"bytes"}`))))
}

// Lengths and counts that are negative, more than there is, or 2^63, wherever a
// manifest has some.
func TestManifestLies(t *testing.T) {
	head := long(1) + text("p") + text("PARQUET") + long(1) + long(1)
	spot := map[string]func(lie string) string{
		"path":             func(lie string) string { return long(1) + lie },
		"format":           func(lie string) string { return long(1) + text("p") + lie },
		"partition":        func(lie string) string { return head + some(lie) },
		"counts":           func(lie string) string { return head + none() + some(lie) },
		"bounds":           func(lie string) string { return head + none() + none() + some(lie) },
		"bound":            func(lie string) string { return head + none() + none() + some(long(1)+long(1)+lie) },
		"key metadata":     func(lie string) string { return head + none() + none() + none() + some(lie) },
		"splits":           func(lie string) string { return head + none() + none() + none() + none() + some(lie) },
		"equality ids":     func(lie string) string { return head + strings.Repeat(none(), 5) + some(lie) },
		"unknown":          func(lie string) string { return head + strings.Repeat(none(), 6) + some(lie) },
		"value of unknown": func(lie string) string { return head + strings.Repeat(none(), 6) + some(long(1)+text("k")+lie) },
		"run with a size":  func(lie string) string { return head + none() + some(long(-1)+lie) },
	}
	lies := map[string]string{
		"2^63-1": long(max64), "2^62": long(1 << 62), "-2^63": long(min64), "2^31": long(1 << 31),
		"65 bits": strings.Repeat("\xff", 9) + "\x02", "without end": strings.Repeat("\xff", 200),
	}
	for name, at := range spot {
		for lie, encoded := range lies {
			b := container(wideEntry(), nil, at(encoded))
			bounded(t, name, 8<<20, func() {
				for _, want := range []iceberg.Want{0, iceberg.WantAll} {
					if err := readAll(t.Context(), b, false, want); !errors.Is(err, iceberg.ErrMalformed) {
						t.Errorf("%s of %s, want %b: %v", name, lie, want, err)
					}
				}
			})
		}
	}
}

// The same for the lists of manifests.
func TestListLies(t *testing.T) {
	schema := rec("manifest_file", field(500, "manifest_path", tText), field(501, "manifest_length", tLong),
		field(502, "partition_spec_id", tInt), field(503, "added_snapshot_id", tLong), field(512, "added_rows_count", opt(tLong)),
		field(507, "partitions", opt(`{"type":"array","items":`+rec("r508", field(509, "contains_null", `"boolean"`), field(510, "lower_bound", opt(tBytes)))+`}`)))
	head := text("p") + long(1) + long(0) + long(1)
	tests := map[string]string{
		"path of 2^63-1":        long(max64),
		"path of -2^63":         long(min64),
		"no path":               text("") + long(1) + long(0) + long(1) + none() + none(),
		"length of -1":          text("p") + long(-1) + long(0) + long(1) + none() + none(),
		"length of -2^63":       text("p") + long(min64) + long(0) + long(1) + none() + none(),
		"spec of -1":            text("p") + long(1) + long(-1) + long(1) + none() + none(),
		"spec of 2^31":          text("p") + long(1) + long(1<<31) + long(1) + none() + none(),
		"rows of -2":            head + some(long(-2)) + none(),
		"rows of -2^63":         head + some(long(min64)) + none(),
		"2^63-1 summaries":      head + none() + some(long(max64)),
		"-2^63 summaries":       head + none() + some(long(min64)),
		"bound of 2^62":         head + none() + some(long(1)+"\x00"+some(long(1<<62))),
		"bound of -1":           head + none() + some(long(1)+"\x00"+some(long(-1))),
		"neither true nor not":  head + none() + some(long(1)+"\x02"+none()+long(0)),
		"branch 2 of 2":         head + long(2),
		"branch of -2^63":       head + long(min64),
		"summaries cut":         head + none() + some(long(3)+"\x00"+none()),
		"a byte behind the end": head + none() + none() + "\x00",
	}
	for name, value := range tests {
		bounded(t, name, 8<<20, func() {
			if err := readAll(t.Context(), container(schema, nil, value), true, iceberg.WantAll); !errors.Is(err, iceberg.ErrMalformed) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	sequenced := rec("manifest_file", field(500, "manifest_path", tText), field(501, "manifest_length", tLong),
		field(502, "partition_spec_id", tInt), field(515, "sequence_number", tLong), field(516, "min_sequence_number", tLong))
	for numbers, want := range map[string]error{
		long(0) + long(0): nil, long(-1) + long(0): iceberg.ErrMalformed, long(0) + long(-99): iceberg.ErrMalformed,
	} {
		if err := readAll(t.Context(), container(sequenced, nil, text("p")+long(1)+long(0)+numbers), true, 0); !errors.Is(err, want) {
			t.Errorf("sequence numbers % x: %v, want %v", numbers, err, want)
		}
	}
	if err := readAll(t.Context(), container(schema, nil, head+some(long(-1))+some(long(0))), true, iceberg.WantAll); err != nil {
		t.Errorf("in order: %v", err)
	}
}

// Schemas that nest, go in circles or are as wide as bytes allow, as the
// schema of a manifest or of a field of it that nobody knows.
func TestManifestSchemaBombs(t *testing.T) {
	unknown := func(typ string) string { return minimalEntry(minimalFile(field(0, "x", typ))) }
	plain := long(1) + text("p") + text("PARQUET") + long(1) + long(1)
	var twice strings.Builder // each record holds two of the one before
	twice.WriteString(rec("r0", field(0, "n", `"null"`)))
	for i := range 15 {
		inner := twice.String()
		twice.Reset()
		twice.WriteString(rec(fmt.Sprintf("r%d", i+1), field(0, "a", inner), field(0, "b", fmt.Sprintf(`"r%d"`, i))))
	}
	next := rec("loop", field(0, "next", `["null","loop"]`))
	tests := map[string]struct {
		schema, value string
		want          error
	}{
		"a record in itself":        {unknown(rec("loop", field(0, "next", `"loop"`))), plain, iceberg.ErrMalformed},
		"a record in two":           {unknown(rec("a", field(0, "b", rec("b", field(0, "a", `"a"`))))), plain, iceberg.ErrMalformed},
		"a list of records":         {unknown(next), plain + some(some(none())), nil},
		"a list of 4 M records":     {unknown(next), plain + strings.Repeat("\x02", 1<<22-100) + none(), iceberg.ErrLimit},
		"records of twice the last": {unknown(twice.String()), plain, nil},
		"types 10,000 deep":         {unknown(strings.Repeat(`{"type":"array","items":`, 10_000) + tInt + strings.Repeat("}", 10_000)), plain, iceberg.ErrMalformed},
		"brackets 100,000 deep":     {unknown(strings.Repeat("[", 100_000)), plain, iceberg.ErrMalformed},
		"a fixed of 2^62":           {unknown(`{"type":"fixed","name":"f","size":4611686018427387904}`), plain, iceberg.ErrMalformed},
		"a fixed of 2^31-1":         {unknown(`{"type":"fixed","name":"f","size":2147483647}`), plain, iceberg.ErrMalformed},
		"unknown name":              {unknown(`"nope"`), plain, iceberg.ErrMalformed},
	}
	for name, tt := range tests {
		bounded(t, name, 64<<20, func() {
			if err := readAll(t.Context(), container(tt.schema, nil, tt.value), false, iceberg.WantAll); !errors.Is(err, tt.want) || err != nil && tt.want == nil {
				t.Errorf("%s: %.200v", name, err)
			}
		})
	}
}

// Ten million columns, claimed and really there, in each place that can hold
// that many: an error within the memory of what is read. The schema of the
// table has half a million, past its limit, to spare those who test.
func TestTenMillionColumns(t *testing.T) {
	const many = 10_000_000
	pairs := func(n int) string { return long(int64(n)) + strings.Repeat("\x02\x02", n) }
	head := long(1) + text("p") + text("PARQUET") + long(1) + long(1) + none()
	metadata := strings.Replace(minimal1, `"fields":[`, `"fields":[`+strings.Repeat(`{"id":1,"name":"","required":true,"type":"int"},`, many/20), 1)
	claimed := strings.TrimSuffix(wideEntry(), "]}") + strings.Repeat(`,{"name":"x","type":"int"}`, 80_000) + "]}"
	tests := map[string]struct {
		run  func() error
		want error
		most uint64
	}{
		"claimed by counts": {func() error {
			return readAll(t.Context(), container(wideEntry(), nil, head+some(long(many))), false, iceberg.WantAll)
		}, iceberg.ErrMalformed, 16 << 20},
		"counts, wanted": {func() error {
			b := container(wideEntry(), nil, head+some(pairs(many)+long(0)))
			for _, err := range iceberg.ReadManifest(t.Context(), manifest(b), nil, files{"x": b}, iceberg.Options{Want: iceberg.WantAll}) {
				return err
			}
			return nil
		}, iceberg.ErrMalformed, 400 << 20},
		"counts, over the limit of a block": {func() error {
			return readAll(t.Context(), container(wideEntry(), nil, head+some(pairs(many)+long(0))), false, 0)
		}, iceberg.ErrLimit, 400 << 20},
		"schema of a manifest": {func() error {
			return readAll(t.Context(), container(claimed, nil, head), false, iceberg.WantAll)
		}, iceberg.ErrLimit, 64 << 20},
		"schema of a table": {func() error { _, err := iceberg.ParseMetadata([]byte(metadata)); return err }, iceberg.ErrLimit, 512 << 20},
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		tt := tests[name]
		bounded(t, name, tt.most, func() {
			if err := tt.run(); !errors.Is(err, tt.want) {
				t.Errorf("%s: %.200v", name, err)
			}
		})
	}
}

// odd opens one file through readers that behave as those of networks do.
type odd struct {
	b    []byte
	wrap func(io.Reader) io.Reader
	size int64
}

// Open implements iceberg.Opener.
func (o odd) Open(context.Context, string) (io.ReadCloser, int64, error) {
	return io.NopCloser(o.wrap(bytes.NewReader(o.b))), o.size, nil
}

// However bytes arrive, what they say is the same; and what the network says
// went wrong is said as it is, not taken for a broken file.
func TestOddReaders(t *testing.T) {
	s := named(t, "spark_deletes")
	for name, b := range s.files {
		if !strings.HasPrefix(name, "snap-") {
			continue
		}
		want, err := lists(t.Context(), odd{b, func(r io.Reader) io.Reader { return r }, int64(len(b))})
		if err != nil {
			t.Fatal(err)
		}
		for how, wrap := range map[string]func(io.Reader) io.Reader{
			"a byte at a time": iotest.OneByteReader, "by halves": iotest.HalfReader, "with the end": iotest.DataErrReader,
		} {
			got, err := lists(t.Context(), odd{b, wrap, iceberg.None})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s %s: %v %s", name, how, err, diff)
			}
		}
		broken := errors.New("connection reset")
		for _, n := range []int{0, 3, 50, len(b) / 2, len(b) - 1} {
			wrap := func(r io.Reader) io.Reader {
				return io.MultiReader(io.LimitReader(r, int64(n)), iotest.ErrReader(broken))
			}
			if _, err := lists(t.Context(), odd{b, wrap, int64(len(b))}); !errors.Is(err, broken) || errors.Is(err, iceberg.ErrMalformed) {
				t.Errorf("%s broken off at %d: %v", name, n, err)
			}
		}
		if _, err := lists(t.Context(), odd{b, func(r io.Reader) io.Reader { return r }, int64(len(b)) + 1}); !errors.Is(err, iceberg.ErrMalformed) {
			t.Errorf("%s, a byte shorter than the store says: %v", name, err)
		}
	}
	metadata := []byte(minimal1)
	if _, err := iceberg.ReadMetadata(t.Context(), "x", odd{metadata, iotest.OneByteReader, int64(len(metadata))}); err != nil {
		t.Errorf("metadata: %v", err)
	}
	broken := errors.New("connection reset")
	wrap := func(r io.Reader) io.Reader { return io.MultiReader(io.LimitReader(r, 9), iotest.ErrReader(broken)) }
	if _, err := iceberg.ReadMetadata(t.Context(), "x", odd{metadata, wrap, iceberg.None}); !errors.Is(err, broken) {
		t.Errorf("metadata broken off: %v", err)
	}
	if _, err := iceberg.ReadMetadata(t.Context(), "x", odd{metadata, iotest.HalfReader, 10_000}); !errors.Is(err, iceberg.ErrMalformed) {
		t.Errorf("metadata shorter than the store says: %v", err)
	}
}

// lists reads a manifest list whole.
func lists(ctx context.Context, open iceberg.Opener) ([]*iceberg.Manifest, error) {
	var list []*iceberg.Manifest
	for m, err := range iceberg.ReadManifestList(ctx, "x", open, iceberg.Options{Want: iceberg.WantAll}) {
		if err != nil {
			return nil, err
		}
		list = append(list, m.Clone())
	}
	return list, nil
}

// A table that was read is only read from then on: many may ask it at once.
func TestManyReaders(t *testing.T) {
	s := named(t, "trino_evolved")
	table := s.table(t)
	want := keys(live(t, table, table.Snapshots[3].ID, s.files))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var list []*iceberg.Entry
			for e, err := range table.Files(t.Context(), table.Snapshots[3].ID, s.files, iceberg.Options{}) {
				if err != nil {
					t.Error(err)
					return
				}
				list = append(list, e.Clone())
			}
			if diff := cmp.Diff(want, keys(list)); diff != "" {
				t.Error(diff)
			}
			if _, err := table.Diff(t.Context(), table.Snapshots[0].ID, table.Snapshots[3].ID, s.files, iceberg.Options{}); err != nil {
				t.Error(err)
			}
			if _, err := table.NameMapping(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// The limits of a caller hold, whichever is met first.
func TestCallersLimits(t *testing.T) {
	s := named(t, "spark_evolved")
	table := s.table(t)
	for name, opts := range map[string]iceberg.Options{
		"header":    {Avro: avro.Limits{Header: 100}},
		"schema":    {Avro: avro.Limits{Schema: 100}},
		"block":     {Avro: avro.Limits{Block: 10}},
		"manifests": {MaxManifests: 1},
	} {
		var last error
		for _, err := range table.Files(t.Context(), table.CurrentSnapshotID, s.files, opts) {
			last = err
		}
		if !errors.Is(last, iceberg.ErrLimit) {
			t.Errorf("%s: %v", name, last)
		}
	}
}

// Where a file may be split is a hint that some writers get wrong: it goes, the
// file stays.
func TestOddSplits(t *testing.T) {
	schema := minimalEntry(minimalFile(field(132, "split_offsets", opt(`{"type":"array","items":"long"}`))))
	for name, tt := range map[string]struct {
		offsets []int64
		want    int
	}{
		"in order":       {[]int64{4, 50, 99}, 3},
		"before":         {[]int64{-4, 50}, 0},
		"not ascending":  {[]int64{4, 50, 50}, 0},
		"behind the end": {[]int64{4, 100}, 0},
	} {
		var value strings.Builder
		value.WriteString(long(1) + text("p") + text("PARQUET") + long(1) + long(100) + some(long(int64(len(tt.offsets)))))
		for _, o := range tt.offsets {
			value.WriteString(long(o))
		}
		got, err := read(t, container(schema, nil, value.String()+long(0)), listed(), nil)
		if err != nil || len(got) != 1 || len(got[0].SplitOffsets) != tt.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A run of items that states a size which it does not have could be read as two
// different files, by who wants the items and by who does not.
func TestRunsOfAnotherSize(t *testing.T) {
	counts := field(109, "value_counts", opt(`{"type":"array","items":`+rec("k", field(0, "key", tInt), field(0, "value", tLong))+`}`))
	schema := minimalEntry(`{"type":"record","name":"d","fields":[` + strings.Join([]string{
		counts, field(100, "file_path", tText), field(101, "file_format", tText), field(103, "record_count", tLong), field(104, "file_size_in_bytes", tLong),
	}, ",") + `]}`)
	rest := text("A") + text("PARQUET") + long(2) + long(2)
	for size, want := range map[int64]error{1: iceberg.ErrMalformed, 2: nil, 3: iceberg.ErrMalformed, 10: iceberg.ErrMalformed} {
		b := container(schema, nil, long(1)+some(long(-1)+long(size)+long(1)+long(7)+long(0))+rest)
		for _, wanted := range []iceberg.Want{0, iceberg.WantAll} {
			if err := readAll(t.Context(), b, false, wanted); !errors.Is(err, want) {
				t.Errorf("%d bytes, want %b: %v", size, wanted, err)
			}
		}
	}
}

// What a comparison holds is bounded in bytes, too: paths may be long.
func TestDiffIsBoundedInBytes(t *testing.T) {
	h := newHistory(1)
	long := strings.Repeat("x", 1<<20)
	id := h.commit(iceberg.None, func(id int64, _ []*made) []*made {
		entries := make([]told, 0, 8)
		for i := range 8 {
			entries = append(entries, told{iceberg.Added, id, iceberg.None, fmt.Sprint(i, long)})
		}
		return []*made{h.manifest(id, entries)}
	})
	table := h.table(t, nil)
	for most, want := range map[int64]error{0: nil, 9 << 20: nil, 7 << 20: iceberg.ErrLimit} {
		d, err := table.Diff(t.Context(), iceberg.None, id, h.files, iceberg.Options{MaxChangeBytes: most})
		if !errors.Is(err, want) || err == nil && len(d.Added) != 8 {
			t.Errorf("at most %d bytes: %v", most, err)
		}
	}
}

// Times of partitions are microseconds here, whatever they are written as.
func TestPartitionTimes(t *testing.T) {
	for logical, want := range map[string]int64{
		"timestamp-millis": 5000, "local-timestamp-millis": 5000, "time-millis": 5000, "timestamp-micros": 5, "local-timestamp-micros": 5,
	} {
		schema := minimalEntry(minimalFile(field(102, "partition", rec("r", field(1000, "p", `{"type":"long","logicalType":"`+logical+`"}`)))))
		got, err := read(t, container(schema, nil, long(1)+text("p")+text("PARQUET")+long(1)+long(1)+long(5)), listed(), nil)
		if err != nil || len(got) != 1 || got[0].Partition[0].Value.Int() != want {
			t.Errorf("%s: %+v, %v; want %d", logical, got, err, want)
		}
	}
}
