package main

import (
	"context"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/observe"
)

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLE", mustAbs(samplePath))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each program otherwise
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"admin": cmdAdmin, "freeport": cmdFreePort, "busyport": cmdBusyPort, "await": cmdAwait, "mode": cmdMode,
		},
	})
}

func mustAbs(name string) string {
	wd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return wd + "/" + name
}

// cmdAdmin starts an admin API that has seen two engines, and sets $ADMIN to
// its address. With "several" it has two catalogs; "vends-nothing" and
// "signed" are what they say.
func cmdAdmin(ts *testscript.TestScript, _ bool, args []string) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	o := observe.New(observe.Options{})
	base := laketap.Access{
		At: start, Latency: 1500 * time.Microsecond, RequestID: "r1", Tap: laketap.StorageTap, Op: "GetObject",
		Engine: laketap.Engine{Name: "spark", Version: "4.1"}, Principal: "alice", Session: "LTAAAA", Catalog: "prod",
		Table: laketap.TableID{Catalog: "prod", UUID: "u-1"}, TableName: "tpch.orders",
		Object: laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "orders/f.parquet"},
		Range:  laketap.Range{From: 4, To: 99, Set: true}, Status: 206, BytesOut: 4096,
	}
	o.Access(base)
	refused := base
	refused.Engine, refused.Status, refused.Err, refused.Range = laketap.Engine{Name: "duckdb", Version: "1.5.5"}, 403, "AccessDenied", laketap.Range{}
	o.Access(refused)
	s := admin.Status{
		Version: "v0.1.0", Started: time.Now(), Mode: "accelerate", Authority: "upstream", Region: "eu-central-1",
		Addresses: admin.Addresses{Catalog: "http://laketap:8181", Storage: "http://laketap:9191", Admin: "http://laketap:9292"},
		Upstreams: []admin.Upstream{{Name: "prod", URL: "https://up.example.com", URI: "http://laketap:8181", Vends: "yes", Rewritten: 3}},
		Origins:   []admin.Origin{{Name: "aws", Region: "eu-central-1"}},
	}
	for _, arg := range args {
		switch arg {
		case "several":
			s.Upstreams = append(s.Upstreams, admin.Upstream{Name: "dev", URL: "https://dev.example.com", URI: "http://laketap:8181/dev", Vends: "unknown"})
		case "vends-nothing":
			s.Upstreams[0].Vends, s.Upstreams[0].Passed = "no", 2
			s.Upstreams[0].LastPassed = &admin.Passed{At: start, Table: "tpch.orders", Reason: "no_authority", Fix: "let the catalog vend"}
		case "signed":
			s.Upstreams[0].SignedFor = "glue"
		}
	}
	srv := httptest.NewServer(admin.New(admin.Deps{Observer: o, Status: func() admin.Status { return s }}))
	ts.Defer(srv.Close)
	ts.Setenv("ADMIN", strings.TrimPrefix(srv.URL, "http://"))
}

// cmdFreePort sets variables to ports that nobody listens on.
func cmdFreePort(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		l := hold(ts)
		ts.Setenv(name, portOf(l))
		ts.Check(l.Close())
	}
}

// cmdBusyPort sets variables to ports that somebody listens on.
func cmdBusyPort(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		l := hold(ts)
		ts.Setenv(name, portOf(l))
		ts.Defer(func() { _ = l.Close() })
	}
}

func hold(ts *testscript.TestScript) net.Listener {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	return l
}

// cmdAwait waits until an admin API says that its server is ready, or what
// another path of it says.
func cmdAwait(ts *testscript.TestScript, _ bool, args []string) {
	at, path := adminFlags{Admin: args[0]}, "/readyz"
	if len(args) > 1 {
		path = args[1]
	}
	deadline := time.Now().Add(time.Minute)
	for {
		var ready admin.Readiness
		err := at.ask(context.Background(), path, nil, &ready)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s is not ready: %v", args[0], err)
		}
		<-time.After(20 * time.Millisecond) // a port can only be polled
	}
}

// cmdMode checks the permissions of a file.
func cmdMode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := info.Mode().Perm().String(); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}
