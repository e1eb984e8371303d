package storage

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/laketap/laketap/tap"
)

// refuseLoop reports an origin whose endpoint is the address that the tap
// itself listens on: every request would come back for ever.
func refuseLoop(origins []tap.Origin, addr net.Addr) error {
	own, ok := addr.(*net.TCPAddr)
	if !ok {
		return nil
	}
	for _, o := range origins {
		host, port, err := net.SplitHostPort(hostOf(o.Endpoint))
		if err != nil || port != strconv.Itoa(own.Port) {
			continue
		}
		if leadsTo(host, own.IP) {
			return fmt.Errorf("storage.origins: the endpoint %s of %q is the address of the storage tap itself; set it to the address of the store", o.Endpoint, o.Name)
		}
	}
	return nil
}

// leadsTo reports whether a host name stands for an address we listen on.
func leadsTo(host string, own net.IP) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	if err != nil {
		return false // cannot be reached either; doctor says so
	}
	for _, ip := range ips {
		if ip.Equal(own) || own.IsUnspecified() && (ip.IsUnspecified() || local(ip)) {
			return true
		}
	}
	return false
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
