package e2e_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/certs"
	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/s3"
)

// encrypted stands in front of a server with TLS, and changes nothing.
func encrypted(t *testing.T, a *certs.Authority, target string) *httptest.Server {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // it is signed
	}})
	front.TLS = a.Config(t)
	front.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of clients that do not trust it, which is a test's point
	front.StartTLS()
	t.Cleanup(front.Close)
	return front
}

// behindTLS is a lake whose catalog and store are reached by TLS only, with
// certificates of an authority, and Laketap's configuration for them.
func behindTLS(t *testing.T, a *certs.Authority) laketap.Config {
	t.Helper()
	l := lake.Start(t)
	catalog.Client{URI: l.Catalog}.Create(t, "s", "t", "")
	store := encrypted(t, a, l.S3.Endpoint)
	upstream := encrypted(t, a, vendor(t, l, func() map[string]string {
		return map[string]string{
			"s3.endpoint": store.URL, "s3.access-key-id": l.Keys.ID, "s3.secret-access-key": l.Keys.Secret,
			"s3.path-style-access": "true", "client.region": l.S3.Region,
		}
	}).URL)
	config := laketap.InFrontOf(t, l)
	config.Catalogs[0].URL, config.Catalogs[0].CA = upstream.URL, a.File
	config.Storage.Origins[0].Endpoint, config.Storage.Origins[0].CA = store.URL, a.File
	return config
}

// A catalog and a store with an authority of their own.
func TestAuthoritiesOfOnesOwn(t *testing.T) {
	a := certs.New(t)
	config := behindTLS(t, a)
	server := laketap.Start(t, config)
	table := catalog.Client{URI: server.Catalog}.Load(t, "s", "t")
	if got := table.Config["s3.endpoint"]; got != server.Storage+"/" {
		t.Fatalf("engines are led to %s, want %s/", got, server.Storage)
	}
	if got, err := table.Client().Do(t.Context(), s3.Request{Method: http.MethodPut, Target: table.Path() + "/data/x", Text: "over TLS"}); err != nil || got.Status != http.StatusOK {
		t.Fatalf("put: %v, %v", got, err)
	}
	if got, err := table.Client().Do(t.Context(), s3.Request{Target: table.Path() + "/data/x"}); err != nil || string(got.Body) != "over TLS" {
		t.Errorf("get: %v %q, %v", got, got.Body, err)
	}
	if status, body := server.Ready(t); status != http.StatusOK {
		t.Errorf("readyz: %d %s", status, body)
	}
}

// With another authority nothing is sent, and who looks is told the setting.
func TestWrongAuthorityIsNamed(t *testing.T) {
	config := behindTLS(t, certs.New(t))
	for _, file := range []string{certs.New(t).File, ""} {
		config.Catalogs[0].CA, config.Storage.Origins[0].CA = file, file
		server := laketap.Start(t, config)
		status, body := server.Ready(t)
		for _, want := range []string{"catalogs[lake].ca", "storage.origins[lake].ca"} {
			if status != http.StatusServiceUnavailable || !strings.Contains(body, want) {
				t.Errorf("readyz: %d %s, want 503 that names %s", status, body, want)
			}
		}
		for method, want := range map[string]int{http.MethodGet: http.StatusServiceUnavailable, http.MethodPost: http.StatusBadGateway} {
			got, err := catalog.Client{URI: server.Catalog}.Do(t.Context(), method, "/v1/namespaces/s/tables/t", "{}", nil)
			if err != nil || got.Status != want || !strings.Contains(string(got.Body), "catalogs[lake].ca") {
				t.Errorf("%s: %d %s, %v; want %d that names the setting", method, got.Status, got.Body, err, want)
			}
		}
		said, well := laketap.Doctor(t, server)
		if well || !strings.Contains(said, "catalogs[lake].ca") || !strings.Contains(said, "storage.origins[lake].ca") {
			t.Errorf("doctor finds all well (%v) or does not name the settings:\n%s", well, said)
		}
		server.Process.Close()
	}
	config.Storage.Origins[0].CA = filepath.Join(t.TempDir(), "none.pem")
	p := process.Start(t, laketap.Command(t, laketap.Write(t, config)))
	if code := p.Wait(t); code != 1 || !strings.Contains(p.Tail(), "ca: open") {
		t.Errorf("a ca that is not there: exit code %d:\n%s", code, p.Tail())
	}
}

// Engines and curl over TLS on both ports, and a certificate that is renewed
// while they work.
func TestEnginesOverTLS(t *testing.T) {
	a := certs.New(t)
	l := lake.Start(t)
	catalog.Client{URI: l.Catalog}.Create(t, "p", "t", "")
	config := laketap.InFrontOf(t, l)
	cert, key := a.Issue(t, "localhost")
	config.TLS = map[string]any{"cert": cert, "key": key}
	server := laketap.Start(t, config)
	uri := "https" + strings.TrimPrefix(server.Catalog, "http")
	out := process.Start(t, process.Command{Path: "/usr/bin/env", Args: []string{
		"curl", "--silent", "--show-error", "--http2", "--cacert", a.File, "--write-out", "version %{http_version} status %{http_code}", uri + "/v1/config",
	}})
	if code := out.WaitFor(t, time.Minute); code != 0 || !strings.Contains(out.Tail(), "version 2 status 200") {
		t.Errorf("curl ends with %d, want HTTP/2 and 200:\n%s", code, out.Tail())
	}
	before, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	c := engines.Command(t, engines.PyIceberg, uri)
	c.Env = append(c.Env, "REQUESTS_CA_BUNDLE="+a.File, "SSL_CERT_FILE="+a.File, "AWS_CA_BUNDLE="+a.File)
	tellBy(t, engines.PyIceberg, c, func() {
		a.Issue(t, "localhost")
		if after, err := os.ReadFile(cert); err != nil || string(after) == string(before) {
			t.Fatalf("the certificate was not renewed: %v", err)
		}
		server.Process.Signal(t, syscall.SIGHUP)
	})
	for _, access := range server.Accesses(t) {
		if access.Status >= http.StatusInternalServerError {
			t.Errorf("%s %s answered %d: %s", access.Tap, access.Op, access.Status, access.Error)
		}
	}
	if !strings.Contains(server.Process.Tail(), "took a new certificate") {
		t.Errorf("the renewed certificate was not taken:\n%s", server.Process.Tail())
	}
}

// Virtual-host style: the bucket is in the host name, which wildcard DNS leads
// to Laketap; path style goes on beside it.
func TestVirtualHostStyle(t *testing.T) {
	const domain = "s3.laketap.test"
	l := lake.Start(t)
	config := laketap.InFrontOf(t, l)
	config.Storage.Domain = domain
	config.Storage.Origins[0].AccessKeyID, config.Storage.Origins[0].SecretFile = l.Keys.ID, laketap.Secret(t, l.Keys.Secret)
	config.Keys = []laketap.Key{{ID: "app", SecretFile: laketap.Secret(t, "the secret of app"), Principal: "app", Scope: "all", Write: true}}
	server := laketap.Start(t, config)
	_, port, _ := strings.Cut(config.Storage.Listen, ":")
	keys := s3.Keys{ID: "app", Secret: "the secret of app"}
	for _, style := range []string{"virtual", "path"} {
		boto3(t, fmt.Sprint("http://", domain, ":", port), l.S3.Bucket, "style-"+style, style, keys, "RESOLVE="+domain)
	}
	for _, access := range server.Accesses(t) {
		if access.Object == nil || access.Object.Bucket != l.S3.Bucket {
			t.Errorf("%s was taken for one of %+v, want bucket %s", access.Op, access.Object, l.S3.Bucket)
		}
	}
}
