package admin_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/laketap/laketap/admin"
)

// Whatever is asked, the answer is a page or says what is wrong.
func FuzzAccesses(f *testing.F) {
	for _, seed := range []string{"", "after=1", "after=18446744073709551615", "limit=10000", "tap=catalog&op=x", "wait=0s", "follow=false", "after=1&after=2", "%zz=%", "a=b;c"} {
		f.Add(seed, "localhost")
	}
	f.Add("", "[::1")
	f.Add("", "127.0.0.1:9292:1")
	f.Fuzz(func(t *testing.T, query, host string) {
		if strings.Contains(query, "wait") || strings.Contains(query, "follow") {
			return // these take their time, as they should
		}
		d, _ := deps()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/v1/accesses", nil)
		r.URL = &url.URL{Path: "/api/v1/accesses", RawQuery: query}
		r.Host = host
		w := httptest.NewRecorder()
		admin.New(d).ServeHTTP(w, r)
		switch w.Code {
		case http.StatusOK:
			decode[admin.Page](t, w)
		case http.StatusBadRequest, http.StatusForbidden:
			if decode[admin.Refusal](t, w).Error == "" {
				t.Errorf("%q: refused without a reason", query)
			}
		default:
			t.Errorf("%q: got %d", query, w.Code)
		}
	})
}
