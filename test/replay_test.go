package e2e_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// A flaky server answers the first request of a connection and reads the
// second, but closes instead of answering: the outcome is unknown. It is what
// a client meets that uses an idle connection in the moment of its end.
type flaky struct {
	listener net.Listener
	mu       sync.Mutex
	read     []string // methods and targets of requests that were read
	conns    sync.WaitGroup
}

func startFlaky(t *testing.T) *flaky {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &flaky{listener: l}
	f.conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f.conns.Go(func() { f.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		f.conns.Wait()
	})
	return f
}

func (f *flaky) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := 0; ; n++ {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		f.mu.Lock()
		f.read = append(f.read, req.Method+" "+req.RequestURI)
		f.mu.Unlock()
		if n > 0 {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	}
}

// count returns how often a request was read.
func (f *flaky) count(request string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.read {
		if r == request {
			n++
		}
	}
	return n
}

// No mutation is ever sent twice upstream, also not one that Go's transport
// would replay: without a body, and marked as idempotent by its sender.
func TestNoMutationIsReplayedUpstream(t *testing.T) {
	upstream := startFlaky(t)
	config := laketap.InFrontOf(t, lake.Start(t))
	config.Catalogs[0].URL = "http://" + upstream.listener.Addr().String()
	through := catalog.Client{URI: laketap.Start(t, config).Catalog}
	for _, tt := range []struct{ method, path, body string }{
		{http.MethodDelete, "/v1/namespaces/n/tables/a", ""},
		{http.MethodPost, "/v1/namespaces/n/tables/b", "{}"},
		{http.MethodPost, "/v1/namespaces/n/register", ""},
		{http.MethodPut, "/v1/unknown", "{}"},
		{http.MethodPatch, "/v1/unknown", ""},
	} {
		t.Run(tt.method, func(t *testing.T) {
			// Opens a connection that is then idle, and about to end.
			if _, err := through.Do(t.Context(), http.MethodGet, "/v1/namespaces/n", "", nil); err != nil {
				t.Fatal(err)
			}
			got, err := through.Do(t.Context(), tt.method, tt.path, tt.body, http.Header{
				"Idempotency-Key": {"019ad3f2-7c1e-7000-8000-000000000001"}, "X-Idempotency-Key": {"1"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := upstream.count(tt.method + " " + tt.path); n != 1 {
				t.Errorf("upstream read it %d times, want once", n)
			}
			// Sent over a fresh connection it succeeds; else nobody knows what came of it.
			switch got.Status {
			case http.StatusOK, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
			default:
				t.Errorf("answer %d: a client may take that for a no", got.Status)
			}
		})
	}
}

// The same at the store.
func TestNoMutationIsReplayedAtTheOrigin(t *testing.T) {
	origin := startFlaky(t)
	config := laketap.InFrontOf(t, lake.Start(t))
	config.Storage.Origins[0].Endpoint = "http://" + origin.listener.Addr().String()
	config.Storage.Origins[0].AccessKeyID = "origin"
	config.Storage.Origins[0].SecretFile = laketap.Secret(t, "origin secret")
	config.Keys = []laketap.Key{{ID: "app", SecretFile: laketap.Secret(t, "app secret"), Principal: "app", Scope: "all", Write: true}}
	client := &s3.Client{
		Endpoint: laketap.Start(t, config).Storage, Region: "us-east-1", Keys: s3.Keys{ID: "app", Secret: "app secret"},
	}
	for _, tt := range []s3.Request{
		{Method: http.MethodDelete, Target: "/lake/a", Header: map[string]string{"Idempotency-Key": "1"}},
		{Method: http.MethodPut, Target: "/lake/b", Text: "data"},
		{Method: http.MethodPut, Target: "/lake/empty"},
		{Method: http.MethodPost, Target: "/lake/c?uploads="},
	} {
		t.Run(tt.Method+tt.Target, func(t *testing.T) {
			if _, err := client.Do(t.Context(), s3.Request{Target: "/lake/x"}); err != nil {
				t.Fatal(err)
			}
			got, err := client.Do(t.Context(), tt)
			if err != nil {
				t.Fatal(err)
			}
			path, _, _ := strings.Cut(tt.Target, "?")
			n := origin.count(tt.Method+" "+tt.Target) + origin.count(tt.Method+" "+path+"?uploads")
			if n != 1 {
				t.Errorf("the store read it %d times, want once", n)
			}
			if got.Status != http.StatusOK && got.Status < 500 {
				t.Errorf("answer %v: a client may take that for a no", got)
			}
		})
	}
}
