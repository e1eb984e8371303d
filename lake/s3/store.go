// Package s3 reaches the real bucket: one signed request out, one reply back,
// streaming both ways. It owns addresses, connections and the origin's own
// credentials; it refuses to repeat a request that changes anything, to follow
// redirects, and to have an opinion about what it carries.
package s3

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/laketap/laketap/internal/certs"
)

// An Origin is a store behind Laketap, as configured.
type Origin struct {
	Name      string
	Endpoint  string // "https://minio.example.com:9000"; "" is AWS by region
	Region    string // "" is us-east-1
	PathStyle bool   // bucket in the path; false: in the host name where it can be
	CA        string // PEM file with the certificate authorities of the endpoint; "": the system's

	// The origin's own keys; both empty: the AWS default chain (environment,
	// profile, container, instance).
	AccessKeyID     string
	SecretAccessKey string
}

// Options configure how a store is reached.
type Options struct {
	// DialTimeout bounds connecting, TLS included; 0 is 10 s.
	DialTimeout time.Duration
	// ResponseHeaderTimeout bounds the wait for a reply to a GET or HEAD; 0 is
	// no bound. Writes have none: completing a large upload takes minutes.
	ResponseHeaderTimeout time.Duration
	// ExpectContinueTimeout bounds the wait for leave to send a body that was
	// announced with Expect: 100-continue; 0 is 1 s.
	ExpectContinueTimeout time.Duration
	// IdleConns bounds the connections kept for reuse; 0 is 256.
	IdleConns int
	// Now is the clock that signs; nil is time.Now.
	Now func() time.Time
}

// A Store sends requests to one origin. It is safe for concurrent use.
type Store struct {
	origin   Origin
	endpoint *url.URL // scheme and host; host is empty for AWS
	now      func() time.Time
	reads    *http.Transport
	writes   *http.Transport
	own      ownKeys
}

// New prepares a store. It reads the CA file and nothing else: credentials
// are looked for when they are first needed, and nothing is dialled.
func New(o Origin, opts Options) (*Store, error) {
	endpoint, err := parseEndpoint(o)
	if err != nil {
		return nil, fmt.Errorf("origin %s: %w", o.Name, err)
	}
	if (o.AccessKeyID == "") != (o.SecretAccessKey == "") {
		return nil, fmt.Errorf("origin %s: an access key id and its secret belong together; set both or neither", o.Name)
	}
	roots, err := certs.Roots(o.CA)
	if err != nil {
		return nil, fmt.Errorf("origin %s: ca: %w", o.Name, err)
	}
	o.Region = cmp.Or(o.Region, "us-east-1")
	s := &Store{origin: o, endpoint: endpoint, now: opts.Now}
	if s.now == nil {
		s.now = time.Now
	}
	s.reads = newTransport(roots, opts)
	s.reads.ResponseHeaderTimeout = opts.ResponseHeaderTimeout
	s.writes = newTransport(roots, opts)
	s.own.init(o, s.now)
	return s, nil
}

// Close closes the connections that no request uses.
func (s *Store) Close() {
	s.reads.CloseIdleConnections()
	s.writes.CloseIdleConnections()
}

// newTransport makes connections for requests that are passed on as they are.
func newTransport(roots *x509.CertPool, opts Options) *http.Transport {
	dial := cmp.Or(opts.DialTimeout, 10*time.Second)
	idle := cmp.Or(opts.IdleConns, 256)
	var only1 http.Protocols
	only1.SetHTTP1(true) // no store speaks HTTP/2, and one connection a request streams best
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dial, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: dial,
		Protocols:           &only1,
		DisableCompression:  true, // bytes go on as they are stored
		MaxIdleConns:        idle,
		MaxIdleConnsPerHost: idle,
		// Shorter than stores and balancers keep a connection, so that a write
		// seldom meets one that is just being closed: it cannot be repeated.
		IdleConnTimeout:        15 * time.Second,
		ExpectContinueTimeout:  cmp.Or(opts.ExpectContinueTimeout, time.Second),
		MaxResponseHeaderBytes: 1 << 20,
		WriteBufferSize:        64 << 10,
		ReadBufferSize:         64 << 10,
	}
}

// parseEndpoint reads the address of an origin; for AWS it is a scheme alone.
func parseEndpoint(o Origin) (*url.URL, error) {
	if o.Endpoint == "" {
		return &url.URL{Scheme: "https"}, nil
	}
	u, err := url.Parse(o.Endpoint)
	if err != nil {
		return nil, errors.New("endpoint is no URL; write it as https://host:port")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("endpoint %q needs http:// or https:// and a host", u.Redacted())
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.Fragment != "", u.User != nil:
		return nil, fmt.Errorf("endpoint %q must be scheme, host and port alone", u.Redacted())
	}
	host := u.Host
	if port := u.Port(); u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		// Clients and servers disagree on signing a port that goes without saying.
		host = host[:len(host)-len(port)-1]
	}
	return &url.URL{Scheme: u.Scheme, Host: host}, nil
}
