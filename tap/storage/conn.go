package storage

import (
	"crypto/tls"
	"errors"
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
	tls  *tls.Config // nil: not encrypted
	mu   sync.Mutex
	open map[net.Conn]bool
}

func newListener(ln net.Listener, config *tls.Config) *listener {
	return &listener{Listener: ln, tls: config, open: map[net.Conn]bool{}}
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		c = &politeConn{TCPConn: tcp}
	}
	if l.tls != nil {
		// The handshake comes with the first byte that is read, in the goroutine
		// that serves the connection and within the time for a head.
		c = tls.Server(c, l.tls)
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
		// Not encrypted's own Close, which takes time to say goodbye.
		if p, ok := polite(c); ok {
			_ = p.TCPConn.Close()
			continue
		}
		_ = c.Close()
	}
}

// polite returns the politeConn of a connection, below its encryption.
func polite(c net.Conn) (*politeConn, bool) {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	p, ok := c.(*politeConn)
	return p, ok
}

// linger has a connection listen a little when it is closed: its client was
// still sending.
func linger(c net.Conn) {
	if p, ok := polite(c); ok {
		p.unread.Store(true)
	}
}

// unshaken reports whether a connection should be encrypted and its client has
// not got so far: scanners, health checks that leave again and clients that
// distrust the certificate have asked for nothing.
func unshaken(c net.Conn) bool {
	encrypted, ok := c.(*tls.Conn)
	return ok && !encrypted.ConnectionState().HandshakeComplete
}

// answerPlain answers a client that speaks plain HTTP to an encrypted port in
// words that it can read.
func answerPlain(err error) {
	var plain tls.RecordHeaderError
	if !errors.As(err, &plain) || plain.Conn == nil {
		return
	}
	_ = plain.Conn.SetWriteDeadline(time.Now().Add(lingerTime))
	// The client left: nobody to tell.
	_, _ = io.WriteString(plain.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"+
		"This port speaks https; the request was http.\n")
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
