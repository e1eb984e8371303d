package catalog_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/tap/catalog"
)

// An operation is a request of the protocol. edited says that its answer is
// read before it is passed on, where it can be.
type operation struct {
	method, path, body string
	edited             bool
}

var operations = map[string]operation{
	"commit":           {"POST", loadPath, `{"requirements":[],"updates":[]}`, false},
	"create":           {"POST", "/v1/wh/namespaces/sales/tables", `{"name":"t","schema":{}}`, true},
	"staged create":    {"POST", "/v1/wh/namespaces/sales/tables", `{"name":"t","stage-create":true}`, true},
	"register":         {"POST", "/v1/wh/namespaces/sales/register", `{"name":"t","metadata-location":"s3://lake/m.json"}`, true},
	"unregister":       {"POST", loadPath + "/unregister", "", false},
	"drop":             {"DELETE", loadPath + "?purgeRequested=true", "", false},
	"rename":           {"POST", "/v1/wh/tables/rename", `{"source":{"namespace":["a"],"name":"b"},"destination":{"namespace":["a"],"name":"c"}}`, false},
	"transaction":      {"POST", "/v1/wh/transactions/commit", `{"table-changes":[]}`, false},
	"create namespace": {"POST", "/v1/wh/namespaces", `{"namespace":["a"]}`, false},
	"replace view":     {"POST", "/v1/wh/namespaces/sales/views/v", `{}`, false},
	"plan":             {"POST", loadPath + "/plan", `{}`, true},
	"unknown":          {"PUT", "/v1/later", `{}`, false},
	"load":             {"GET", loadPath, "", true},
	"config":           {"GET", "/v1/config", "", true},
	"credentials":      {"GET", loadPath + "/credentials", "", true},
	"list":             {"GET", "/v1/wh/namespaces/sales/tables", "", false},
}

func (o operation) mutates() bool { return o.method != "GET" }

// lost is the status for an answer that did not come: of a mutation, never one
// that says that it failed.
func (o operation) lost() int {
	if o.mutates() {
		return http.StatusBadGateway
	}
	return http.StatusServiceUnavailable
}

// raw is an upstream that reads a request and then writes text and hangs up.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, text)
		conn.Close()
	}
}

func everyOperation(t *testing.T, test func(t *testing.T, o operation)) {
	t.Helper()
	for name, o := range operations {
		t.Run(name, func(t *testing.T) { test(t, o) })
	}
}

// N9, R2: an answer that did not come is 502 for every mutation, which leaves
// the outcome open, and the mutation was sent once.
func TestLostAnswers(t *testing.T) {
	everyOperation(t, func(t *testing.T, o operation) {
		for _, text := range []string{
			"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Type", "no HTTP at all\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}", "HTTP/1.1 200 OK\r\nA\rB: c\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\nc\x00d\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: odd\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "\x00\x00\x12\x04\x00\x00\x00\x00\x00",
		} {
			f := setUp(t, raw(text), nil)
			got := f.do(o.method, o.path, o.body)
			if got.status != o.lost() {
				t.Errorf("after %q: %d %s, want %d", text, got.status, got.body, o.lost())
			}
			if o.mutates() && (len(f.seen()) != 1 || !strings.Contains(string(got.body), "CommitStateUnknownException")) {
				t.Errorf("after %q: sent %d times, answered %s", text, len(f.seen()), got.body)
			}
		}
	})
}

// N9: what was cut off within the body cannot be taken for a whole answer.
func TestCutBodies(t *testing.T) {
	everyOperation(t, func(t *testing.T, o operation) {
		for _, text := range []string{
			"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"metadata\":",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n{\"metadata\":\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
		} {
			f := setUp(t, raw(text), nil)
			req, err := http.NewRequestWithContext(t.Context(), o.method, f.tap.URL+o.path, strings.NewReader(o.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
			if err != nil { // the head, too, was held back: as good
				continue
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			switch {
			case resp.StatusCode == http.StatusOK && err == nil:
				t.Errorf("%q became a whole answer: %s", text, body)
			case o.edited && resp.StatusCode != o.lost():
				t.Errorf("%q became %d, want %d", text, resp.StatusCode, o.lost())
			}
		}
	})
}

// N9, R11: what the upstream says of the outcome passes as it is, with its
// body and headers.
func TestDefiniteAnswersPass(t *testing.T) {
	for _, status := range []int{300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 412, 419, 422, 425, 429, 500, 501, 502, 503, 504, 507, 599} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			body := fmt.Sprintf(`{"error":{"message":"m","type":"T","code":%d}} `, status)
			f := setUp(t, reply(status, body, "Retry-After: 7", "X-Odd: a", "X-Odd: b", "Location: https://elsewhere/x"), nil)
			for name, o := range operations {
				got := f.do(o.method, o.path, o.body)
				if got.status != status || string(got.body) != body || got.header.Get("Retry-After") != "7" || len(got.header["X-Odd"]) != 2 ||
					got.header.Get("Location") != "https://elsewhere/x" {
					t.Errorf("%s: %d %v %s", name, got.status, got.header, got.body)
				}
			}
			if seen := f.seen(); len(seen) > len(operations)+1 { // a load may be repeated without our header
				t.Errorf("%d requests were sent for %d", len(seen), len(operations))
			}
		})
	}
}

// A success that cannot be read passes byte for byte: the change was made, and
// what the client makes of the body is as without us.
func TestOddSuccessesPass(t *testing.T) {
	for _, body := range []string{
		"", "<html>", "null", "[]", "{}", `{"metadata":`, `{"metadata":NaN}`, "\xef\xbb\xbf{}", `{"metadata":{}} {}`, `{"config":[],"metadata":{"location":"s3://lake/t"}}`,
	} {
		f := setUp(t, reply(200, body, "Content-Type: text/html"), nil)
		for name, o := range operations {
			if got := f.do(o.method, o.path, o.body); got.status != 200 || string(got.body) != body {
				t.Errorf("%s: %q became %d %q", name, body, got.status, got.body)
			}
		}
	}
}

// N9: slow beyond the deadline for mutations is 504 for each of them.
func TestSlowMutations(t *testing.T) {
	everyOperation(t, func(t *testing.T, o operation) {
		if !o.mutates() {
			return // a read lasts as long as its client does
		}
		release := make(chan struct{})
		f := setUp(t, func(http.ResponseWriter, *http.Request) { <-release }, func(opts *catalog.Options) { opts.MutationTimeout = 20 * time.Millisecond })
		t.Cleanup(func() { close(release) })
		if got := f.do(o.method, o.path, o.body); got.status != http.StatusGatewayTimeout || len(f.seen()) != 1 {
			t.Errorf("%d %s after %d requests", got.status, got.body, len(f.seen()))
		}
	})
}

// A length that is short of the body ends it there; the rest is nobody's answer.
func TestShortLength(t *testing.T) {
	f := setUp(t, raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"+table("s3://lake/wh/orders", keysJSON)), nil)
	for name, o := range operations {
		if got := f.do(o.method, o.path, o.body); got.status != 200 || string(got.body) != "{}" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// Many informational answers before the final one are no answer.
func TestInformationalAnswers(t *testing.T) {
	final := "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\n{}"
	f := setUp(t, raw(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 50)+final), nil)
	for name, o := range operations {
		if got := f.do(o.method, o.path, o.body); got.status != 409 && got.status != o.lost() {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if a := lastAccess(t, f.records, 1); a.Status != 409 && a.Status < 500 {
		t.Errorf("access = %+v", a)
	}
}

// A 304 that nobody asked for is the upstream's word, and not one of ours.
func TestNotModifiedUnasked(t *testing.T) {
	f := setUp(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"a", "b"`)
		w.WriteHeader(http.StatusNotModified)
	}, nil)
	if got := f.do("GET", loadPath, ""); got.status != 304 || got.header.Get("ETag") != `"a", "b"` || len(got.body) != 0 {
		t.Errorf("%d %v", got.status, got.header)
	}
}

// An answer of 100 MiB passes in bounded memory, whatever it is an answer to.
func TestHundredMebibytes(t *testing.T) {
	block := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	const blocks = 100 << 20 / (16 << 12)
	f := setUp(t, func(w http.ResponseWriter, _ *http.Request) {
		for range blocks {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}, func(o *catalog.Options) { o.MaxEdit = 1 << 20 })
	for _, name := range []string{"load", "commit", "create"} {
		o := operations[name]
		req, err := http.NewRequestWithContext(t.Context(), o.method, f.tap.URL+o.path, strings.NewReader(o.body))
		if err != nil {
			t.Fatal(err)
		}
		var n int64
		grown := heapDuring(t, func() {
			resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			n, err = io.Copy(io.Discard, resp.Body)
			if err != nil {
				t.Error(err)
			}
		})
		if n != int64(blocks*len(block)) || grown > 32<<20 {
			t.Errorf("%s: %d bytes came; the heap grew by %d", name, n, grown)
		}
	}
}

// heapDuring returns by how much the live heap was larger while run ran.
func heapDuring(t *testing.T, run func()) int64 {
	t.Helper()
	live := func() int64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64()) //nolint:gosec // a heap
	}
	runtime.GC()
	before, most := live(), int64(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	for {
		select {
		case <-done:
			return most
		case <-time.After(2 * time.Millisecond):
			most = max(most, live()-before)
		}
	}
}
