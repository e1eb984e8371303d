package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var at = time.Date(2026, 12, 1, 4, 0, 0, 123456789, time.UTC)

// sample is an access with every field set.
func sample() laketap.Access {
	return laketap.Access{
		At: at, Latency: 1500 * time.Microsecond, RequestID: "R1", Tap: laketap.StorageTap, Op: "GetObject",
		Engine: laketap.Engine{Name: "spark", Version: "4.1"}, Principal: "alice", Session: "LTAAAA", Catalog: "prod",
		Table: laketap.TableID{Catalog: "prod", UUID: "u-1"}, TableName: "tpch.orders",
		Object: laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "orders/f.parquet"},
		Also:   []laketap.ObjectName{{Origin: "aws", Bucket: "lake", Key: "b"}},
		Range:  laketap.Range{From: 4, To: 99, Set: true}, Status: 206, BytesIn: 1, BytesOut: 96, Served: laketap.FromDisk, Err: "broke off",
	}
}

// A running is a trail that runs until it is stopped.
type running struct {
	*audit.Trail
	stop func()
}

func run(t *testing.T, opts audit.Options) running {
	t.Helper()
	trail, err := audit.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- trail.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(stop)
	return running{trail, stop}
}

// lines reads a file of JSON lines.
func lines(t *testing.T, file string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for line := range strings.Lines(string(text)) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			v = map[string]any{"torn": line}
		}
		all = append(all, v)
	}
	return all
}

// events returns what each line tells of, and of which request.
func events(t *testing.T, file string) []string {
	t.Helper()
	found := lines(t, file)
	all := make([]string, 0, len(found))
	for _, l := range found {
		text := fmt.Sprint(l["event"])
		if id, ok := l["request_id"]; ok {
			text += fmt.Sprint(" ", id)
		}
		if lost, ok := l["lost"]; ok {
			text += fmt.Sprint(" ", lost)
		}
		all = append(all, text)
	}
	return all
}

func named(id string) laketap.Access {
	a := sample()
	a.RequestID = id
	return a
}

func TestLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	next := &told{}
	r := run(t, audit.Options{File: file, Next: next})
	r.Access(sample())
	plain := laketap.Access{At: at, RequestID: "R2", Tap: laketap.StorageTap, Op: "ListBuckets", Status: 403, Served: laketap.FromTap}
	r.Access(plain)
	r.Access(laketap.Access{At: at, RequestID: "R3", Tap: laketap.CatalogTap, Op: "loadTable"})
	r.Table(laketap.TableSeen{})
	r.Report(laketap.Report{})
	r.stop()
	place := map[string]any{"origin": "aws", "bucket": "lake", "key": "b"}
	want := []map[string]any{
		{
			"at": "2026-12-01T04:00:00.123456789Z", "event": "access", "request_id": "R1", "op": "GetObject",
			"origin": "aws", "bucket": "lake", "key": "orders/f.parquet", "also": []any{place}, "range": "bytes=4-99",
			"principal": "alice", "session": "LTAAAA", "engine": "spark", "engine_version": "4.1",
			"catalog": "prod", "table": "tpch.orders", "table_uuid": "u-1",
			"status": 206.0, "bytes_in": 1.0, "bytes_out": 96.0, "served": "disk", "seconds": 0.0015, "error": "broke off",
		},
		{
			"at": "2026-12-01T04:00:00.123456789Z", "event": "access", "request_id": "R2", "op": "ListBuckets",
			"status": 403.0, "bytes_in": 0.0, "bytes_out": 0.0, "served": "tap", "seconds": 0.0,
		},
	}
	if diff := cmp.Diff(want, lines(t, file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := *next; got != (told{3, 1, 1}) {
		t.Errorf("next was told %+v, want all", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600: it tells who read what", info.Mode(), err)
	}
}

// told counts what a recorder was told.
type told struct{ accesses, tables, reports int }

func (n *told) Access(laketap.Access)   { n.accesses++ }
func (n *told) Table(laketap.TableSeen) { n.tables++ }
func (n *told) Report(laketap.Report)   { n.reports++ }

func TestSpellings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	r := run(t, audit.Options{File: file})
	for _, rng := range []laketap.Range{{}, {Suffix: 8, Set: true}, {From: 5, To: -1, Set: true}, {To: 0, Set: true}} {
		a := sample()
		a.Range = rng
		r.Access(a)
	}
	for _, key := range []string{"line\nbreak \"quote\" <é>", "not\xffutf8"} {
		a := sample()
		a.Object.Key = key
		r.Access(a)
	}
	r.stop()
	got := lines(t, file)
	if len(got) != 6 {
		t.Fatalf("%d lines, want 6", len(got))
	}
	for i, want := range []any{nil, "bytes=-8", "bytes=5-", "bytes=0-0"} {
		if got[i]["range"] != want {
			t.Errorf("range %v, want %v", got[i]["range"], want)
		}
	}
	if got[4]["key"] != "line\nbreak \"quote\" <é>" {
		t.Errorf("key %q", got[4]["key"])
	}
	if got[5]["key"] != nil || got[5]["key_base64"] != "bm90/3V0Zjg=" {
		t.Errorf("key %v, in Base64 %v", got[5]["key"], got[5]["key_base64"])
	}
}

// What is required is in the file when Begin returns, before anything else.
func TestIntentIsWrittenFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	r := run(t, audit.Options{File: file, Required: true})
	if err := r.Begin(named("A")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"intent A"}, events(t, file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, ok := lines(t, file)[0]["status"]; ok {
		t.Error("an intent tells a status")
	}
	r.Access(named("A"))
	r.stop()
	if diff := cmp.Diff([]string{"intent A", "access A"}, events(t, file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	free := run(t, audit.Options{File: file})
	if err := free.Begin(named("B")); err != nil || len(lines(t, file)) != 2 {
		t.Errorf("without required, Begin writes or refuses: %v", err)
	}
}

// /dev/full takes nothing, as a full disk.
func TestFullDisk(t *testing.T) {
	for _, required := range []bool{false, true} {
		t.Run(fmt.Sprint("required ", required), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// A link is put on another file when there is room again.
				dir := t.TempDir()
				link, file := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "room")
				if err := os.Symlink("/dev/full", link); err != nil {
					t.Fatal(err)
				}
				var log bytes.Buffer
				reg := prometheus.NewRegistry()
				r := run(t, audit.Options{File: link, Required: required, Log: slog.New(slog.NewTextHandler(&log, nil)), Registerer: reg})
				for _, id := range []string{"A", "B", "C"} {
					if err := r.Begin(named(id)); (err != nil) != required {
						t.Errorf("Begin: %v, want an error %v", err, required)
					} else if required && !strings.Contains(err.Error(), "audit.file: write") {
						t.Errorf("Begin: %v, want one that names the setting", err)
					}
					r.Access(named(id))
				}
				synctest.Wait()
				if s := r.State(); s.Problem == "" || s.Lost != 3 {
					t.Errorf("state %+v, want a problem and 3 lost lines", s)
				}
				if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
					t.Errorf("%d errors in the log, want one however many requests there are:\n%s", n, log.String())
				}
				if err := os.Remove(link); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(file, link); err != nil {
					t.Fatal(err)
				}
				if err := r.Reopen(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(1100 * time.Millisecond) // of the bubble: it tries again by itself
				synctest.Wait()
				if s := r.State(); s.Problem != "" || s.Lost != 3 {
					t.Errorf("state %+v, want no problem and 3 lost lines", s)
				}
				r.Access(named("D"))
				r.stop()
				if diff := cmp.Diff([]string{"gap 3", "access D"}, events(t, file)); diff != "" {
					t.Errorf("what is missing must show (-want +got):\n%s", diff)
				}
				refused := 0
				if required {
					refused = 3
				}
				want := fmt.Sprintf(`
# HELP laketap_audit_lines_total The number of lines written to the audit file.
# TYPE laketap_audit_lines_total counter
laketap_audit_lines_total 1
# HELP laketap_audit_lost_total The number of audit lines that could not be written.
# TYPE laketap_audit_lost_total counter
laketap_audit_lost_total 3
# HELP laketap_audit_refused_total The number of requests that were refused because their audit line could not be written.
# TYPE laketap_audit_refused_total counter
laketap_audit_refused_total %d
`, refused)
				if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestUnwritableFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none", "audit.jsonl")
	if _, err := audit.Open(audit.Options{File: missing, Required: true}); err == nil || !strings.Contains(err.Error(), "audit.file: open") {
		t.Errorf("required: error %v, want one that names the setting", err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := run(t, audit.Options{File: missing})
		r.Access(named("A"))
		synctest.Wait()
		if s := r.State(); s.Problem == "" || s.Lost != 1 {
			t.Errorf("state %+v, want a problem and a lost line", s)
		}
		if err := os.Mkdir(filepath.Dir(missing), 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		r.Access(named("B"))
		r.stop()
		if diff := cmp.Diff([]string{"gap 1", "access B"}, events(t, missing)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// As logrotate does it: rename, then tell. No line is lost, none is torn.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "audit.jsonl")
	r := run(t, audit.Options{File: file, Required: true})
	const writers, each = 4, 200
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				a := named(fmt.Sprintf("%d-%d", w, i))
				if err := r.Begin(a); err != nil {
					t.Error(err)
				}
				r.Access(a)
			}
		})
	}
	for i := range 5 {
		if err := os.Rename(file, fmt.Sprint(file, ".", i)); err != nil {
			t.Fatal(err)
		}
		if err := r.Reopen(); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	r.stop()
	files, err := filepath.Glob(file + "*")
	if err != nil || len(files) != 6 {
		t.Fatalf("files %v, %v; want 6", files, err)
	}
	seen := map[string]int{}
	for _, f := range files {
		for _, e := range events(t, f) {
			seen[e]++
		}
	}
	for w := range writers {
		for i := range each {
			for _, event := range []string{"intent", "access"} {
				if e := fmt.Sprintf("%s %d-%d", event, w, i); seen[e] != 1 {
					t.Errorf("%s is there %d times, want once", e, seen[e])
				}
			}
		}
	}
	if len(seen) != 2*writers*each {
		t.Errorf("%d events, want %d", len(seen), 2*writers*each)
	}
}

func TestReopenKeepsTheOldOnAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, moved := filepath.Join(dir, "audit.jsonl"), dir+".moved"
	r := run(t, audit.Options{File: file, Required: true})
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := r.Reopen(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reopen: %v, want that it is not there", err)
	}
	if err := r.Begin(named("A")); err != nil {
		t.Errorf("after a reopen that failed: %v", err)
	}
	if diff := cmp.Diff([]string{"intent A"}, events(t, filepath.Join(moved, "audit.jsonl"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A file that ends within a line, as after a crash, is gone on in a new one.
func TestTornLineStaysOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(file, []byte(`{"event":"acc`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, audit.Options{File: file})
	r.Access(named("A"))
	r.stop()
	got := lines(t, file)
	if len(got) != 2 || got[0]["torn"] == nil || got[1]["request_id"] != "A" {
		t.Errorf("lines %v, want the torn one and the new", got)
	}
}

// Nobody waits for the file: past the queue lines are lost, counted and told of.
func TestQueueIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	trail, err := audit.Open(audit.Options{File: file, Queue: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 { // nothing runs yet that would take them
		trail.Access(named(strconv.Itoa(i)))
	}
	if s := trail.State(); s.Lost != 3 {
		t.Errorf("lost %d, want 3", s.Lost)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := trail.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"access 0", "access 1", "gap 3"}, events(t, file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := trail.State(); s.Lost != 3 {
		t.Errorf("lost %d in the end, want 3", s.Lost)
	}
}

func TestMetricsTwice(t *testing.T) {
	reg := prometheus.NewRegistry()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	r := run(t, audit.Options{File: file, Registerer: reg})
	r.stop()
	if _, err := audit.Open(audit.Options{File: file, Registerer: reg}); err == nil {
		t.Error("metrics registered twice are no error")
	}
}
