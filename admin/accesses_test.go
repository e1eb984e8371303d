package admin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/observe"
)

func TestAccessTold(t *testing.T) {
	d, _ := deps()
	want := admin.Page{Next: 1, Accesses: []admin.Access{{
		Seq: 1, At: at, Seconds: 0.0015, RequestID: "r1", Tap: "storage", Op: "GetObject",
		Engine: "spark", EngineVersion: "4.1", Principal: "alice", Session: "LTAAAA", Catalog: "prod", Table: "tpch.orders",
		TableID: &admin.TableID{Catalog: "prod", Prefix: "p", Ref: "main", UUID: "u-1"},
		Object:  &admin.Object{Origin: "aws", Bucket: "lake", Key: "orders/f.parquet"},
		Range:   "bytes=4-99", Status: 206, BytesIn: 1, BytesOut: 96, Served: "disk", Error: "broke off",
	}}}
	if diff := cmp.Diff(want, decode[admin.Page](t, get(t, admin.New(d), "/api/v1/accesses"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBareAccessTold(t *testing.T) {
	o := observe.New(observe.Options{})
	o.Access(laketap.Access{At: at, Tap: laketap.CatalogTap, Op: "getConfig", Status: 200})
	h := admin.New(admin.Deps{Observer: o, Status: status})
	want := `{"accesses":[{"seq":1,"at":"2026-11-30T12:00:00Z","seconds":0,"tap":"catalog","op":"getConfig","engine":"unknown",` +
		`"status":200,"bytes_in":0,"bytes_out":0,"served":"origin"}],"next":1,"missed":0}` + "\n"
	if got := get(t, h, "/api/v1/accesses").Body.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		r    laketap.Range
		want string
	}{
		{laketap.Range{}, ""},
		{laketap.Range{Set: true, From: 0, To: 9}, "bytes=0-9"},
		{laketap.Range{Set: true, From: 7, To: -1}, "bytes=7-"},
		{laketap.Range{Set: true, Suffix: 8}, "bytes=-8"},
	} {
		o := observe.New(observe.Options{})
		o.Access(laketap.Access{Range: c.r})
		h := admin.New(admin.Deps{Observer: o, Status: status})
		if got := decode[admin.Page](t, get(t, h, "/api/v1/accesses")).Accesses[0].Range; got != c.want {
			t.Errorf("%+v: got %q, want %q", c.r, got, c.want)
		}
	}
}

func TestQueries(t *testing.T) {
	o := observe.New(observe.Options{Accesses: 8})
	for n := range 10 {
		a := sample()
		a.Engine.Name = []string{"spark", "duckdb"}[n%2]
		a.TableName = fmt.Sprintf("t%d", n)
		if n == 9 {
			a.Tap, a.Op = laketap.CatalogTap, "loadTable"
		}
		o.Access(a)
	}
	h := admin.New(admin.Deps{Observer: o, Status: status})
	for _, c := range []struct {
		query  string
		seqs   []uint64
		next   uint64
		missed uint64
	}{
		{"", []uint64{3, 4, 5, 6, 7, 8, 9, 10}, 10, 0},
		{"?limit=2", []uint64{9, 10}, 10, 0},
		{"?after=0", []uint64{3, 4, 5, 6, 7, 8, 9, 10}, 10, 2},
		{"?after=0&limit=3", []uint64{3, 4, 5}, 5, 2},
		{"?after=8", []uint64{9, 10}, 10, 0},
		{"?after=10", []uint64{}, 10, 0},
		{"?after=99", []uint64{3, 4, 5, 6, 7, 8, 9, 10}, 10, 2}, // from before a restart
		{"?engine=duckdb", []uint64{4, 6, 8, 10}, 10, 0},
		{"?engine=duckdb/4.1&limit=1", []uint64{10}, 10, 0},
		{"?engine=trino", []uint64{}, 10, 0},
		{"?table=t5", []uint64{6}, 10, 0},
		{"?table=u-1&limit=1", []uint64{10}, 10, 0},
		{"?tap=catalog", []uint64{10}, 10, 0},
		{"?op=GetObject&limit=1", []uint64{9}, 10, 0},
	} {
		t.Run(c.query, func(t *testing.T) {
			page := decode[admin.Page](t, get(t, h, "/api/v1/accesses"+c.query))
			seqs := make([]uint64, 0, len(page.Accesses))
			for _, a := range page.Accesses {
				seqs = append(seqs, a.Seq)
			}
			if diff := cmp.Diff(c.seqs, seqs); diff != "" || page.Next != c.next || page.Missed != c.missed {
				t.Errorf("next %d missed %d, want %d %d (-want +got):\n%s", page.Next, page.Missed, c.next, c.missed, diff)
			}
		})
	}
}

func TestBadQueries(t *testing.T) {
	d, _ := deps()
	h := admin.New(d)
	for query, want := range map[string]string{
		"after=x":            "after: wants a number",
		"after=-1":           "after: wants a number",
		"limit=0":            "limit: wants a number from 1 to 10000",
		"limit=10001":        "limit: wants",
		"limit=many":         "limit: wants",
		"wait=2h":            "wait: wants a duration up to 1m0s",
		"wait=-1s":           "wait: wants",
		"wait=30":            "wait: wants",
		"follow=perhaps":     "follow: wants true or false",
		"follow=true":        "follow: a stream needs the header Accept",
		"tap=s3":             "tap: wants catalog or storage",
		"engines=spark":      "engines: is not known",
		"limit=1&limit=2":    "limit: is given 2 times",
		"principal=somebody": "principal: is not known",
	} {
		w := get(t, h, "/api/v1/accesses?"+query)
		if got := decode[admin.Refusal](t, w).Error; w.Code != 400 || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %d %q, want 400 %q", query, w.Code, got, want)
		}
	}
}

func TestLongPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o := deps()
		h := admin.New(d)
		pages := make(chan admin.Page)
		go func() { pages <- decode[admin.Page](t, get(t, h, "/api/v1/accesses?after=1&engine=duckdb&wait=30s")) }()
		synctest.Wait()
		o.Access(sample()) // another engine's: waits on
		synctest.Wait()
		duck := sample()
		duck.Engine.Name = "duckdb"
		o.Access(duck)
		page := <-pages
		if len(page.Accesses) != 1 || page.Accesses[0].Seq != 3 || page.Next != 3 {
			t.Errorf("got %+v, want access 3", page)
		}
	})
}

func TestLongPollEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := deps()
		began := time.Now()
		page := decode[admin.Page](t, get(t, admin.New(d), "/api/v1/accesses?after=1&wait=30s"))
		if took := time.Since(began); took != 30*time.Second || page.Next != 1 || len(page.Accesses) != 0 {
			t.Errorf("got %+v after %v, want an empty page after 30s", page, took)
		}
	})
}

func TestFollow(t *testing.T) {
	d, o := deps()
	srv := httptest.NewServer(admin.New(d))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/api/v1/accesses?follow=true&limit=10", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/x-ndjson")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	if got := res.Header.Get("Content-Type"); got != "application/x-ndjson" {
		t.Errorf("got content type %q", got)
	}
	lines := bufio.NewScanner(res.Body)
	for want := uint64(1); want <= 5; want++ {
		if !lines.Scan() {
			t.Fatalf("the stream ended before access %d: %v", want, lines.Err())
		}
		var a admin.Access
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if a.Seq != want {
			t.Errorf("got access %d, want %d", a.Seq, want)
		}
		o.Access(sample())
	}
}

func TestFollowTellsWhatItMissed(t *testing.T) {
	o := observe.New(observe.Options{Accesses: 2})
	for range 5 {
		o.Access(sample())
	}
	h := admin.New(admin.Deps{Observer: o, Status: status})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // one batch, then the client is gone
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/api/v1/accesses?follow=true&after=1", nil)
	r.Header.Set("Accept", "text/html, application/x-ndjson;q=0.9")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := w.Body.String(); !strings.HasPrefix(got, "{\"missed\":2}\n{\"seq\":4,") {
		t.Errorf("got %s", got)
	}
}

func TestFollowersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := deps()
		h := admin.New(d)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan int)
		for range admin.MaxFollowers {
			go func() {
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/api/v1/accesses?after=1&wait=1m", nil)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				done <- w.Code
			}()
		}
		synctest.Wait()
		w := get(t, h, "/api/v1/accesses?after=1&wait=1m")
		if w.Code != 429 || w.Header().Get("Retry-After") == "" {
			t.Errorf("got %d, want 429 with Retry-After", w.Code)
		}
		if w := get(t, h, "/api/v1/accesses"); w.Code != 200 {
			t.Errorf("a request that does not wait: got %d, want 200", w.Code)
		}
		cancel()
		for range admin.MaxFollowers {
			<-done
		}
	})
}
