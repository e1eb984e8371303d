package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
)

// The drill of docs/removal.md. Laketap holds nothing that anybody needs: with
// engines at work the URI goes back to the catalog's own. New processes work at
// once; those that run go on while Laketap is there; those that were pointed
// back do not notice when it goes.
func TestRemoval(t *testing.T) {
	l := lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	d := drill{}
	running := map[string]*engines.Engine{}
	for _, name := range engines.All() {
		running[name] = engines.Start(t, name, server.Catalog)
	}
	stays := engines.Start(t, engines.PyIceberg, server.Catalog)
	ask(t, stays, `catalog.create_namespace("r")
  catalog.create_table("r.t", schema=pa.schema([("id", pa.int64())]))`)
	for _, name := range engines.All() {
		d.writeAndRead(t, running[name], "lk")
	}
	ask(t, stays, `held = table("r.t")`)

	// The old URI in new processes, beside engines that run through Laketap: one
	// lake, in which each sees what the others write.
	through := quiet(t, server)
	for _, name := range []string{engines.DuckDB, engines.PyIceberg} {
		d.writeAndRead(t, engines.Start(t, name, l.Catalog), "lk")
	}
	if now := quiet(t, server); now != through {
		t.Errorf("%d accesses by engines that have the catalog's own URI", now-through)
	}
	for _, name := range engines.All() {
		d.writeAndRead(t, running[name], "lk")
	}

	// The old URI in processes that run, and then Laketap goes.
	through = quiet(t, server)
	for _, name := range engines.All() {
		pointBack(t, running[name], l.Catalog)
		d.writeAndRead(t, running[name], "back")
	}
	if now := quiet(t, server); now != through {
		t.Errorf("%d accesses by engines that were pointed back", now-through)
	}
	accesses := server.Accesses(t)
	server.Process.Close()
	for _, name := range engines.All() {
		d.writeAndRead(t, running[name], "back")
	}
	if answer := stays.Do(engines.Step{Run: `answer = held.scan().to_arrow()`}); answer.Error == "" {
		t.Errorf("an engine that was not pointed back reads %s, and Laketap is gone", answer.Rows)
	}
	for _, name := range []string{engines.DuckDB, engines.PyIceberg} {
		d.writeAndRead(t, engines.Start(t, name, l.Catalog), "lk")
	}
	checkLeavesNothing(t, l, server, accesses)
}

// A drill counts the rows of the table r.t, which are the numbers from 1 on.
type drill struct{ rows int }

// writeAndRead has an engine add a row and read all of them, by what it calls
// the catalog.
func (d *drill) writeAndRead(t *testing.T, engine *engines.Engine, catalog string) {
	t.Helper()
	d.rows++
	write, read := fmt.Sprintf("insert into %s.r.t values (%d)", catalog, d.rows), fmt.Sprintf("select id from %s.r.t order by id", catalog)
	if engine.Name == engines.PyIceberg {
		if catalog == "lk" {
			catalog = "catalog"
		}
		write = fmt.Sprintf(`%s.load_table("r.t").append(pa.table({"id": [%d]}))`, catalog, d.rows)
		read = fmt.Sprintf(`answer = %s.load_table("r.t").scan().to_arrow().sort_by("id")`, catalog)
	}
	ask(t, engine, write)
	want, got := make([]string, d.rows), make([]string, 0, d.rows)
	for i := range want {
		want[i] = fmt.Sprintf("[%d]", i+1)
	}
	for _, row := range ask(t, engine, read).Rows {
		got = append(got, string(row))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s reads from %s (-want +got):\n%s", engine.Name, catalog, diff)
	}
}

// pointBack points a running engine back to the catalog's own URI, as the page
// says, and calls it "back".
func pointBack(t *testing.T, engine *engines.Engine, uri string) {
	t.Helper()
	switch engine.Name {
	case engines.PyIceberg:
		ask(t, engine, fmt.Sprintf("from pyiceberg.catalog import load_catalog\n  back = load_catalog('back', type='rest', uri='%s')", uri))
	case engines.Spark:
		for key, setting := range map[string]string{"": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": uri, ".cache-enabled": "false"} {
			ask(t, engine, fmt.Sprintf("set `spark.sql.catalog.back%s`=%s", key, setting))
		}
	case engines.DuckDB:
		ask(t, engine, "detach lk")
		for _, row := range ask(t, engine, `select name from duckdb_secrets() where starts_with(name, '__internal_ic_')`).Rows {
			var secret [1]string
			if err := json.Unmarshal(row, &secret); err != nil {
				t.Fatal(err)
			}
			ask(t, engine, `drop temporary secret "`+strings.ReplaceAll(secret[0], `"`, `""`)+`"`)
		}
		ask(t, engine, fmt.Sprintf("attach '' as back (TYPE iceberg, ENDPOINT '%s', AUTHORIZATION_TYPE 'none')", uri))
	}
}

// ask has an engine do a step that must succeed.
func ask(t *testing.T, engine *engines.Engine, text string) engines.Answer {
	t.Helper()
	answer := engine.Do(engines.Step{Run: text})
	if answer.Error != "" {
		t.Fatalf("%s: %.1000s\n%s", engine.Name, answer.Error, text)
	}
	return answer
}

// quiet returns the number of the newest access once none has come for a
// while: an access is recorded after its answer, which the engine has by then.
func quiet(t *testing.T, s *laketap.Server) uint64 {
	t.Helper()
	newest, same := uint64(0), 0
	s.Process.Eventually(t, time.Minute, func() error {
		all := s.Accesses(t)
		if last := all[len(all)-1].Seq; last != newest {
			newest, same = last, 0
		}
		if same++; same < 5 {
			return errors.New("accesses go on")
		}
		return nil
	})
	return newest
}
