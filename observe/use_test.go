package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

// usedOnce returns what an observer counts for one access at the storage tap.
func usedOnce(a laketap.Access) laketap.Use {
	o := observe.New(observe.Options{})
	o.Access(a)
	return o.Engines()[0].Storage
}

func TestStatusClasses(t *testing.T) {
	for status, want := range map[int]int{
		-1: 0, 0: 0, 7: 0, 99: 0, 100: 1, 199: 1, 200: 2, 206: 2, 299: 2, 304: 3, 400: 4, 404: 4, 499: 4, 500: 5, 599: 5, 600: 0, 1 << 30: 0,
	} {
		a := get(spark, 1)
		a.Status = status
		var got [6]int64
		got[want] = 1
		if diff := cmp.Diff(got, usedOnce(a).Status); diff != "" {
			t.Errorf("status %d (-want +got):\n%s", status, diff)
		}
	}
}

// What comes without a version belongs to the only one that the engine told.
func TestEnginesAreListedOnce(t *testing.T) {
	o := observe.New(observe.Options{})
	listed := func() map[string]int64 {
		got := map[string]int64{}
		for _, use := range o.Engines() {
			got[use.Engine.String()] += use.Storage.Requests
		}
		return got
	}
	for _, step := range []struct {
		engine laketap.Engine
		want   map[string]int64
	}{
		{laketap.Engine{Name: "spark"}, map[string]int64{"spark": 1}},
		{laketap.Engine{Name: "spark", Version: "4.1.4"}, map[string]int64{"spark/4.1.4": 2}},
		{laketap.Engine{Name: "trino"}, map[string]int64{"spark/4.1.4": 2, "trino": 1}},
		{laketap.Engine{Name: "spark"}, map[string]int64{"spark/4.1.4": 3, "trino": 1}},
		{laketap.Engine{Name: "spark", Version: "3.5.1"}, map[string]int64{"spark": 2, "spark/4.1.4": 1, "spark/3.5.1": 1, "trino": 1}},
	} {
		a := get(spark, 1)
		a.Engine = step.engine
		o.Access(a)
		if diff := cmp.Diff(step.want, listed()); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", step.engine, diff)
		}
	}
}

func TestLatencyBuckets(t *testing.T) {
	bounds := laketap.LatencyBounds
	cases := map[time.Duration]int{-time.Second: 0, 0: 0, time.Nanosecond: 0, time.Hour: len(bounds)}
	for i, bound := range bounds {
		cases[bound] = i // a bound belongs to what lies below it, as in Prometheus
		cases[bound+1] = i + 1
	}
	for latency, want := range cases {
		a := get(spark, 1)
		a.Latency = latency
		if got := usedOnce(a).Latency[want]; got != 1 {
			t.Errorf("%v: not counted in bucket %d", latency, want)
		}
	}
}

func TestServedBytes(t *testing.T) {
	for served, want := range map[laketap.Served][4]int64{
		laketap.FromOrigin: {100, 0, 0, 0},
		laketap.FromDisk:   {0, 100, 0, 0},
		laketap.FromMemory: {0, 0, 100, 0},
		laketap.FromTap:    {0, 0, 0, 100},
	} {
		a := get(spark, 1)
		a.Served = served
		if diff := cmp.Diff(want, usedOnce(a).Served); diff != "" {
			t.Errorf("%v (-want +got):\n%s", served, diff)
		}
	}
}

// Accesses are recorded when they end, so they may come in any order of their
// beginnings.
func TestFirstAndLast(t *testing.T) {
	o := observe.New(observe.Options{})
	for _, n := range []int{5, 2, 9, 7} {
		a := get(spark, 1)
		a.At = start.Add(time.Duration(n) * time.Second)
		o.Access(a)
	}
	use := o.Engines()[0].Storage
	if first, last := start.Add(2*time.Second), start.Add(9*time.Second); !use.First.Equal(first) || !use.Last.Equal(last) {
		t.Errorf("got %v to %v, want %v to %v", use.First, use.Last, first, last)
	}
}

func TestTapsAreApart(t *testing.T) {
	o := observe.New(observe.Options{})
	a := get(spark, 1)
	o.Access(a)
	a.Tap = laketap.CatalogTap
	o.Access(a)
	o.Access(a)
	for _, uses := range [][]laketap.EngineUse{o.Engines(), o.Tables()[0].Engines} {
		if got := [2]int64{uses[0].Catalog.Requests, uses[0].Storage.Requests}; got != [2]int64{2, 1} {
			t.Errorf("got %v requests at catalog and storage, want [2 1]", got)
		}
	}
}

// What is folded keeps its sums, whatever they are.
func TestFoldedUseIsTheSum(t *testing.T) {
	o := observe.New(observe.Options{Engines: 1})
	o.Access(get(spark, 1)) // takes the only place
	for n := range 5 {
		a := get(laketap.Engine{Name: "late", Version: string(rune('a' + n))}, n)
		a.Served, a.Status, a.BytesIn = laketap.Served(n%4), 100*(n+1), int64(n)
		o.Access(a)
	}
	want := laketap.Use{
		Requests: 5, Errors: 2, BytesIn: 10, BytesOut: 500, Served: [4]int64{200, 100, 100, 100},
		Status: [6]int64{0, 1, 1, 1, 1, 1}, Latency: [8]int64{1: 5}, Busy: 10 * time.Millisecond,
		First: start, Last: start.Add(4 * time.Second),
	}
	engines := o.Engines()
	if len(engines) != 2 || engines[0].Engine.Name != "other" {
		t.Fatalf("got %+v, want other and spark", engines)
	}
	if diff := cmp.Diff(want, engines[0].Storage); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a caller does with an answer does not change what is counted.
func TestAnswersAreCopies(t *testing.T) {
	o := observe.New(observe.Options{})
	o.Access(get(spark, 1))
	o.Report(laketap.Report{Kind: "scan-report"})
	o.Engines()[0].Storage.Requests = 99
	o.Tables()[0].Engines[0].Storage.Requests = 99
	o.Tables()[0].Name = "changed"
	o.Accesses(laketap.AccessQuery{}).Accesses[0].Op = "changed"
	o.Reports()[0].Kind = "changed"
	if o.Engines()[0].Storage.Requests != 1 || o.Tables()[0].Engines[0].Storage.Requests != 1 || o.Tables()[0].Name != "tpch.t1" ||
		o.Accesses(laketap.AccessQuery{}).Accesses[0].Op != "GetObject" || o.Reports()[0].Kind != "scan-report" {
		t.Error("a caller changed what the observer keeps")
	}
}
