package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/observe"
	"github.com/laketap/laketap/remember"
)

// rememberingServer is an admin API on a memory that has seen a table read.
func rememberingServer(t *testing.T) (addr string) {
	t.Helper()
	w := remember.NewWriter(remember.WriterOptions{Memory: remember.Options{File: t.TempDir() + "/memory.db"}, Every: time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	id := laketap.TableID{Catalog: "prod", UUID: "u-1"}
	now := time.Now()
	w.Remember(laketap.Batch{
		Tables: []laketap.TableFacts{{At: now, ID: id, Name: "ns.orders", Columns: []laketap.Column{{Field: 1, Name: "total", Type: "long"}, {Field: 2, Name: "comment", Type: "string"}}}},
		Observations: []laketap.Observation{{
			At: now, Engine: laketap.Engine{Name: "duckdb", Version: "1.5"}, Principal: "prod:alice", Table: id, Bytes: 2048,
			File:  laketap.File{Object: laketap.Object{ObjectName: laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "orders/f.parquet"}, Size: 4096}, Content: laketap.DataContent},
			Parts: []laketap.PartBytes{{Part: laketap.Part{Kind: laketap.ColumnChunkPart, Field: 1}, Bytes: 2048, First: true}},
		}},
	})
	for deadline := time.Now().Add(20 * time.Second); w.Counts().Writes == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(w.Problem())
		}
	}
	srv := httptest.NewServer(admin.New(admin.Deps{
		Observer: observe.New(observe.Options{}), Status: func() admin.Status { return admin.Status{} }, Memory: memoryView{w},
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// told runs a command and returns what it prints.
func told(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&app{ctx: t.Context(), stdout: &out, stderr: &errs}, args)
	return code, out.String(), errs.String()
}

func TestMemoryCommands(t *testing.T) {
	addr := rememberingServer(t)
	for command, want := range map[string][]string{
		"tables":                 {"prod.ns.orders", "2.0 KiB", "duckdb/1.5"},
		"columns prod.ns.orders": {"total", "long", "2.0 KiB", "comment", "never"},
		"files ns.orders":        {"4.0 KiB", "s3://lake/orders/f.parquet"},
		"unused":                 {"prod.ns.orders", "comment", "never"},
		"engines":                {"ENGINE"},
	} {
		args := append(strings.Fields(command), "--admin", addr)
		code, out, errs := told(t, args...)
		for _, text := range want {
			if code != 0 || !strings.Contains(out, text) {
				t.Errorf("%s ends with %d and prints no %q:\n%s%s", command, code, text, out, errs)
			}
		}
		if strings.Contains(out, "alice") {
			t.Errorf("%s names a principal", command)
		}
		_, out, _ = told(t, append(args, "--json")...)
		if !json.Valid([]byte(out)) {
			t.Errorf("%s --json prints %s", command, out)
		}
	}
}

func TestForgetCommand(t *testing.T) {
	addr := rememberingServer(t)
	if code, _, errs := told(t, "columns", "ns.nothing", "--admin", addr); code != 1 || !strings.Contains(errs, "knows nothing") {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, _ := told(t, "forget", "--admin", addr); code != 1 {
		t.Errorf("forgot nothing in particular: %d", code)
	}
	if code, out, errs := told(t, "forget", "--table", "prod.ns.orders", "--admin", addr); code != 0 || !strings.Contains(out, "forgot") {
		t.Fatalf("%d %s", code, errs)
	}
	if _, out, _ := told(t, "tables", "--admin", addr); strings.Contains(out, "orders") {
		t.Errorf("it is still known:\n%s", out)
	}
}
