package iceberg_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
)

// seen is an entry as Spark's metadata tables show it.
type seen struct {
	Status      int               `json:"status"`
	Snapshot    int64             `json:"snapshot_id"`
	Sequence    int64             `json:"sequence_number"`
	File        int64             `json:"file_sequence_number"`
	Content     int               `json:"content"`
	Path        string            `json:"file_path"`
	Format      string            `json:"file_format"`
	Records     int64             `json:"record_count"`
	Size        int64             `json:"file_size_in_bytes"`
	Spec        int               `json:"spec_id"`
	Splits      []int64           `json:"split_offsets"`
	FirstRow    *int64            `json:"first_row_id"`
	Referenced  string            `json:"referenced_data_file"`
	Offset      *int64            `json:"content_offset"`
	ContentSize *int64            `json:"content_size_in_bytes"`
	SortOrder   *int              `json:"sort_order_id"`
	Sizes       string            `json:"sizes"`
	Counts      string            `json:"counts"`
	Nulls       string            `json:"nulls"`
	Lower       string            `json:"lower"`
	Partition   map[string]string `json:"-"`
}

// TestEngines holds every snapshot of every sample against what the Java
// library reads from it, as Spark shows it.
func TestEngines(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			table := s.table(t)
			want := map[int64][]string{}
			for line := range bytes.Lines(s.files["engines.jsonl"]) {
				var l struct {
					Snapshot int64 `json:"snapshot"`
					Entry    seen  `json:"entry"`
				}
				if err := json.Unmarshal(line, &l); err != nil {
					t.Fatal(err)
				}
				want[l.Snapshot] = append(want[l.Snapshot], spell(t, l.Entry))
			}
			for i := range table.Snapshots {
				id := table.Snapshots[i].ID
				got := entries(t, table, id, s.files)
				slices.Sort(got)
				slices.Sort(want[id])
				if diff := cmp.Diff(want[id], got); diff != "" {
					t.Errorf("snapshot %d (-Spark +ours):\n%s", id, diff)
				}
			}
		})
	}
}

// entries spells the entries of a snapshot, deleted ones included.
func entries(t *testing.T, table *iceberg.Table, id int64, open iceberg.Opener) []string {
	t.Helper()
	var list []string
	for m, err := range table.Manifests(t.Context(), id, open, iceberg.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range iceberg.ReadManifest(t.Context(), m, nil, open, iceberg.Options{Want: iceberg.WantAll}) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, spellEntry(e))
		}
	}
	return list
}

// spell spells an entry as Spark shows it.
func spell(t *testing.T, e seen) string {
	t.Helper()
	parse := func(text string) map[string]any {
		m := map[string]any{}
		if text == "" {
			return m
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	or := func(n *int64) int64 {
		if n == nil {
			return iceberg.None
		}
		return *n
	}
	return fmt.Sprint(e.Status, e.Snapshot, e.Sequence, e.File, e.Content, e.Path, e.Format, e.Records, e.Size,
		e.Spec, e.Splits, or(e.FirstRow), e.Referenced, or(e.Offset), or(e.ContentSize),
		parse(e.Sizes), parse(e.Counts), parse(e.Nulls), parse(e.Lower))
}

// spellEntry spells an entry as we read it.
func spellEntry(e *iceberg.Entry) string {
	counts := func(list []iceberg.ColumnCount) map[string]any {
		m := map[string]any{}
		for _, c := range list {
			m[strconv.Itoa(c.Field)] = c.N
		}
		return m
	}
	lower := map[string]any{}
	for _, b := range e.LowerBounds {
		lower[strconv.Itoa(b.Field)] = strings.ToUpper(hex.EncodeToString(b.Value))
	}
	splits := e.SplitOffsets
	if len(splits) == 0 {
		splits = nil
	}
	return fmt.Sprint(e.Status, e.SnapshotID, e.SequenceNumber, e.FileSequenceNumber, e.Content, e.Path, e.Format,
		e.Records, e.Size, e.SpecID, splits, e.FirstRowID, e.ReferencedFile, e.ContentOffset, e.ContentSize,
		counts(e.ColumnSizes), counts(e.ValueCounts), counts(e.NullCounts), lower)
}
