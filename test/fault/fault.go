// Package fault stands in front of a real catalog and fails where a test says:
// before the catalog has heard of a request, or after it has carried it out.
package fault

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// A Kind is a way to fail.
type Kind struct {
	Name    string
	Applied bool // the catalog carries the request out
	Status  int  // what a client through a proxy may be told; 0: any, or nothing
	Retry   bool // a client of the specification tries again by itself
	fail    func(w http.ResponseWriter, a answer)
}

// An answer is what the catalog said; it is empty if it was not asked.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// Kinds are all ways to fail.
func Kinds() []Kind {
	html := "<html><body>Bad gateway of somebody else</body></html>"
	return []Kind{
		{Name: "reset before it is applied", Status: 502, fail: reset},
		{Name: "reset after it is applied", Applied: true, Status: 502, fail: reset},
		{Name: "closed after it is applied", Applied: true, Status: 502, fail: write("")},
		{Name: "head cut", Applied: true, Status: 502, fail: write("HTTP/1.1 200 OK\r\nContent-Ty")},
		{Name: "body cut", Applied: true, fail: cut},
		{Name: "length too long", Applied: true, fail: lengthOff(+10)},
		{Name: "length too short", Applied: true, fail: lengthOff(-10)},
		{Name: "not JSON", Applied: true, Status: 200, fail: say(200, html)},
		{Name: "empty 200", Applied: true, Status: 200, fail: say(200, "")},
		{Name: "409", Status: 409, Retry: true, fail: say(409, refusal("CommitFailedException", 409))},
		{Name: "429", Status: 429, Retry: true, fail: say(429, refusal("TooManyRequestsException", 429), "Retry-After", "0")},
		{Name: "503", Status: 503, Retry: true, fail: say(503, refusal("ServiceUnavailableException", 503), "Retry-After", "0")},
		{Name: "500 before", Status: 500, fail: say(500, refusal("CommitStateUnknownException", 500))},
		{Name: "500 after", Applied: true, Status: 500, fail: say(500, refusal("CommitStateUnknownException", 500))},
		{Name: "501", Status: 501, fail: say(501, refusal("UnsupportedOperationException", 501))},
		{Name: "502 after", Applied: true, Status: 502, fail: say(502, html)},
		{Name: "504 after", Applied: true, Status: 504, fail: say(504, html)},
	}
}

func refusal(kind string, code int) string {
	return fmt.Sprintf(`{"error":{"message":"made to fail","type":%q,"code":%d}}`, kind, code)
}

// say answers in place of the catalog.
func say(status int, body string, header ...string) func(http.ResponseWriter, answer) {
	return func(w http.ResponseWriter, _ answer) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// reset ends the connection so that its other end is told of an error.
func reset(w http.ResponseWriter, _ answer) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

// write writes text in place of an answer, and closes the connection.
func write(text string) func(http.ResponseWriter, answer) {
	return func(w http.ResponseWriter, _ answer) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, text)
		conn.Close()
	}
}

// cut sends the first half of the catalog's answer.
func cut(w http.ResponseWriter, a answer) {
	half := string(a.body[:len(a.body)/2])
	write(fmt.Sprintf("HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", a.status, len(a.body)+1, half))(w, a)
}

// lengthOff sends the catalog's answer with a length that is off by some bytes.
func lengthOff(by int) func(http.ResponseWriter, answer) {
	return func(w http.ResponseWriter, a answer) {
		length := max(0, len(a.body)+by)
		write(fmt.Sprintf("HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", a.status, length, a.body))(w, a)
	}
}

// A Catalog is a catalog that fails once for each time it is armed.
type Catalog struct {
	URI string

	upstream string
	mu       sync.Mutex
	kind     *Kind
	end      string
	failed   int
}

// InFrontOf starts one in front of a catalog; it ends with the test.
func InFrontOf(t testing.TB, upstream string) *Catalog {
	t.Helper()
	c := &Catalog{upstream: upstream}
	target, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind := c.due(r); kind != nil {
			c.failAs(*kind, w, r)
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c.URI = server.URL
	return c
}

// Arm makes the next POST fail whose path has an end.
func (c *Catalog) Arm(kind Kind, end string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kind, c.end, c.failed = &kind, end, 0
}

// Failed returns how many requests failed since it was armed.
func (c *Catalog) Failed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// due returns how a request is to fail, nil if it is not.
func (c *Catalog) due(r *http.Request) *Kind {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kind == nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, c.end) {
		return nil
	}
	kind := c.kind
	c.kind = nil
	c.failed++
	return kind
}

// failAs fails, after the catalog was asked if the kind says so.
func (c *Catalog) failAs(kind Kind, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !kind.Applied {
		kind.fail(w, answer{})
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, c.upstream+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	req.Header = r.Header.Clone()
	req.Header.Del("Accept-Encoding")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 { // not carried out: its own words
		w.WriteHeader(resp.StatusCode)
		_, _ = w.Write(text)
		return
	}
	kind.fail(w, answer{resp.StatusCode, resp.Header, text})
}
