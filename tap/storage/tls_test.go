package storage_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/tap/storage"
)

// encrypted starts a tap with TLS and returns how clients are to dial it.
func encrypted(t *testing.T) (*fixture, *tls.Config) {
	t.Helper()
	lender := httptest.NewTLSServer(nil) // its certificate is all that is wanted
	lender.Close()
	f := start(t, func(o *storage.Options) {
		o.TLS = &tls.Config{Certificates: lender.TLS.Certificates, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	})
	client, ok := lender.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatal("no transport")
	}
	return f, &tls.Config{RootCAs: client.TLSClientConfig.RootCAs, ServerName: "example.com", NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
}

func dialTLS(t *testing.T, f *fixture, config *tls.Config) *tls.Conn {
	t.Helper()
	conn, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn.(*tls.Conn) //nolint:forcetypeassert // that is what a tls.Dialer makes
}

func TestStorageSpeaksHTTP1OnTLS(t *testing.T) {
	f, config := encrypted(t)
	conn := dialTLS(t, f, config)
	if got := conn.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Errorf("a client that offers h2 first gets %q, want http/1.1", got)
	}
	// A connection is used again and again, as without encryption.
	in := bufio.NewReader(conn)
	for range 3 {
		if _, err := fmt.Fprintf(conn, "GET /lake/wh/t/x HTTP/1.1\r\nHost: %s\r\n\r\n", f.addr); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("status %d of an unsigned request, want 403", resp.StatusCode)
		}
		f.access()
	}
}

// Who is refused in the middle of an upload reads why, although it has not
// finished sending.
func TestRefusedUploadReadsItsAnswerOnTLS(t *testing.T) {
	f, config := encrypted(t)
	conn := dialTLS(t, f, config)
	const length = 8 << 20
	sent := make(chan error, 1)
	go func() {
		_, err := fmt.Fprintf(conn, "PUT /lake/wh/t/x HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", f.addr, length, strings.Repeat("x", length))
		sent <- err
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "AccessDenied") {
		t.Errorf("answer %d %q, want 403 AccessDenied", resp.StatusCode, body)
	}
	_ = conn.Close()
	if err := <-sent; err == nil {
		t.Log("all of the body was taken before it was refused")
	}
	if a := f.access(); a.Status != http.StatusForbidden {
		t.Errorf("recorded %+v", a)
	}
}

// Health checks that connect and leave, scanners and clients that distrust the
// certificate have asked for nothing: they are no accesses.
func TestBrokenHandshakesAreNoAccesses(t *testing.T) {
	f, config := encrypted(t)
	for _, say := range []string{"", "\x16\x03\x01\x00\x05hello", "nonsense that is no handshake\r\n\r\n"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, say); err != nil {
			t.Fatal(err)
		}
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
		_, _ = io.Copy(io.Discard, conn) // until the tap has given it up
		_ = conn.Close()
	}
	conn := dialTLS(t, f, config)
	if _, err := fmt.Fprintf(conn, "GET /lake/wh/t/last HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", f.addr); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, conn)
	if a := f.access(); a.Object.Key != "wh/t/last" {
		t.Errorf("recorded %+v, want the only request there was", a)
	}
}
