package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"

	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/internal/certs"
	"github.com/laketap/laketap/tap/catalog"
)

// addresses returns where this server is reached. With storage.advertise its
// host is the one that engines know.
func (n *node) addresses() admin.Addresses {
	at := admin.Addresses{
		Catalog: n.baseURL("catalog", n.ports.catalog), Storage: n.baseURL("storage", n.ports.storage), Admin: n.baseURL("admin", n.ports.admin),
		StorageListen: n.ports.storage.Addr().String(), Advertised: n.cfg.Storage.Advertise,
	}
	// The advertised name is of the storage tap. The catalog tap has the same
	// host and its own port, as far as anybody has said; whether it has TLS too is
	// told by the certificate or, where something in front of us has it, guessed.
	if u, err := url.Parse(at.Advertised); err == nil && u.Host != "" {
		scheme := u.Scheme
		switch {
		case n.cfg.TLS.on("catalog"):
			scheme = "https"
		case n.cert != nil:
			scheme = "http"
		}
		at.Catalog = scheme + "://" + net.JoinHostPort(u.Hostname(), portOf(n.ports.catalog))
		at.Storage = at.Advertised
	}
	return at
}

// status describes this server for the admin API.
func (n *node) status() admin.Status {
	s := admin.Status{
		Version: version(), Started: n.started.UTC(), Mode: n.cfg.Mode, Addresses: n.addresses(),
		Authority: n.cfg.Storage.Authority, Roots: n.cfg.Storage.Roots, Region: n.cfg.Storage.Region, Certificate: n.certificate(), Cache: n.held(),
	}
	seen := n.catalog.Upstreams()
	for i := range seen {
		s.Upstreams = append(s.Upstreams, n.upstreamOf(&seen[i], len(seen) == 1))
	}
	for _, o := range n.cfg.Storage.Origins {
		s.Origins = append(s.Origins, admin.Origin{
			Name: o.Name, Endpoint: o.Endpoint, Region: cmp.Or(o.Region, "us-east-1"), Buckets: o.Buckets,
		})
	}
	return s
}

// warnings tells what a person should see to although engines are served.
func (n *node) warnings() []admin.Reason {
	var all []admin.Reason
	if c := n.certificate(); c != nil && c.Problem != "" {
		all = append(all, admin.Reason{Kind: "certificate", Reason: c.Problem + "; the one from before is shown until " + c.Expires.Format("2006-01-02")})
	}
	if problem, _ := n.keysProblem.Load().(string); problem != "" {
		all = append(all, admin.Reason{Kind: "cluster_key", Reason: problem + "; the keys from before go on until a restart"})
	}
	if r, ok := n.auditReason(); ok {
		all = append(all, r)
	}
	if r, ok := n.memoryReason(); ok {
		all = append(all, r)
	}
	if c := n.held(); c != nil && c.Problem != "" {
		all = append(all, admin.Reason{Kind: "cache", Reason: "nothing is kept in " + c.Dir + ": " + c.Problem})
	}
	return all
}

// upstreamOf tells what the catalog tap saw of an upstream. The only one is
// also reached without its name.
func (n *node) upstreamOf(u *catalog.UpstreamStatus, only bool) admin.Upstream {
	base, authority := n.addresses().Catalog, n.cfg.Storage.Authority
	told := admin.Upstream{
		Name: u.Name, URL: u.URL, URI: base + "/" + u.Name, Vends: "unknown", Rewritten: u.Edited, Passed: u.Passed,
		SignedFor: u.SignedFor, DelegationRefused: u.DelegationRefused,
	}
	if only {
		told.URI = base
	}
	if u.LastReason != "" {
		told.LastPassed = &admin.Passed{At: u.LastPassed.UTC(), Table: u.LastTable, Reason: u.LastReason, Fix: u.LastFix}
	}
	switch {
	// One table without keys is enough to say so, until a restart: when an answer
	// was last edited is not known.
	case u.LastReason == "no_authority" || u.LastReason == "remote_signing" || u.LastReason == "outside_roots":
		told.Vends = "no"
	case u.Edited > 0 && authority == catalog.ModeUpstream: // else our own keys may have done
		told.Vends = "yes"
	}
	return told
}

// probes ask whether what is behind us can be reached.
func (n *node) probes() []admin.Probe {
	var all []admin.Probe
	for _, u := range n.cfg.Catalogs {
		all = append(all, admin.Probe{Kind: "upstream", Name: u.Name, Check: func(ctx context.Context) error {
			return n.catalog.Check(ctx, u.Name)
		}})
	}
	for _, o := range n.cfg.Storage.Origins {
		all = append(all, admin.Probe{Kind: "origin", Name: o.Name, Check: func(ctx context.Context) error {
			return n.probeOrigin(ctx, o)
		}})
	}
	if n.auditor() != nil {
		all = append(all, n.auditProbe())
	}
	return all
}

// probeOrigin asks a store with its own keys if they are used for anything.
// Else engines come with keys of their own, and all that can be known is
// whether somebody listens; AWS is then taken to be there.
func (n *node) probeOrigin(ctx context.Context, o OriginConfig) error {
	if needsKeys(&n.cfg, o) || n.lake != nil && o.Name == n.lake.origin().Name {
		var bucket string
		if len(o.Buckets) > 0 {
			bucket = o.Buckets[0]
		}
		_, err := n.stores[o.Name].Check(ctx, bucket)
		return err
	}
	if o.Endpoint == "" {
		return nil
	}
	return reach(ctx, o)
}

// needsKeys reports whether an origin's own keys are used: they are configured,
// or the AWS chain must find some.
func needsKeys(cfg *Config, o OriginConfig) bool {
	return o.AccessKeyID != "" || cfg.Storage.Authority == catalog.ModeCatalog || len(cfg.Keys) > 0
}

// reach reports whether an origin's endpoint listens and, for https, shows a
// certificate that is trusted.
func reach(ctx context.Context, o OriginConfig) error {
	roots, err := certs.Roots(o.CA)
	if err != nil {
		return fmt.Errorf("storage.origins[%s].ca: %w", o.Name, err)
	}
	err = dial(ctx, o.Endpoint, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	if certs.Distrusted(err) {
		return fmt.Errorf("the certificate of %s is not trusted; set storage.origins[%s].ca to the PEM file of its authority: %w", o.Endpoint, o.Name, err)
	}
	return err
}

// dial reports whether somebody listens at a URL and, for https, whom config
// trusts; with nil anybody may listen.
func dial(ctx context.Context, text string, config *tls.Config) error {
	u, err := url.Parse(text)
	if err != nil {
		return err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	var dialer interface {
		DialContext(ctx context.Context, network, addr string) (net.Conn, error)
	} = &net.Dialer{}
	if u.Scheme == "https" && config != nil {
		dialer = &tls.Dialer{Config: config}
	}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return fmt.Errorf("reach %s (is the endpoint right, and is it up?): %w", text, err)
	}
	return conn.Close()
}
