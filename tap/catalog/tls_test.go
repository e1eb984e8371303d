package catalog_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/laketap/laketap/tap/catalog"
)

// Over HTTP/2 a target reaches the upstream byte for byte as over HTTP/1.1, and
// bodies larger than its windows in both directions.
func TestHTTP2(t *testing.T) {
	f := setUp(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }, nil)
	front := httptest.NewUnstartedServer(f.h)
	front.EnableHTTP2 = true
	front.StartTLS()
	defer front.Close()
	body := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	for _, target := range []string{
		"/v1/wh/namespaces/a%1Fb/tables/t", "/v1/wh/namespaces/my+ns/tables/foo%2Fbar", "/v1/wh//namespaces/../x/./y",
		"/v1/wh/namespaces?parent=a%1Fb&pageToken=", "/v1/wh/namespaces?a;b&%zz",
	} {
		path, query, _ := strings.Cut(target, "?")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.URL = &url.URL{Scheme: "https", Host: req.URL.Host, Opaque: "//" + req.URL.Host + path, RawQuery: query}
		resp, err := front.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.ProtoMajor != 2 || resp.StatusCode != http.StatusOK || !bytes.Equal(got, body) {
			t.Errorf("%s: %s %s, %d of %d bytes, %v", target, resp.Proto, resp.Status, len(got), len(body), err)
		}
		for _, c := range f.seen() {
			if want := "/iceberg" + target; c.target != want {
				t.Errorf("upstream got %s, want %s", c.target, want)
			}
		}
		f.forgetCalls()
	}
}

// An upstream that is not trusted is sent nothing: a change has certainly not
// happened, and everybody who looks is told the setting.
func TestDistrustedUpstream(t *testing.T) {
	stranger := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }))
	stranger.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	stranger.StartTLS()
	defer stranger.Close()
	f := setUp(t, nil, func(o *catalog.Options) {
		o.Upstreams = []catalog.Upstream{{Name: "prod", URL: parse(t, stranger.URL)}}
	})
	for method, want := range map[string]int{
		http.MethodGet: http.StatusServiceUnavailable, http.MethodPost: http.StatusBadGateway, http.MethodDelete: http.StatusBadGateway,
	} {
		got := f.do(method, "/v1/namespaces/n/tables/t", "")
		if got.status != want || !strings.Contains(string(got.body), "catalogs[prod].ca") || strings.Contains(string(got.body), "CommitStateUnknown") {
			t.Errorf("%s: %d %s, want %d that names the setting", method, got.status, got.body, want)
		}
	}
	if err := f.h.Check(t.Context(), "prod"); err == nil || !strings.Contains(err.Error(), "set catalogs[prod].ca") {
		t.Errorf("check: %v, want the setting", err)
	}
}
