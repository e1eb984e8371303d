package catalog_test

import (
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"
)

// A catalog's url that leads back to us, through a balancer or another name,
// costs one round and says what is wrong. Without that, each round would hold a
// connection until the process has none left (field case G23).
func TestLoopEndsAfterOneRound(t *testing.T) {
	var f *fixture
	f = setUp(t, func(w http.ResponseWriter, r *http.Request) {
		back := parse(t, f.tap.URL)
		(&httputil.ReverseProxy{Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.URL.Path = back.Scheme, back.Host, strings.TrimPrefix(pr.In.URL.Path, "/iceberg")
		}}).ServeHTTP(w, r)
	}, nil)
	for _, tt := range []struct{ method, target string }{
		{"GET", "/v1/config"}, {"GET", loadPath}, {"POST", "/v1/wh/namespaces"}, {"DELETE", "/v1/wh/namespaces/n/tables/t"}, {"GET", "/else"},
	} {
		f.forgetCalls()
		got := f.do(tt.method, tt.target, "")
		if got.status != http.StatusLoopDetected || !strings.Contains(string(got.body), "leads to this server") {
			t.Errorf("%s %s: got %d %s", tt.method, tt.target, got.status, got.body)
		}
		// A load that fails may be tried once more without our own header.
		if n := len(f.seen()); n < 1 || n > 2 {
			t.Errorf("%s %s: went round %d times", tt.method, tt.target, n)
		}
	}
	if err := f.h.Check(t.Context(), "prod"); err == nil {
		t.Error("the check does not mind")
	}
}

// One Laketap behind another is no loop.
func TestAnotherServerBeforeUs(t *testing.T) {
	f := setUp(t, reply(200, `{}`), nil)
	for range 2 {
		if got := f.do("GET", "/v1/wh/namespaces", "", "X-Laketap-Passed: ANOTHER"); got.status != 200 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
	}
	for _, c := range f.seen() {
		passed := c.header.Values("X-Laketap-Passed")
		if len(passed) != 2 || !slices.Contains(passed, "ANOTHER") || passed[0] == passed[1] {
			t.Errorf("upstream got %v", passed)
		}
	}
}
