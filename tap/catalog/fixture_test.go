package catalog_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/catalog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the time at which every test begins.
var start = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// records is a Recorder that keeps everything.
type records struct {
	mu       sync.Mutex
	accesses []laketap.Access
	tables   []laketap.TableSeen
	reports  []laketap.Report
}

func (r *records) Access(a laketap.Access) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accesses = append(r.accesses, a)
}

func (r *records) Table(t laketap.TableSeen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tables = append(r.tables, t)
}

func (r *records) Report(p laketap.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, p)
}

// await returns what get finds, once it finds something.
func await[T any](t *testing.T, r *records, get func(*records) (T, bool)) T {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		r.mu.Lock()
		v, ok := get(r)
		r.mu.Unlock()
		if ok {
			return v
		}
		if time.Now().After(deadline) {
			t.Fatal("what was awaited did not happen")
		}
		time.Sleep(time.Millisecond)
	}
}

// lastAccess awaits the nth access and returns it.
func lastAccess(t *testing.T, r *records, nth int) laketap.Access {
	t.Helper()
	return await(t, r, func(r *records) (laketap.Access, bool) {
		if len(r.accesses) < nth {
			return laketap.Access{}, false
		}
		return r.accesses[nth-1], true
	})
}

// A call is a request as the upstream received it.
type call struct {
	method, target string
	header         http.Header
	body           string
}

// A fixture is a tap in front of an upstream that the test plays.
type fixture struct {
	*testing.T
	up, tap  *httptest.Server
	h        *catalog.Handler
	records  *records
	tables   *tap.Tables
	keys     *tap.Keyring
	mu       sync.Mutex
	now      time.Time
	calls    []call
	upstream http.HandlerFunc
}

// setUp starts a tap in front of upstream. change adjusts its options.
func setUp(t *testing.T, upstream http.HandlerFunc, change func(*catalog.Options)) *fixture {
	t.Helper()
	f := &fixture{T: t, records: &records{}, tables: tap.NewTables(0), now: start, upstream: upstream}
	f.up = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		f.mu.Lock()
		f.calls = append(f.calls, call{r.Method, r.RequestURI, r.Header.Clone(), string(body)})
		f.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.upstream(w, r)
	}))
	t.Cleanup(f.up.Close)
	keys, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	f.keys = keys
	transport := &http.Transport{DisableCompression: true, Protocols: protocols()}
	t.Cleanup(transport.CloseIdleConnections)
	opts := catalog.Options{
		Upstreams: []catalog.Upstream{{Name: "prod", URL: parse(t, f.up.URL+"/iceberg"), Transport: transport}},
		Origins:   []tap.Origin{{Name: "aws", Buckets: []string{"lake", "other"}}, {Name: "minio", Endpoint: "http://minio:9000", Buckets: []string{"lake", "minio-only"}}},
		Keys:      keys, Tables: f.tables, Recorder: f.records, Now: f.time,
	}
	if change != nil {
		change(&opts)
	}
	f.h, err = catalog.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.h.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	f.tap = httptest.NewServer(f.h)
	t.Cleanup(f.tap.Close)
	return f
}

func (f *fixture) time() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fixture) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// seen returns what the upstream received so far.
func (f *fixture) seen() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *fixture) forgetCalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
}

// An answer is what a client received.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request through the tap. headers are "Name: value".
func (f *fixture) do(method, target, body string, headers ...string) answer {
	f.Helper()
	return f.doAt(f.tap.URL, method, target, body, headers...)
}

func (f *fixture) doAt(base, method, target, body string, headers ...string) answer {
	f.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(f.Context(), method, base, reader)
	if err != nil {
		f.Fatal(err)
	}
	path, query, has := strings.Cut(target, "?")
	if strings.HasPrefix(path, "//") { // Go sends it in absolute form then
		path = "//" + req.URL.Host + path
	}
	req.URL.Opaque, req.URL.RawQuery, req.URL.ForceQuery = path, query, has
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	return f.roundTrip(req)
}

func (f *fixture) roundTrip(req *http.Request) answer {
	f.Helper()
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		f.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		f.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, got}
}

// config returns the config that an answer leads a client with, by member.
func (a answer) config(t *testing.T) map[string]string {
	t.Helper()
	var body struct {
		Config map[string]string `json:"config"`
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatalf("answer %q: %v", a.body, err)
	}
	return body.Config
}

// session opens the session that an answer vends in its config.
func (f *fixture) session(a answer) tap.Session {
	f.Helper()
	config := a.config(f.T)
	s, err := f.keys.Open(config["s3.access-key-id"], config["s3.session-token"])
	if err != nil {
		f.Fatalf("open the session in %q: %v", a.body, err)
	}
	return s
}

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// reply is an upstream that answers every request alike.
func reply(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { send(w, status, body, headers...) }
}

func send(w http.ResponseWriter, status int, body string, headers ...string) {
	w.Header().Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		w.Header().Add(name, value)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

const (
	loadPath = "/v1/wh/namespaces/sales/tables/orders"
	uuid     = "9c12d441-03fe-4693-9a96-a0705ddf69c1"
	keysJSON = `"s3.access-key-id":"ASIAUP","s3.secret-access-key":"upsecret","s3.session-token":"uptoken"`
)

// table spells a LoadTable answer for a location; config is the inside of its
// config object.
func table(location, config string) string {
	return fmt.Sprintf(`{"metadata-location":"%s/metadata/00001.json","metadata":{"format-version":2,"table-uuid":%q,`+
		`"location":%q,"current-schema-id":3,"current-snapshot-id":3055729675574597004,"properties":{},"unknown":{"n":18446744073709551615.000}},`+
		`"config":{%s},"later":[1, 2]}`, location, uuid, location, config)
}
