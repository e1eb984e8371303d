package demo

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// one is an answer of one row and one column.
func one(text string, seconds float64) answer {
	return answer{rows: [][]*string{{&text}}, seconds: seconds}
}

// Every way in which an engine can fail to agree is marked and counted, and
// says why; no one of them hides another.
func TestCompare(t *testing.T) {
	questions := []question{
		{ID: "q1", Title: "First", Columns: []column{{"n", "int"}}},
		{ID: "q2", Title: "Second", Columns: []column{{"n", "int"}}},
	}
	all := func(a, b answer) map[string]answer { return map[string]answer{"q1": a, "q2": b} }
	reference := voice{name: "files", answers: all(one("1", 0.5), one("2", 0.25))}
	for _, tt := range []struct {
		name  string
		voice voice
		want  []string // what is told of it
		err   string
	}{
		{"agrees", voice{answers: all(one("1", 1), one("2.0", 12))}, []string{
			"  First        1  0.50 s  ✓ 1.00 s", "  Second       1  0.25 s  ✓ 12.0 s", "  2 of 2 equal:",
		}, ""},
		{"differs", voice{answers: all(one("1", 1), one("3", 12))}, []string{
			"  Second       1  0.25 s  ✗ 12.0 s", "  ✗ engine, Second: row 1, n: 3, not 2", "  1 of 2 equal:",
		}, "1 of 2 are not"},
		{"cannot answer one", voice{answers: all(one("1", 1), answer{failure: "unsupported"})}, []string{
			"  Second       1  0.25 s  ✗ failed", "  ✗ engine, Second: unsupported", "  1 of 2 equal:",
		}, "1 of 2 are not"},
		{"falls silent", voice{answers: map[string]answer{"q1": one("1", 1)}, failure: errors.New("exit status 1")}, []string{
			"  Second       1  0.25 s  ✗ –", "  ✗ engine, Second: exit status 1", "  1 of 2 equal:",
		}, "1 of 2 are not"},
		{"leaves one out", voice{answers: map[string]answer{"q2": one("2", 1)}}, []string{
			"  First        1  0.50 s  ✗ –", "  ✗ engine, First: no answer", "  1 of 2 equal:",
		}, "1 of 2 are not"},
		{"says nothing", voice{failure: errors.New("it said nothing")}, []string{"  0 of 2 equal:"}, "2 of 2 are not"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			tt.voice.name = "engine"
			d := &Demo{screen: &screen{out: &out}, questions: questions}
			err := d.compare([]voice{reference, tt.voice})
			if (err == nil) != (tt.err == "") || err != nil && (!errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("got %v, want %q", err, tt.err)
			}
			lines := strings.Split(out.String(), "\n")
			for _, want := range tt.want {
				if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, want) }) {
					t.Errorf("no line %q in:\n%s", want, out.String())
				}
			}
		})
	}
}

// Where the files themselves could not be asked, nobody is said to agree.
func TestMarkWithoutAReference(t *testing.T) {
	q := question{ID: "q1", Columns: []column{{"n", "int"}}}
	v := voice{answers: map[string]answer{"q1": one("1", 1)}}
	cell, why := v.mark(q, answer{failure: "no such file"})
	if cell != "✗ ?" || why != "the generated files could not be asked: no such file" {
		t.Errorf("got %q, %q", cell, why)
	}
	if n := v.spoken(); n != 1 {
		t.Errorf("spoken %d, want 1", n)
	}
}

// Which engines take part: the two that the demo needs, those that are named,
// and with all what is installed.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name      string
		installed []string
		engines   []string
		want      string
		left      int
		err       string
	}{
		{"none named", []string{"jars/spark"}, nil, "duckdb pyiceberg", 0, ""},
		{"the two by name", nil, []string{"duckdb", "pyiceberg"}, "duckdb pyiceberg", 0, ""},
		{"one more", []string{"jars/spark"}, []string{"spark"}, "duckdb pyiceberg spark", 0, ""},
		{"in another spelling", []string{"jars/spark"}, []string{" Spark", ""}, "duckdb pyiceberg spark", 0, ""},
		{"all of two", nil, []string{"all"}, "duckdb pyiceberg", 2, ""},
		{"all of four", []string{"jars/spark", "trino/lib"}, []string{"all"}, "duckdb pyiceberg spark trino", 0, ""},
		{"all, and one by name that is missing", nil, []string{"all", "trino"}, "", 0, "trino is not installed: no "},
		{"unknown", nil, []string{"presto"}, "", 0, `there is no engine "presto" in the demo: one or more of duckdb, pyiceberg, spark, trino, or all`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, part := range append([]string{"venv/bin/python", "venv/bin/tpchgen-cli"}, tt.installed...) {
				if err := os.MkdirAll(filepath.Join(dir, part), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			d := &Demo{EnginesDir: dir, Engines: tt.engines}
			chosen, left, err := d.choose()
			if (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			names := make([]string, 0, len(chosen))
			for _, e := range chosen {
				names = append(names, e.name)
			}
			if got := strings.Join(names, " "); got != tt.want || len(left) != tt.left {
				t.Errorf("got %q, left out %q; want %q and %d", got, left, tt.want, tt.left)
			}
		})
	}
}

// What the scripts of Spark and Trino are started with: where their programs
// are, below the engines' folder, and a place of the demo's to write.
func TestEngineArguments(t *testing.T) {
	d := &Demo{Dir: "/demo", EnginesDir: "/engines"}
	got := map[string][]string{}
	for _, e := range known() {
		got[e.name] = e.args(d)
	}
	want := map[string][]string{
		"duckdb": nil, "pyiceberg": nil, "spark": {"/engines/jars/spark"}, "trino": {"/engines/trino", "/demo/trino"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Data of one scale is not taken for that of another.
func TestDataOfAScale(t *testing.T) {
	for scale, want := range map[float64]string{0.1: "tpch-0.1", 1: "tpch-1", 0.001: "tpch-0.001", 100: "tpch-100"} {
		if got := (&Demo{Dir: "/d", Scale: scale}).data(); got != "/d/"+want {
			t.Errorf("scale %v: got %s, want /d/%s", scale, got, want)
		}
	}
}

// The next steps are commands to copy, with the program as it was called.
func TestNext(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := &Demo{Dir: filepath.Join(wd, "laketap-data", "demo"), Program: "bin/laketap", screen: &screen{out: &out}}
	d.next()
	for _, want := range []string{"`bin/laketap serve --lake laketap-data/demo/lake`", "`bin/laketap connect duckdb`", "`bin/laketap doctor`"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in:\n%s", want, out.String())
		}
	}
	if got := shorten("/elsewhere/lake"); got != "/elsewhere/lake" {
		t.Errorf("got %s, want the path as it is", got)
	}
}

// The end of a log is shown, not all of it.
func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 3*tailBytes)+"\nthe reason\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := tail(path)
	if !strings.HasSuffix(got, "x\nthe reason") || len(got) > tailBytes {
		t.Errorf("got %d bytes, ending in %q", len(got), got[max(0, len(got)-20):])
	}
	if got := tail(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("of no log: got %q", got)
	}
	if got, want := indent("a\nb"), "    a\n    b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
