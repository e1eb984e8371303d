package e2e_test

import (
	"testing"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
)

// What one engine has read, the next one gets, also over a restart: the store is
// asked for nothing but the right to it, once for each session and location.
func TestSecondEngineAsksForTheRightAlone(t *testing.T) {
	l := lake.Start(t)
	writer := engines.Start(t, engines.DuckDB, l.Catalog)
	for _, sql := range []string{
		"create schema lk.s",
		"create table lk.s.orders as select i id, 'item ' || i as name, i * 0.25 price, date '2026-01-01' + (i % 28)::int seen from range(30000) t(i)",
		"create table lk.s.lines as select i id, i % 1000 as order_id, md5(i::varchar) code from range(30000) t(i)",
	} {
		if got := writer.Do(engines.Step{Run: sql}); got.Error != "" {
			t.Fatal(got.Error)
		}
	}
	writer.Close()
	config := laketap.InFrontOf(t, l)
	config.Mode = "accelerate"
	server := laketap.Start(t, config)
	first := readsAll(t, l, server, engines.DuckDB)
	second := readsAll(t, l, server, engines.PyIceberg)
	server.Process.Close()
	server.Restart(t)
	third := readsAll(t, l, server, engines.DuckDB)

	const proofs = 2 * 2 // tables, and locations of each: that of its files and that of its metadata
	if first.requests == 0 || second.requests > proofs || third.requests > proofs {
		t.Errorf("requests at the store: %d, then %d, then %d after a restart; want some, and then no more than %d", first.requests, second.requests, third.requests, proofs)
	}
	if both := first.bytes + second.bytes; float64(both) > 1.05*float64(first.bytes) {
		t.Errorf("the store sent %d bytes for two engines, %d for one", both, first.bytes)
	}
}

// A cost is what the store was asked for.
type cost struct {
	requests int
	bytes    int64
}

// readsAll has an engine that was just started read the tables, and returns what
// it took of the store.
func readsAll(t *testing.T, l *lake.Lake, server *laketap.Server, name string) (of cost) {
	t.Helper()
	before := len(l.Requests(t))
	engine := engines.Start(t, name, server.Catalog)
	defer engine.Close()
	for _, table := range []string{"s.orders", "s.lines"} {
		if got := engine.Do(engines.Step{Read: &engines.Read{Table: table, Order: "id"}}); got.Error != "" || len(got.Rows) != 30000 {
			t.Fatalf("%s: %d rows, %s", name, len(got.Rows), got.Error)
		}
	}
	for _, r := range l.Requests(t)[before:] {
		if r.Kind == "s3" {
			of.requests, of.bytes = of.requests+1, of.bytes+r.Bytes
		}
	}
	t.Logf("%s took of the store: %d requests, %d bytes", name, of.requests, of.bytes)
	return of
}
