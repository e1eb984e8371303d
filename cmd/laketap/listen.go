package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
)

// listeners are the three ports of a server.
type listeners struct{ catalog, storage, admin net.Listener }

// listen opens all ports or none.
func listen(ctx context.Context, cfg *Config) (*listeners, error) {
	l := &listeners{}
	for _, port := range []struct {
		setting, address string
		to               *net.Listener
	}{
		{"catalog.listen", cfg.Catalog.Listen, &l.catalog},
		{"storage.listen", cfg.Storage.Listen, &l.storage},
		{"admin.listen", cfg.Admin.Listen, &l.admin},
	} {
		one, err := listenOn(ctx, port.setting, port.address)
		if err != nil {
			l.close()
			return nil, err
		}
		*port.to = one
	}
	return l, nil
}

// listenOn opens a port; the error names the setting and the fix.
func listenOn(ctx context.Context, setting, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	// The usual mistakes by name; whatever else it is, the system's words do.
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: %s is in use by another program; end that, or set %s (%s) to another address", setting, address, setting, variable(setting))
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: %s is not allowed for this user; choose a port above 1023", setting, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s: %s is no address of this machine; name one that is, or only a port such as :8181", setting, address)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return l, nil
}

// close gives the ports up; those that a server has closed already, too.
func (l *listeners) close() {
	for _, one := range []net.Listener{l.catalog, l.storage, l.admin} {
		if one != nil {
			_ = one.Close() // a second close is no news
		}
	}
}

// urlOf returns the base URL of a listener as this machine reaches it.
func urlOf(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	// All interfaces is no address to connect to; from here loopback reaches it.
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// portOf returns the port that a listener got.
func portOf(l net.Listener) string {
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return ""
	}
	return port
}

// served turns the ways in which serving ends as asked into nil.
func served(what string, err error) error {
	if err == nil || errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", what, err)
}
