package catalog_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/tap/catalog"
)

// What says one thing about the store twice passes as it is: clients differ in
// which of the two they take.
func TestSayingItTwicePasses(t *testing.T) {
	whole := table("s3://lake/wh/orders", keysJSON)
	for _, tt := range []struct{ name, old, text string }{
		{"endpoint", `"config":{`, `"config":{"s3.endpoint":"http://a","s3.endpoint":"http://b",`},
		{"key", `"config":{`, `"config":{"s3.access-key-id":"another",`},
		{"expiry", `"config":{`, `"config":{"s3.session-token-expires-at-ms":"1","s3.session-token-expires-at-ms":"2",`},
		{"write path", `"properties":{}`, `"properties":{"write.data.path":"s3://lake/a","write.data.path":"s3://lake/b"}`},
		{"properties", `"properties":{}`, `"properties":{"write.data.path":"s3://lake/a"},"properties":{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := strings.Replace(whole, tt.old, tt.text, 1)
			if body == whole {
				t.Fatalf("the sample has no %s", tt.old)
			}
			f := setUp(t, reply(200, body), nil)
			if got := f.do("GET", loadPath, ""); string(got.body) != body || f.h.Upstreams()[0].LastReason != "not_a_table" {
				t.Errorf("got %s, %+v", got.body, f.h.Upstreams()[0])
			}
		})
	}
}

// A session token has to fit into the head of every request.
func TestMoreKeysThanATokenHolds(t *testing.T) {
	vended := func(n int) string {
		entries := make([]string, 0, n)
		for i := range n {
			entries = append(entries, fmt.Sprintf(`{"prefix":"s3://lake/wh/orders/%d","config":{"s3.access-key-id":"K%d","s3.secret-access-key":"%s"}}`,
				i, i, strings.Repeat("s", 100)))
		}
		body := table("s3://lake/wh/orders", "")
		return strings.TrimSuffix(strings.TrimSpace(body), "}") + `,"storage-credentials":[` + strings.Join(entries, ",") + "]}"
	}
	few := setUp(t, reply(200, vended(20)), nil)
	few.session(few.do("GET", loadPath, ""))

	many := setUp(t, reply(200, vended(500)), nil)
	if got := many.do("GET", loadPath, ""); string(got.body) != vended(500) || many.h.Upstreams()[0].LastReason != "too_many_credentials" {
		t.Errorf("got %.200s, %+v", got.body, many.h.Upstreams()[0])
	}
}

// An end that no date can spell is none.
func TestKeysThatEndInAnotherAge(t *testing.T) {
	for ms, ends := range map[string]bool{"253402300799999": true, "253402300800000": false, "9223372036854775807": false} {
		config := `"s3.session-token-expires-at-ms":"` + ms + `",` + keysJSON
		f := setUp(t, reply(200, table("s3://lake/wh/orders", config)), nil)
		s := f.session(f.do("GET", loadPath, ""))
		if got := !s.Expires.IsZero(); got != ends {
			t.Errorf("%s: the session ends at %v", ms, s.Expires)
		}
		if s.Expired(start.Add(24 * 365 * time.Hour)) {
			t.Errorf("%s: the session ends within a year", ms)
		}
	}
}

// No path leads out of the upstream's base path, or from one catalog to
// another; what stays below passes as it came.
func TestPathsStayBelowTheCatalog(t *testing.T) {
	f := setUp(t, reply(200, `{}`), nil)
	for target, ok := range map[string]bool{
		"/v1/../v1/config":                   true,
		"/prod/v1/namespaces/../config":      true,
		"/v1/namespaces/n/tables/..":         true,
		"/v1/namespaces/a%2Fb":               true,
		"/v1/namespaces/..x":                 true,
		"/..":                                false,
		"/v1/../../admin":                    false,
		"/prod/../other/v1/config":           false,
		"/prod/%2e%2e/other/v1/config":       false,
		"/prod/v1/%2E./../../secret":         false,
		"/prod/v1/x%2F..%2F..%2F..%2Fsecret": false,
		`/prod/v1/x%5C..%5C..%5Csecret`:      false,
	} {
		f.forgetCalls()
		got := f.do("GET", target, "")
		if ok != (got.status == http.StatusOK) || ok != (len(f.seen()) > 0) {
			t.Errorf("%s: got %d and %d calls upstream, want it to pass: %v", target, got.status, len(f.seen()), ok)
		}
		if !ok && !strings.Contains(string(got.body), "BadRequestException") {
			t.Errorf("%s: got %s", target, got.body)
		}
	}
}

// What is small on the wire and large in memory is counted as it is in memory.
func TestInflatedAnswersAreBudgeted(t *testing.T) {
	body := table("s3://lake/wh/orders", keysJSON) + strings.Repeat(" ", 100_000)
	f := setUp(t, reply(200, packed(t, body), "Content-Encoding: gzip"), func(o *catalog.Options) { o.MaxEdit = 10_000 })
	got := f.do("GET", loadPath, "", "Accept-Encoding: gzip")
	if string(got.body) != packed(t, body) {
		t.Errorf("got %d bytes, want the packed answer as it came", len(got.body))
	}
}

func packed(t *testing.T, body string) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
