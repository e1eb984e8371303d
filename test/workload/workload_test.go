package workload_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/workload"
)

func TestParse(t *testing.T) {
	text := `# A comment.
spark: create table t (id bigint)

pyiceberg fails: a = 1
  b = a

read but duckdb: n.t
  columns id, kind
# A comment between.
  where id = 1
  order id
  snapshot {snapshot n.t 2}
`
	got, err := workload.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []workload.Paragraph{
		{Line: 2, Engines: []string{"spark"}, Text: "create table t (id bigint)"},
		{Line: 4, Engines: []string{"pyiceberg"}, Fails: true, Text: "a = 1\n  b = a"},
		{
			Line: 7, Engines: []string{"spark", "pyiceberg"}, Read: true,
			Text: "n.t\n  columns id, kind\n  where id = 1\n  order id\n  snapshot {snapshot n.t 2}",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paragraphs (-want +got):\n%s", diff)
	}
	step, err := got[2].Step(func(table string, n int) (int64, error) {
		if table != "n.t" || n != 2 {
			t.Errorf("asked for snapshot %d of %s", n, table)
		}
		return 7766, nil
	})
	wantRead := &engines.Read{Table: "n.t", Columns: "id, kind", Where: "id = 1", Order: "id", Snapshot: 7766}
	if diff := cmp.Diff(engines.Step{Read: wantRead}, step); diff != "" || err != nil {
		t.Errorf("step (-want +got), %v:\n%s", err, diff)
	}
}

// A text may be for other engines than the three.
func TestParseFor(t *testing.T) {
	got, err := workload.ParseFor("polars: a\n\nread but daft: n.t\n", []string{"polars", "daft"})
	want := []workload.Paragraph{
		{Line: 1, Engines: []string{"polars"}, Text: "a"},
		{Line: 3, Engines: []string{"polars"}, Read: true, Text: "n.t"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("paragraphs (-want +got), %v:\n%s", err, diff)
	}
	if _, err := workload.ParseFor("spark: a", []string{"polars"}); err == nil {
		t.Error("an engine is known that was not named")
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"oracle: select 1":       "oracle",
		"no one says this":       "WHO",
		"spark maybe: select 1":  "maybe",
		"\n\nread but: t":        "line 3",
		": select 1":             "WHO",
		"spark: a\n\nflink: b\n": "line 3",
	} {
		if _, err := workload.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want an error that names %q", text, err, want)
		}
	}
}

func TestStepRefuses(t *testing.T) {
	missing := errors.New("no such table")
	none := func(string, int) (int64, error) { return 0, missing }
	for text, want := range map[string]string{
		"read: t\n  order":              "",
		"read: t\n  limit 3":            "limit",
		"spark: {snapshot t one}":       "one",
		"spark: select {snapshot t 1}":  missing.Error(),
		"read: t\n  snapshot yesterday": "yesterday",
	} {
		paragraphs, err := workload.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = paragraphs[0].Step(none)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Step of %q = %v, want an error that names %q", text, err, want)
		}
	}
}
