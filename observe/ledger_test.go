package observe_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

func TestCounts(t *testing.T) {
	o := observe.New(observe.Options{})
	load := laketap.Access{
		At: start, Latency: 30 * time.Millisecond, Tap: laketap.CatalogTap, Op: "loadTable", Engine: spark, Catalog: "prod",
		Table: tableID(1), TableName: "tpch.t1", Status: 200, BytesIn: 7, BytesOut: 1000,
	}
	refused := get(spark, 1)
	refused.Status, refused.Err, refused.BytesOut, refused.Served = 403, "AccessDenied", 50, laketap.FromTap
	gone := get(spark, 1)
	gone.Status, gone.Err, gone.Latency = 0, "client left", time.Minute
	for _, a := range []laketap.Access{load, get(spark, 1), get(spark, 1), refused, gone, get(duckdb, 1)} {
		o.Access(a)
	}
	sparkUse := laketap.EngineUse{
		Engine: spark,
		Catalog: laketap.Use{
			Requests: 1, BytesIn: 7, BytesOut: 1000, Served: [4]int64{1000}, Status: [6]int64{2: 1},
			Latency: [8]int64{3: 1}, Busy: 30 * time.Millisecond, First: start, Last: start,
		},
		Storage: laketap.Use{
			Requests: 4, Errors: 2, BytesOut: 350, Served: [4]int64{300, 0, 0, 50}, Status: [6]int64{0: 1, 2: 2, 4: 1},
			Latency: [8]int64{1: 3, 7: 1}, Busy: time.Minute + 6*time.Millisecond,
			First: start.Add(time.Second), Last: start.Add(time.Second),
		},
	}
	duckUse := laketap.EngineUse{
		Engine: duckdb,
		Storage: laketap.Use{
			Requests: 1, BytesOut: 100, Served: [4]int64{100}, Status: [6]int64{2: 1}, Latency: [8]int64{1: 1},
			Busy: 2 * time.Millisecond, First: start.Add(time.Second), Last: start.Add(time.Second),
		},
	}
	both := []laketap.EngineUse{duckUse, sparkUse}
	if diff := cmp.Diff(both, o.Engines()); diff != "" {
		t.Errorf("engines (-want +got):\n%s", diff)
	}
	tables := []laketap.TableUse{{ID: tableID(1), Name: "tpch.t1", Snapshot: -1, Schema: -1, Engines: both}}
	if diff := cmp.Diff(tables, o.Tables()); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		err    string
		want   int64
	}{
		{"ok", 200, "", 0},
		{"partial", 206, "", 0},
		{"not modified", 304, "", 0},
		{"not found is an answer", 404, "", 0},
		{"not found with its reason", 404, "NoSuchKey", 0},
		{"refused", 403, "AccessDenied", 1},
		{"conflict", 409, "", 1},
		{"throttled", 503, "", 1},
		{"broken off in the body", 200, "client left", 1},
		{"left before a status", 0, "", 1},
		{"no status at all", -7, "odd", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := observe.New(observe.Options{})
			a := get(spark, 1)
			a.Status, a.Err = c.status, c.err
			o.Access(a)
			if got := o.Engines()[0].Storage.Errors; got != c.want {
				t.Errorf("got %d errors, want %d", got, c.want)
			}
		})
	}
}

func TestServedOutOfRangeDoesNotPanic(t *testing.T) {
	o := observe.New(observe.Options{})
	a := get(spark, 1)
	a.Served = 200
	o.Access(a)
	if got := o.Engines()[0].Storage.Served[laketap.FromTap]; got != 100 {
		t.Errorf("got %d bytes under the last word, want 100", got)
	}
}

func TestTableSeen(t *testing.T) {
	o := observe.New(observe.Options{})
	o.Table(laketap.TableSeen{At: start, ID: tableID(1), Name: "a.b", Location: "s3://lake/b", Snapshot: 9_007_199_254_740_993, Schema: 2})
	o.Table(laketap.TableSeen{At: start, Name: "no uuid"})
	want := []laketap.TableUse{{
		ID: tableID(1), Name: "a.b", Location: "s3://lake/b", Snapshot: 9_007_199_254_740_993, Schema: 2, Engines: []laketap.EngineUse{},
	}}
	if diff := cmp.Diff(want, o.Tables()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	renamed := get(spark, 1)
	renamed.TableName = "a.c"
	o.Access(renamed)
	if got := o.Tables()[0].Name; got != "a.c" {
		t.Errorf("got name %q after a rename, want a.c", got)
	}
	unnamed := get(spark, 1)
	unnamed.TableName = ""
	o.Access(unnamed)
	if got := o.Tables()[0].Name; got != "a.c" {
		t.Errorf("got name %q after an access without one, want a.c", got)
	}
}

func TestAccessesWithoutATable(t *testing.T) {
	o := observe.New(observe.Options{})
	for n := range 100 {
		a := get(spark, n)
		a.Table, a.TableName = laketap.TableID{Prefix: strconv.Itoa(n)}, fmt.Sprintf("guess.%d", n)
		a.Catalog = []string{"dev", "prod"}[n%2]
		o.Access(a)
	}
	tables := o.Tables()
	if len(tables) != 2 {
		t.Fatalf("got %d rows, want one a catalog", len(tables))
	}
	for i, catalog := range []string{"dev", "prod"} {
		got := tables[i]
		if got.ID != (laketap.TableID{Catalog: catalog}) || got.Name != "" || got.Engines[0].Storage.Requests != 50 {
			t.Errorf("got %+v, want 50 requests of %s under no name", got, catalog)
		}
	}
}

func TestEnginesAreBounded(t *testing.T) {
	o := observe.New(observe.Options{Engines: 3})
	for n := range 10 {
		o.Access(get(laketap.Engine{Name: fmt.Sprintf("e%d", n)}, 1))
	}
	want := map[string]int64{"e0": 1, "e1": 1, "e2": 1, "other": 7}
	got := map[string]int64{}
	for _, e := range o.Engines() {
		got[e.Engine.String()] = e.Storage.Requests
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("engines (-want +got):\n%s", diff)
	}
	got = map[string]int64{}
	for _, e := range o.Tables()[0].Engines {
		got[e.Engine.String()] = e.Storage.Requests
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("engines of the table (-want +got):\n%s", diff)
	}
}

// However many tables and engines there are, the bounds hold and no request is
// lost from the sums.
func TestTablesAreBoundedAndNothingIsLost(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	const tables, pairs, accesses = 64, 160, 20_000
	o := observe.New(observe.Options{Engines: 8, Tables: tables, TableUses: pairs})
	for range accesses {
		a := get(laketap.Engine{Name: fmt.Sprintf("e%d", r.IntN(12))}, r.IntN(500))
		a.At = start.Add(time.Duration(r.IntN(1000)) * time.Second)
		o.Access(a)
	}
	var byTable laketap.Use
	var count, uses int
	for _, table := range o.Tables() {
		if table.Name != "other" {
			count++
		}
		for _, e := range table.Engines {
			if e.Engine.Name != "other" && table.Name != "other" {
				uses++
			}
			byTable.Requests += e.Storage.Requests
			byTable.BytesOut += e.Storage.BytesOut
		}
	}
	if count > tables || uses > pairs {
		t.Errorf("got %d tables and %d pairs, want at most %d and %d", count, uses, tables, pairs)
	}
	if byTable.Requests != accesses || byTable.BytesOut != 100*accesses {
		t.Errorf("tables sum up to %d requests, %d bytes; want %d, %d", byTable.Requests, byTable.BytesOut, accesses, 100*accesses)
	}
	var byEngine int64
	for _, e := range o.Engines() {
		byEngine += e.Storage.Requests
	}
	if byEngine != accesses {
		t.Errorf("engines sum up to %d requests, want %d", byEngine, accesses)
	}
}

func TestTheTableUsedLongestAgoIsFolded(t *testing.T) {
	o := observe.New(observe.Options{Tables: 16}) // one a shard
	for n := range 200 {
		o.Access(get(spark, n))
	}
	tables := o.Tables()
	last := tables[len(tables)-1]
	if last.Name != "other" {
		t.Fatalf("the last row is %q, want other", last.Name)
	}
	found := false
	for _, table := range tables {
		found = found || table.ID == tableID(199)
	}
	if !found {
		t.Error("the table used last was folded")
	}
}

func TestConcurrentUse(t *testing.T) {
	o := observe.New(observe.Options{Tables: 32, TableUses: 64, Engines: 4})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range 500 {
				o.Access(get(laketap.Engine{Name: strconv.Itoa(n % 7)}, n*w%90))
				o.Table(laketap.TableSeen{At: start, ID: tableID(n), Name: "x"})
				o.Report(laketap.Report{Kind: "scan-report"})
			}
		})
		wg.Go(func() {
			for range 50 {
				o.Engines()
				o.Tables()
				o.Reports()
				o.Accesses(laketap.AccessQuery{Newest: true, Limit: 10})
			}
		})
	}
	wg.Wait()
	var requests int64
	for _, e := range o.Engines() {
		requests += e.Storage.Requests
	}
	if requests != 2000 {
		t.Errorf("counted %d requests, want 2000", requests)
	}
}
