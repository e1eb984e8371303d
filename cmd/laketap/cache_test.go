package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/reuse/block"
	"github.com/laketap/laketap/tap"
)

// holding opens a cache that holds an object for each key.
func holding(t *testing.T, keys ...string) *block.Cache {
	t.Helper()
	c, err := block.Open(block.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	for _, key := range keys {
		name := laketap.ObjectName{Origin: "m", Bucket: "lake", Key: key}
		reply, err := c.Get(t.Context(), laketap.Get{Name: name}, func(context.Context, laketap.Get) (*laketap.Reply, error) {
			return &laketap.Reply{
				Status: http.StatusOK, Length: 4, Header: []laketap.Field{{Name: "ETag", Value: `"1"`}},
				Body: laketap.Body{Stream: io.NopCloser(strings.NewReader("data"))},
			}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(reply.Body.Stream); err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
	}
	return c
}

// A table is forgotten with all that lies nearest to it, and with nothing else.
func TestForgetByTable(t *testing.T) {
	tables := tap.NewTables(0)
	for uuid, path := range map[string]string{"u-t": "wh/t", "u-t2": "wh/t2", "u-in": "wh/t/inner"} {
		tables.Put(tap.Table{
			ID: laketap.TableID{Catalog: "prod", UUID: uuid}, Name: "db." + strings.TrimPrefix(uuid, "u-"),
			Location: tap.Location{Origin: "m", Bucket: "lake", Path: path},
		})
	}
	all := []string{"wh/t/a", "wh/t/metadata/b", "wh/t2/a", "wh/t/inner/a", "elsewhere/a"}
	for _, tt := range []struct {
		table   string
		objects int
		known   bool
	}{
		{"prod.db.t", 2, true},
		{"u-t", 2, true},
		{"u-in", 1, true},
		{"", 5, true},
		{"db.t", 0, false},
		{"prod.db.x", 0, false},
	} {
		view := cacheView{holding(t, all...), tables}
		objects, known := view.Forget(tt.table)
		if left := view.Cache().Objects; objects != tt.objects || known != tt.known || left != len(all)-tt.objects {
			t.Errorf("%q: forgot %d, known %v, %d left; want %d, %v", tt.table, objects, known, left, tt.objects, tt.known)
		}
	}
}

func TestCacheCommands(t *testing.T) {
	s := start(t, quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1"))
	for _, tt := range []struct {
		args    string
		code    int
		out, is string // is: on standard error
	}{
		{"cache status", 0, "from memory", ""},
		{"cache status", 0, "of 10.0 GiB", ""},
		{"cache status --json", 0, `"asked": 0`, ""},
		{"cache forget", 0, "forgot 0 objects", ""},
		{"cache forget --table prod.ns.t", 1, "", "no such table has been seen"},
		{"cache verify", 0, "0 extents on disk, 0 B, none damaged", ""},
		{"cache", 2, "", "expected"},
	} {
		code, out, errs := tell(t, s, strings.Fields(tt.args)...)
		if tt.args == "cache" { // has no --admin
			code = run(&app{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard}, []string{"cache"})
			errs = "expected"
		}
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.is) {
			t.Errorf("laketap %s: got %d %q %q, want %d %q %q", tt.args, code, out, errs, tt.code, tt.out, tt.is)
		}
	}
	cfg := quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1")
	cfg.Mode = "observe"
	none := start(t, cfg)
	for _, args := range []string{"cache status", "cache forget", "cache verify"} {
		if code, _, errs := tell(t, none, strings.Fields(args)...); code != 1 || !strings.Contains(errs, "keeps nothing") {
			t.Errorf("laketap %s of a server without a cache: got %d %q", args, code, errs)
		}
	}
}

// What verify tells is what the server streams, and its exit code is for scripts.
func TestCacheVerifyTells(t *testing.T) {
	for _, tt := range []struct {
		stream  string
		code    int
		out, is string
	}{
		{`{"of":3,"extents":1,"bytes":2048}` + "\n" + `{"of":3,"extents":3,"bytes":4096,"done":true}`, 0, "3 extents on disk, 4.0 KiB, none damaged", "1 of 3 extents read"},
		{`{"of":3,"extents":3,"bytes":4096,"damaged":1,"done":true}`, 1, "", "1 of 3 extents were damaged"},
		{`{"of":3,"extents":1,"error":"on fire"}`, 1, "", "on fire"},
		{`{"of":3,"extents":1}`, 1, "", "ended before all was read"},
		{`no JSON`, 1, "", "ended before all was read"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || r.URL.Path != "/api/v1/cache/verify" {
				t.Errorf("asked for %s %s", r.Method, r.URL)
			}
			fmt.Fprintln(w, tt.stream)
		}))
		var out, errs bytes.Buffer
		code := run(&app{ctx: t.Context(), stdout: &out, stderr: &errs}, []string{"cache", "verify", "--admin", server.URL})
		server.Close()
		if code != tt.code || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.is) {
			t.Errorf("%s: got %d %q %q, want %d %q %q", tt.stream, code, &out, &errs, tt.code, tt.out, tt.is)
		}
	}
}

func TestCacheStatusText(t *testing.T) {
	var out bytes.Buffer
	err := showCache(&out, &admin.Cache{
		Dir: "/c", Objects: 1, Extents: 2, Memory: 1 << 20, MaxMemory: 2 << 20, Disk: 3 << 20, MaxDisk: 4 << 20, Problem: "no space left on device",
		Given: admin.Given{Asked: 1000, Memory: 500, Disk: 250, Origin: 200, Around: 50, Warmed: 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.0 MiB of 2.0 MiB", "no space left on device", "500 B", "50.0 %", "25.0 %", "20.0 %", "5.0 %", "7 B"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, &out)
		}
	}
}
