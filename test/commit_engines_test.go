package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/fault"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
)

// A committer is an engine that writes through Laketap to a catalog that fails,
// and somebody who looks at what has become of the table, past both.
type committer struct {
	*testing.T
	faulty *fault.Catalog
	engine *engines.Engine
	look   *engines.Engine
	// Texts of the engine; %s is a table of one column, id, %d a row to add.
	create, add string
}

// newCommitter starts the engine on a lake of its own.
func newCommitter(t *testing.T, name, create, add string) *committer {
	t.Helper()
	l := lake.Start(t)
	c := &committer{T: t, faulty: fault.InFrontOf(t, l.Catalog), create: create, add: add}
	config := laketap.InFrontOf(t, l)
	config.Catalogs[0].URL = c.faulty.URI
	config.Mode = "accelerate"
	server := laketap.Start(t, config)
	c.look = engines.Start(t, engines.PyIceberg, l.Catalog)
	c.must(c.look, `catalog.create_namespace("f")`)
	c.engine = engines.Start(t, name, server.Catalog)
	return c
}

// must has an engine do what cannot fail.
func (c *committer) must(e *engines.Engine, text string) {
	c.Helper()
	if answer := e.Do(engines.Step{Run: text}); answer.Error != "" {
		c.Fatalf("%s: %s", text, answer.Error)
	}
}

// rows reads every snapshot of a table, all files of each, and returns what the
// newest one has, in order. A file that is gone fails the test: a commit names it.
func (c *committer) rows(table string) (ids []int) {
	c.Helper()
	answer := c.look.Do(engines.Step{Run: fmt.Sprintf(`t = table(%q)
  for s in t.snapshots():
    t.scan(snapshot_id=s.snapshot_id).to_arrow()
  answer = t.scan().to_arrow().sort_by("id")`, table)})
	if answer.Error != "" {
		c.Errorf("%s cannot be read whole: %s", table, answer.Error)
	}
	for _, row := range answer.Rows {
		var id []int
		if err := json.Unmarshal(row, &id); err != nil || len(id) != 1 {
			c.Fatalf("%s has the row %s: %v", table, row, err)
		}
		ids = append(ids, id[0])
	}
	return ids
}

// commits breaks one commit in each way. What a commit names is there, whether
// its engine was told that it succeeded, that it failed, or neither; it was sent
// on as often as the engine sent it; and what the engine was told is true.
func (c *committer) commits() {
	c.must(c.engine, fmt.Sprintf(c.create, "f.t"))
	var want []int
	for n, kind := range fault.Kinds() {
		c.faulty.Arm(kind, "/tables/t")
		answer := c.engine.Do(engines.Step{Run: fmt.Sprintf(c.add, "f.t", n)})
		if c.faulty.Failed() != 1 {
			c.Errorf("%s: %d commits failed", kind.Name, c.faulty.Failed())
		}
		told := "success"
		if answer.Error != "" {
			told = answer.Error
		}
		if kind.Retry && answer.Error != "" && c.engine.Name == engines.Spark {
			c.Errorf("%s: the engine does not try again: %s", kind.Name, told)
		}
		if kind.Applied || answer.Error == "" {
			want = append(want, n)
		}
		slices.Sort(want)
		if got := c.rows("f.t"); !slices.Equal(got, want) {
			c.Errorf("%s: the table has the rows %d, want %d; the engine was told %.300s", kind.Name, got, want, told)
			want = got
		}
		// Whatever happened, the next commit goes well.
		c.must(c.engine, fmt.Sprintf(c.add, "f.t", 100+n))
		want = append(want, 100+n)
		c.Logf("%s: told %.100s", kind.Name, strings.ReplaceAll(told, "\n", " "))
	}
}

// creates breaks the creation of a table in each way. Afterwards there is a
// table, or one can be made.
func (c *committer) creates() {
	for n, kind := range fault.Kinds() {
		table := fmt.Sprintf("f.new%d", n)
		c.faulty.Arm(kind, "/tables")
		answer := c.engine.Do(engines.Step{Run: fmt.Sprintf(c.create, table)})
		if c.faulty.Failed() != 1 {
			c.Errorf("%s: %d creations failed", kind.Name, c.faulty.Failed())
		}
		if there := c.look.Do(engines.Step{Run: fmt.Sprintf("table(%q)", table)}).Error == ""; there != (kind.Applied || answer.Error == "") {
			c.Errorf("%s: the table is there: %v; the engine was told %q", kind.Name, there, answer.Error)
		} else if !there {
			c.must(c.engine, fmt.Sprintf(c.create, table))
		}
		c.must(c.engine, fmt.Sprintf(c.add, table, n))
		if got := c.rows(table); !slices.Equal(got, []int{n}) {
			c.Errorf("%s: the table has the rows %d, want %d", kind.Name, got, n)
		}
	}
}

// N9 with Python's client: PyIceberg's commits and creations under every failure.
func TestFailedCommitsOfPyIceberg(t *testing.T) {
	c := newCommitter(t, engines.PyIceberg, `catalog.create_table(%q, schema=pa.schema([("id", pa.int64())]))`, `table(%q).append(pa.table({"id": pa.array([%d], pa.int64())}))`)
	c.commits()
	c.creates()
}
