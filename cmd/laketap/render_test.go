package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/admin"
)

// noon is when the tests below look.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// rendered returns what a part of status prints, line by line, without the
// empty line before it.
func rendered(t *testing.T, show func(io.Writer)) []string {
	t.Helper()
	var buf bytes.Buffer
	w := tabwriter.NewWriter(&buf, 0, 8, 2, ' ', 0)
	show(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.Trim(buf.String(), "\n"), "\n")
}

func TestShowServer(t *testing.T) {
	s := admin.Status{
		Version: "v0.1.0", Started: noon.Add(-90 * time.Second), Mode: "observe", Authority: "catalog",
		Upstreams: []admin.Upstream{
			{Name: "prod", URL: "https://up.example.com", URI: "http://laketap:8181/prod", Ready: true, Vends: "no", Rewritten: 12, Passed: 3, LastPassed: &admin.Passed{Table: "a.b", Fix: "let the catalog vend"}},
			{Name: "glue", URL: "https://glue.example.com", URI: "http://laketap:8181/glue", Vends: "unknown", SignedFor: "glue"},
		},
		Origins: []admin.Origin{
			{Name: "aws", Region: "eu-west-1", Ready: true},
			{Name: "minio", Endpoint: "http://minio:9000", Region: "us-east-1", Buckets: []string{"lake", "raw"}},
		},
		Readiness: admin.Readiness{Reasons: []admin.Reason{
			{Kind: "origin", Name: "minio", Reason: "reach http://minio:9000: refused"},
			{Reason: "is shutting down"},
		}},
	}
	got := rendered(t, func(w io.Writer) { showServer(w, &s, noon) })
	want := []string{
		"Laketap v0.1.0, NOT READY, up 1m30s, mode observe, authority catalog",
		"  origin minio: reach http://minio:9000: refused",
		"  server: is shutting down",
		"",
		"CATALOG  URI FOR ENGINES           UPSTREAM                  READY  VENDS KEYS  LED TO US  PASSED ON",
		"prod     http://laketap:8181/prod  https://up.example.com    yes    no          12         3",
		"glue     http://laketap:8181/glue  https://glue.example.com  NO     unknown     0          0",
		"  prod passed a.b on unchanged: let the catalog vend",
		"  glue: clients sign their requests for AWS glue; such a catalog cannot be proxied",
		"",
		"ORIGIN  ENDPOINT           REGION     BUCKETS   READY",
		"aws     AWS                eu-west-1  all       yes",
		"minio   http://minio:9000  us-east-1  lake raw  NO",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestShowEngines(t *testing.T) {
	got := rendered(t, func(w io.Writer) {
		showEngines(w, []admin.EngineUse{
			{
				Engine: "spark", EngineVersion: "4.1", Catalog: admin.Use{Requests: 7, Seconds: 0.25, Errors: 1, Last: noon.Add(-time.Hour)},
				Storage: admin.Use{Requests: 1200, BytesOut: 5 << 30, BytesIn: 1536, Seconds: 10, Errors: 2, Last: noon.Add(-3 * time.Second)},
			},
			// One that only looked into the catalog, and long ago.
			{Engine: "unknown", Catalog: admin.Use{Requests: 1, Last: noon.Add(-72 * time.Hour)}},
			{Engine: "never"},
		}, noon)
	})
	want := []string{
		"ENGINE     CATALOG REQUESTS  STORAGE REQUESTS  READ     WRITTEN  SECONDS  ERRORS  LAST",
		"spark/4.1  7                 1200              5.0 GiB  1.5 KiB  10.25    3       3s ago",
		"unknown    1                 0                 0 B      0 B      0.00     0       3 days ago",
		"never      0                 0                 0 B      0 B      0.00     0       never",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = rendered(t, func(w io.Writer) { showEngines(w, nil, noon) })
	if want := "none yet; laketap connect ENGINE tells how"; got[len(got)-1] != want {
		t.Errorf("without engines: got %q, want %q", got[len(got)-1], want)
	}
}

func TestShowTables(t *testing.T) {
	use := admin.Use{Requests: 2, BytesOut: 2048, BytesIn: 100, Seconds: 0.5}
	got := rendered(t, func(w io.Writer) {
		showTables(w, []admin.TableUse{
			{Table: "tpch.orders", TableID: admin.TableID{Catalog: "prod"}, Engines: []admin.EngineUse{
				{Engine: "duckdb", EngineVersion: "1.5.5", Catalog: admin.Use{Requests: 1, Seconds: 0.25}, Storage: use},
				{Engine: "trino", Storage: use},
			}},
			{Engines: []admin.EngineUse{{Engine: "unknown", Storage: use}}}, // objects of no table
			{Table: "seen.by_nobody"},
		})
	})
	want := []string{
		"TABLE        CATALOG  ENGINE        CATALOG REQUESTS  STORAGE REQUESTS  READ     WRITTEN  SECONDS",
		"tpch.orders  prod     duckdb/1.5.5  1                 2                 2.0 KiB  100 B    0.75",
		"tpch.orders  prod     trino         0                 2                 2.0 KiB  100 B    0.50",
		"(no table)   -        unknown       0                 2                 2.0 KiB  100 B    0.50",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// One access is one line, whatever is missing of it.
func TestShowAccess(t *testing.T) {
	local := time.Date(2026, 11, 30, 12, 0, 0, 5e6, time.Local)
	for _, c := range []struct {
		name   string
		access admin.Access
		want   string
	}{
		{
			"a read of a table",
			admin.Access{
				At: local, Seconds: 0.0015, Tap: "storage", Op: "GetObject", Engine: "spark", EngineVersion: "4.1", Table: "tpch.orders",
				Object: &admin.Object{Bucket: "lake", Key: "orders/f.parquet"}, Range: "bytes=4-99", Status: 206, BytesOut: 96, BytesIn: 2,
			},
			"12:00:00.005  spark/4.1          storage GetObject               206       96 B     1.5ms  tpch.orders              s3://lake/orders/f.parquet bytes=4-99",
		},
		{
			"a write that was refused",
			admin.Access{
				At: local, Seconds: 2, Tap: "storage", Op: "PutObject", Engine: "pyiceberg", Table: "a.b",
				Object: &admin.Object{Bucket: "lake", Key: "x"}, Status: 403, BytesIn: 4096, BytesOut: 243, Error: "AccessDenied",
			},
			"12:00:00.005  pyiceberg          storage PutObject               403    4.0 KiB        2s  a.b                      s3://lake/x AccessDenied",
		},
		{
			"a look into the catalog",
			admin.Access{At: local, Seconds: 0.0000123, Tap: "catalog", Op: "getConfig", Engine: "unknown", Status: 200, BytesOut: 10},
			"12:00:00.005  unknown            catalog getConfig               200       10 B      10µs  -",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := (&AccessesCmd{}).show(&buf, &c.access); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want+"\n", buf.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// As JSON it is the access as the API has it.
			buf.Reset()
			if err := (&AccessesCmd{JSON: true}).show(&buf, &c.access); err != nil {
				t.Fatal(err)
			}
			var again admin.Access
			if err := json.Unmarshal(buf.Bytes(), &again); err != nil || strings.Count(buf.String(), "\n") != 1 {
				t.Fatalf("got %s, %v", buf.String(), err)
			}
			again.At = again.At.Local()
			if diff := cmp.Diff(c.access, again); diff != "" {
				t.Errorf("as JSON (-want +got):\n%s", diff)
			}
		})
	}
}

// What a stream says is shown as it comes; what it dropped is told beside it, so
// that JSON on standard output stays JSON.
func TestFollow(t *testing.T) {
	const first, second = `{"seq":1,"tap":"storage","op":"GetObject","engine":"spark","status":200}`, `{"seq":9,"tap":"catalog","op":"loadTable","engine":"trino","status":200}`
	for _, c := range []struct {
		name, stream string
		shown        int
		stderr, err  string
	}{
		{"two accesses", first + "\n" + second + "\n", 2, "", "the server ended the stream; it may be shutting down"},
		{"none", "", 0, "", "the server ended the stream"},
		{"a gap", first + "\n" + `{"missed":7}` + "\n" + second + "\n", 2, "7 accesses were dropped before they could be shown\n", "the server ended the stream"},
		{"broken off", first + "\n" + second[:20], 1, "", "read stream: unexpected end of JSON input"},
		{"not ours", "<html>\n", 0, "", "read stream: invalid character"},
		{"an endless line", `{"op":"` + strings.Repeat("x", 2<<20) + `"}`, 0, "", "token too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked url.Values
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Query()
				_, _ = io.WriteString(w, c.stream)
			}))
			defer srv.Close()
			var stdout, stderr bytes.Buffer
			cmd := &AccessesCmd{adminFlags: adminFlags{Admin: srv.URL}, Follow: true, Limit: 5, Engine: "spark", Op: "GetObject", JSON: true}
			err := cmd.Run(&app{ctx: t.Context(), stdout: &stdout, stderr: &stderr})
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("got error %v, want %q", err, c.err)
			}
			if n := strings.Count(stdout.String(), "\n"); n != c.shown || stderr.String() != c.stderr {
				t.Errorf("shown %d, want %d; stderr %q, want %q", n, c.shown, stderr.String(), c.stderr)
			}
			want := url.Values{"follow": {"true"}, "limit": {"5"}, "engine": {"spark"}, "op": {"GetObject"}}
			if diff := cmp.Diff(want, asked); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}

// Somebody who pipes accesses into head ends them without an error of ours but
// the pipe's.
func TestAccessesIntoAClosedPipe(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(admin.Page{Accesses: []admin.Access{{Op: "a"}, {Op: "b"}}})
	}))
	defer srv.Close()
	r, w := io.Pipe()
	_ = r.Close()
	err := (&AccessesCmd{adminFlags: adminFlags{Admin: srv.URL}}).Run(&app{ctx: t.Context(), stdout: w, stderr: io.Discard})
	if err == nil || err.Error() != io.ErrClosedPipe.Error() {
		t.Errorf("got %v, want %v", err, io.ErrClosedPipe)
	}
}
