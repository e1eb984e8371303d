package admin_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
)

// denyList is a deny list of one place.
type denyList struct {
	all     []laketap.Denial
	problem string
}

func (l *denyList) Denials() []laketap.Denial { return l.all }
func (l *denyList) Problem() string           { return l.problem }

func (l *denyList) Deny(_ context.Context, d laketap.Denial) error {
	if d.Subject == "" {
		return errors.New("subject is empty")
	}
	l.all = []laketap.Denial{d}
	return nil
}

func (l *denyList) Allow(_ context.Context, kind, subject string) bool {
	found := len(l.all) > 0 && l.all[0].Kind == kind && l.all[0].Subject == subject
	if found {
		l.all = nil
	}
	return found
}

func TestDenials(t *testing.T) {
	tests := []struct {
		name, method, query, body string
		header                    map[string]string
		want                      int
		denied                    bool
	}{
		{name: "deny", method: "POST", body: `{"kind":"key","subject":"LTA","by":"ops","reason":"lost"}`, want: 200, denied: true},
		{name: "charset", method: "POST", body: `{"kind":"key","subject":"LTA"}`, header: map[string]string{"Content-Type": "application/json; charset=utf-8"}, want: 200, denied: true},
		{name: "from here", method: "POST", body: `{"kind":"key","subject":"LTA"}`, header: map[string]string{"Origin": "http://127.0.0.1:9292"}, want: 200, denied: true},
		{name: "another site's page", method: "POST", body: `{"kind":"key","subject":"LTA"}`, header: map[string]string{"Origin": "https://evil.example"}, want: 403},
		{name: "another site's fetch", method: "POST", body: `{"kind":"key","subject":"LTA"}`, header: map[string]string{"Sec-Fetch-Site": "cross-site"}, want: 403},
		{name: "another host name", method: "POST", body: `{"kind":"key","subject":"LTA"}`, header: map[string]string{"Host": "evil.example"}, want: 403},
		{name: "form", method: "POST", body: `{"kind":"key","subject":"LTA"}`, header: map[string]string{"Content-Type": "text/plain"}, want: 415},
		{name: "no type", method: "POST", body: `{"kind":"key","subject":"LTA"}`, header: map[string]string{"Content-Type": ""}, want: 415},
		{name: "misspelt", method: "POST", body: `{"kind":"key","subject":"LTA","raeson":"x"}`, want: 400},
		{name: "two", method: "POST", body: `{"kind":"key","subject":"LTA"}{}`, want: 400},
		{name: "refused by the list", method: "POST", body: `{"kind":"key"}`, want: 400},
		{name: "no JSON", method: "POST", body: `kind`, want: 400},
		{name: "too long", method: "POST", body: `{"kind":"key","subject":"` + strings.Repeat("A", 20<<10) + `"}`, want: 400},
		{name: "lift what is not there", method: "DELETE", query: "?kind=key&subject=LTA", want: 404},
		{name: "other method", method: "PUT", body: `{}`, want: 405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := &denyList{}
			d, _ := deps()
			d.Denials, d.Now = list, func() time.Time { return at }
			w := send(t, admin.New(d), tt.method, tt.query, tt.body, tt.header)
			if w.Code != tt.want || (len(list.all) > 0) != tt.denied {
				t.Errorf("got %d %s and %v denied, want %d and %v", w.Code, w.Body, list.all, tt.want, tt.denied)
			}
			doc := readDocument(t)
			if r, ok := doc.Paths["/api/v1/denials"][strings.ToLower(tt.method)].Responses[strconv.Itoa(w.Code)]; ok {
				doc.checkBody(t, tt.name, w, r.Content["application/json"].Schema)
			}
		})
	}
}

func TestDenialsAreListedAndLifted(t *testing.T) {
	list := &denyList{problem: "memory is away"}
	d, _ := deps()
	d.Denials, d.Now = list, func() time.Time { return at }
	h := admin.New(d)
	want := admin.DenialPage{
		Denials: []laketap.Denial{{Kind: "table", Subject: "prod.ns.t", Since: at, By: "ops", Reason: "frozen"}}, Problem: "memory is away",
	}
	posted := send(t, h, "POST", "", `{"kind":"table","subject":"prod.ns.t","by":"ops","reason":"frozen"}`, nil)
	for _, w := range []*httptest.ResponseRecorder{posted, get(t, h, "/api/v1/denials")} {
		if diff := cmp.Diff(want, decode[admin.DenialPage](t, w)); w.Code != http.StatusOK || diff != "" {
			t.Errorf("got %d (-want +got):\n%s", w.Code, diff)
		}
	}
	if w := send(t, h, "DELETE", "?kind=table&subject=prod.ns.t", "", map[string]string{"Origin": "https://evil.example"}); w.Code != http.StatusForbidden || len(list.all) == 0 {
		t.Errorf("another site lifts a denial: %d", w.Code)
	}
	w := send(t, h, "DELETE", "?kind=table&subject=prod.ns.t", "", nil)
	if got := decode[admin.DenialPage](t, w); w.Code != http.StatusOK || len(got.Denials) != 0 || got.Denials == nil {
		t.Errorf("got %d %+v after lifting", w.Code, got)
	}
}

// send sends a change as a program on this machine would.
func send(t *testing.T, h http.Handler, method, query, body string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:9292/api/v1/denials"+query, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
