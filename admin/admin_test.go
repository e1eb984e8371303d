package admin_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/observe"
)

func TestHostNames(t *testing.T) {
	d, _ := deps()
	d.Hosts = []string{"laketap.internal"}
	h := admin.New(d)
	for host, want := range map[string]int{
		"localhost":                   200,
		"localhost:9292":              200,
		"LOCALHOST:9292":              200,
		"localhost.":                  200,
		"127.0.0.1:9292":              200,
		"[::1]:9292":                  200,
		"[::1]":                       200,
		"10.1.2.3:9292":               200,
		"laketap.internal:9292":       200,
		"Laketap.Internal":            200,
		"evil.example.com":            403,
		"evil.example.com:9292":       403,
		"127.0.0.1.evil.example.com":  403,
		"localhost.evil.example.com":  403,
		"laketap.internal.evil":       403,
		"2130706433.evil":             403,
		"":                            403,
		"127.0.0.1:9292@evil.example": 403,
	} {
		for _, path := range []string{"/healthz", "/metrics", "/api/v1/accesses"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://x"+path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("host %q, %s: got %d, want %d", host, path, w.Code, want)
			}
		}
	}
}

func TestNothingButReading(t *testing.T) {
	d, _ := deps()
	h := admin.New(d)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/api/v1/accesses", nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" || decode[admin.Refusal](t, w).Error == "" {
			t.Errorf("%s: got %d %v, want 405 with what is allowed", method, w.Code, w.Header())
		}
	}
}

func TestUnknownPath(t *testing.T) {
	d, _ := deps()
	w := get(t, admin.New(d), "/api/v2/nothing")
	if w.Code != 404 || !strings.Contains(decode[admin.Refusal](t, w).Error, "openapi.yaml") {
		t.Errorf("got %d, want 404 with a hint", w.Code)
	}
}

func TestEnginesAndTables(t *testing.T) {
	d, o := deps()
	o.Table(laketap.TableSeen{At: at, ID: laketap.TableID{Catalog: "prod", UUID: "u-2"}, Name: "tpch.new", Location: "s3://lake/new", Snapshot: -1})
	h := admin.New(d)
	use := admin.EngineUse{
		Engine: "spark", EngineVersion: "4.1",
		Catalog: admin.Use{Served: map[string]int64{"origin": 0, "disk": 0, "memory": 0, "tap": 0}},
		Storage: admin.Use{
			Requests: 1, Errors: 1, BytesIn: 1, BytesOut: 96, Seconds: 0.0015, First: at, Last: at,
			Served: map[string]int64{"origin": 0, "disk": 96, "memory": 0, "tap": 0},
		},
	}
	if diff := cmp.Diff(admin.Engines{Engines: []admin.EngineUse{use}}, decode[admin.Engines](t, get(t, h, "/api/v1/engines"))); diff != "" {
		t.Errorf("engines (-want +got):\n%s", diff)
	}
	want := admin.Tables{Tables: []admin.TableUse{
		{Table: "tpch.new", TableID: admin.TableID{Catalog: "prod", UUID: "u-2"}, Location: "s3://lake/new", Schema: new(int), Engines: []admin.EngineUse{}},
		{Table: "tpch.orders", TableID: admin.TableID{Catalog: "prod", Prefix: "p", Ref: "main", UUID: "u-1"}, Engines: []admin.EngineUse{use}},
	}}
	if diff := cmp.Diff(want, decode[admin.Tables](t, get(t, h, "/api/v1/tables"))); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

func TestSnapshotKeepsAll64Bits(t *testing.T) {
	d, o := deps()
	o.Table(laketap.TableSeen{ID: laketap.TableID{UUID: "u-1"}, Snapshot: 9_007_199_254_740_993})
	if body := get(t, admin.New(d), "/api/v1/tables").Body.String(); !strings.Contains(body, `"snapshot":"9007199254740993"`) {
		t.Errorf("got %s", body)
	}
}

func TestMetricsAreServed(t *testing.T) {
	d, _ := deps()
	body := get(t, admin.New(d), "/metrics").Body.String()
	if !strings.Contains(body, `laketap_tap_requests_total{code="2xx",engine="spark",tap="storage"} 1`) {
		t.Errorf("got %s", body)
	}
}

func TestZeroDeps(t *testing.T) {
	h := admin.New(admin.Deps{Observer: observe.New(observe.Options{}), Status: func() admin.Status { return admin.Status{} }})
	for _, path := range admin.Paths(admin.Deps{Gatherer: nil}) {
		if path == "/metrics" {
			continue
		}
		want, other := map[string]int{
			"/api/v1/cache": 404, "/api/v1/cache/forget": 405, "/api/v1/cache/verify": 405,
			"/api/v1/memory/columns": 400, "/api/v1/memory/files": 400, "/api/v1/memory/forget": 405,
		}[path]
		if !other {
			want = 200
		}
		if w := get(t, h, path); w.Code != want {
			t.Errorf("%s: got %d, want %d", path, w.Code, want)
		}
	}
}

// A query that cannot be decoded is refused: what a client meant to filter by
// would be lost otherwise. What it wrote is not repeated at length.
func TestMalformedQueries(t *testing.T) {
	d, _ := deps()
	for _, query := range []string{
		"limit=%zz", "limit=1;table=x", "%", "table=%e9%", strings.Repeat("a", 100_000), strings.Repeat("x=1&", 20_000), "a" + strings.Repeat("%00", 50_000),
	} {
		w := get(t, admin.New(d), "/api/v1/accesses?"+query)
		if w.Code != http.StatusBadRequest || decode[admin.Refusal](t, w).Error == "" || w.Body.Len() > 1024 {
			t.Errorf("%.20s…: got %d and %d bytes, want 400 in short words", query, w.Code, w.Body.Len())
		}
	}
}

// A body that never comes holds no answer back and no connection.
func TestNoBodyIsWaitedFor(t *testing.T) {
	d, _ := deps()
	server := httptest.NewServer(admin.New(d))
	defer server.Close()
	for name, c := range map[string]struct{ head, want string }{
		"length":      {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", "HTTP/1.1 200 "},
		"chunks":      {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 "},
		"begun":       {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc", "HTTP/1.1 200 "},
		"other host":  {"GET /healthz HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n", "HTTP/1.1 403 "},
		"method":      {"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n", "HTTP/1.1 405 "},
		"no such one": {"PUT /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n", "HTTP/1.1 404 "},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, c.head); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), c.want) || !strings.Contains(string(got), "Connection: close\r\n") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Methods that other servers give a meaning of their own have none here.
func TestOddMethods(t *testing.T) {
	d, _ := deps()
	server := httptest.NewServer(admin.New(d))
	defer server.Close()
	for request, want := range map[string]string{
		"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                        "HTTP/1.1 404 ",
		"TRACE /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: secret\r\nConnection: close\r\n\r\n":                     "HTTP/1.1 405 ",
		"get /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                                "HTTP/1.1 405 ",
		"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                             "HTTP/1.1 403 ",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nConnection: close, Upgrade\r\nHTTP2-Settings: AA\r\n\r\n": "HTTP/1.1 200 ",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n":                                               "HTTP/1.1 400 ",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n":                            "HTTP/1.1 431 ",
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, request) // may be answered before it is read
		got, _ := io.ReadAll(conn)
		conn.Close()
		if !strings.HasPrefix(string(got), want) || strings.Contains(string(got), "secret") {
			t.Errorf("%.40q: got %q, want %s", request, got, want)
		}
	}
}
