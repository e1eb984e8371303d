package workload

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
)

// An Entry is what one engine answered to one paragraph.
type Entry struct {
	Line    int
	Engine  string
	Columns []string
	Rows    []string // JSON, as the engine's script spells them
	Failed  bool     // as the text said it must
}

// Run has the engines do the text and returns what they answered. Engines that
// read the same must answer the same; anything unexpected fails the test.
func Run(t testing.TB, text []Paragraph, on map[string]*engines.Engine, snapshot func(table string, n int) (int64, error)) []Entry {
	t.Helper()
	var all []Entry
	for _, p := range text {
		step, err := p.Step(snapshot)
		if err != nil {
			t.Fatalf("line %d: %v", p.Line, err)
		}
		first := len(all)
		for _, name := range p.Engines {
			engine := on[name]
			if engine == nil {
				continue
			}
			entry, err := do(engine, p, step)
			if err != nil {
				t.Errorf("line %d: %s: %v\n%s", p.Line, name, err, p.Text)
				continue
			}
			all = append(all, entry)
		}
		for _, entry := range all[first:] {
			if diff := cmp.Diff(all[first].Rows, entry.Rows); diff != "" && p.Read {
				t.Errorf("line %d: %s and %s read differently (-%[2]s +%[3]s):\n%s",
					p.Line, all[first].Engine, entry.Engine, diff)
			}
		}
	}
	return all
}

func do(engine *engines.Engine, p Paragraph, step engines.Step) (Entry, error) {
	answer := engine.Do(step)
	entry := Entry{Line: p.Line, Engine: engine.Name, Columns: answer.Columns, Failed: answer.Error != ""}
	switch {
	case entry.Failed && !p.Fails:
		return entry, fmt.Errorf("%.600s", answer.Error)
	case !entry.Failed && p.Fails:
		return entry, errors.New("passes, and must fail")
	case p.Read && len(answer.Rows) == 0:
		return entry, errors.New("reads no rows, which proves nothing")
	}
	for _, row := range answer.Rows {
		entry.Rows = append(entry.Rows, string(row))
	}
	return entry, nil
}
