package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/internal/certs"
)

// defaultAdmin is where a server with the defaults has its admin API.
const defaultAdmin = "127.0.0.1:9292"

// maxAnswer bounds what is read of one answer.
const maxAnswer = 256 << 20

// adminFlags say where the server is.
type adminFlags struct {
	Admin string `env:"LAKETAP_ADMIN" default:"127.0.0.1:9292" placeholder:"ADDR" help:"Address of the server's admin API (${default}); https://HOST:PORT if it has TLS."`
	CA    string `name:"ca" env:"LAKETAP_CA" placeholder:"FILE" help:"Authorities that the certificate of an https admin API is verified by, in PEM form; the system's if not set."`
}

// base returns the URL of the admin API.
func (f *adminFlags) base() string {
	if strings.Contains(f.Admin, "://") {
		return strings.TrimRight(f.Admin, "/")
	}
	// As in admin.listen, where it means all interfaces; from here one will do.
	if strings.HasPrefix(f.Admin, ":") {
		return "http://127.0.0.1" + f.Admin
	}
	return "http://" + f.Admin
}

// ask gets a path of the admin API into v.
func (f *adminFlags) ask(ctx context.Context, path string, query url.Values, v any) error {
	body, err := f.open(ctx, path, query, "application/json")
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(v); err != nil {
		return fmt.Errorf("read answer of %s (is that a Laketap server?): %w", f.base(), err)
	}
	return nil
}

// open gets a path of the admin API as a stream.
func (f *adminFlags) open(ctx context.Context, path string, query url.Values, accept string) (io.ReadCloser, error) {
	target := f.base() + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("--admin: %q is not an address such as %s", f.Admin, defaultAdmin)
	}
	req.Header.Set("Accept", accept)
	return f.send(req)
}

// tell sends a change to a path of the admin API and reads what holds then
// into v. A nil body is none; else it is JSON.
func (f *adminFlags) tell(ctx context.Context, method, path string, query url.Values, body []byte, v any) error {
	target := f.base() + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("--admin: %q is not an address such as %s", f.Admin, defaultAdmin)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := f.send(req)
	if err != nil {
		return err
	}
	defer answer.Close()
	if err := json.NewDecoder(io.LimitReader(answer, maxAnswer)).Decode(v); err != nil {
		return fmt.Errorf("read answer of %s (is that a Laketap server?): %w", f.base(), err)
	}
	return nil
}

// send sends a request and returns the body of its 200.
func (f *adminFlags) send(req *http.Request) (io.ReadCloser, error) {
	target := req.URL.String()
	// No timeout here: a stream that is followed has no end. Whoever wants one
	// brings it along in the request's context.
	roots, err := certs.Roots(f.CA)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	// The admin API is near: no proxy of the environment is asked.
	resp, err := (&http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}).Do(req)
	if err != nil {
		return nil, f.unreachable(err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		// Only what is a refusal of ours is repeated: a page of some other server
		// would be no help, and could be of any size.
		var refusal admin.Refusal
		if json.NewDecoder(io.LimitReader(resp.Body, maxSecret)).Decode(&refusal) != nil || refusal.Error == "" {
			// What net/http says to http on a port with TLS.
			if resp.StatusCode == http.StatusBadRequest && !strings.HasPrefix(target, "https:") {
				return nil, fmt.Errorf("%s answered %s; is that a Laketap server? If it has TLS, write --admin https://HOST:PORT", target, resp.Status)
			}
			return nil, fmt.Errorf("%s answered %s; is that a Laketap server?", target, resp.Status)
		}
		return nil, fmt.Errorf("the server at %s says: %s", f.base(), refusal.Error)
	}
	return resp.Body, nil
}

// unreachable words an error for somebody who may have no server running.
func (f *adminFlags) unreachable(err error) error {
	var name *net.DNSError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &name):
		return fmt.Errorf("no server answers at %s; start one with laketap serve, or name its address with --admin", f.Admin)
	}
	var unknown x509.UnknownAuthorityError
	var other x509.HostnameError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is of no authority known here; name its authority with --ca FILE", f.Admin)
	case errors.As(err, &other):
		return fmt.Errorf("the certificate of %s is not for that name but for %s; use that with --admin", f.Admin, strings.Join(certs.Names(other.Certificate), ", "))
	}
	return fmt.Errorf("ask the server at %s: %w", f.Admin, err)
}
