package observe_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

// tally counts as anybody would write it: it goes through all accesses again.
type tally struct{ all []laketap.Access }

func (m *tally) engines(of func(laketap.Access) bool) []laketap.EngineUse {
	byEngine := map[laketap.Engine]*laketap.EngineUse{}
	for _, a := range m.all {
		if !of(a) {
			continue
		}
		e := byEngine[a.Engine]
		if e == nil {
			e = &laketap.EngineUse{Engine: a.Engine}
			byEngine[a.Engine] = e
		}
		u := &e.Storage
		if a.Tap == laketap.CatalogTap {
			u = &e.Catalog
		}
		u.Requests++
		u.BytesIn += a.BytesIn
		u.BytesOut += a.BytesOut
		u.Served[a.Served] += a.BytesOut
		u.Busy += a.Latency
		if a.Status != 404 && (a.Status >= 400 || a.Err != "") {
			u.Errors++
		}
		u.Status[a.Status/100]++
		bucket := 0
		for bucket < len(laketap.LatencyBounds) && a.Latency > laketap.LatencyBounds[bucket] {
			bucket++
		}
		u.Latency[bucket]++
		if u.First.IsZero() || a.At.Before(u.First) {
			u.First = a.At
		}
		if a.At.After(u.Last) {
			u.Last = a.At
		}
	}
	uses := make([]laketap.EngineUse, 0, len(byEngine))
	for _, e := range byEngine {
		uses = append(uses, *e)
	}
	slices.SortFunc(uses, func(a, b laketap.EngineUse) int {
		return cmp.Or(strings.Compare(a.Engine.Name, b.Engine.Name), strings.Compare(a.Engine.Version, b.Engine.Version))
	})
	return uses
}

func (m *tally) tables() []laketap.TableUse {
	seen := map[laketap.TableID]bool{}
	var uses []laketap.TableUse
	for _, a := range m.all {
		if seen[a.Table] {
			continue
		}
		seen[a.Table] = true
		uses = append(uses, laketap.TableUse{
			ID: a.Table, Name: a.TableName, Snapshot: -1, Schema: -1,
			Engines: m.engines(func(other laketap.Access) bool { return other.Table == a.Table }),
		})
	}
	slices.SortFunc(uses, func(a, b laketap.TableUse) int {
		return cmp.Or(strings.Compare(a.ID.Catalog, b.ID.Catalog), strings.Compare(a.Name, b.Name), strings.Compare(a.ID.UUID, b.ID.UUID))
	})
	return uses
}

// drawAccess returns an access of a few engines and tables.
func drawAccess(t *rapid.T) laketap.Access {
	n := rapid.IntRange(0, 6).Draw(t, "table")
	a := get(rapid.SampledFrom([]laketap.Engine{spark, duckdb, {Name: "spark", Version: "3.5"}, {}}).Draw(t, "engine"), n)
	a.At = start.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "at")) * time.Second)
	a.Latency = time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "latency"))
	a.Tap = rapid.SampledFrom([]laketap.Tap{laketap.CatalogTap, laketap.StorageTap}).Draw(t, "tap")
	a.Status = rapid.SampledFrom([]int{200, 206, 304, 403, 404, 500}).Draw(t, "status")
	a.Err = rapid.SampledFrom([]string{"", "broke off"}).Draw(t, "err")
	a.Served = laketap.Served(rapid.IntRange(0, 3).Draw(t, "served"))
	a.BytesIn, a.BytesOut = rapid.Int64Range(0, 1<<40).Draw(t, "in"), rapid.Int64Range(0, 1<<40).Draw(t, "out")
	if n == 0 { // belongs to no table
		a.Table, a.TableName = laketap.TableID{Catalog: a.Catalog}, ""
	}
	return a
}

// Below the bounds, counters are exact.
func TestLedgerIsLikeCountingAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, m := observe.New(observe.Options{}), &tally{}
		for range rapid.IntRange(1, 60).Draw(t, "count") {
			a := drawAccess(t)
			o.Access(a)
			m.all = append(m.all, a)
		}
		if diff := gocmp.Diff(m.engines(func(laketap.Access) bool { return true }), o.Engines()); diff != "" {
			t.Fatalf("engines (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff(m.tables(), o.Tables()); diff != "" {
			t.Fatalf("tables (-want +got):\n%s", diff)
		}
	})
}

// Whatever its bounds in number and bytes, the ring keeps an unbroken run of
// the newest accesses, and can tell how many are gone.
func TestRingKeepsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 50).Draw(t, "size")
		limit := rapid.Int64Range(1, 60_000).Draw(t, "bytes")
		o := observe.New(observe.Options{Accesses: size, AccessBytes: limit})
		count := rapid.IntRange(1, 100).Draw(t, "count")
		keys := make([]string, 0, count)
		for range count {
			a := get(spark, 1)
			a.Object.Key = strings.Repeat("k", rapid.IntRange(0, 3000).Draw(t, "key"))
			o.Access(a)
			keys = append(keys, a.Object.Key[:min(len(a.Object.Key), 2048)])
		}
		page := o.Accesses(laketap.AccessQuery{Limit: 1000})
		kept := len(page.Accesses)
		if kept < 1 || kept > size || page.Missed != uint64(len(keys)-kept) || page.Next != uint64(len(keys)) {
			t.Fatalf("kept %d of %d in %d places, missed %d, next %d", kept, len(keys), size, page.Missed, page.Next)
		}
		var bytes int64
		for i, a := range page.Accesses {
			bytes += int64(len(a.Object.Key))
			if want := len(keys) - kept + i; a.Seq != uint64(want+1) || a.Object.Key != keys[want] {
				t.Fatalf("access %d is number %d with a key of %d bytes, want %d and %d", i, a.Seq, len(a.Object.Key), want+1, len(keys[want]))
			}
		}
		if kept > 1 && bytes > limit {
			t.Fatalf("keeps keys of %d bytes within %d", bytes, limit)
		}
	})
}

// Reports are kept likewise.
func TestReportsKeepTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(1, 10).Draw(t, "number")
		limit := rapid.Int64Range(1, 100).Draw(t, "bytes")
		o := observe.New(observe.Options{Reports: number, ReportBytes: limit})
		var sent []int
		for range rapid.IntRange(0, 50).Draw(t, "count") {
			size := rapid.IntRange(0, 120).Draw(t, "size")
			o.Report(laketap.Report{Body: make([]byte, size)})
			if int64(size) <= limit { // a larger one is not kept at all
				sent = append(sent, size)
			}
		}
		kept := o.Reports()
		var bytes int64
		for i, r := range kept {
			bytes += int64(len(r.Body))
			if want := sent[len(sent)-len(kept)+i]; len(r.Body) != want {
				t.Fatalf("report %d has %d bytes, want %d", i, len(r.Body), want)
			}
		}
		if len(kept) > number || bytes > limit {
			t.Fatalf("keeps %d reports of %d bytes, want at most %d of %d", len(kept), bytes, number, limit)
		}
		next := len(sent) - len(kept) - 1
		if next >= 0 && len(kept) < number && bytes+int64(sent[next]) <= limit {
			t.Fatalf("dropped a report of %d bytes that there was room for", sent[next])
		}
	})
}
