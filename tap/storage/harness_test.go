package storage_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// fasthttp keeps one clock for the process, and its pool of workers
		// notices up to ten seconds later that it was stopped.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	)
}

// A fixture is a tap in front of an origin.
type fixture struct {
	t      *testing.T
	origin *origin
	keys   *tap.Keyring
	tables *tap.Tables
	server *storage.Server
	addr   string
	http   *http.Client

	mu       sync.Mutex
	accesses []laketap.Access
	recorded chan struct{}
}

var admin = storage.StaticKey{ID: "admin", Secret: "admin-secret", Principal: "root", All: true}

func start(t *testing.T, change func(*storage.Options)) *fixture {
	t.Helper()
	f := &fixture{t: t, origin: newOrigin(t), tables: tap.NewTables(0), recorded: make(chan struct{}, 1)}
	var err error
	if f.keys, err = tap.NewKeyring(rand.Reader); err != nil {
		t.Fatal(err)
	}
	opts := storage.Options{
		Origins: []tap.Origin{{Name: "main", Endpoint: f.origin.server.URL}},
		Send:    f.origin, Keys: f.keys, Tables: f.tables, Recorder: f,
		Static: []storage.StaticKey{
			admin,
			{ID: "reader", Secret: "reader-secret", Prefixes: []tap.Location{{Origin: "main", Bucket: "lake", Path: "wh/t"}}, ReadOnly: true},
			{ID: "writer", Secret: "writer-secret", Prefixes: []tap.Location{{Origin: "main", Bucket: "lake", Path: "wh/t"}}},
		},
		StallTimeout: 10 * time.Second,
	}
	if change != nil {
		change(&opts)
	}
	if f.server, err = storage.New(opts); err != nil {
		t.Fatal(err)
	}
	ln := listen(t)
	f.addr = ln.Addr().String()
	done := make(chan error, 1)
	go func() { done <- f.server.Serve(ln) }()
	transport := &http.Transport{DisableCompression: true, ExpectContinueTimeout: 5 * time.Second}
	f.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := f.server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return f
}

func (f *fixture) Access(a laketap.Access) {
	f.mu.Lock()
	f.accesses = append(f.accesses, a)
	f.mu.Unlock()
	select {
	case f.recorded <- struct{}{}:
	default:
	}
}
func (f *fixture) Table(laketap.TableSeen) {}
func (f *fixture) Report(laketap.Report)   {}

// access waits for the next access to be recorded and returns it.
func (f *fixture) access() laketap.Access {
	f.t.Helper()
	for {
		f.mu.Lock()
		if len(f.accesses) > 0 {
			a := f.accesses[0]
			f.accesses = f.accesses[1:]
			f.mu.Unlock()
			return a
		}
		f.mu.Unlock()
		select {
		case <-f.recorded:
		case <-time.After(10 * time.Second):
			f.t.Fatal("no access was recorded")
		}
	}
}

var tableT = laketap.TableID{Catalog: "prod", UUID: "uuid-t"}

// session is one that a catalog tap would hand out for table t; change may
// be nil.
func (f *fixture) session(change func(*tap.Session)) sigv4.Credentials {
	f.t.Helper()
	s := tap.Session{
		Catalog: "prod", Table: tableT, TableName: "db.t", Principal: "alice", Origin: "main",
		Engine: laketap.Engine{Name: "spark", Version: "4.1"},
		Scope:  []tap.Location{{Origin: "main", Bucket: "lake", Path: "wh/t"}},
		Write:  true, Issued: time.Now(), Expires: time.Now().Add(time.Hour),
	}
	if change != nil {
		change(&s)
	}
	c, err := f.keys.Vend(s, rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// upstream gives a session the credentials of the store.
func upstream(s *tap.Session) { s.Upstream = []tap.Vended{{Keys: vended}} }

// A call is a request of a client.
type call struct {
	method, target string // raw path and query
	header         http.Header
	body           string
	keys           sigv4.Credentials
	payload        *sigv4.Payload // nil: signed
	trailer        []laketap.Field
	region         string
	host           string
	after          func(*http.Request) // changes the request when it is signed
}

// A result is an answer with its body.
type result struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func (r result) code() string {
	_, rest, _ := strings.Cut(r.body, "<Code>")
	code, _, _ := strings.Cut(rest, "</Code>")
	return code
}

func (f *fixture) request(c call) *http.Request {
	f.t.Helper()
	path, query, _ := strings.Cut(c.target, "?")
	decoded, err := url.PathUnescape(path)
	if err != nil {
		f.t.Fatal(err)
	}
	if c.header == nil {
		c.header = http.Header{}
	}
	req := &http.Request{
		Method: c.method, Header: c.header, Host: c.host,
		URL: &url.URL{Scheme: "http", Host: f.addr, Path: decoded, RawPath: path, RawQuery: query},
	}
	p := sigv4.Payload{Length: int64(len(c.body))}
	if c.payload != nil {
		p = *c.payload
		p.Length = int64(len(c.body))
	}
	if p.Mode == sigv4.Signed && p.Hash == "" {
		p.Hash = hash(c.body)
	}
	if c.body != "" {
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(c.body)), int64(len(c.body))
	}
	region := c.region
	if region == "" {
		region = "us-east-1"
	}
	if err := sigv4.Sign(req, c.keys, p, region, time.Now(), func() []laketap.Field { return c.trailer }); err != nil {
		f.t.Fatal(err)
	}
	if c.after != nil {
		c.after(req)
	}
	return req
}

func (f *fixture) do(c call) result {
	f.t.Helper()
	resp, err := f.http.Do(f.request(c))
	if err != nil {
		f.t.Fatalf("%s %s: %v", c.method, c.target, err)
	}
	defer resp.Body.Close()
	return read(resp)
}

func read(resp *http.Response) result {
	body, err := io.ReadAll(resp.Body)
	return result{resp.StatusCode, resp.Header, string(body), err}
}

// raw writes bytes to the tap and returns all that comes back.
func (f *fixture) raw(request string) string {
	f.t.Helper()
	conn := f.dial()
	defer conn.Close()
	write(f.t, conn, request)
	var got bytes.Buffer
	_, _ = io.Copy(&got, conn)
	return got.String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func (f *fixture) dial() net.Conn {
	f.t.Helper()
	conn, err := new(net.Dialer).DialContext(f.t.Context(), "tcp", f.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		f.t.Fatal(err)
	}
	return conn
}

// write writes s; a reader that has left is the test's to notice.
func write(t *testing.T, w io.Writer, s string) {
	t.Helper()
	if _, err := io.WriteString(w, s); err != nil {
		t.Logf("write: %v", err)
	}
}

// skim reads what is to be had of r.
func skim(r io.Reader) { _, _ = io.Copy(io.Discard, r) }

func hash(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

func (f *fixture) wantNothingSent(t *testing.T) {
	t.Helper()
	if got := f.origin.seen(); len(got) > 0 {
		t.Errorf("reached the origin: %s", describe(got))
	}
}

func describe(s []seen) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, "%s %s as %s (%s); ", r.Method, r.URI, r.KeyID, r.Err)
	}
	return b.String()
}

var adminKeys = sigv4.Credentials{AccessKeyID: admin.ID, SecretAccessKey: admin.Secret}
