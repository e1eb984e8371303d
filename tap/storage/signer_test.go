package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// A signatory is a catalog that signs with the store's keys for who shows the
// right word, and for objects below wh/t alone.
type signatory struct {
	mu     sync.Mutex
	asked  []map[string]any
	lie    func(answer map[string]any) // changes what it answers
	status int                         // instead of signing; 0: it signs
	// unsigned: it signs unsigned payloads, whatever it is asked, as Nessie does.
	unsigned bool
}

var signedFor = tap.Signer{URL: "https://catalog/sign", Authorization: "Bearer alice"}

func (s *signatory) Sign(_ context.Context, catalog string, at tap.Signer, document []byte) (int, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if catalog != "prod" || at.URL != signedFor.URL {
		return 0, nil, errors.New("asked the wrong place")
	}
	if s.status != 0 {
		return s.status, []byte("{}"), nil
	}
	var ask struct {
		Region, Method, URI, Body string
		Headers                   map[string][]string
	}
	all := map[string]any{}
	if err := errors.Join(json.Unmarshal(document, &ask), json.Unmarshal(document, &all)); err != nil {
		return 0, nil, err
	}
	s.asked = append(s.asked, all)
	u, err := url.Parse(ask.URI)
	if err != nil {
		return 0, nil, err
	}
	inside := strings.HasPrefix(u.Path, "/lake/wh/t/") || strings.Contains(ask.Body, "<Key>wh/t/")
	if at.Authorization != signedFor.Authorization || !inside {
		return http.StatusForbidden, []byte("{}"), nil
	}
	req := &http.Request{Method: ask.Method, URL: u, Host: u.Host, Header: http.Header{}}
	for name, values := range ask.Headers {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	p := sigv4.Payload{Hash: req.Header.Get("X-Amz-Content-Sha256")}
	if s.unsigned || p.Hash == "UNSIGNED-PAYLOAD" {
		p = sigv4.Payload{Mode: sigv4.Unsigned}
	}
	if err := sigv4.Sign(req, ownKeys, p, ask.Region, time.Now(), nil); err != nil {
		return 0, nil, err
	}
	return s.answer(ask.URI, req.Header)
}

func (s *signatory) answer(uri string, header http.Header) (int, []byte, error) {
	answer := map[string]any{"uri": uri, "headers": map[string][]string(header)}
	if s.lie != nil {
		s.lie(answer)
	}
	text, err := json.Marshal(answer)
	return http.StatusOK, text, err
}

// asks returns how often it was asked since it was last asked so.
func (s *signatory) asks() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// signed gives a session the catalog's signatures.
func signed(s *tap.Session) { signer := signedFor; s.Signer = &signer }

func withSignatory(s *signatory, b storage.Blocks) func(*storage.Options) {
	return func(o *storage.Options) { o.Sign, o.Blocks = s, b }
}

// Every way to read and to write goes out with a signature of the catalog's, in
// the payload mode of the client as far as there is one without its key.
func TestCatalogSigns(t *testing.T) {
	for _, unsigned := range []bool{false, true} {
		t.Run(fmt.Sprint("unsigned ", unsigned), func(t *testing.T) { testCatalogSigns(t, unsigned) })
	}
}

func testCatalogSigns(t *testing.T, unsigned bool) {
	s := &signatory{unsigned: unsigned}
	f := start(t, withSignatory(s, nil))
	f.origin.put("lake/wh/t/data/x +ü", "0123456789")
	keys := f.session(signed)
	sum := []laketap.Field{{Name: "x-amz-checksum-crc32", Value: "rfPzYw=="}} // of "data"
	for _, c := range []struct {
		name   string
		call   call
		status int
		body   string
		mode   sigv4.Mode // as the store saw it
	}{
		{"get", call{method: "GET", target: "/lake/wh/t/data/x%20%2B%C3%BC", header: http.Header{"Range": {"bytes=2-4"}}}, 206, "234", sigv4.Signed},
		{"head", call{method: "HEAD", target: "/lake/wh/t/data/x%20%2B%C3%BC"}, 200, "", sigv4.Signed},
		{"put", call{method: "PUT", target: "/lake/wh/t/data/y", body: "data"}, 200, "", sigv4.Signed},
		{"put unsigned", call{method: "PUT", target: "/lake/wh/t/data/y", body: "data", payload: &sigv4.Payload{Mode: sigv4.Unsigned}}, 200, "", sigv4.Unsigned},
		{"put in signed chunks", call{method: "PUT", target: "/lake/wh/t/data/y", body: "data", payload: &sigv4.Payload{Mode: sigv4.StreamingSigned}}, 200, "", sigv4.Unsigned},
		{"put with a trailer", call{
			method: "PUT", target: "/lake/wh/t/data/y", body: "data", trailer: sum,
			payload: &sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Trailers: []string{"x-amz-checksum-crc32"}},
		}, 200, "", sigv4.Unsigned},
		{"put with a signed trailer", call{
			method: "PUT", target: "/lake/wh/t/data/y", body: "data", trailer: sum,
			payload: &sigv4.Payload{Mode: sigv4.StreamingSignedTrailer, Trailers: []string{"x-amz-checksum-crc32"}},
		}, 200, "", sigv4.Unsigned},
		{"delete objects", call{method: "POST", target: "/lake?delete", body: deleteDoc("wh/t/data/y")}, 200, "", sigv4.Signed},
		{"delete", call{method: "DELETE", target: "/lake/wh/t/data/y"}, 204, "", sigv4.Signed},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.call.keys = keys
			if unsigned {
				c.mode = sigv4.Unsigned
			}
			f.origin.seen()
			got := f.do(c.call)
			if got.status != c.status || c.body != "" && got.body != c.body {
				t.Errorf("status %d, body %q; want %d, %q", got.status, got.body, c.status, c.body)
			}
			seen := f.origin.seen()
			if len(seen) != 1 || seen[0].KeyID != ownKeys.AccessKeyID || seen[0].Mode != c.mode || seen[0].Err != "" {
				t.Errorf("store saw %+v; want one request of mode %v", seen, c.mode)
			}
			asked := s.asks()
			if len(asked) != 1 {
				t.Fatalf("catalog was asked %d times to sign, want once", len(asked))
			}
			if body, _ := asked[0]["body"].(string); (body != "") != (c.name == "delete objects") {
				t.Errorf("catalog was shown the body %q", body)
			}
		})
	}
	if o, ok := f.origin.object("lake/wh/t/data/y"); ok {
		t.Errorf("%q is still there", o.data)
	}
}

// What the catalog does not sign is refused as a store refuses it, and nothing
// goes to the store. Trouble on the way there is worth another try.
func TestCatalogDoesNotSign(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*signatory)
		who    func(*tap.Session)
		target string
		want   int
		code   string
	}{
		"another's object":  {target: "/lake/wh/t2/data/x", want: 403, code: "AccessDenied"},
		"another caller":    {who: func(s *tap.Session) { s.Signer.Authorization = "Bearer mallory" }, want: 403, code: "AccessDenied"},
		"unauthorized":      {change: func(s *signatory) { s.status = 401 }, want: 403, code: "AccessDenied"},
		"out of order":      {change: func(s *signatory) { s.status = 500 }, want: 503, code: "ServiceUnavailable"},
		"too many requests": {change: func(s *signatory) { s.status = 429 }, want: 503, code: "ServiceUnavailable"},
		"another place":     {who: func(s *tap.Session) { s.Signer.URL = "https://elsewhere" }, want: 503, code: "ServiceUnavailable"},
		"another URI": {change: func(s *signatory) {
			s.lie = func(a map[string]any) { a["uri"] = "https://elsewhere/lake/wh/t2" }
		}, want: 503, code: "ServiceUnavailable"},
		"another header": {change: func(s *signatory) {
			s.lie = func(a map[string]any) {
				a["headers"].(map[string][]string)["X-Amz-Copy-Source"] = []string{"/lake/wh/t2/x"}
			}
		}, want: 503, code: "ServiceUnavailable"},
		"no signature": {change: func(s *signatory) {
			s.lie = func(a map[string]any) { delete(a["headers"].(map[string][]string), "Authorization") }
		}, want: 503, code: "ServiceUnavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &signatory{}
			if c.change != nil {
				c.change(s)
			}
			f := start(t, withSignatory(s, nil))
			f.origin.put("lake/wh/t/data/x", "secret")
			f.origin.put("lake/wh/t2/data/x", "secret")
			target := c.target
			if target == "" {
				target = "/lake/wh/t/data/x"
			}
			for _, method := range []string{"GET", "PUT"} {
				got := f.do(call{method: method, target: target, body: map[string]string{"PUT": "new"}[method], keys: f.session(func(s *tap.Session) {
					signed(s)
					if c.who != nil {
						c.who(s)
					}
				})})
				if got.status != c.want || got.code() != c.code {
					t.Errorf("%s: %d %q, want %d %s", method, got.status, got.body, c.want, c.code)
				}
			}
			if seen := f.origin.seen(); len(seen) != 0 {
				t.Errorf("store was asked: %+v", seen)
			}
			if o, _ := f.origin.object(strings.TrimPrefix(target, "/")); string(o.data) != "secret" {
				t.Errorf("object is now %q", o.data)
			}
		})
	}
}

// A session outlives a change of storage.authority. Then nobody signs for it.
func TestNobodySigns(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/data/x", "secret")
	if got := f.do(call{method: "GET", target: "/lake/wh/t/data/x", keys: f.session(signed)}); got.status != 503 || strings.Contains(got.body, "secret") {
		t.Errorf("answered %d %q, want 503", got.status, got.body)
	}
}

// A catalog that signs judges object by object and caller by caller, and so do
// the proofs of the right: what was signed for once is let in from the cache
// for five minutes, for that caller and that object.
func TestSignaturesAreProofs(t *testing.T) {
	b := &blocks{}
	began := time.Now()
	var passed atomic.Int64 // requests are recorded when their clients have gone on
	clock := func() time.Time { return began.Add(time.Duration(passed.Load())) }
	f := start(t, func(o *storage.Options) { withSignatory(&signatory{}, b)(o); o.Now = clock })
	f.origin.put("lake/wh/t/data/x", "secret")
	f.origin.put("lake/wh/t/data/y", "secret")
	alice := f.session(signed)
	mallory := f.session(func(s *tap.Session) {
		signed(s)
		s.Signer.Authorization = "Bearer mallory"
	})
	get := func(keys sigv4.Credentials, target string, status int, proven bool) {
		t.Helper()
		got := f.do(call{method: "GET", target: target, keys: keys})
		if got.status != status {
			t.Errorf("%s: status %d, want %d", target, got.status, status)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.get.Proven != proven {
			t.Errorf("%s: proven is %v, want %v", target, b.get.Proven, proven)
		}
	}
	get(alice, "/lake/wh/t/data/x", 200, false)
	get(alice, "/lake/wh/t/data/x", 200, true)
	get(alice, "/lake/wh/t/data/y", 200, false)
	get(mallory, "/lake/wh/t/data/x", 403, false)
	get(mallory, "/lake/wh/t/data/x", 403, false)
	passed.Add(int64(5 * time.Minute))
	get(alice, "/lake/wh/t/data/x", 200, false)
}
