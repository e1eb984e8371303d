package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A fakeListener has an address that this machine may not have.
type fakeListener struct {
	net.Listener
	address string
}

func (l fakeListener) Addr() net.Addr     { return l }
func (fakeListener) Network() string      { return "tcp" }
func (l fakeListener) String() string     { return l.address }
func onLoopback(port string) net.Listener { return fakeListener{address: "127.0.0.1:" + port} }

// An address to listen on is not one to connect to: all interfaces are reached
// by loopback from here.
func TestURLOf(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:8181":     "http://127.0.0.1:8181",
		"0.0.0.0:8181":       "http://127.0.0.1:8181",
		"[::]:8181":          "http://127.0.0.1:8181",
		"[::1]:8181":         "http://[::1]:8181",
		"[fd00::1%eth0]:443": "http://[fd00::1%eth0]:443",
		"10.1.2.3:80":        "http://10.1.2.3:80",
		"a pipe":             "http://a pipe",
	} {
		if got := urlOf(fakeListener{address: address}); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
	for address, want := range map[string]string{"127.0.0.1:8181": "8181", "[::]:1": "1", "a pipe": ""} {
		if got := portOf(fakeListener{address: address}); got != want {
			t.Errorf("port of %s: got %q, want %q", address, got, want)
		}
	}
}

// All ports are opened or none: a server that was refused its last one leaves
// the others to whoever comes next.
func TestListenAllOrNone(t *testing.T) {
	var config net.ListenConfig
	busy, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	free := make([]string, 2)
	for i := range free {
		l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		free[i] = l.Addr().String()
		_ = l.Close()
	}
	cfg := NewConfig()
	cfg.Catalog.Listen, cfg.Storage.Listen, cfg.Admin.Listen = free[0], free[1], busy.Addr().String()
	if _, err := listen(t.Context(), cfg); err == nil || !strings.HasPrefix(err.Error(), "admin.listen: "+cfg.Admin.Listen+" is in use") {
		t.Fatalf("got %v", err)
	}
	cfg.Admin.Listen = "127.0.0.1:0"
	l, err := listen(t.Context(), cfg)
	if err != nil {
		t.Fatalf("a port was kept: %v", err)
	}
	if got := urlOf(l.catalog) + " " + urlOf(l.storage); got != "http://"+free[0]+" http://"+free[1] {
		t.Errorf("got %s", got)
	}
	l.close()
	l.close() // after a server closed them, too
}

// Ending as asked is no error, in whichever words a server puts it.
func TestServed(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{http.ErrServerClosed, ""},
		{context.Canceled, ""},
		{fmt.Errorf("accept: %w", net.ErrClosed), ""},
		{errors.New("too many open files"), "serve catalog: too many open files"},
	} {
		got := ""
		if err := served("catalog", c.err); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}
