package storage

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A listener hands out connections that close politely and remembers those
// that are open.
type listener struct {
	net.Listener
	mu   sync.Mutex
	open map[net.Conn]bool
}

func newListener(ln net.Listener) *listener {
	return &listener{Listener: ln, open: map[net.Conn]bool{}}
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		c = &politeConn{TCPConn: tcp}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = true
	return c, nil
}

// forget is told of every connection that was closed.
func (l *listener) forget(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// closeAll cuts every open connection.
func (l *listener) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if p, ok := c.(*politeConn); ok {
			_ = p.TCPConn.Close()
			continue
		}
		_ = c.Close()
	}
}

// What a politeConn reads of a client that has not finished sending.
const (
	lingerBytes = 64 << 20
	lingerTime  = 2 * time.Second
)

// A politeConn closes so that a client which is still sending a body can read
// the answer: closing with unread bytes would reset the connection and take
// the answer away. It keeps TCPConn's ReadFrom, and so sendfile.
type politeConn struct {
	*net.TCPConn
	unread atomic.Bool // the client was still sending when it was answered
}

// Close closes the connection; if a body is unread, it stops sending and
// listens a little longer first.
func (c *politeConn) Close() error {
	if c.unread.Load() && c.CloseWrite() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, readOnly{c.TCPConn}, lingerBytes)
	}
	return c.TCPConn.Close()
}

// readOnly hides the other methods of a connection.
type readOnly struct{ io.Reader }
