package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/lake/s3"
	"github.com/laketap/laketap/tap/catalog"
)

// stillNode is a server that does not run: as much as telling its state needs.
func stillNode(edit func(*Config)) *node {
	cfg := NewConfig()
	edit(cfg)
	return &node{cfg: *cfg, ports: &listeners{catalog: onLoopback("8181"), storage: onLoopback("9191"), admin: onLoopback("9292")}}
}

// The admin API is not advertised: it stays where it listens.
func TestAddressesOfANode(t *testing.T) {
	for _, c := range []struct {
		name, advertise string
		want            admin.Addresses
	}{
		{"none", "", admin.Addresses{Catalog: "http://127.0.0.1:8181", Storage: "http://127.0.0.1:9191"}},
		{"a host", "http://laketap:9191", admin.Addresses{Catalog: "http://laketap:8181", Storage: "http://laketap:9191"}},
		{"behind TLS", "https://s3.example.com", admin.Addresses{Catalog: "https://s3.example.com:8181", Storage: "https://s3.example.com"}},
		{"IPv6", "http://[fd00::1]:9191", admin.Addresses{Catalog: "http://[fd00::1]:8181", Storage: "http://[fd00::1]:9191"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := stillNode(func(cfg *Config) { cfg.Storage.Advertise = c.advertise })
			c.want.Admin, c.want.StorageListen, c.want.Advertised = "http://127.0.0.1:9292", "127.0.0.1:9191", c.advertise
			if diff := cmp.Diff(c.want, n.addresses()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whether a catalog vends keys is concluded from what it did, and only where
// that is a proof: with authority catalog an answer may have been edited with
// our own keys.
func TestUpstreamOf(t *testing.T) {
	passed := noon.In(time.FixedZone("", 3600))
	for _, c := range []struct {
		name, authority string
		seen            catalog.UpstreamStatus
		only            bool
		want            admin.Upstream
	}{
		{"nothing seen", "upstream", catalog.UpstreamStatus{}, true, admin.Upstream{URI: "http://127.0.0.1:8181", Vends: "unknown"}},
		{"of several", "upstream", catalog.UpstreamStatus{}, false, admin.Upstream{URI: "http://127.0.0.1:8181/prod", Vends: "unknown"}},
		{"edited", "upstream", catalog.UpstreamStatus{Edited: 2}, true, admin.Upstream{URI: "http://127.0.0.1:8181", Vends: "yes", Rewritten: 2}},
		{"edited with our keys", "catalog", catalog.UpstreamStatus{Edited: 2}, true, admin.Upstream{URI: "http://127.0.0.1:8181", Vends: "unknown", Rewritten: 2}},
		{
			"no keys", "upstream",
			catalog.UpstreamStatus{Passed: 1, LastReason: "no_authority", LastTable: "a.b", LastFix: "fix", LastPassed: passed},
			true,
			admin.Upstream{URI: "http://127.0.0.1:8181", Vends: "no", Passed: 1, LastPassed: &admin.Passed{At: noon, Table: "a.b", Reason: "no_authority", Fix: "fix"}},
		},
		{
			"signs itself", "upstream",
			catalog.UpstreamStatus{Passed: 1, LastReason: "remote_signing", LastPassed: passed},
			true,
			admin.Upstream{URI: "http://127.0.0.1:8181", Vends: "no", Passed: 1, LastPassed: &admin.Passed{At: noon, Reason: "remote_signing"}},
		},
		{
			"outside the roots", "catalog",
			catalog.UpstreamStatus{Edited: 5, Passed: 1, LastReason: "outside_roots", LastPassed: passed},
			true,
			admin.Upstream{URI: "http://127.0.0.1:8181", Vends: "no", Rewritten: 5, Passed: 1, LastPassed: &admin.Passed{At: noon, Reason: "outside_roots"}},
		},
		{
			"passed for another reason", "upstream",
			catalog.UpstreamStatus{Edited: 1, Passed: 1, LastReason: "not_s3", LastPassed: passed},
			true,
			admin.Upstream{URI: "http://127.0.0.1:8181", Vends: "yes", Rewritten: 1, Passed: 1, LastPassed: &admin.Passed{At: noon, Reason: "not_s3"}},
		},
		{"signed for AWS", "upstream", catalog.UpstreamStatus{SignedFor: "glue", DelegationRefused: noon}, true, admin.Upstream{URI: "http://127.0.0.1:8181", Vends: "unknown", SignedFor: "glue", DelegationRefused: noon}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := stillNode(func(cfg *Config) { cfg.Storage.Authority = c.authority })
			c.seen.Name, c.seen.URL, c.want.Name, c.want.URL = "prod", "http://up", "prod", "http://up"
			if diff := cmp.Diff(c.want, n.upstreamOf(&c.seen, c.only)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// An origin's keys are used if they are configured, and those of the AWS chain
// if anything but the catalogs' own keys is to be served.
func TestNeedsKeys(t *testing.T) {
	for _, c := range []struct {
		name   string
		edit   func(*Config)
		origin OriginConfig
		want   bool
	}{
		{"keys of catalogs", func(*Config) {}, OriginConfig{Name: "aws"}, false},
		{"keys of its own", func(*Config) {}, OriginConfig{Name: "m", AccessKeyID: "id"}, true},
		{"authority catalog", func(c *Config) { c.Storage.Authority = "catalog" }, OriginConfig{Name: "aws"}, true},
		{"static keys", func(c *Config) { c.Keys = []KeyConfig{{ID: "a"}} }, OriginConfig{Name: "aws"}, true},
	} {
		cfg := NewConfig()
		c.edit(cfg)
		if got := needsKeys(cfg, c.origin); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Without keys of its own a store is only dialled, and AWS taken to be there:
// a server must be ready where it may not reach out by itself.
func TestProbeOrigin(t *testing.T) {
	var asked string
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		fakeStore().ServeHTTP(w, r)
	}))
	defer store.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	own := OriginConfig{Name: "m", Endpoint: store.URL, PathStyle: true, AccessKeyID: "id", Buckets: []string{"lake", "raw"}}
	for _, c := range []struct {
		name   string
		origin OriginConfig
		asked  string // path that the store was asked for
		err    string
	}{
		{"AWS", OriginConfig{Name: "m"}, "", ""},
		{"somebody listens", OriginConfig{Name: "m", Endpoint: store.URL}, "", ""},
		{"nobody listens", OriginConfig{Name: "m", Endpoint: gone.URL}, "", "is the endpoint right, and is it up?"},
		{"with keys", own, "/lake", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked = ""
			stores, err := s3.NewStores([]s3.Origin{{Name: "m", Endpoint: c.origin.Endpoint, PathStyle: true, AccessKeyID: "id", SecretAccessKey: "s"}}, s3.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer stores.Close()
			n := stillNode(func(cfg *Config) { cfg.Storage.Origins = []OriginConfig{c.origin} })
			n.stores = stores
			err = n.probeOrigin(t.Context(), c.origin)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || strings.TrimSuffix(asked, "/") != c.asked {
				t.Errorf("got %v, asked for %q; want %q, %q", err, asked, c.err, c.asked)
			}
		})
	}
}

// A URL without a port is dialled at its scheme's; what cannot be dialled says
// which URL it was.
func TestDial(t *testing.T) {
	for _, text := range []string{"http://no.such.host.invalid", "https://no.such.host.invalid/"} {
		if err := dial(t.Context(), text, nil); err == nil || !strings.HasPrefix(err.Error(), "reach "+text+" (is the endpoint right") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if err := dial(t.Context(), "http://a:b", nil); err == nil || errors.Unwrap(err) == nil {
		t.Errorf("no URL: got %v", err)
	}
}
