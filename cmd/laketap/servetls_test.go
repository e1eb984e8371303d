package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/laketap/laketap/admin"
)

// A shown is a certificate that signs itself, in files, for 127.0.0.1 and a name.
type shown struct {
	cert, key string
	roots     *x509.CertPool
}

// show writes a certificate that is good for a while; again under the same
// names if into is not nil.
func show(t *testing.T, into *shown, lasts time.Duration) *shown {
	t.Helper()
	if into == nil {
		dir := t.TempDir()
		into = &shown{cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key")}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "laketap test"},
		NotBefore: time.Now().Add(-100 * 24 * time.Hour), NotAfter: time.Now().Add(lasts), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"lake.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	into.roots = x509.NewCertPool()
	for name, block := range map[string]*pem.Block{into.cert: {Type: "CERTIFICATE", Bytes: der}, into.key: {Type: "PRIVATE KEY", Bytes: secret}} {
		text := pem.EncodeToMemory(block)
		into.roots.AppendCertsFromPEM(text) // does nothing with the key
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return into
}

// client returns a client that trusts the certificate, with or without HTTP/2.
func (s *shown) client(h2 bool) *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: h2, DisableKeepAlives: !h2,
	}}
}

// An answer is what a client was told.
type answer struct{ status, major int }

// get gets a URL.
func get(t *testing.T, c *http.Client, url string) (answer, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.ProtoMajor}, string(body)
}

// secured is a configuration with TLS on all ports.
func secured(t *testing.T, s *shown, catalog, store string) *Config {
	t.Helper()
	cfg := quiet(t, catalog, store)
	cfg.TLS = TLSConfig{Cert: s.cert, Key: s.key, Ports: []string{"catalog", "storage", "admin"}}
	return cfg
}

func TestTLS(t *testing.T) {
	keys := map[string]string{"s3.access-key-id": "id", "s3.secret-access-key": "s", "s3.session-token": "t"}
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "data") }))
	defer store.Close()
	keys["s3.endpoint"] = store.URL
	up := httptest.NewServer(fakeCatalog("s3://lake/orders", keys))
	defer up.Close()
	cert := show(t, nil, 90*24*time.Hour)
	s := start(t, secured(t, cert, up.URL, store.URL))
	for name, at := range map[string]string{"catalog": s.at.Catalog, "storage": s.at.Storage, "admin": s.at.Admin} {
		if !strings.HasPrefix(at, "https://127.0.0.1:") {
			t.Errorf("%s is at %s, want https", name, at)
		}
	}
	h2 := cert.client(true)
	defer h2.CloseIdleConnections()
	resp, body := get(t, h2, s.at.Catalog+"/v1/p/q/namespaces/tpch/tables/orders")
	if resp != (answer{http.StatusOK, 2}) {
		t.Fatalf("catalog answers %+v, want 200 over HTTP/2:\n%s", resp, body)
	}
	var loaded struct{ Config map[string]string }
	if err := json.Unmarshal([]byte(body), &loaded); err != nil {
		t.Fatal(err)
	}
	if got := loaded.Config["s3.endpoint"]; got != s.at.Storage+"/" {
		t.Errorf("engines are led to %q, want %s/", got, s.at.Storage)
	}
	if resp, _ = get(t, cert.client(false), s.at.Catalog+"/v1/config"); resp.major != 1 {
		t.Errorf("a client without HTTP/2 gets %+v", resp)
	}
	// A client that would rather have HTTP/2 must not be let believe that the
	// storage port speaks it.
	resp, _ = get(t, h2, s.at.Storage+"/lake/orders/x")
	if resp != (answer{http.StatusForbidden, 1}) {
		t.Errorf("storage answers %+v, want 403 over HTTP/1.1", resp)
	}
}

func TestTLSVersions(t *testing.T) {
	cert := show(t, nil, time.Hour)
	s := start(t, secured(t, cert, "http://127.0.0.1:9", "http://127.0.0.1:9"))
	for _, at := range []string{s.at.Catalog, s.at.Storage, s.at.Admin} {
		for _, v := range []struct {
			version uint16
			ok      bool
		}{{tls.VersionTLS11, false}, {tls.VersionTLS12, true}, {tls.VersionTLS13, true}} {
			conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: cert.roots, MinVersion: v.version, MaxVersion: v.version}}). //nolint:gosec // that old ones are refused is the point
																		DialContext(t.Context(), "tcp", strings.TrimPrefix(at, "https://"))
			if (err == nil) != v.ok {
				t.Errorf("%s with version %x: error %v, want ok %v", at, v.version, err, v.ok)
			}
			if err == nil {
				_ = conn.Close()
			}
		}
	}
}

// Who forgets the s of https is told so, on every port.
func TestPlainRequestToTLS(t *testing.T) {
	cert := show(t, nil, time.Hour)
	s := start(t, secured(t, cert, "http://127.0.0.1:9", "http://127.0.0.1:9"))
	for _, at := range []string{s.at.Catalog, s.at.Storage, s.at.Admin} {
		plain := "http" + strings.TrimPrefix(at, "https")
		status, body := fetch(t, plain+"/")
		if status != http.StatusBadRequest || !strings.Contains(strings.ToLower(body), "http") {
			t.Errorf("%s answers %d %q, want 400 that says why", plain, status, body)
		}
	}
	if err := (&adminFlags{Admin: strings.TrimPrefix(s.at.Admin, "https://")}).ask(t.Context(), "/api/v1/status", nil, &admin.Status{}); err == nil ||
		!strings.Contains(err.Error(), "--admin https://") {
		t.Errorf("error %v, want one that says how to ask", err)
	}
}

// A new pair is taken on SIGHUP and by itself; a bad one is not, and is told of.
func TestCertificateReload(t *testing.T) {
	cert := show(t, nil, 90*24*time.Hour)
	reload := make(chan os.Signal)
	var log syncBuffer
	s := startWith(t, secured(t, cert, "http://127.0.0.1:9", "http://127.0.0.1:9"), serveOptions{Log: slog.New(slog.NewTextHandler(&log, nil)), Reload: reload})
	flags := adminFlags{Admin: s.at.Admin, CA: cert.cert}
	before := cert.roots
	if err := os.WriteFile(cert.cert, []byte("half a"), 0o600); err != nil {
		t.Fatal(err)
	}
	reload <- syscall.SIGHUP
	flags.CA = ""
	problem := func() string {
		var told admin.Status
		_, body := get(t, (&shown{roots: before}).client(false), s.at.Admin+"/api/v1/status")
		if err := json.Unmarshal([]byte(body), &told); err != nil {
			t.Fatal(err)
		}
		if told.Certificate == nil {
			t.Fatal("status tells no certificate")
		}
		if (told.Certificate.Problem == "") != (len(told.Warnings) == 0) {
			t.Errorf("problem %q, warnings %v", told.Certificate.Problem, told.Warnings)
		}
		return told.Certificate.Problem
	}
	within(t, func() error {
		if problem() == "" {
			return errors.New("status tells no problem of a bad certificate")
		}
		return nil
	})
	show(t, cert, 90*24*time.Hour)
	reload <- syscall.SIGHUP
	flags.CA = cert.cert
	within(t, func() error {
		var told admin.Status
		if err := flags.ask(t.Context(), "/api/v1/status", nil, &told); err != nil {
			return err
		}
		if told.Certificate.Problem != "" {
			return errors.New(told.Certificate.Problem)
		}
		return nil
	})
	for _, at := range []string{s.at.Catalog, s.at.Storage} {
		get(t, cert.client(false), at+"/lake/x") // fails if the old one is shown
	}
	if !strings.Contains(log.String(), "new certificate is not used") {
		t.Errorf("the log tells nothing of the bad pair:\n%s", log.String())
	}
}

// The commands that ask a server find their way, and say what they lack.
func TestCommandsOverTLS(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("", nil))
	defer up.Close()
	cert, other := show(t, nil, 10*24*time.Hour), show(t, nil, time.Hour)
	s := start(t, secured(t, cert, up.URL, up.URL))
	ask := func(args ...string) (string, int) {
		var out bytes.Buffer
		code := run(&app{ctx: t.Context(), stdout: &out, stderr: &out}, args)
		return out.String(), code
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"status", "--admin", s.at.Admin, "--ca", cert.cert}, 0, "TLS on catalog, storage, admin, certificate for lake.test, 127.0.0.1 until"},
		{[]string{"connect", "duckdb", "--admin", s.at.Admin, "--ca", cert.cert}, 0, s.at.Catalog},
		{[]string{"status", "--admin", s.at.Admin}, 1, "name its authority with --ca FILE"},
		{[]string{"status", "--admin", s.at.Admin, "--ca", other.cert}, 1, "name its authority with --ca FILE"},
		{[]string{"status", "--admin", strings.Replace(s.at.Admin, "127.0.0.1", "localhost", 1), "--ca", cert.cert}, 1, "lake.test, 127.0.0.1; use that"},
		{[]string{"status", "--admin", s.at.Admin, "--ca", cert.key}, 1, "--ca: " + cert.key + " holds no PEM certificate"},
	} {
		out, code := ask(c.args...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("laketap %s: exit code %d, want %d and %q:\n%s", strings.Join(c.args, " "), code, c.code, c.want, out)
		}
	}
	out, code := examine(t, nil, "--admin", s.at.Admin, "--ca", cert.cert)
	says(t, out, `^ok +server +https://`, `^warn +certificate +.*for lake.test, 127.0.0.1, ends .*, in (9|10) days`)
	if code != 0 {
		t.Errorf("doctor's exit code %d, want 0:\n%s", code, out)
	}
}

func TestDoctorOnCertificates(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("", nil))
	defer up.Close()
	far, near, past := show(t, nil, 90*24*time.Hour), show(t, nil, 29*24*time.Hour), show(t, nil, -time.Hour)
	env := func(cert, key string, more ...string) []string {
		return append([]string{"LAKETAP_TLS_CERT=" + cert, "LAKETAP_TLS_KEY=" + key}, more...)
	}
	for _, c := range []struct {
		name string
		env  []string
		want string
		code int
	}{
		{"good", env(far.cert, far.key), `^ok +certificate .*for lake.test, 127.0.0.1, ends \d{4}-`, 0},
		{"ends soon", env(near.cert, near.key), `^warn +certificate .* in 28 days`, 0},
		{"has ended", env(past.cert, past.key), `^fail +certificate .* has expired`, 1},
		{"no pair", env(far.cert, near.key), `^fail +certificate .* are no pair`, 1},
		{"no file", env("/none", far.key), `^fail +certificate +tls.cert: open /none`, 1},
		{"no key", []string{"LAKETAP_TLS_CERT=" + far.cert}, `^fail +config +tls: cert and key go together`, 1},
		{"other name", env(far.cert, far.key, "LAKETAP_STORAGE_ADVERTISE=https://x.test:9191"), `^warn +certificate +is not for x.test, the host of storage.advertise`, 0},
		{"http for TLS", env(far.cert, far.key, "LAKETAP_STORAGE_ADVERTISE=http://lake.test:9191"), `^warn +certificate +storage.advertise is http, and the storage port has TLS`, 0},
		{"no name for the domain", env(far.cert, far.key, "LAKETAP_STORAGE_DOMAIN=s3.test"), `^warn +certificate +is not for \*.s3.test`, 0},
		{"unknown port", env(far.cert, far.key, "LAKETAP_TLS_PORTS=[https]"), `^fail +config +tls.ports: "https" is not known`, 1},
	} {
		out, code := examine(t, c.env, "--catalog", up.URL)
		says(t, out, c.want)
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d:\n%s", c.name, code, c.code, out)
		}
	}
}

// within tries until there is no error, for a while.
func within(t *testing.T, try func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-tick.C:
		}
	}
}
