package tap_test

import (
	"net"
	"testing"

	"github.com/laketap/laketap/tap"
)

func TestLeadsTo(t *testing.T) {
	loopback, all := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9191}, &net.TCPAddr{IP: net.IPv6zero, Port: 9191}
	for _, c := range []struct {
		url  string
		own  net.Addr
		want bool
	}{
		{"http://127.0.0.1:9191", loopback, true},
		{"http://127.0.0.1:9191/iceberg/v1", loopback, true},
		{"https://localhost:9191", loopback, true},
		{"http://[::ffff:127.0.0.1]:9191", loopback, true},
		{"http://0.0.0.0:9191", loopback, true}, // connects to this machine
		{"http://127.0.0.1:9192", loopback, false},
		{"http://127.0.0.2:9191", loopback, false},
		{"http://127.0.0.2:9191", all, true},
		{"http://[::1]:9191", all, true},
		{"http://0.0.0.0:9191", all, true},
		{"http://203.0.113.1:9191", all, false},
		{"http://name.that.is.none.invalid:9191", all, false},
		{"http://127.0.0.1", &net.TCPAddr{IP: net.IPv4zero, Port: 80}, true},
		{"https://127.0.0.1", &net.TCPAddr{IP: net.IPv4zero, Port: 443}, true},
		{"https://127.0.0.1", &net.TCPAddr{IP: net.IPv4zero, Port: 80}, false},
		{"", loopback, false},
		{"://", loopback, false},
		{"http://127.0.0.1:9191", &net.UnixAddr{}, false},
	} {
		if got := tap.LeadsTo(t.Context(), c.url, c.own); got != c.want {
			t.Errorf("%s leads to %v: %v, want %v", c.url, c.own, got, c.want)
		}
	}
}
