package storage_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

func newServer(t *testing.T) (*storage.Server, *origin) {
	t.Helper()
	keys, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	o := newOrigin(t)
	s, err := storage.New(storage.Options{Origins: []tap.Origin{{Name: "main"}}, Send: o, Keys: keys, Static: []storage.StaticKey{admin}})
	if err != nil {
		t.Fatal(err)
	}
	return s, o
}

func TestShutdownBeforeServe(t *testing.T) {
	s, _ := newServer(t)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(listen(t)); err != nil {
		t.Errorf("serve: %v", err)
	}
}

// However a start and an end meet, both calls come back.
func TestShutdownWhileServeBegins(t *testing.T) {
	for range 20 {
		s, _ := newServer(t)
		served := make(chan error, 1)
		ln := listen(t)
		go func() { served <- s.Serve(ln) }()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		cancel()
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("serve: %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("still serving")
		}
	}
}

func TestTLS(t *testing.T) {
	certificate := httptest.NewTLSServer(http.NotFoundHandler())
	defer certificate.Close()
	s, o := newServer(t)
	o.put("lake/x", "over TLS")
	ln := listen(t)
	served := make(chan error, 1)
	go func() {
		served <- s.Serve(tls.NewListener(ln, &tls.Config{Certificates: certificate.TLS.Certificates, MinVersion: tls.VersionTLS12}))
	}()
	f := &fixture{t: t, origin: o, addr: ln.Addr().String()}
	req := f.request(call{method: "GET", target: "/lake/x", keys: adminKeys})
	req.URL.Scheme = "https"
	client := certificate.Client()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != "over TLS" || resp.StatusCode != http.StatusOK {
		t.Errorf("got %d %q, %v", resp.StatusCode, got, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	client.CloseIdleConnections()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
}
