package catalog_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/catalog"
)

// Targets reach the upstream byte for byte (R3, R4, R5, N25).
func TestTargetsPassRaw(t *testing.T) {
	f := setUp(t, reply(200, `{}`), nil)
	tests := []string{
		"/v1/wh/namespaces/a%1Fb/tables/t",
		"/v1/wh/namespaces/a%2Eb/tables",
		"/v1/wh/namespaces/my+ns/tables/foo%2Fbar",
		"/v1/wh/namespaces/my%20ns/tables/100%25",
		"/v1/main|warehouse/namespaces",
		"/v1/arn%3Aaws%3As3tables%3A1%3Abucket%2Fx/namespaces/n",
		"/v1/wh/namespaces?parent=a%1Fb&pageToken=&pageSize=10",
		"/v1/wh/namespaces?a;b&%zz",
		"/v1/wh/namespaces?",
		"/v1/wh//namespaces/../x/./y",
		"//v1/config",
		"/",
		"/anything/else",
	}
	bare := setUp(t, reply(200, `{}`), func(o *catalog.Options) { o.Upstreams[0].URL.Path = "" })
	for _, target := range tests {
		t.Run(target, func(t *testing.T) {
			if got := f.do("GET", target, ""); got.status != 200 {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			for _, c := range f.seen() {
				if got := c.target; got != "/iceberg"+target {
					t.Errorf("upstream got %s, want /iceberg%s", got, target)
				}
			}
			f.forgetCalls()
			bare.do("GET", target, "")
			want := target
			if strings.HasPrefix(target, "//") { // the one way to say it
				want = bare.up.URL + target
			}
			if got := bare.seen()[len(bare.seen())-1].target; got != want {
				t.Errorf("bare upstream got %s, want %s", got, want)
			}
		})
	}
}

// Methods, bodies and headers that we know nothing of pass both ways.
func TestUnknownRequestsPass(t *testing.T) {
	f := setUp(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header()["X-Odd"] = []string{"1", "2"}
		w.Header().Set("Trailer", "X-Sum")
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.Host, body)
		w.Header().Set("X-Sum", "abc")
	}, nil)
	req, err := http.NewRequestWithContext(t.Context(), "PROPFIND", f.tap.URL+"/v2/odd", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", "10.0.0.1")
	req.Header.Set("X-Custom", "kept")
	req.Header.Set("User-Agent", "")
	req.Close = true
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want := "PROPFIND " + strings.TrimPrefix(f.up.URL, "http://") + " hello"; resp.StatusCode != http.StatusTeapot || string(body) != want {
		t.Errorf("got %d %s, want 418 %s", resp.StatusCode, body, want)
	}
	if diff := cmp.Diff([]string{"1", "2"}, resp.Header.Values("X-Odd")); diff != "" {
		t.Error(diff)
	}
	if resp.Trailer.Get("X-Sum") != "abc" {
		t.Errorf("trailer = %v", resp.Trailer)
	}
	sent := f.seen()[0].header
	if sent.Get("X-Custom") != "kept" || sent.Get("X-Forwarded-For") != "" || sent.Get("Accept-Encoding") != "gzip" || sent.Get("User-Agent") != "" {
		t.Errorf("upstream got %v", sent)
	}
	if a := lastAccess(t, f.records, 1); a.Op != "unknown" || a.Status != 418 || a.BytesIn != 5 || a.BytesOut != int64(len(body)) || a.Principal != "" {
		t.Errorf("access = %+v", a)
	}
}

func TestSeveralUpstreams(t *testing.T) {
	second := httptest.NewServer(reply(200, `"second"`))
	t.Cleanup(second.Close)
	f := setUp(t, reply(200, `"first"`), func(o *catalog.Options) {
		tr := &http.Transport{DisableKeepAlives: true}
		o.Upstreams = append(o.Upstreams, catalog.Upstream{Name: "dev", URL: parse(t, second.URL), Transport: tr})
	})
	for _, tt := range []struct {
		target, want string
		status       int
	}{
		{"/prod/v1/wh/namespaces", `"first"`, 200},
		{"/dev/v1/wh/namespaces", `"second"`, 200},
		{"/v1/wh/namespaces", "/prod, /dev", 404},
		{"/other/v1/config", "/prod, /dev", 404},
		{"/prodx/v1/config", "/prod, /dev", 404},
	} {
		got := f.do("GET", tt.target, "")
		if got.status != tt.status || !strings.Contains(string(got.body), tt.want) {
			t.Errorf("%s: got %d %s, want %d with %s", tt.target, got.status, got.body, tt.status, tt.want)
		}
		if tt.status == 404 && !strings.Contains(string(got.body), got.header.Get("X-Laketap-Request-Id")) {
			t.Errorf("%s: no request id in %s", tt.target, got.body)
		}
	}
	if got := f.seen()[0].target; got != "/iceberg/v1/wh/namespaces" {
		t.Errorf("upstream got %s", got)
	}
}

// dropper is a server that answers one request per connection, and closes the
// connection without an answer when it has read a second one.
type dropper struct {
	net.Listener
	mu   sync.Mutex
	read []string
	wg   sync.WaitGroup
}

func newDropper(t *testing.T) *dropper {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &dropper{Listener: l}
	d.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.wg.Go(func() { d.serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); d.wg.Wait() })
	return d
}

func (d *dropper) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for n := range 2 {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		d.mu.Lock()
		d.read = append(d.read, req.Method+" "+req.Header.Get("Idempotency-Key"))
		d.mu.Unlock()
		if n == 0 {
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	}
}

// R2: no mutation is sent twice, with or without Idempotency-Key, over a
// connection that is dead when it is used again.
func TestMutationsAreNotReplayed(t *testing.T) {
	for _, method := range []string{"DELETE", "POST", "PUT", "PATCH"} {
		t.Run(method, func(t *testing.T) {
			up := newDropper(t)
			f := setUp(t, nil, func(o *catalog.Options) { o.Upstreams[0].URL = parse(t, "http://"+up.Addr().String()) })
			path := "/v1/wh/namespaces/n/tables/t"
			if got := f.do(method, path, "", "Idempotency-Key: one", "X-Idempotency-Key: x"); got.status != 204 {
				t.Fatalf("first: %d %s", got.status, got.body)
			}
			got := f.do(method, path, "", "Idempotency-Key: two", "X-Idempotency-Key: x")
			if got.status != 502 || !strings.Contains(string(got.body), "CommitStateUnknownException") {
				t.Errorf("second: %d %s, want 502: the outcome is unknown", got.status, got.body)
			}
			up.mu.Lock()
			defer up.mu.Unlock()
			if diff := cmp.Diff([]string{method + " one", method + " two"}, up.read); diff != "" {
				t.Errorf("upstream read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpstreamOutOfReach(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	l.Close()
	f := setUp(t, nil, func(o *catalog.Options) { o.Upstreams[0].URL = parse(t, address) })
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"GET", loadPath, 503},
		{"GET", "/v1/config", 503},
		{"HEAD", loadPath, 503},
		{"GET", "/x", 503},
		{"POST", loadPath, 502},
		{"DELETE", loadPath, 502},
		{"PUT", "/x", 502},
		{"PATCH", "/x", 502},
		{"POST", "/v1/wh/transactions/commit", 502},
		{"POST", "/v1/wh/namespaces/n/tables", 502},
	} {
		got := f.do(tt.method, tt.path, "")
		if got.status != tt.status {
			t.Errorf("%s %s: %d %s, want %d", tt.method, tt.path, got.status, got.body, tt.status)
		}
		if has := got.header.Get("Retry-After") != ""; has != (tt.status == 503) {
			t.Errorf("%s %s: Retry-After = %q", tt.method, tt.path, got.header.Get("Retry-After"))
		}
		id := got.header.Get("X-Laketap-Request-Id")
		if tt.method != "HEAD" && (id == "" || !strings.Contains(string(got.body), id) || !strings.Contains(string(got.body), address)) {
			t.Errorf("%s %s: body %s names no request %q", tt.method, tt.path, got.body, id)
		}
	}
	if err := f.h.Check(t.Context(), "prod"); err == nil || !strings.Contains(err.Error(), address) {
		t.Errorf("Check = %v", err)
	}
	if a := lastAccess(t, f.records, 1); a.Status != 503 || a.Served != laketap.FromTap || a.Err == "" || a.Principal != "" {
		t.Errorf("access = %+v", a)
	}
}

// N9: whatever byte the upstream breaks off at, a commit is never told to have
// failed.
func TestUpstreamBreaksOff(t *testing.T) {
	answers := []string{"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"metadata\":"}
	for _, text := range answers {
		f := setUp(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, text)
			conn.Close()
		}, nil)
		for _, tt := range []struct {
			method, path string
			status       int
		}{{"POST", "/v1/wh/namespaces/n/tables", 502}, {"GET", loadPath, 503}, {"GET", "/v1/config", 503}} {
			if got := f.do(tt.method, tt.path, `{"name":"t"}`); got.status != tt.status {
				t.Errorf("%s %s after %q: %d %s, want %d", tt.method, tt.path, text, got.status, got.body, tt.status)
			}
		}
	}
}

// R11 among them: 401 stays 401.
func TestUpstreamStatusesPass(t *testing.T) {
	for _, status := range []int{204, 400, 401, 403, 404, 409, 419, 429, 500, 502, 503, 504} {
		f := setUp(t, func(w http.ResponseWriter, _ *http.Request) {
			if status == 204 {
				w.WriteHeader(status)
				return
			}
			send(w, status, `{"error":{}}`, "Retry-After: 7")
		}, nil)
		for _, method := range []string{"GET", "POST", "DELETE", "HEAD"} {
			got := f.do(method, "/v1/wh/namespaces/n", "")
			if got.status != status || status != 204 && got.header.Get("Retry-After") != "7" {
				t.Errorf("%s: got %d %v, want %d", method, got.status, got.header, status)
			}
		}
	}
}

func TestMutationTimeout(t *testing.T) {
	release := make(chan struct{})
	f := setUp(t, func(http.ResponseWriter, *http.Request) { <-release }, func(o *catalog.Options) { o.MutationTimeout = 50 * time.Millisecond })
	defer close(release)
	got := f.do("POST", loadPath, `{}`)
	if got.status != 504 || !strings.Contains(string(got.body), "CommitStateUnknownException") {
		t.Errorf("got %d %s, want 504", got.status, got.body)
	}
}

// A mutation whose client leaves goes on, and its outcome is recorded; a read
// is called off.
func TestClientLeaves(t *testing.T) {
	for _, method := range []string{"POST", "GET"} {
		t.Run(method, func(t *testing.T) {
			arrived, release, cancelled := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
			f := setUp(t, func(w http.ResponseWriter, r *http.Request) {
				close(arrived)
				select {
				case <-r.Context().Done():
					cancelled <- true
				case <-release:
					cancelled <- false
					send(w, 200, `{}`)
				}
			}, nil)
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, method, f.tap.URL+"/v1/wh/namespaces", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			var client sync.WaitGroup
			client.Go(func() {
				tr := &http.Transport{DisableKeepAlives: true}
				if resp, err := tr.RoundTrip(req); err == nil {
					resp.Body.Close()
				}
			})
			<-arrived
			cancel()
			client.Wait()
			if method == "POST" {
				close(release)
			}
			if got := <-cancelled; got != (method == "GET") {
				t.Errorf("upstream's request cancelled: %v", got)
			}
			a := lastAccess(t, f.records, 1)
			if method == "GET" && (a.Status != 0 || a.Err != "client left") {
				t.Errorf("access = %+v", a)
			}
			if method == "POST" && a.Status != 200 {
				t.Errorf("access = %+v, want the outcome", a)
			}
		})
	}
}

func TestGzip(t *testing.T) {
	zip := func(body string) string {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, body)
		_ = z.Close()
		return b.String()
	}
	t.Run("edited bodies are unpacked", func(t *testing.T) {
		f := setUp(t, reply(200, zip(table("s3://lake/wh/orders", keysJSON)), "Content-Encoding: gzip", "Content-MD5: x"), nil)
		got := f.do("GET", loadPath, "", "Accept-Encoding: br, gzip;q=0.5")
		f.session(got)
		if got.header.Get("Content-Encoding") != "" || got.header.Get("Content-MD5") != "" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("headers = %v", got.header)
		}
		if ae := f.seen()[0].header.Get("Accept-Encoding"); ae != "gzip" {
			t.Errorf("upstream was asked for %q", ae)
		}
	})
	t.Run("others pass packed", func(t *testing.T) {
		body := zip(table("gs://lake/wh/orders", keysJSON))
		f := setUp(t, reply(200, body, "Content-Encoding: gzip"), nil)
		got := f.do("GET", loadPath, "", "Accept-Encoding: gzip", "X-Iceberg-Access-Delegation: vended-credentials")
		if string(got.body) != body || got.header.Get("Content-Encoding") != "gzip" {
			t.Error("the packed body changed")
		}
	})
	t.Run("what cannot be unpacked passes", func(t *testing.T) {
		for _, encoding := range []string{"br", "gzip"} {
			f := setUp(t, reply(200, "garbage", "Content-Encoding: "+encoding), nil)
			if got := f.do("GET", loadPath, ""); string(got.body) != "garbage" || f.h.Upstreams()[0].LastReason != "unreadable_encoding" {
				t.Errorf("%s: got %s, %+v", encoding, got.body, f.h.Upstreams()[0])
			}
		}
	})
	t.Run("a client that wants none gets none", func(t *testing.T) {
		f := setUp(t, reply(200, `{}`), nil)
		f.do("GET", loadPath, "")
		if ae, has := f.seen()[0].header["Accept-Encoding"]; has {
			t.Errorf("upstream was asked for %q", ae)
		}
	})
}

func TestTooLargeToEdit(t *testing.T) {
	body := table("s3://lake/wh/orders", keysJSON)
	for _, chunked := range []bool{false, true} {
		f := setUp(t, func(w http.ResponseWriter, _ *http.Request) {
			if chunked {
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = io.WriteString(w, body)
		}, func(o *catalog.Options) { o.MaxEdit = 100 })
		got := f.do("GET", loadPath, "")
		if string(got.body) != body || f.h.Upstreams()[0].LastReason != "too_large" {
			t.Errorf("chunked %v: got %s, %+v", chunked, got.body, f.h.Upstreams()[0])
		}
	}
}

// A redirect within the upstream stays within us; another is its own affair.
func TestRedirects(t *testing.T) {
	location := ""
	f := setUp(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}, nil)
	for _, tt := range []struct{ from, want string }{
		{f.up.URL + "/iceberg/v1/config?x", f.tap.URL + "/prod/v1/config?x"},
		{"/iceberg/v1/config", "/prod/v1/config"},
		{"/icebergs/v1/config", "/icebergs/v1/config"},
		{"config", "config"},
		{"//elsewhere/iceberg", "//elsewhere/iceberg"},
		{"https://elsewhere/x", "https://elsewhere/x"},
	} {
		location = tt.from
		if got := f.do("GET", "/prod/v1/wh/namespaces", ""); got.status != 307 || got.header.Get("Location") != tt.want {
			t.Errorf("%s became %d %s, want %s", tt.from, got.status, got.header.Get("Location"), tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for status, ok := range map[int]bool{200: true, 400: true, 401: true, 403: true, 404: true, 500: false, 503: false} {
		f := setUp(t, reply(status, `{}`), nil)
		if err := f.h.Check(t.Context(), "prod"); (err == nil) != ok {
			t.Errorf("%d: Check = %v", status, err)
		}
		if got := f.seen()[0]; got.target != "/iceberg/v1/config" || got.method != "GET" {
			t.Errorf("Check asked %v", got)
		}
		if err := f.h.Check(t.Context(), "nobody"); err == nil {
			t.Error("a catalog that is not configured was reached")
		}
	}
}

func TestNewRefuses(t *testing.T) {
	keys, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	up := func(name, raw string) catalog.Upstream { return catalog.Upstream{Name: name, URL: parse(t, raw)} }
	one := []catalog.Upstream{up("a", "http://x")}
	origins := []tap.Origin{{Name: "aws", Buckets: []string{"lake"}}}
	tests := []struct {
		name, want string
		opts       catalog.Options
	}{
		{"no upstream", "catalogs", catalog.Options{}},
		{"two of one name", `"a" is used twice`, catalog.Options{Upstreams: append(one, one...)}},
		{"a name with a slash", `"a/b"`, catalog.Options{Upstreams: []catalog.Upstream{up("a/b", "http://x")}}},
		{"a name of dots", `".."`, catalog.Options{Upstreams: []catalog.Upstream{up("..", "http://x")}}},
		{"a name with an escape", `"a%2fb"`, catalog.Options{Upstreams: []catalog.Upstream{up("a%2fb", "http://x")}}},
		{"no name", `""`, catalog.Options{Upstreams: []catalog.Upstream{up("", "http://x")}}},
		{"a name that is a path of the protocol", `"v1"`, catalog.Options{Upstreams: []catalog.Upstream{up("v1", "http://x")}}},
		{"no url", "url", catalog.Options{Upstreams: []catalog.Upstream{{Name: "a"}}}},
		{"a file", "url", catalog.Options{Upstreams: []catalog.Upstream{up("a", "file:///x")}}},
		{"a password", "password", catalog.Options{Upstreams: []catalog.Upstream{up("a", "http://u:p@x")}}},
		{"a query", "query", catalog.Options{Upstreams: []catalog.Upstream{up("a", "http://x?y")}}},
		{"a mode", "upstream, catalog or signer", catalog.Options{Upstreams: one, Authority: catalog.Authority{Mode: "yes"}}},
		{"no roots", "roots", catalog.Options{Upstreams: one, Authority: catalog.Authority{Mode: catalog.ModeCatalog}}},
		{"a root on gs", "gs://x", catalog.Options{Upstreams: one, Authority: catalog.Authority{Mode: catalog.ModeCatalog, Roots: []string{"gs://x"}}}},
		{"a root of nobody", "origins", catalog.Options{Upstreams: one, Origins: origins, Authority: catalog.Authority{Mode: catalog.ModeCatalog, Roots: []string{"s3://x/y"}}}},
		{"a climbing root", "segment", catalog.Options{Upstreams: one, Origins: origins, Authority: catalog.Authority{Mode: catalog.ModeCatalog, Roots: []string{"s3://lake/../y"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Keys, tt.opts.Tables = keys, tap.NewTables(0)
			if _, err := catalog.New(tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error with %s", err, tt.want)
			}
		})
	}
	if _, err := catalog.New(catalog.Options{Upstreams: one}); err == nil {
		t.Error("New without keys is fine")
	}
}

// With the defaults for everything optional, and a base path that people copy
// with /v1 at its end.
func TestDefaults(t *testing.T) {
	var got atomic.Value
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.RequestURI)
		w.Header().Set("Connection", "close")
		send(w, 200, table("s3://lake/t", keysJSON))
	}))
	t.Cleanup(up.Close)
	keys, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h, err := catalog.New(catalog.Options{
		Upstreams: []catalog.Upstream{{Name: "a", URL: parse(t, up.URL+"/base/v1/")}},
		Origins:   []tap.Origin{{Name: "aws"}}, Keys: keys, Tables: tap.NewTables(0), StorageTLS: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/namespaces/n/tables/t", http.NoBody)
	r.Host = "[::1]:8181"
	h.ServeHTTP(w, r)
	config := answer{body: w.Body.Bytes()}.config(t)
	if got.Load() != "/base/v1/namespaces/n/tables/t" || config["s3.endpoint"] != "https://[::1]:9191/" {
		t.Errorf("upstream got %v; endpoint %s", got.Load(), config["s3.endpoint"])
	}
}
