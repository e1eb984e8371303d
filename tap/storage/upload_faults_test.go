package storage_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap/storage"
)

// upload signs a PUT and spells it as it goes over the wire: head and body
// apart, the body in HTTP's own chunks or not.
func (f *fixture) upload(c call, chunked bool) (head, body string) {
	f.t.Helper()
	req := f.request(c)
	if chunked {
		req.ContentLength, req.TransferEncoding = -1, []string{"chunked"}
	}
	var wire strings.Builder
	if err := req.Write(&wire); err != nil {
		f.t.Fatal(err)
	}
	head, body, _ = strings.Cut(wire.String(), "\r\n\r\n")
	return head + "\r\n\r\n", body
}

// An upload that breaks off, wherever and however, never becomes an object,
// whole or in part, in any mode.
func TestUploadsThatBreakOff(t *testing.T) {
	f := start(t, nil)
	keys := f.session(nil)
	content := strings.Repeat("0123456789abcdef", 10<<10)
	for _, m := range modes() {
		for _, chunked := range []bool{false, true} {
			p := m.payload
			head, body := f.upload(call{method: "PUT", target: "/lake/wh/t/cut", body: content, keys: keys, payload: &p, trailer: trailerOf(content)}, chunked)
			for _, left := range []int{1, 2, 3, 7, 60, 100, 200, 70 << 10, len(body)} {
				for how, leave := range map[string]func(*net.TCPConn){
					"closes":      func(c *net.TCPConn) { _ = c.Close() },
					"half-closes": func(c *net.TCPConn) { _ = c.CloseWrite(); skim(c); _ = c.Close() },
					"resets":      func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() },
				} {
					name := fmt.Sprintf("%s, chunked %v, %s %d bytes before the end", m.name, chunked, how, left)
					conn := f.dial().(*net.TCPConn)
					write(t, conn, head+body[:len(body)-left])
					leave(conn)
					if a := f.access(); a.Status < 400 {
						t.Errorf("%s: recorded %d", name, a.Status)
					}
				}
			}
		}
	}
	// Whoever arrived at the origin broke off there too.
	if obj, ok := f.origin.object("lake/wh/t/cut"); ok {
		t.Errorf("an object of %d bytes was stored", len(obj.data))
	}
	for _, s := range f.origin.seen() {
		if s.Err == "" {
			t.Errorf("the origin took %s", describe([]seen{s}))
		}
	}
}

// An upload in writes of one byte is an upload.
func TestUploadByteByByte(t *testing.T) {
	f := start(t, nil)
	keys := f.session(nil)
	content := strings.Repeat("byte by byte ", 100)
	for _, m := range modes() {
		for _, chunked := range []bool{false, true} {
			name := fmt.Sprintf("%s, chunked %v", m.name, chunked)
			p := m.payload
			target := "/lake/wh/t/" + strings.ReplaceAll(m.name, " ", "-")
			head, body := f.upload(call{method: "PUT", target: target, body: content, keys: keys, payload: &p, trailer: trailerOf(content)}, chunked)
			conn := f.dial()
			if _, err := io.Copy(writeOnly{conn}, iotest.OneByteReader(strings.NewReader(head+body))); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := read(resp)
			resp.Body.Close()
			if obj, _ := f.origin.object(target[1:]); got.status != 200 || string(obj.data) != content {
				t.Errorf("%s: got %d %s, stored %d bytes", name, got.status, got.body, len(obj.data))
			}
		}
	}
}

// writeOnly hides ReadFrom, so that every write is one of its own.
type writeOnly struct{ io.Writer }

// What goes wrong at the origin while it is sent an object is a failure for
// the client, is sent once, and leaves no object.
func TestOriginFailsAnUpload(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.StallTimeout = 1500 * time.Millisecond })
	keys := f.session(nil)
	body := strings.Repeat("u", 32<<20) // more than all buffers between
	release, answered := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(release) })
	reset := func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
	for _, c := range []struct {
		name   string
		origin func(w http.ResponseWriter, r *http.Request)
		status int
		code   string
	}{
		{"reset at once", func(w http.ResponseWriter, _ *http.Request) { reset(w) }, 500, "InternalError"},
		{"reset in the body", func(w http.ResponseWriter, r *http.Request) { _, _ = io.CopyN(io.Discard, r.Body, 1<<20); reset(w) }, 500, "InternalError"},
		{"reset after the body", func(w http.ResponseWriter, r *http.Request) { skim(r.Body); reset(w) }, 500, "InternalError"},
		{"stall in the body", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
			select {
			case <-r.Context().Done():
			case <-release:
			}
		}, 500, "InternalError"},
		{"SlowDown", func(w http.ResponseWriter, r *http.Request) {
			skim(r.Body)
			w.WriteHeader(http.StatusServiceUnavailable)
			write(t, w, "<Error><Code>SlowDown</Code></Error>")
		}, 503, "SlowDown"},
		{"yes before the body", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 1000)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			write(t, conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			<-answered // reading on, it might have the whole after all
		}, 500, "InternalError"},
		{"another protocol", func(w http.ResponseWriter, r *http.Request) {
			skim(r.Body)
			w.Header().Set("Upgrade", "x")
			w.Header().Set("Connection", "Upgrade")
			w.WriteHeader(http.StatusSwitchingProtocols)
		}, 500, "InternalError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool { c.origin(w, r); return true })
			f.origin.sent()
			got := f.do(call{method: "PUT", target: "/lake/wh/t/x", body: body, keys: keys, payload: &sigv4.Payload{Mode: sigv4.Unsigned}})
			if c.name == "yes before the body" {
				answered <- struct{}{}
			}
			if got.status != c.status || got.code() != c.code {
				t.Errorf("got %d %s", got.status, got.body)
			}
			if n := f.origin.sent(); n != 1 {
				t.Errorf("sent %d times", n)
			}
			if a := f.access(); a.Status != c.status {
				t.Errorf("recorded %d %q", a.Status, a.Err)
			}
		})
	}
}

// A copy and a completion may fail after their 200: the document says so, and
// passes as it is, once (field case G19).
func TestG19ErrorInsideOf200(t *testing.T) {
	b := &blocks{}
	f := start(t, withBlocks(b))
	keys := f.session(nil)
	const document = "<?xml version=\"1.0\"?>\n\n   \n<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		skim(r.Body)
		write(t, w, document)
		return true
	})
	for _, c := range []call{
		{method: "PUT", target: "/lake/wh/t/x", header: copyFrom("/lake/wh/t/y")},
		{method: "PUT", target: "/lake/wh/t/x?partNumber=1&uploadId=u", header: copyFrom("/lake/wh/t/y")},
		{method: "POST", target: "/lake/wh/t/x?uploadId=u", body: "<CompleteMultipartUpload/>"},
	} {
		c.keys = keys
		if got := f.do(c); got.status != 200 || got.body != document {
			t.Errorf("%s %s: got %d %q", c.method, c.target, got.status, got.body)
		}
		if n := f.origin.sent(); n != 1 {
			t.Errorf("%s %s: sent %d times", c.method, c.target, n)
		}
		f.access() // the second forgetting comes before it
		if log := b.taken(); len(log) != 2 || log[0] != "forget wh/t/x" {
			t.Errorf("%s %s: blocks saw %v", c.method, c.target, log)
		}
	}
}

// White space that comes for longer than the stall timeout passes as it
// comes and breaks nothing: it moves (field case G19).
func TestG19MinutesOfWhiteSpace(t *testing.T) {
	const stall = time.Second
	f := start(t, func(o *storage.Options) { o.StallTimeout = stall })
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		skim(r.Body)
		tick := time.NewTicker(stall / 10)
		defer tick.Stop()
		for begin := time.Now(); time.Since(begin) < 2*stall; <-tick.C {
			write(t, w, " ")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Errorf("flush: %v", err)
				return true
			}
		}
		write(t, w, "<CompleteMultipartUploadResult/>")
		return true
	})
	got := f.do(call{method: "POST", target: "/lake/wh/t/x?uploadId=u", body: "<CompleteMultipartUpload/>", keys: f.session(nil)})
	if got.status != 200 || got.err != nil || strings.TrimLeft(got.body, " ") != "<CompleteMultipartUploadResult/>" {
		t.Errorf("got %d %q, %v", got.status, got.body, got.err)
	}
}

// A connection that the origin has closed while it was idle: a read is asked
// again and answered, a change is sent once and its outcome called unknown
// (field case G22).
func TestG22DeadKeepAliveConnection(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/x", "x")
	keys := f.session(nil)
	var mu sync.Mutex
	used := map[string]bool{}
	var arrived atomic.Int64
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		again := used[r.RemoteAddr]
		used[r.RemoteAddr] = true
		mu.Unlock()
		if !again {
			return false
		}
		// The second request of a connection arrives as it is being closed.
		arrived.Add(1)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
		return true
	})
	for _, c := range []struct {
		call
		status int
	}{
		{call{method: "GET", target: "/lake/wh/t/x"}, 200},
		{call{method: "HEAD", target: "/lake/wh/t/x"}, 200},
		{call{method: "GET", target: "/lake?list-type=2&prefix=wh/t/"}, 200},
		{call{method: "PUT", target: "/lake/wh/t/y", body: "y"}, 500},
		{call{method: "PUT", target: "/lake/wh/t/y"}, 500},
		{call{method: "DELETE", target: "/lake/wh/t/y"}, 500},
		{call{method: "POST", target: "/lake/wh/t/y?uploads", header: http.Header{"Idempotency-Key": {"k"}}}, 500},
		{call{method: "PUT", target: "/lake/wh/t/y", header: copyFrom("/lake/wh/t/x")}, 500},
	} {
		f.origin.transport.CloseIdleConnections()
		if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys}); got.body != "x" {
			t.Fatalf("warming up: got %d %s", got.status, got.body)
		}
		arrived.Store(0)
		c.keys = keys
		got := f.do(c.call)
		if got.status != c.status || arrived.Load() != 1 {
			t.Errorf("%s %s: got %d %s, arrived %d times at the dead connection", c.method, c.target, got.status, got.body, arrived.Load())
		}
	}
	if obj, ok := f.origin.object("lake/wh/t/y"); ok {
		t.Errorf("stored %q", obj.data)
	}
}

// A client that leaves before the answer, or in the middle of one, leaves
// nothing behind that goes on; the access says what happened.
func TestDownloadsThatBreakOff(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.StallTimeout = time.Second })
	keys := f.session(nil)
	over := make(chan struct{}, 1)
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		defer func() { over <- struct{}{} }()
		w.Header().Set("Content-Length", strconv.Itoa(bulk))
		if _, err := io.Copy(w, &zeros{bulk}); err == nil {
			t.Error("the whole object was fetched")
		}
		return true
	})
	for how, leave := range map[string]func(*net.TCPConn){
		"closes in the body": func(c *net.TCPConn) { _, _ = io.CopyN(io.Discard, c, 100<<10); _ = c.Close() },
		"resets in the body": func(c *net.TCPConn) { _, _ = io.CopyN(io.Discard, c, 100<<10); _ = c.SetLinger(0); _ = c.Close() },
		"closes at once":     func(c *net.TCPConn) { _ = c.Close() },
		"reads nothing":      func(*net.TCPConn) {},
	} {
		conn := f.dial().(*net.TCPConn)
		write(t, conn, f.head(call{method: "GET", target: "/lake/wh/t/big", keys: keys})+"\r\n")
		leave(conn)
		select {
		case <-over:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the origin is still sending", how)
		}
		if a := f.access(); a.Err == "" || a.BytesOut >= bulk || a.Served != laketap.FromOrigin {
			t.Errorf("%s: recorded %d bytes, %q", how, a.BytesOut, a.Err)
		}
		conn.Close()
	}
}

// A client that has said all it has to say still gets the whole answer.
func TestHalfClosedDownloadIsAnswered(t *testing.T) {
	f := start(t, nil)
	content := strings.Repeat("whole ", 1<<20)
	f.origin.put("lake/wh/t/x", content)
	conn := f.dial().(*net.TCPConn)
	write(t, conn, f.head(call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)})+"\r\n")
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 200 ") || !strings.HasSuffix(string(got), "\r\n\r\n"+content) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}
