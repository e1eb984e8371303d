package decide_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/decide"
)

var rewrite = flag.Bool("rewrite", false, "write what is decided into testdata")

// now is the time of every text.
var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// What is decided on a memory, as text: the memory, a line of hyphens, and the
// decisions. The lines of a memory are described where they are read.
func TestTexts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no texts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			memory, want, _ := strings.Cut(string(text), "----------\n")
			m := &memoryText{T: t, tables: map[string]laketap.TableID{}, fields: map[string]int{}}
			for line := range strings.Lines(memory) {
				m.line(strings.TrimSpace(line))
			}
			got := spell(decide.Decide(&m.view, now, m.settings))
			if *rewrite {
				if err := os.WriteFile(file, []byte(memory+"----------\n"+got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
		})
	}
}

// spell writes decisions, two lines each.
func spell(all []laketap.Decision) string {
	var b strings.Builder
	for i := range all {
		d := &all[i]
		fmt.Fprintf(&b, "%s %s", d.Policy, d.Target.Name)
		if d.Target.Snapshot != 0 {
			fmt.Fprintf(&b, " snapshot %d", d.Target.Snapshot)
		}
		fmt.Fprintf(&b, " columns %v", d.Target.Columns)
		if d.Target.Partitions != nil {
			fmt.Fprintf(&b, " partitions %v", d.Target.Partitions)
		}
		if d.Advice {
			b.WriteString(" as advice")
		}
		fmt.Fprintf(&b, " for %s, gain %.0f requests %d KiB, control %.2f\n  %s\n", d.Until.Sub(d.Made), d.Gain.Requests, d.Gain.Bytes>>10, d.Control, d.Reason)
	}
	return b.String()
}

// A memoryText is a memory as its lines tell it.
type memoryText struct {
	*testing.T
	view     decide.View
	settings decide.Settings
	tables   map[string]laketap.TableID
	fields   map[string]int // by "table.column"
}

// line reads one line:
//
//	table NAME COLUMN…                    a column in parentheses was dropped
//	opens NAME ENGINE FILES KIB           that an engine opened, and read of them
//	reads NAME ENGINE COLUMN FILES KIB    in which it read a column, and of it
//	partition NAME ENGINE VALUE FILES
//	commit NAME SNAPSHOT AGO FILES KIB [PARTITION]
//	came POLICY NAME COLUMN USED WASTED AGO
//	stands POLICY NAME COLUMN…            made an hour ago
//	undone POLICY NAME
//	mode PATTERN POLICY MODE
//	cache KIB
func (m *memoryText) line(line string) {
	m.Helper()
	w := strings.Fields(line)
	if len(w) == 0 || strings.HasPrefix(line, "#") {
		return
	}
	switch w[0] {
	case "table":
		m.table(w[1], w[2:])
	case "opens":
		m.habit(laketap.Habit{Table: m.tables[w[1]], Kind: laketap.TableHabit, Engine: engine(w[2]), Bytes: m.kib(w[4])}, w[3])
	case "reads":
		m.habit(laketap.Habit{Table: m.tables[w[1]], Kind: laketap.ColumnHabit, Engine: engine(w[2]), Field: m.fields[w[1]+"."+w[3]], Bytes: m.kib(w[5])}, w[4])
	case "partition":
		m.habit(laketap.Habit{Table: m.tables[w[1]], Kind: laketap.PartitionHabit, Engine: engine(w[2]), Value: w[3]}, w[4])
	case "commit":
		m.commit(w[1:])
	case "came":
		m.view.Came = append(m.view.Came, decide.Came{
			Policy: laketap.Policy(w[1]), Table: m.tables[w[2]], Field: m.fields[w[2]+"."+w[3]], Used: m.number(w[4]), Wasted: m.number(w[5]), Last: now.Add(-m.ago(w[6])),
		})
	case "stands", "undone":
		m.decision(w)
	case "mode":
		rule := decide.Rule{Tables: w[1], Mode: decide.Mode(w[3])}
		if w[2] != "all" {
			rule.Policies = []laketap.Policy{laketap.Policy(w[2])}
		}
		m.settings.Rules = append(m.settings.Rules, rule)
	case "cache":
		m.settings.Cache = m.kib(w[1])
	default:
		m.Fatalf("line %q", line)
	}
}

func (m *memoryText) table(name string, columns []string) {
	id := laketap.TableID{Catalog: "lake", UUID: "uuid of " + name}
	m.tables[name] = id
	facts := laketap.TableFacts{ID: id, Name: name}
	for i, c := range columns {
		plain := strings.Trim(c, "()")
		facts.Columns = append(facts.Columns, laketap.Column{Field: i + 1, Name: plain, Dropped: plain != c})
		m.fields[name+"."+plain] = i + 1
	}
	m.view.Tables = append(m.view.Tables, facts)
}

func (m *memoryText) habit(h laketap.Habit, uses string) {
	h.Uses, h.First, h.Last = laketap.Heat{Value: float64(m.number(uses)), Time: now}, now.Add(-48*time.Hour), now
	m.view.Habits = append(m.view.Habits, h)
}

func (m *memoryText) commit(w []string) {
	c := laketap.Change{At: now.Add(-m.ago(w[2])), Table: m.tables[w[0]], To: m.number(w[1]), Operation: "append"}
	for i := range m.number(w[3]) {
		f := laketap.File{Content: laketap.DataContent, Format: "parquet"}
		f.Object.Key, f.Object.Size = fmt.Sprintf("%s/%s/%d", w[0], w[1], i), m.kib(w[4])
		if len(w) > 5 {
			f.Partition = w[5]
		}
		c.Added = append(c.Added, f)
	}
	m.view.Changes = append(m.view.Changes, c)
}

func (m *memoryText) decision(w []string) {
	d := laketap.Decision{ID: "old", Policy: laketap.Policy(w[1]), Made: now.Add(-time.Hour), Until: now.Add(time.Hour)}
	d.Target.Table, d.Target.Name = m.tables[w[2]], w[2]
	for _, c := range w[3:] {
		d.Target.Fields = append(d.Target.Fields, m.fields[w[2]+"."+c])
	}
	if w[0] == "undone" {
		d.Undone = now.Add(-time.Minute)
	}
	m.view.Decisions = append(m.view.Decisions, d)
}

func engine(kind string) laketap.Engine { return laketap.Engine{Name: kind, Version: "1"} }

func (m *memoryText) number(word string) int64 {
	m.Helper()
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		m.Fatal(err)
	}
	return n
}

func (m *memoryText) kib(word string) int64 { return m.number(word) << 10 }

func (m *memoryText) ago(word string) time.Duration {
	m.Helper()
	d, err := time.ParseDuration(word)
	if err != nil {
		m.Fatal(err)
	}
	return d
}
