// Package certs holds the certificate that a server shows, and reads it again
// when its files change: certificates are renewed every few weeks, and nobody
// wants to restart what engines talk to. It refuses to take a pair that does
// not fit together; the one before it stays.
package certs

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure a [Pair].
type Options struct {
	// Every is how long the files are taken to be unchanged after a look at
	// them; 0 is 1 s. So handshakes cost two stat calls a second at most.
	Every time.Duration
	Log   *slog.Logger     // nil: silent
	Now   func() time.Time // nil is time.Now
}

// A Pair is a certificate and its key, in two files in PEM form. It is safe
// for concurrent use.
type Pair struct {
	certFile, keyFile string
	every             time.Duration
	log               *slog.Logger
	now               func() time.Time

	current atomic.Pointer[tls.Certificate]
	looked  atomic.Int64 // when the files were last looked at; Unix nanoseconds

	mu      sync.Mutex // held while the files are looked at
	seen    stamp      // of the files when they were last read, well or not
	problem error      // why what the files hold now is not what is shown
}

// A State is what people want to know of a pair.
type State struct {
	File    string // of the certificate
	Names   []string
	Expires time.Time // the first of the chain to end
	Problem string    // why the files' new content is not used; "" is none
}

// A stamp tells one content of the two files from the next.
type stamp struct{ cert, key mark }

// A mark is what a file shows of itself without being read. The file is
// followed through symbolic links, by which some renew.
type mark struct {
	modified time.Time
	size     int64
	file     uint64 // its number in the file system
}

// Open reads a pair. An error names the file and what is wrong with it.
func Open(certFile, keyFile string, opts Options) (*Pair, error) {
	p := &Pair{certFile: certFile, keyFile: keyFile, every: cmp.Or(opts.Every, time.Second), log: opts.Log, now: opts.Now}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.now == nil {
		p.now = time.Now
	}
	p.seen = p.stamp()
	pair, err := p.read()
	if err != nil {
		return nil, err
	}
	p.current.Store(pair)
	p.looked.Store(p.now().UnixNano())
	return p, nil
}

// Certificate returns what to show, having looked for a new one if the last
// look was a while ago. It is a [tls.Config]'s GetCertificate.
func (p *Pair) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now, last := p.now().UnixNano(), p.looked.Load()
	// One handshake looks; those beside it go on with what there is.
	if now-last >= int64(p.every) && p.looked.CompareAndSwap(last, now) {
		_ = p.look(false) // it logs and keeps what is wrong
	}
	return p.current.Load(), nil
}

// Reload looks for a new pair now, also if the files seem unchanged. The error
// says why what they hold is not used; the pair from before goes on.
func (p *Pair) Reload() error {
	p.looked.Store(p.now().UnixNano())
	return p.look(true)
}

// look reads the files if they have changed, or in any case.
func (p *Pair) look(anyway bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Taken before reading: what is written meanwhile is a change for the next
	// look. A certificate that is written before its key is a bad pair until
	// then, and a good one afterwards.
	stamp := p.stamp()
	if stamp == p.seen && !anyway {
		return p.problem
	}
	p.seen = stamp
	pair, err := p.read()
	p.problem = err
	if err != nil {
		p.log.Error("new certificate is not used; the one from before is shown on", "error", err)
		return err
	}
	if before := p.current.Swap(pair); !slices.EqualFunc(before.Certificate, pair.Certificate, slices.Equal) {
		p.log.Info("took a new certificate", "cert", p.certFile, "expires", expiry(pair))
	}
	return nil
}

// read reads both files.
func (p *Pair) read() (*tls.Certificate, error) {
	cert, err := os.ReadFile(p.certFile)
	if err != nil {
		return nil, fmt.Errorf("tls.cert: %w", err)
	}
	key, err := os.ReadFile(p.keyFile)
	if err != nil {
		return nil, fmt.Errorf("tls.key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("tls: %s and %s are no pair of a certificate and its key in PEM form (%s)", p.certFile, p.keyFile, reason(err))
	}
	if p.now().After(expiry(&pair)) {
		// Shown all the same: clients say that it has ended, which is more than
		// they would say of no answer.
		p.log.Warn("certificate has expired", "cert", p.certFile, "expired", expiry(&pair))
	}
	return &pair, nil
}

// reason returns an error's text without the package that made it.
func reason(err error) string {
	text := err.Error()
	if len(text) > 5 && text[:5] == "tls: " {
		return text[5:]
	}
	return text
}

// State returns what people want to know.
func (p *Pair) State() State {
	pair := p.current.Load()
	s := State{File: p.certFile, Names: Names(pair.Leaf), Expires: expiry(pair)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.problem != nil {
		s.Problem = p.problem.Error()
	}
	return s
}

// Config returns a server's configuration: TLS 1.2 at least, and the protocols
// that the server speaks, best first.
func (p *Pair) Config(protocols ...string) *tls.Config {
	return &tls.Config{GetCertificate: p.Certificate, MinVersion: tls.VersionTLS12, NextProtos: protocols}
}

// Host returns a name for a host that clients of this machine know by address
// host, one that the certificate is good for: host itself if it is.
func (p *Pair) Host(host string) string {
	leaf := p.current.Load().Leaf
	if leaf.VerifyHostname(host) == nil {
		return host
	}
	for _, name := range leaf.DNSNames {
		if name != "" && name[0] != '*' {
			return name
		}
	}
	return host
}

// Names returns the host names and addresses that a certificate is good for.
func Names(leaf *x509.Certificate) []string {
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

// expiry returns when the first certificate of the chain ends: clients check
// them all.
func expiry(pair *tls.Certificate) time.Time {
	first := pair.Leaf.NotAfter
	for _, der := range pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil && c.NotAfter.Before(first) {
			first = c.NotAfter
		}
	}
	return first
}

// stamp looks at the files without reading them.
func (p *Pair) stamp() stamp { return stamp{markOf(p.certFile), markOf(p.keyFile)} }

// markOf returns the mark of a file; that of one that cannot be seen is zero.
func markOf(name string) mark {
	info, err := os.Stat(name)
	if err != nil {
		return mark{}
	}
	return mark{info.ModTime(), info.Size(), inode(info)}
}
