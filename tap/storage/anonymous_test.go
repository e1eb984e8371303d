package storage_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/laketap/laketap/tap/storage"
)

// public makes the origin answer whatever arrives, and tells what that was.
func (f *fixture) public() {
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		f.origin.note(seen{Method: r.Method, URI: r.RequestURI, Header: r.Header.Clone(), Err: string(body)})
		fmt.Fprint(w, "public")
		return true
	})
}

func anonymous(o *storage.Options) { o.Anonymous = true }

func (f *fixture) unsigned(method, target, host, more, body string) string {
	return f.raw(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s", method, target, host, more, len(body), body))
}

// Nobody's requests stay nobody's: no signature, no key, no cache.
func TestAnonymousGoesOnUnsigned(t *testing.T) {
	b := &blocks{}
	f := start(t, func(o *storage.Options) { o.Anonymous, o.Blocks = true, b })
	f.public()
	for _, c := range []struct{ method, target, more, body string }{
		{"GET", "/lake/wh/t/x?partNumber=1", "", ""},
		{"OPTIONS", "/lake/wh/t/x", "Origin: http://a\r\nAccess-Control-Request-Method: GET\r\n", ""},
		{"POST", "/lake", "Content-Type: multipart/form-data; boundary=b\r\n", "--b\r\n\r\nform\r\n--b--\r\n"},
		{"PUT", "/lake/wh/t/y", "Date: yesterday\r\nX-Amz-Date: 20260101T000000Z\r\n", "bytes"},
	} {
		if got := f.unsigned(c.method, c.target, f.addr, c.more, c.body); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
			t.Errorf("%s %s: %s", c.method, c.target, got)
		}
		reached := f.origin.seen()
		if len(reached) != 1 {
			t.Fatalf("%s %s: %d requests reached the origin, want 1", c.method, c.target, len(reached))
		}
		got := reached[0]
		if got.Method != c.method || got.URI != c.target || got.Err != c.body {
			t.Errorf("reached the origin: %s %s %q, want %s %s %q", got.Method, got.URI, got.Err, c.method, c.target, c.body)
		}
		for _, name := range []string{"Authorization", "X-Amz-Security-Token", "X-Amz-Content-Sha256"} {
			if v := got.Header.Get(name); v != "" {
				t.Errorf("%s %s: %s: %s was added", c.method, c.target, name, v)
			}
		}
		for line := range strings.SplitSeq(strings.TrimSpace(c.more), "\r\n") {
			if name, v, ok := strings.Cut(line, ": "); ok && got.Header.Get(name) != v {
				t.Errorf("%s %s: %s: %q, want %q", c.method, c.target, name, got.Header.Get(name), v)
			}
		}
	}
	for _, did := range b.taken() {
		if !strings.HasPrefix(did, "forget ") {
			t.Errorf("the cache had a part in it: %s", did)
		}
	}
}

// What is refused stays refused: without the option, with part of a signature,
// with a token, from ourselves, and of a bucket of no store.
func TestAnonymousIsRefused(t *testing.T) {
	other := func(o *storage.Options) { o.Anonymous = true; o.Origins[0].Buckets = []string{"other"} }
	for _, c := range []struct {
		name, target, more string
		change             func(*storage.Options)
		loop               bool
		status             string
	}{
		{"switched off", "/lake/x", "", nil, false, "403"},
		{"wrong signature", "/lake/x", "Authorization: AWS4-HMAC-SHA256 nothing\r\n", anonymous, false, "400"},
		{"old signature in the query", "/lake/x?AWSAccessKeyId=a&Signature=b&Expires=1", "", anonymous, false, "400"},
		{"signature in the query", "/lake/x?X-Amz-Signature=b", "", anonymous, false, "400"},
		{"token alone", "/lake/x", "X-Amz-Security-Token: t\r\n", anonymous, false, "403"},
		{"loop", "/lake/x", "", anonymous, true, "508"},
		{"bucket of no store", "/lake/x", "", other, false, "403"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, c.change)
			f.public()
			host := f.addr
			if c.loop {
				host = strings.TrimPrefix(f.origin.server.URL, "http://")
			}
			if got := f.unsigned("GET", c.target, host, c.more, ""); !strings.HasPrefix(got, "HTTP/1.1 "+c.status+" ") {
				t.Errorf("got %s, want %s", got, c.status)
			}
			f.wantNothingSent(t)
		})
	}
}

// RFC 9112 §3.2.2: the absolute form is a form like any other.
func TestAbsoluteTarget(t *testing.T) {
	f := start(t, anonymous)
	f.public()
	for _, target := range []string{"http://" + f.addr + "/lake/wh/t/x?y", "https://" + f.addr + "/lake/wh/t/x?y"} {
		if got := f.unsigned("GET", target, f.addr, "", ""); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
			t.Errorf("%s: %s", target, got)
		}
		if got := f.origin.seen(); len(got) != 1 || got[0].URI != "/lake/wh/t/x?y" {
			t.Errorf("%s reached the origin as %s", target, describe(got))
		}
	}
}
