package demo

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/laketap/laketap/admin"
)

// statusServer answers as the admin API of a server in each state in turn, the
// last one for ever.
func statusServer(t *testing.T, states ...admin.Status) string {
	t.Helper()
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i := min(int(asked.Add(1)), len(states)) - 1
		_ = json.NewEncoder(w).Encode(states[i])
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestAwaitServer(t *testing.T) {
	ready := admin.Status{
		Readiness: admin.Readiness{Ready: true}, Addresses: admin.Addresses{Storage: "http://s"},
		Upstreams: []admin.Upstream{{URI: "http://c"}}, Origins: []admin.Origin{{Region: "eu-west-1"}},
	}
	starting := admin.Status{Readiness: admin.Readiness{Reasons: []admin.Reason{{Kind: "origin", Name: "lake", Reason: "refused"}}}}
	for _, tt := range []struct {
		name   string
		states []admin.Status
		err    string
	}{
		{"at once", []admin.Status{ready}, ""},
		{"after a while", []admin.Status{starting, starting, ready}, ""},
		{"without a store", []admin.Status{{Readiness: admin.Readiness{Ready: true}, Upstreams: ready.Upstreams}}, "without a catalog or a store"},
		{"without a catalog", []admin.Status{{Readiness: admin.Readiness{Ready: true}, Origins: ready.Origins}}, "without a catalog or a store"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{admin: statusServer(t, tt.states...), ended: make(chan struct{})}
			err := s.await(t.Context())
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			if err == nil && (s.catalog != "http://c" || s.storage != "http://s" || s.region != "eu-west-1") {
				t.Errorf("got %+v", s)
			}
		})
	}
}

// A server that ended is not waited for, and a Ctrl-C is not taken for a server
// that is late.
func TestAwaitEnds(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	s := &server{admin: "http://127.0.0.1:1", ended: ended, err: errors.New("exit status 3")}
	if err := s.await(t.Context()); err == nil || err.Error() != "start the server: it ended: exit status 3" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("Ctrl-C"))
	s = &server{admin: "http://127.0.0.1:1", ended: make(chan struct{})}
	if err := s.await(ctx); err == nil || err.Error() != "Ctrl-C" {
		t.Errorf("got %v, want the cause", err)
	}
}

// What is not ready is told as the server tells it.
func TestNotReady(t *testing.T) {
	got := notReady([]admin.Reason{{Kind: "upstream", Name: "lake", Reason: "refused"}, {Kind: "server", Reason: "is shutting down"}}).Error()
	if want := "upstream lake: refused; server: is shutting down"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGetJSON(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		err        string
	}{
		{"an answer", `{"version":"v1"}`, 200, ""},
		{"an error", `{"version":"v1"}`, 503, "/x answered 503 Service Unavailable"},
		{"no JSON", "<html>", 200, "read what /x answered: invalid character"},
		{"nothing", "", 200, "read what /x answered: EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer srv.Close()
			var s admin.Status
			err := getJSON(t.Context(), srv.URL+"/x", &s)
			switch {
			case tt.err == "" && (err != nil || s.Version != "v1"):
				t.Errorf("got %q, %v", s.Version, err)
			case tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)):
				t.Errorf("got %v, want %s", err, tt.err)
			}
		})
	}
	if _, err := traffic(t.Context(), "http://127.0.0.1:1"); err == nil || !strings.HasPrefix(err.Error(), "ask who read what: ") {
		t.Errorf("traffic: got %v", err)
	}
}

// Addresses that are asked for together differ, or the server's ports would
// fight for one.
func TestFreeAddresses(t *testing.T) {
	at, err := freeAddresses(t.Context(), 3)
	if err != nil || len(at) != 3 || at[0] == at[1] || at[1] == at[2] || at[0] == at[2] {
		t.Fatalf("got %v, %v", at, err)
	}
	for _, address := range at {
		var config net.ListenConfig
		l, err := config.Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatalf("%s is not free: %v", address, err)
		}
		_ = l.Close()
	}
}

// logFile opens a child's log.
func logFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestChildSpeaks(t *testing.T) {
	log := logFile(t)
	var heard []string
	c := child{
		path: "/bin/sh", args: []string{"-c", `echo one; echo to the log >&2; printf 'two %s' "$WHAT"`}, env: []string{"WHAT=x"},
		dir: t.TempDir(), log: log, line: func(line []byte) { heard = append(heard, string(line)) },
	}
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(heard, "|"), "one|two x"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	if got := tail(log.Name()); got != "to the log" {
		t.Errorf("logged %q", got)
	}
	// Without an ear all of it goes to the log.
	c.line, c.log = nil, logFile(t)
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := tail(c.log.Name()), "one\nto the log\ntwo x"; got != want {
		t.Errorf("logged %q, want %q", got, want)
	}
}

func TestChildFails(t *testing.T) {
	c := child{path: "/bin/sh", args: []string{"-c", "exit 7"}, dir: t.TempDir(), log: logFile(t)}
	err := c.run(t.Context())
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 {
		t.Errorf("got %v, want exit status 7", err)
	}
	c.path, c.line = "/nonexistent/engine", func([]byte) {}
	if err := c.run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "start /nonexistent/engine: ") {
		t.Errorf("got %v, want to be told what did not start", err)
	}
}

// What a child started ends with it, also after a good end.
func TestChildTakesItsGroupAlong(t *testing.T) {
	began := time.Now()
	c := child{
		path: "/bin/sh", args: []string{"-c", "sleep 600 & echo started"}, dir: t.TempDir(), log: logFile(t),
		line: func([]byte) {}, // the grandchild holds this output open
	}
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("waited %v for a grandchild", took)
	}
}

// The child of a demo that ended is told so by the end of its input.
func TestChildHasAnInputThatStaysOpen(t *testing.T) {
	var heard string
	c := child{
		path: "/bin/sh", args: []string{"-c", `if read -r line; then echo "read $line"; else echo end; fi`}, dir: t.TempDir(),
		log: logFile(t), line: func(line []byte) { heard = string(line) },
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := c.run(ctx); !errors.Is(err, context.DeadlineExceeded) || heard != "" {
		t.Errorf("heard %q and ended with %v, want it to wait for its input", heard, err)
	}
}

// The demo ends with whoever started it; until then it looks on.
func TestWatchParentEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchParent(ctx, time.Millisecond, cancel)
	}()
	time.AfterFunc(20*time.Millisecond, func() { cancel(errors.New("done")) })
	<-watched
	if cause := context.Cause(ctx); cause == nil || cause.Error() != "done" {
		t.Errorf("ended for %v: this test's parent lives", cause)
	}
}
