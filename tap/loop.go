package tap

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"time"
)

// LeadsTo reports whether a URL stands for an address that we listen on, so
// that what is sent there comes back to us. It looks the host's name up; a
// name that nobody knows leads nowhere.
func LeadsTo(ctx context.Context, address string, own net.Addr) bool {
	at, ok := own.(*net.TCPAddr)
	if !ok {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || portOf(u) != strconv.Itoa(at.Port) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip", u.Hostname())
	if err != nil {
		return false // cannot be reached either; doctor says so
	}
	for _, ip := range ips {
		if ip.Equal(at.IP) || (at.IP == nil || at.IP.IsUnspecified()) && (ip.IsUnspecified() || local(ip)) || ip.IsUnspecified() && at.IP.IsLoopback() {
			return true
		}
	}
	return false
}

// portOf returns the port of a URL, also one that goes without saying.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// local reports whether an address is one of this machine's.
func local(ip net.IP) bool {
	if ip.IsLoopback() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}
