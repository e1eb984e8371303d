package admin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/admin"
)

// fakeBlocks is a cache that knows the table prod.ns.t.
type fakeBlocks struct {
	forgot []string
	none   bool
	err    error
	hold   chan struct{} // waited for when half is verified; nil: nothing is
}

func (b *fakeBlocks) Cache() *admin.Cache {
	if b.none {
		return nil
	}
	return status().Cache
}

func (b *fakeBlocks) Forget(table string) (int, bool) {
	if table != "" && table != "prod.ns.t" {
		return 0, false
	}
	b.forgot = append(b.forgot, table)
	return 3, true
}

func (b *fakeBlocks) Verify(ctx context.Context, told func(admin.Verified)) (admin.Verified, error) {
	told(admin.Verified{Of: 2, Extents: 1, Bytes: 10})
	if b.hold != nil {
		select {
		case <-b.hold:
		case <-ctx.Done():
			return admin.Verified{Of: 2, Extents: 1, Bytes: 10}, ctx.Err()
		}
	}
	return admin.Verified{Of: 2, Extents: 2, Bytes: 20, Damaged: 1}, b.err
}

func TestCache(t *testing.T) {
	foreign := map[string]string{"Origin": "https://evil.example"}
	tests := []struct {
		name, method, path string
		header             map[string]string
		none               bool
		want               int
		forgot             []string
	}{
		{name: "look", method: "GET", path: "", want: 200},
		{name: "look at none", method: "GET", path: "", none: true, want: 404},
		{name: "forget all", method: "POST", path: "/forget", want: 200, forgot: []string{""}},
		{name: "forget a table", method: "POST", path: "/forget?table=prod.ns.t", want: 200, forgot: []string{"prod.ns.t"}},
		{name: "unknown table", method: "POST", path: "/forget?table=prod.ns.x", want: 404},
		{name: "misspelt", method: "POST", path: "/forget?tabel=prod.ns.t", want: 400},
		{name: "empty table", method: "POST", path: "/forget?table=", want: 400},
		{name: "more than a table", method: "POST", path: "/forget?table=prod.ns.t&x=1", want: 400},
		{name: "another site's page", method: "POST", path: "/forget", header: foreign, want: 403},
		{name: "nothing to forget", method: "POST", path: "/forget", none: true, want: 404},
		{name: "forget by GET", method: "GET", path: "/forget", want: 405},
		{name: "verify", method: "POST", path: "/verify", want: 200},
		{name: "verify from another site", method: "POST", path: "/verify", header: foreign, want: 403},
		{name: "verify nothing", method: "POST", path: "/verify", none: true, want: 404},
		{name: "verify by GET", method: "GET", path: "/verify", want: 405},
		{name: "change by PUT", method: "PUT", path: "", want: 405},
	}
	doc := readDocument(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			blocks := &fakeBlocks{none: tt.none}
			d, _ := deps()
			d.Blocks = blocks
			w := post(t, admin.New(d), tt.method, tt.path, tt.header)
			if w.Code != tt.want || !cmp.Equal(blocks.forgot, tt.forgot) {
				t.Errorf("got %d %s and forgot %q, want %d and %q", w.Code, w.Body, blocks.forgot, tt.want, tt.forgot)
			}
			path, _, _ := strings.Cut(tt.path, "?")
			if tt.want == 405 {
				return
			}
			r, ok := doc.Paths["/api/v1/cache"+path][strings.ToLower(tt.method)].Responses[strconv.Itoa(w.Code)]
			if !ok {
				t.Fatalf("%d is not described", w.Code)
			}
			for media, content := range r.Content {
				if got := w.Header().Get("Content-Type"); got != media {
					t.Errorf("answers %s, want %s", got, media)
				}
				if media == "application/json" {
					doc.checkBody(t, tt.name, w, content.Schema)
				}
			}
		})
	}
}

func post(t *testing.T, h http.Handler, method, path string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:9292/api/v1/cache"+path, http.NoBody)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// verified reads a stream of how far it is, against its description.
func verified(t *testing.T, w *httptest.ResponseRecorder) (all []admin.Verified) {
	t.Helper()
	doc := readDocument(t)
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		var v admin.Verified
		var raw any
		if err := errors.Join(json.Unmarshal(lines.Bytes(), &v), json.Unmarshal(lines.Bytes(), &raw)); err != nil {
			t.Fatal(err)
		}
		for _, problem := range doc.check("line", raw, doc.Components.Schemas["Verified"]) {
			t.Error(problem)
		}
		all = append(all, v)
	}
	return all
}

func TestVerifyStreams(t *testing.T) {
	d, _ := deps()
	blocks := &fakeBlocks{}
	d.Blocks = blocks
	h := admin.New(d)
	half := admin.Verified{Of: 2, Extents: 1, Bytes: 10}
	want := []admin.Verified{half, {Of: 2, Extents: 2, Bytes: 20, Damaged: 1, Done: true}}
	if diff := cmp.Diff(want, verified(t, post(t, h, "POST", "/verify", nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	blocks.err = errors.New("disk is on fire")
	want[1].Done, want[1].Error = false, "disk is on fire"
	if diff := cmp.Diff(want, verified(t, post(t, h, "POST", "/verify", nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// One at a time, and no longer than somebody wants to know.
func TestVerifyOnceAtATime(t *testing.T) {
	d, _ := deps()
	d.Blocks = &fakeBlocks{hold: make(chan struct{})}
	server := httptest.NewServer(admin.New(d))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ask := func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/api/v1/cache/verify", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return server.Client().Do(req)
	}
	first, err := ask(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	second, err := ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second.Body.Close()
	if second.StatusCode != http.StatusConflict {
		t.Errorf("a second one is answered %d, want 409", second.StatusCode)
	}
	cancel()
	close(d.Blocks.(*fakeBlocks).hold)
	for {
		third, err := ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		third.Body.Close()
		if third.StatusCode == http.StatusOK {
			return // else the first is still ending
		}
	}
}
