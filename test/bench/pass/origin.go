package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// An origin is the least that can be taken for a store: it verifies nothing,
// has its bytes in memory and answers in one write, so that what is measured
// is not its own. A path is /bench/DELAY/SIZE.
type origin struct {
	address string
	ln      net.Listener
	body    []byte

	mu   sync.Mutex
	open map[net.Conn]bool
	wg   sync.WaitGroup
}

func startOrigin(ctx context.Context) (*origin, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := &origin{address: ln.Addr().String(), ln: ln, body: make([]byte, 64<<20), open: map[net.Conn]bool{}}
	for i := range o.body {
		o.body[i] = byte(i * 7 >> 3)
	}
	o.wg.Go(o.accept)
	return o, nil
}

func (o *origin) accept() {
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

// close ends all connections.
func (o *origin) close() {
	_ = o.ln.Close()
	o.mu.Lock()
	for conn := range o.open {
		_ = conn.Close()
	}
	o.mu.Unlock()
	o.wg.Wait()
}

// serve answers the requests of a connection; they have no bodies.
func (o *origin) serve(conn net.Conn) {
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
func (o *origin) answer(conn net.Conn, head []byte) error {
	line, _, _ := bytes.Cut(head, []byte("\r\n"))
	words := bytes.Split(line, []byte(" "))
	if len(words) != 3 {
		return fmt.Errorf("request line %q", line)
	}
	path := bytes.Split(words[1], []byte("/"))
	if len(path) != 4 { // a probe of the tap: is somebody there?
		_, err := conn.Write([]byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
		return err
	}
	delay, err1 := strconv.Atoi(string(path[2]))
	size, err2 := strconv.Atoi(string(path[3]))
	if err1 != nil || err2 != nil || size > len(o.body) {
		return fmt.Errorf("path %q", words[1])
	}
	if delay > 0 {
		time.Sleep(time.Duration(delay) * time.Millisecond)
	}
	answer := net.Buffers{
		[]byte("HTTP/1.1 200 OK\r\nETag: \"0123456789abcdef0123456789abcdef\"\r\nLast-Modified: Tue, 01 Dec 2026 00:00:00 GMT\r\n" +
			"Accept-Ranges: bytes\r\nContent-Type: application/octet-stream\r\nServer: bench\r\nX-Amz-Request-Id: 0123456789ABCDEF\r\n" +
			"Content-Length: " + strconv.Itoa(size) + "\r\n\r\n"),
		o.body[:size],
	}
	_, err := answer.WriteTo(conn)
	return err
}
