package side

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An Origin is the least that can be taken for a store: it verifies nothing,
// has its bytes in memory and answers in one write, so that what is measured is
// not its own. A path is /bench/DELAY/SIZE, delay in milliseconds, or that and a
// name: all objects of a size have the same bytes. Others are added with Put.
type Origin struct {
	Address string // host and port

	ln   net.Listener
	body []byte

	mu       sync.Mutex
	open     map[net.Conn]bool
	put      map[string][]byte
	requests int
	bytes    int64
	wg       sync.WaitGroup
}

// StartOrigin starts one on a free port.
func StartOrigin(ctx context.Context) (*Origin, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := &Origin{Address: ln.Addr().String(), ln: ln, body: make([]byte, 64<<20), open: map[net.Conn]bool{}, put: map[string][]byte{}}
	for i := range o.body {
		o.body[i] = byte(i * 7 >> 3)
	}
	o.wg.Go(o.accept)
	return o, nil
}

// Put adds an object that no path describes.
func (o *Origin) Put(path string, body []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put[path] = body
}

// Served returns how many requests were answered with bytes, and how many.
func (o *Origin) Served() (requests int, bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests, o.bytes
}

func (o *Origin) accept() {
	for {
		conn, err := o.ln.Accept()
		if err != nil {
			return
		}
		o.mu.Lock()
		o.open[conn] = true
		o.mu.Unlock()
		o.wg.Go(func() {
			o.serve(conn)
			_ = conn.Close()
			o.mu.Lock()
			delete(o.open, conn)
			o.mu.Unlock()
		})
	}
}

// Close ends all connections.
func (o *Origin) Close() {
	_ = o.ln.Close()
	o.mu.Lock()
	for conn := range o.open {
		_ = conn.Close()
	}
	o.mu.Unlock()
	o.wg.Wait()
}

// serve answers the requests of a connection; they have no bodies.
func (o *Origin) serve(conn net.Conn) {
	buffer, n := make([]byte, 64<<10), 0
	for {
		end := bytes.Index(buffer[:n], []byte("\r\n\r\n"))
		if end < 0 {
			m, err := conn.Read(buffer[n:])
			if err != nil {
				return
			}
			n += m
			continue
		}
		if err := o.answer(conn, buffer[:end]); err != nil {
			return
		}
		n = copy(buffer, buffer[end+4:n])
	}
}

// answer answers one request.
func (o *Origin) answer(conn net.Conn, head []byte) error {
	lines := bytes.Split(head, []byte("\r\n"))
	words := bytes.Split(lines[0], []byte(" "))
	if len(words) != 3 {
		return fmt.Errorf("request line %q", lines[0])
	}
	body, delay, ok := o.object(string(words[1]))
	if !ok { // a probe of the tap, mostly: is somebody there?
		_, err := conn.Write([]byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
		return err
	}
	time.Sleep(delay)
	status, sent, span := "200 OK", body, ""
	for _, line := range lines[1:] {
		name, value, _ := bytes.Cut(line, []byte(": "))
		if from, to, ok := within(string(value), len(body)); ok && bytes.EqualFold(name, []byte("Range")) {
			status, sent = "206 Partial Content", body[from:to]
			span = fmt.Sprintf("Content-Range: bytes %d-%d/%d\r\n", from, to-1, len(body))
		}
	}
	length := len(sent)
	if string(words[0]) == "HEAD" {
		sent = nil
	}
	o.mu.Lock()
	o.requests++
	o.bytes += int64(len(sent))
	o.mu.Unlock()
	answer := net.Buffers{
		[]byte("HTTP/1.1 " + status + "\r\nETag: \"0123456789abcdef0123456789abcdef\"\r\nLast-Modified: Tue, 01 Dec 2026 00:00:00 GMT\r\n" +
			"Accept-Ranges: bytes\r\nContent-Type: application/octet-stream\r\nServer: bench\r\nX-Amz-Request-Id: 0123456789ABCDEF\r\n" +
			span + "Content-Length: " + strconv.Itoa(length) + "\r\n\r\n"),
		sent,
	}
	_, err := answer.WriteTo(conn)
	return err
}

// object finds what a path is of, and how long to wait before it.
func (o *Origin) object(target string) (body []byte, delay time.Duration, ok bool) {
	path, _, _ := strings.Cut(target, "?")
	o.mu.Lock()
	body, ok = o.put[path]
	o.mu.Unlock()
	parts := strings.Split(path, "/")
	if ok || len(parts) < 4 || parts[1] != "bench" {
		return body, 0, ok
	}
	millis, err1 := strconv.Atoi(parts[2])
	size, err2 := strconv.Atoi(parts[3])
	if err1 != nil || err2 != nil || size > len(o.body) {
		return nil, 0, false
	}
	return o.body[:size], time.Duration(millis) * time.Millisecond, true
}

// within reads a range of bytes, as in "bytes=0-4" or "bytes=-5"; to is one past
// its end.
func within(value string, size int) (from, to int, ok bool) {
	span, ok := strings.CutPrefix(value, "bytes=")
	first, last, dash := strings.Cut(span, "-")
	if !ok || !dash {
		return 0, 0, false
	}
	to = size
	if n, err := strconv.Atoi(last); err == nil {
		to = min(size, n+1)
		if first == "" {
			return max(0, size-n), size, true
		}
	}
	from, err := strconv.Atoi(first)
	return from, to, err == nil && from < to
}
