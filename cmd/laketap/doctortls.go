package main

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/internal/certs"
)

// soon is how long before its end a certificate is worth a warning: those that
// renew themselves do it a month before.
const soon = 30 * 24 * time.Hour

// certificate checks what the ports with TLS show, or will show.
func (d *doctor) certificate() {
	const what = "certificate"
	var told *admin.Certificate
	switch {
	case d.cfg.TLS.Cert != "":
		pair, err := certs.Open(d.cfg.TLS.Cert, d.cfg.TLS.Key, certs.Options{Now: d.now})
		if err != nil {
			d.tell(bad, what, err.Error(), "set tls.cert and tls.key to a PEM certificate and its key")
			return
		}
		s := pair.State()
		told = &admin.Certificate{File: s.File, Names: s.Names, Expires: s.Expires}
	case d.server != nil && d.server.Certificate != nil:
		told = d.server.Certificate
	default:
		return
	}
	left := told.Expires.Sub(d.now())
	text := fmt.Sprintf("%s, for %s, ends %s", told.File, cmp.Or(strings.Join(told.Names, ", "), "no name"), told.Expires.UTC().Format(time.DateOnly))
	switch {
	case left <= 0:
		d.tell(bad, what, text+": it has expired", "renew it; the files are read again by themselves")
	case left < soon:
		d.tell(warn, what, fmt.Sprintf("%s, in %s", text, counted(int(left/(24*time.Hour)), "day")), "renew it; the files are read again by themselves")
	default:
		d.tell(good, what, text, "")
	}
	d.certified(what, told.Names)
}

// certified checks that the certificate is good for the names that engines are
// told.
func (d *doctor) certified(what string, names []string) {
	u, err := url.Parse(d.cfg.Storage.Advertise)
	switch {
	case err != nil || u.Host == "": // engines are told what fits
	case u.Scheme == "http" && d.cfg.TLS.on("storage"):
		d.tell(warn, what, "storage.advertise is http, and the storage port has TLS", "write https://"+u.Host+", unless something in front of Laketap takes http there")
	case u.Scheme == "https" && !covers(names, u.Hostname()):
		d.tell(warn, what, "is not for "+u.Hostname()+", the host of storage.advertise", "add that name to it, unless something in front of Laketap has a certificate of its own")
	}
	if domain := d.cfg.Storage.Domain; domain != "" && d.cfg.TLS.on("storage") && !covers(names, "bucket."+domain) {
		d.tell(warn, what, "is not for *."+domain+", which storage.domain needs", "add that name to it")
	}
}

// covers reports whether a certificate with names is good for a host.
func covers(names []string, host string) bool {
	_, parent, _ := strings.Cut(host, ".")
	for _, name := range names {
		if strings.EqualFold(name, host) || strings.EqualFold(name, "*."+parent) {
			return true
		}
	}
	return false
}
