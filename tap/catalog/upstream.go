package catalog

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// An Upstream is a catalog behind us.
type Upstream struct {
	Name string   // its clients' URI is ours plus /Name
	URL  *url.URL // as an engine would be given it; may have a base path

	// RootCAs verifies an https upstream; nil is the system's set. Transport,
	// if set, carries the requests instead of a transport of our own; it must
	// neither decompress nor replay.
	RootCAs   *x509.CertPool
	Transport http.RoundTripper
}

// An upstream is an Upstream and what it has told so far. All of that is an
// optimisation: with nothing known, every answer is still right.
type upstream struct {
	name      string
	scheme    string
	host      string
	base      string // raw path without a slash at its end
	transport http.RoundTripper

	mu        sync.Mutex
	endpoints map[string]bool // of the last /v1/config that had a list; nil: unknown
	separator string          // between namespace levels, decoded; "" is [levels]
	storage   string          // s3.endpoint of the last /v1/config
	status    UpstreamStatus
	// INVARIANT: at most memoMax entries.
	memo map[string]time.Time // what not to ask for again, until when
}

// memoMax bounds what an upstream's refusals may take of memory.
const memoMax = 10_000

// newUpstream checks a configured catalog. Its errors name the setting.
func newUpstream(u Upstream) (*upstream, error) {
	switch {
	case !goodName(u.Name):
		return nil, fmt.Errorf("catalog name %q: use letters, digits, '-', '_' and '.', and not \"v1\"", u.Name)
	case u.URL == nil || u.URL.Host == "" || u.URL.Scheme != "http" && u.URL.Scheme != "https":
		return nil, fmt.Errorf("catalog %s: url must be http:// or https:// with a host", u.Name)
	case u.URL.User != nil:
		return nil, fmt.Errorf("catalog %s: url must hold no user or password: every client brings its own", u.Name)
	case u.URL.RawQuery != "" || u.URL.Fragment != "":
		return nil, fmt.Errorf("catalog %s: url must have no query or fragment", u.Name)
	}
	transport := u.Transport
	if transport == nil {
		transport = newTransport(u.RootCAs)
	}
	base := strings.TrimSuffix(u.URL.EscapedPath(), "/")
	// An engine appends /v1 by itself, but many people copy it with the URL.
	base = strings.TrimSuffix(base, "/v1")
	up := &upstream{
		name: u.Name, scheme: u.URL.Scheme, host: u.URL.Host, base: base,
		transport: transport, memo: map[string]time.Time{},
	}
	up.status = UpstreamStatus{Name: u.Name, URL: up.url()}
	return up, nil
}

// goodName reports whether an upstream may be called so: one path segment that
// is never escaped nor cleaned away, and not the first of the protocol's own.
func goodName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return name != "" && len(name) <= 64 && name != "v1" && name[0] != '.' &&
		!strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(letters+"_-.", r) })
}

// newTransport speaks HTTP/1.1 only: over HTTP/2, Go sends a request again
// that the server says it did not process, and that is a server's word which a
// commit should not hang on.
func newTransport(roots *x509.CertPool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    10 * time.Second,
		Protocols:              protocols,
		DisableCompression:     true, // bodies pass as they are
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// url returns the upstream's address without a slash at its end.
func (u *upstream) url() string { return u.scheme + "://" + u.host + u.base }

// at returns the URL of a raw path and query below the upstream, byte for
// byte: Go would clean a Path and drop odd queries.
func (u *upstream) at(path, query string, hasQuery bool) *url.URL {
	opaque := u.base + path
	switch {
	case opaque == "":
		opaque = "/"
	case strings.HasPrefix(opaque, "//"): // else Go takes it for a host
		opaque = "//" + u.host + opaque
	}
	return &url.URL{Scheme: u.scheme, Host: u.host, Opaque: opaque, RawQuery: query, ForceQuery: hasQuery}
}

// remember notes something not to ask for again until a time.
func (u *upstream) remember(what string, until, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.memo) >= memoMax {
		for k, t := range u.memo {
			if now.After(t) || len(u.memo) >= memoMax {
				delete(u.memo, k)
			}
		}
	}
	u.memo[what] = until
}

// forget drops what was noted.
func (u *upstream) forget(what string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.memo, what)
}

// remembers reports whether something is not to be asked for.
func (u *upstream) remembers(what string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	until, ok := u.memo[what]
	return ok && now.Before(until)
}

// offers reports whether the upstream lists an endpoint; known is false if it
// has shown no list yet.
func (u *upstream) offers(endpoint string) (yes, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.endpoints[endpoint], u.endpoints != nil
}

// told returns the namespace separator and the S3 endpoint of /v1/config.
func (u *upstream) told() (separator, storage string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.separator, u.storage
}
