package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"

	"github.com/laketap/laketap/admin"
)

// tls returns what a port's connections are encrypted by; nil is plain HTTP.
func (n *node) tls(port string, protocols ...string) *tls.Config {
	if !n.cfg.TLS.on(port) {
		return nil
	}
	return n.cert.Config(protocols...)
}

// serve serves a port of net/http, with HTTP/2 where it has TLS.
func (n *node) serve(port string, server *http.Server, l net.Listener) error {
	if server.TLSConfig = n.tls(port, "h2", "http/1.1"); server.TLSConfig == nil {
		return server.Serve(l)
	}
	return server.ServeTLS(l, "", "") // the configuration has the certificate
}

// baseURL returns the base URL of a port as this machine reaches it. With TLS
// its host is one that the certificate is good for, if it names any.
func (n *node) baseURL(port string, l net.Listener) string {
	text := urlOf(l)
	u, err := url.Parse(text)
	if err != nil || !n.cfg.TLS.on(port) {
		return text
	}
	return "https://" + net.JoinHostPort(n.cert.Host(u.Hostname()), u.Port())
}

// reload reads files again whenever it is asked to, until ctx ends.
func (n *node) reload(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.opts.Reload:
			n.log.InfoContext(ctx, "reading files again")
			n.reloadKeys(ctx)
			if n.cert != nil {
				_ = n.cert.Reload() // it logs and tells its state what goes wrong
			}
			if n.trail != nil {
				_ = n.trail.Reopen() // likewise
			}
		}
	}
}

// certificate describes what the ports show; nil without TLS.
func (n *node) certificate() *admin.Certificate {
	if n.cert == nil {
		return nil
	}
	s := n.cert.State()
	return &admin.Certificate{File: s.File, Names: s.Names, Expires: s.Expires.UTC(), Ports: n.cfg.TLS.Ports, Problem: s.Problem}
}
