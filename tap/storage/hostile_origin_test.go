package storage_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap/storage"
)

// wire makes the origin answer the objects named "odd" with bytes of the
// test's choice, read from reply, and whatever follows on the connection as an
// honest store would: with the object "right".
func (o *origin) wire(reply func() io.Reader, reset bool) {
	o.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/odd") {
			return false
		}
		skim(r.Body)
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return false
		}
		defer conn.Close()
		for path := r.URL.Path; ; {
			if !strings.Contains(path, "/odd") {
				fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright")
			} else if _, err := io.Copy(conn, reply()); err != nil {
				return true
			} else if tcp, ok := conn.(*net.TCPConn); ok && reset {
				_ = tcp.SetLinger(0)
				return true
			}
			req, err := http.ReadRequest(buf.Reader)
			if err != nil {
				return true
			}
			skim(req.Body)
			path = req.URL.Path
		}
	})
}

// text is a reply that is a string.
func text(s string) func() io.Reader { return func() io.Reader { return strings.NewReader(s) } }

// endless repeats a text for ever behind a beginning.
func endless(begin, again string) func() io.Reader {
	return func() io.Reader { return io.MultiReader(strings.NewReader(begin), &repeated{text: again}) }
}

type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at%len(r.text)]
		r.at++
	}
	return len(p), nil
}

// A hostileReply is what a broken or malicious store may send.
type hostileReply struct {
	name   string
	reply  func() io.Reader
	reset  bool
	status int    // that the client gets; 0: as well none
	body   string // that it gets; ignored if broken
	broken bool   // the client sees that the body is not whole
}

func hostileReplies() []hostileReply {
	const ok = "HTTP/1.1 200 OK\r\n"
	whole := ok + "Content-Length: 5\r\n\r\nwhole"
	return []hostileReply{
		{name: "in order", reply: text(whole), status: 200, body: "whole"},
		{name: "reset in the body", reply: text(ok + "Content-Length: 50\r\n\r\nwhole"), reset: true, broken: true},
		{name: "reset in a chunk", reply: text(ok + "Transfer-Encoding: chunked\r\n\r\n50\r\nwhole"), reset: true, broken: true},
		{name: "reset between chunks", reply: text(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n"), reset: true, broken: true},
		{name: "reset in the head", reply: text("HTTP/1.1 200 OK\r\nContent-Le"), reset: true, status: 503},
		{name: "no reply", reply: text(""), reset: true, status: 503},
		{name: "SlowDown", reply: text("HTTP/1.1 503 Slow Down\r\nContent-Length: 37\r\nRetry-After: 9\r\n\r\n<Error><Code>SlowDown</Code></Error>\n"), status: 503, body: "<Error><Code>SlowDown</Code></Error>\n"},
		{name: "too long", reply: text(whole + "and more"), status: 200, body: "whole"},
		{name: "bad chunk", reply: text(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nwholeX\r\n0\r\n\r\n"), broken: true},
		{name: "length and coding", reply: text(ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n"), status: 200, body: "whole"},
		{name: "two lengths", reply: text(ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nwhole!"), status: 503},
		{name: "length list", reply: text(ok + "Content-Length: 5, 6\r\n\r\nwhole!"), status: 503},
		{name: "signed length", reply: text(ok + "Content-Length: -5\r\n\r\nwhole"), status: 503},
		{name: "length of 2^64", reply: text(ok + "Content-Length: 18446744073709551621\r\n\r\nwhole"), status: 503},
		{name: "unknown coding", reply: text(ok + "Transfer-Encoding: gzip\r\n\r\nwhole"), status: 503},
		{name: "not modified, unasked", reply: text("HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\nContent-Length: 50\r\n\r\n"), status: 304},
		{name: "no content with content", reply: text("HTTP/1.1 204 No Content\r\n\r\nwhole"), status: 204},
		{name: "part of another range", reply: text("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 100-104/9000\r\nContent-Length: 5\r\n\r\nwhole"), status: 206, body: "whole"},
		{name: "range that is none", reply: text("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 9-1/-5\r\nContent-Length: 5\r\n\r\nwhole"), status: 206, body: "whole"},
		{name: "switching protocols", reply: text("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nwhole"), status: 503},
		{name: "status 000", reply: text("HTTP/1.1 000 Odd\r\nContent-Length: 5\r\n\r\nwhole"), status: 503},
		{name: "status 099", reply: text("HTTP/1.1 099 Odd\r\nContent-Length: 5\r\n\r\nwhole"), status: 503},
		{name: "status 999", reply: text("HTTP/1.1 999 Odd\r\nContent-Length: 5\r\n\r\nwhole"), status: 999, body: "whole"},
		{name: "status of four", reply: text("HTTP/1.1 2000 Odd\r\nContent-Length: 5\r\n\r\nwhole"), status: 503},
		{name: "early hints", reply: text(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 20) + whole), status: 200, body: "whole"},
		{name: "endless hints", reply: endless("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), status: 503},
		{name: "endless head", reply: endless(ok, "X-Large: "+strings.Repeat("x", 1000)+"\r\n"), status: 503},
		{name: "endless line", reply: endless(ok+"X-Large: ", "x"), status: 503},
		{name: "another protocol", reply: text("SSH-2.0-OpenSSH_9.9\r\n\r\n"), status: 503},
		{name: "carriage return in a value", reply: text(ok + "X-A: a\rX-B: b\r\nContent-Length: 5\r\n\r\nwhole")},
		{name: "NUL in a value", reply: text(ok + "X-A: a\x00b\r\nContent-Length: 5\r\n\r\nwhole")},
		{name: "folded value", reply: text(ok + "X-A: a\r\n Content-Length: 3\r\nContent-Length: 5\r\n\r\nwhole")},
		{name: "space in a name", reply: text(ok + "X A: a\r\nContent-Length: 5\r\n\r\nwhole")},
		{name: "no name", reply: text(ok + ": a\r\nContent-Length: 5\r\n\r\nwhole")},
	}
}

// Whatever a store sends, a client gets that or a refusal of ours, well framed,
// in bounded memory; and the next request is answered right.
func TestHostileReplies(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.StallTimeout = 5 * time.Second })
	f.origin.transport.MaxResponseHeaderBytes = 1 << 20 // as lake/s3
	f.origin.put("lake/wh/t/x", "right")
	keys := f.session(nil)
	control := f.head(call{method: "GET", target: "/lake/wh/t/x", keys: keys}) + "\r\n"
	for _, c := range hostileReplies() {
		for _, target := range []string{"/lake/wh/t/odd", "/lake/wh/t/odd?versionId=1"} {
			t.Run(c.name+" "+target, func(t *testing.T) {
				f.origin.transport.CloseIdleConnections() // they know the reply of the last case
				f.origin.wire(c.reply, c.reset)
				conn := f.dial()
				grown := heapGrowth(func() {
					checkReply(t, c, conn, f.head(call{method: "GET", target: target, keys: keys})+"\r\n", control)
				})
				if grown > 16<<20 {
					t.Errorf("heap grew by %d MiB", grown>>20)
				}
			})
		}
	}
	// Connections that the store spoiled are not used again.
	f.origin.transport.CloseIdleConnections()
	for range 50 {
		if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys}); got.body != "right" {
			t.Fatalf("got %d %s", got.status, got.body)
		}
	}
}

// checkReply sends a request and compares its answer; on a connection that is
// kept, control is sent and must be answered right. Where the store sent bytes
// behind its reply, 503 is right too: for some microseconds Go's transport may
// lend the connection to the next request before it sees them.
func checkReply(t *testing.T, c hostileReply, conn net.Conn, request, control string) {
	t.Helper()
	write(t, conn, request)
	var raw bytes.Buffer
	r := bufio.NewReader(io.TeeReader(conn, &raw))
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodGet})
	if err != nil {
		if !c.broken {
			t.Fatalf("no answer: %v, %q", err, raw.String())
		}
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch head, _, _ := strings.Cut(raw.String(), "\r\n\r\n"); {
	case strings.ContainsAny(strings.ReplaceAll(head, "\r\n", ""), "\r\n\x00"):
		t.Errorf("control characters reach the client: %q", head)
	case c.broken:
		if err == nil && resp.StatusCode == http.StatusOK {
			t.Errorf("%q ended cleanly", body)
		}
		return
	case err != nil:
		t.Errorf("body: %v", err)
	case c.status != 0 && resp.StatusCode != c.status:
		t.Errorf("got %d %s, want %d", resp.StatusCode, body, c.status)
	case c.status == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") == "":
		t.Error("503 without Retry-After")
	case c.body != "" && string(body) != c.body, c.status == 0 && resp.StatusCode == http.StatusOK && string(body) != "whole":
		t.Errorf("got %q", body)
	}
	if resp.Close {
		return
	}
	write(t, conn, control)
	resp, err = http.ReadResponse(r, &http.Request{Method: http.MethodGet})
	if err != nil {
		t.Fatalf("next: %v", err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "right" && resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("next: got %d %q, %v", resp.StatusCode, body, err)
	}
}

// A reply without a length ends with the connection, and nobody can know
// whether that was its end: what came is what the client gets.
func TestReplyWithoutLength(t *testing.T) {
	f := start(t, nil)
	f.origin.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return false
		}
		defer conn.Close()
		write(t, conn, "HTTP/1.1 200 OK\r\n\r\nto the end")
		return true
	})
	if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)}); got.body != "to the end" || got.err != nil {
		t.Errorf("got %d %q, %v", got.status, got.body, got.err)
	}
}

// An answer to HEAD has no body, whatever a store sends behind it.
func TestHeadWithABody(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/x", "right")
	f.origin.wire(text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"), false)
	keys := f.session(nil)
	got := f.do(call{method: "HEAD", target: "/lake/wh/t/odd", keys: keys})
	if got.status != 200 || got.body != "" || got.header.Get("Content-Length") != "5" {
		t.Errorf("got %d %v %q", got.status, got.header, got.body)
	}
	for range 20 {
		if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys}); got.body != "right" && got.status != http.StatusServiceUnavailable {
			t.Fatalf("next: got %d %q", got.status, got.body)
		}
	}
}

// A header that says what an object is stays, also if Connection calls it a
// matter of the connection; on both sides, on every line.
func TestConnectionTakesNothingEssential(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/x", "0123456789")
	keys := f.session(nil)
	name := "Connection: x-hop, range, if-match\r\nConnection: x-other, content-md5, cache-control, x-amz-acl, content-type\r\nX-Hop: 1\r\nX-Other: 1\r\n"
	got := f.raw(f.head(call{method: "GET", target: "/lake/wh/t/x?versionId=1", keys: keys, header: http.Header{"Range": {"bytes=2-4"}}}) + name + "Connection: close\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 206 ") || !strings.HasSuffix(got, "\r\n\r\n234") {
		t.Errorf("got %q", got)
	}
	f.origin.seen()
	header := http.Header{"If-Match": {`"other"`}, "Content-Type": {"text/x"}, "Cache-Control": {"no-cache"}, "X-Amz-Acl": {"private"}, "Content-Encoding": {"gzip"}}
	put := f.head(call{method: "PUT", target: "/lake/wh/t/y", keys: keys, header: header.Clone(), payload: &sigv4.Payload{Mode: sigv4.Unsigned}})
	got = f.raw(put + name + "Connection: close\r\nContent-Length: 1\r\n\r\ny")
	sent := f.origin.seen()
	if len(sent) != 1 || sent[0].Err != "" {
		t.Fatalf("origin saw %s, client got %q", describe(sent), got)
	}
	for name := range header {
		if sent[0].Header.Get(name) != header.Get(name) {
			t.Errorf("%s is %q, want %q", name, sent[0].Header.Get(name), header.Get(name))
		}
	}
	for _, name := range []string{"X-Hop", "X-Other", "Connection"} {
		if v := sent[0].Header.Get(name); v != "" {
			t.Errorf("%s reached the origin: %q", name, v)
		}
	}
	f.origin.wire(text("HTTP/1.1 206 Partial Content\r\nConnection: content-range, etag\r\nConnection: x-hop, content-type, x-amz-version-id\r\nX-Hop: 1\r\n"+
		"ETag: \"e\"\r\nContent-Type: a/b\r\nContent-Range: bytes 0-1/2\r\nX-Amz-Version-Id: 7\r\nContent-Length: 2\r\n\r\nab"), false)
	reply := f.do(call{method: "GET", target: "/lake/wh/t/odd", keys: keys})
	for name, want := range map[string]string{"ETag": `"e"`, "Content-Type": "a/b", "Content-Range": "bytes 0-1/2", "X-Amz-Version-Id": "7", "X-Hop": "", "Connection": ""} {
		if got := reply.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Several lines of Content-Encoding are one list.
func TestContentEncodingInLines(t *testing.T) {
	f := start(t, nil)
	p := &sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Trailers: []string{"x-amz-checksum-crc32"}}
	got := f.do(call{
		method: "PUT", target: "/lake/wh/t/x", body: "packed", keys: f.session(nil), payload: p, trailer: trailerOf("packed"),
		header: http.Header{"Content-Encoding": {"aws-chunked", "gzip"}},
	})
	if sent := f.origin.seen(); got.status != 200 || len(sent) != 1 || !strings.Contains(sent[0].Header.Get("Content-Encoding"), "gzip") {
		t.Errorf("got %d %s, origin saw %s %v", got.status, got.body, describe(sent), sent)
	}
	if obj, _ := f.origin.object("lake/wh/t/x"); string(obj.data) != "packed" {
		t.Errorf("stored %q", obj.data)
	}
}

// A client of HTTP/1.0 cannot be sent chunks, so a reply of unknown length is
// gathered for it: not without end, and not if it breaks off.
func TestHTTP10IsNotGatheredForEver(t *testing.T) {
	f := start(t, nil)
	keys := f.session(nil)
	get := strings.Replace(f.head(call{method: "GET", target: "/lake/wh/t/odd?versionId=1", keys: keys}), "HTTP/1.1", "HTTP/1.0", 1) + "\r\n"
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, reply := range map[string]func() io.Reader{
		"endless": endless(chunked, "10000\r\n"+strings.Repeat("e", 1<<16)+"\r\n"),
		"broken":  text(chunked + "5\r\nwhole\r\nnonsense\r\n"),
	} {
		f.origin.wire(reply, false)
		grown := heapGrowth(func() {
			got := f.raw(get)
			if !strings.HasPrefix(got, "HTTP/1.1 500 ") || !strings.Contains(got, "<Code>InternalError</Code>") || !strings.Contains(got, "Content-Length: ") {
				t.Errorf("%s: got %.300q", name, got)
			}
		})
		if grown > 64<<20 {
			t.Errorf("%s: heap grew by %d MiB", name, grown>>20)
		}
	}
}

// An endless body goes on for as long as its client takes it, and not longer.
func TestEndlessBody(t *testing.T) {
	f := start(t, nil)
	ended := make(chan struct{})
	f.origin.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		defer close(ended)
		_, _ = io.Copy(w, &repeated{text: "for ever and "})
		return true
	})
	conn := f.dial()
	write(t, conn, f.head(call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)})+"\r\n")
	grown := heapGrowth(func() {
		if n, err := io.CopyN(io.Discard, conn, 64<<20); err != nil {
			t.Errorf("after %d bytes: %v", n, err)
		}
	})
	conn.Close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the origin is still sending")
	}
	if a := f.access(); a.Err == "" || grown > 32<<20 {
		t.Errorf("recorded %q, heap grew by %d MiB", a.Err, grown>>20)
	}
}
