package storage_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// deleteDoc is the body of a DeleteObjects.
func deleteDoc(keys ...string) string {
	var b strings.Builder
	b.WriteString(`<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
	for _, k := range keys {
		fmt.Fprintf(&b, "<Object><Key>%s</Key></Object>", k)
	}
	b.WriteString("</Delete>")
	return b.String()
}

func copyFrom(source string) http.Header { return http.Header{"X-Amz-Copy-Source": {source}} }

// outside are requests that leave the scope of a key for lake/wh/t, but stay
// on the list of operations: with credentials of the store they are the
// store's to decide, without they end here.
func outside() []call {
	return []call{
		{method: "GET", target: "/lake/wh/t2/data/x"},
		{method: "HEAD", target: "/lake/wh/t2/data/x"},
		{method: "GET", target: "/lake/wh/x"},
		{method: "GET", target: "/other/wh/t/data/x"},
		{method: "GET", target: "/lake/wh//t/data/x"},
		{method: "GET", target: "/lake//wh/t/data/x"},
		{method: "GET", target: "/lake/wh/t%252Fdata/x"},
		{method: "GET", target: "/lake/wh%252Ft/data/x"},
		{method: "GET", target: "/lake/WH/t/data/x"},
		{method: "GET", target: "/lake/wh/t/../t2/data/x"},
		{method: "GET", target: "/lake/wh/t/%2E%2E/t2/data/x"},
		{method: "GET", target: "/lake/wh/t/%2e%2e%2ft2/data/x"},
		{method: "GET", target: "/lake/wh/t/%252e%252e/t2/data/x"},
		{method: "GET", target: "/lake/wh/t/./x"},
		{method: "PUT", target: "/lake/wh/t2/data/x", body: "data"},
		{method: "DELETE", target: "/lake/wh/t2/data/x"},
		{method: "POST", target: "/lake/wh/t2/data/x?uploads"},
		{method: "PUT", target: "/lake/wh/t2/data/x?partNumber=1&uploadId=up0", body: "data"},
		{method: "POST", target: "/lake/wh/t2/data/x?uploadId=up0", body: "<CompleteMultipartUpload/>"},
		{method: "DELETE", target: "/lake/wh/t2/data/x?uploadId=up0"},
		{method: "GET", target: "/lake/wh/t2/data/x?uploadId=up0"},
		{method: "PUT", target: "/lake/wh/t/copy", header: copyFrom("/lake/wh/t2/data/x")},
		{method: "PUT", target: "/lake/wh/t/copy", header: copyFrom("lake/wh/t2/data/x?versionId=1")},
		{method: "PUT", target: "/lake/wh/t/copy", header: copyFrom("lake%2Fwh%2Ft2%2Fdata%2Fx")},
		{method: "PUT", target: "/lake/wh/t/copy", header: copyFrom("/lake/wh/t/../t2/data/x")},
		{method: "PUT", target: "/lake/wh/t/copy", header: copyFrom("/lake/wh/t/%2e%2e/t2/data/x")},
		{method: "PUT", target: "/lake/wh/t2/copy", header: copyFrom("/lake/wh/t/data/x")},
		{method: "PUT", target: "/lake/wh/t/copy?partNumber=1&uploadId=up0", header: copyFrom("/lake/wh/t2/data/x")},
		{method: "POST", target: "/lake?delete", body: deleteDoc("wh/t/data/x", "wh/t2/data/x")},
		{method: "POST", target: "/lake/?delete", body: deleteDoc("wh/t/../t2/x")},
		{method: "GET", target: "/lake?list-type=2&prefix=wh%2Ft"},
		{method: "GET", target: "/lake?list-type=2&prefix=wh%2Ft2%2F"},
		{method: "GET", target: "/lake?list-type=2"},
		{method: "GET", target: "/lake?prefix="},
		{method: "GET", target: "/lake?versions&prefix=wh/t"},
		{method: "GET", target: "/lake?uploads"},
		{method: "HEAD", target: "/other"},
		{method: "GET", target: "/other?location"},
	}
}

// closed are requests that no key but one with scope: all may send, whatever
// its path.
func closed() []call {
	return []call{
		{method: "GET", target: "/"},
		{method: "GET", target: "/lake?policy"},
		{method: "PUT", target: "/lake?policy", body: "{}"},
		{method: "DELETE", target: "/lake"},
		{method: "PUT", target: "/lake"},
		{method: "GET", target: "/lake?acl"},
		{method: "GET", target: "/lake?list-type=2&prefix=wh/t/&policy"},
		{method: "GET", target: "/lake?list-type=2&prefix=wh/t/&prefix="},
		{method: "GET", target: "/lake?list-type=2&prefix=wh/t/;policy"},
		{method: "GET", target: "/lake?list-type=2&prefix=wh/t/&unknown"},
		{method: "GET", target: "/lake/wh/t/data/x?acl"},
		{method: "PUT", target: "/lake/wh/t/data/x?acl", body: "x"},
		{method: "PUT", target: "/lake/wh/t/data/x?tagging", body: "x"},
		{method: "PUT", target: "/lake/wh/t/data/x?renameObject"},
		{method: "PUT", target: "/lake/wh/t/data/x?x-amz-copy-source=lake/wh/t2/x"},
		{method: "POST", target: "/lake/wh/t/data/x?restore"},
		{method: "POST", target: "/lake", body: "form"},
		{method: "PATCH", target: "/lake/wh/t/data/x", body: "x"},
		{method: "GET", target: "/lake/wh/t/data/x", header: copyFrom("/lake/wh/t/data/x")},
		{method: "OPTIONS", target: "/lake/wh/t/data/x"},
	}
}

// climbing are requests with an id that some stores take for the name of a
// folder. What a key with scope: all sends of these is the store's to judge.
func climbing() []call {
	return []call{
		{method: "DELETE", target: "/lake/wh/t/data/x?uploadId=../../../wh/t2"},
		{method: "DELETE", target: "/lake/wh/t/data/x?uploadId=..%2F.."},
		{method: "DELETE", target: "/lake/wh/t/data/x?uploadId=%252e%252e"},
		{method: "DELETE", target: "/lake/wh/t/data/x?uploadId=..%5C.."},
		{method: "DELETE", target: "/lake/wh/t/data/x?uploadId=."},
		{method: "GET", target: "/lake/wh/t/data/x?uploadId=../t2"},
		{method: "POST", target: "/lake/wh/t/data/x?uploadId=../t2", body: "<CompleteMultipartUpload/>"},
		{method: "PUT", target: "/lake/wh/t/data/x?partNumber=1&uploadId=../t2", body: "data"},
		{method: "PUT", target: "/lake/wh/t/data/x?partNumber=../1&uploadId=up0", body: "data"},
		{method: "PUT", target: "/lake/wh/t/copy?partNumber=1&uploadId=../t2", header: copyFrom("/lake/wh/t/data/x")},
		{method: "GET", target: "/lake/wh/t/data/x?versionId=../t2"},
		{method: "DELETE", target: "/lake/wh/t/data/x?versionId=../t2"},
	}
}

// granting are writes inside the scope whose headers give rights away, or take
// from elsewhere.
func granting() []call {
	put := func(name, value string) call {
		return call{method: "PUT", target: "/lake/wh/t/data/x", body: "data", header: http.Header{name: {value}}}
	}
	return []call{
		put("X-Amz-Acl", "public-read"),
		put("X-Amz-Acl", "private, public-read"),
		put("X-Amz-Grant-Read", `uri="http://acs.amazonaws.com/groups/global/AllUsers"`),
		put("X-Amz-Object-Lock-Mode", "COMPLIANCE"),
		put("X-Amz-Rename-Source", "/lake/wh/t2/data/x"),
		{method: "DELETE", target: "/lake/wh/t/data/x", header: http.Header{"X-Amz-Bypass-Governance-Retention": {"true"}}},
	}
}

// inside are requests that a key for lake/wh/t may send.
func inside() []call {
	return []call{
		{method: "PUT", target: "/lake/wh/t/data/x", body: "data", header: http.Header{"X-Amz-Acl": {"bucket-owner-full-control"}}},
		{method: "GET", target: "/lake/wh/t/data/x"},
		{method: "GET", target: "/lake/wh/t/data%2Fx"},
		{method: "GET", target: "/lake/wh/t//data/x"},
		{method: "GET", target: "/lake/wh/t/data/x?x-id=GetObject&versionId=v1&partNumber=1&response-content-type=a"},
		{method: "HEAD", target: "/lake/wh/t/data/x"},
		{method: "PUT", target: "/lake/wh/t/data/y", body: "data"},
		{method: "PUT", target: "/lake/wh/t/data/copy", header: copyFrom("/lake/wh/t/data/x")},
		{method: "PUT", target: "/lake/wh/t/data/copy", header: copyFrom("lake%2Fwh%2Ft%2Fdata%2Fx")},
		{method: "POST", target: "/lake/wh/t/data/z?uploads"},
		{method: "PUT", target: "/lake/wh/t/data/z?partNumber=1&uploadId=up0", body: "data"},
		{method: "POST", target: "/lake/wh/t/data/z?uploadId=up0", body: "<CompleteMultipartUpload/>"},
		{method: "GET", target: "/lake?list-type=2&prefix=wh%2Ft%2F&delimiter=%2F&max-keys=1&encoding-type=url"},
		{method: "GET", target: "/lake/?prefix=wh/t/da&marker=wh/t/a"},
		{method: "GET", target: "/lake?versions&prefix=wh/t/&key-marker=a"},
		{method: "GET", target: "/lake?uploads&prefix=wh/t/"},
		{method: "HEAD", target: "/lake"},
		{method: "GET", target: "/lake?location"},
		{method: "POST", target: "/lake?delete", body: deleteDoc("wh/t/data/y", "wh/t/data/none")},
		{method: "DELETE", target: "/lake/wh/t/data/z"},
	}
}

func isWrite(c call) bool { return c.method != "GET" && c.method != "HEAD" }

func TestScopeRefusesWithoutReachingTheOrigin(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/data/x", "mine")
	f.origin.put("lake/wh/t2/data/x", "theirs")
	for _, who := range []struct {
		name string
		keys sigv4.Credentials
	}{
		{"session", f.session(nil)},
		{"static key", sigv4.Credentials{AccessKeyID: "writer", SecretAccessKey: "writer-secret"}},
	} {
		for _, c := range slices.Concat(outside(), closed(), climbing(), granting()) {
			t.Run(who.name+" "+c.method+" "+c.target, func(t *testing.T) {
				c.keys, c.header = who.keys, c.header.Clone()
				got := f.do(c)
				if got.status != http.StatusForbidden || c.method != "HEAD" && got.code() != "AccessDenied" {
					t.Errorf("got %d %q, want 403 AccessDenied", got.status, got.body)
				}
				f.wantNothingSent(t)
				if a := f.access(); a.Status != 403 || a.Served != laketap.FromTap || !strings.HasPrefix(a.Err, "AccessDenied: ") {
					t.Errorf("recorded %d from %v, %q", a.Status, a.Served, a.Err)
				}
			})
		}
	}
}

func TestScopeLetsIn(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/data/x", "mine")
	for _, who := range []struct {
		name, as string
		keys     sigv4.Credentials
	}{
		{"session", ownKeys.AccessKeyID, f.session(nil)},
		{"static key", ownKeys.AccessKeyID, sigv4.Credentials{AccessKeyID: "writer", SecretAccessKey: "writer-secret"}},
		{"session with upstream credentials", vended.AccessKeyID, f.session(upstream)},
	} {
		for _, c := range inside() {
			t.Run(who.name+" "+c.method+" "+c.target, func(t *testing.T) {
				c.keys, c.header = who.keys, c.header.Clone()
				got := f.do(c)
				if got.status == http.StatusForbidden || got.status >= 500 {
					t.Errorf("got %d %q", got.status, got.body)
				}
				s := f.origin.seen()
				if len(s) != 1 || s[0].Err != "" || s[0].KeyID != who.as {
					t.Errorf("origin saw %s, want one request as %s", describe(s), who.as)
				}
			})
		}
	}
}

func TestUpstreamCredentialsLetTheStoreDecide(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t2/data/x", "theirs")
	keys := f.session(func(s *tap.Session) { upstream(s); s.Write = false })
	for _, c := range outside() {
		t.Run(c.method+" "+c.target, func(t *testing.T) {
			c.keys, c.header = keys, c.header.Clone()
			f.do(c)
			s := f.origin.seen()
			if len(s) != 1 || s[0].Err != "" || s[0].KeyID != vended.AccessKeyID {
				t.Errorf("origin saw %s, want one request as %s", describe(s), vended.AccessKeyID)
			}
		})
	}
	for _, c := range slices.Concat(closed(), climbing()) {
		t.Run("closed "+c.method+" "+c.target, func(t *testing.T) {
			c.keys, c.header = keys, c.header.Clone()
			if got := f.do(c); got.status != http.StatusForbidden {
				t.Errorf("got %d %q, want 403", got.status, got.body)
			}
			f.wantNothingSent(t)
		})
	}
}

func TestReadersMayNotWrite(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/data/x", "mine")
	for _, keys := range []sigv4.Credentials{
		{AccessKeyID: "reader", SecretAccessKey: "reader-secret"},
		f.session(func(s *tap.Session) { s.Write = false }),
	} {
		for _, c := range inside() {
			c.keys, c.header = keys, c.header.Clone()
			got := f.do(c)
			if isWrite(c) {
				if got.status != http.StatusForbidden {
					t.Errorf("%s %s: got %d, want 403", c.method, c.target, got.status)
				}
				f.wantNothingSent(t)
			} else if got.status >= 400 && got.status != http.StatusNotFound {
				t.Errorf("%s %s: got %d %s", c.method, c.target, got.status, got.body)
			}
			f.origin.seen()
		}
	}
}

func TestScopeAllMayDoEverything(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/data/x", "mine")
	for _, c := range append(append(outside(), closed()...), inside()...) {
		c.keys, c.header = adminKeys, c.header.Clone()
		f.do(c)
		if s := f.origin.seen(); len(s) != 1 || s[0].Err != "" || s[0].KeyID != ownKeys.AccessKeyID {
			t.Errorf("%s %s: origin saw %s, want one request", c.method, c.target, describe(s))
		}
	}
}

func TestNestedTablesAreOutOfScope(t *testing.T) {
	f := start(t, nil)
	f.tables.Put(tap.Table{ID: laketap.TableID{Catalog: "prod", UUID: "inner"}, Name: "db.inner", Location: tap.Location{Origin: "main", Bucket: "lake", Path: "wh/t/inner"}})
	f.origin.put("lake/wh/t/inner/x", "theirs")
	if got := f.do(call{method: "GET", target: "/lake/wh/t/inner/x", keys: f.session(nil)}); got.code() != "AccessDenied" {
		t.Errorf("got %d %s, want AccessDenied", got.status, got.body)
	}
	if a := f.access(); a.TableName != "db.inner" {
		t.Errorf("access belongs to %q, want db.inner", a.TableName)
	}
}

func TestClaimsThatDoNotHold(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/data/x", "mine")
	good := f.session(nil)
	other := f.session(nil)
	foreign, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := foreign.Vend(tap.Session{Origin: "main"}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*sigv4.Credentials)) sigv4.Credentials {
		c := good
		change(&c)
		return c
	}
	sign := call{method: "GET", target: "/lake/wh/t/data/x"}
	for _, c := range []struct {
		name   string
		keys   sigv4.Credentials
		change func(*call)
		status int
		code   string
	}{
		{"good", good, nil, 200, ""},
		{"wrong secret", with(func(c *sigv4.Credentials) { c.SecretAccessKey = other.SecretAccessKey }), nil, 403, "SignatureDoesNotMatch"},
		{"token tampered", with(func(c *sigv4.Credentials) { c.SessionToken = flip(c.SessionToken) }), nil, 400, "InvalidToken"},
		{"token truncated", with(func(c *sigv4.Credentials) { c.SessionToken = c.SessionToken[:40] }), nil, 400, "InvalidToken"},
		{"token of another key", with(func(c *sigv4.Credentials) { c.SessionToken = other.SessionToken }), nil, 400, "InvalidToken"},
		{"no token", with(func(c *sigv4.Credentials) { c.SessionToken = "" }), nil, 403, "InvalidAccessKeyId"},
		{"key of another cluster", stranger, nil, 403, "InvalidAccessKeyId"},
		{"unknown key", sigv4.Credentials{AccessKeyID: "AKIANOBODY", SecretAccessKey: "x"}, nil, 403, "InvalidAccessKeyId"},
		{"origin's own key", ownKeys, nil, 403, "InvalidAccessKeyId"},
		{"static key with a token", sigv4.Credentials{AccessKeyID: "admin", SecretAccessKey: "admin-secret", SessionToken: "t"}, nil, 400, "InvalidToken"},
		{"static key with a wrong secret", sigv4.Credentials{AccessKeyID: "admin", SecretAccessKey: "guess"}, nil, 403, "SignatureDoesNotMatch"},
		{"expired", f.session(func(s *tap.Session) { s.Expires = time.Now().Add(-time.Second) }), nil, 400, "ExpiredToken"},
		{"origin gone", f.session(func(s *tap.Session) { s.Origin = "gone" }), nil, 403, "AccessDenied"},
		{"wrong region", good, func(c *call) { c.region = "mars-1" }, 400, "AuthorizationHeaderMalformed"},
		{"unsigned", good, func(c *call) { c.after = func(r *http.Request) { r.Header.Del("Authorization") } }, 403, "AccessDenied"},
		{"another path than signed", good, func(c *call) {
			c.after = func(r *http.Request) { r.URL.Path, r.URL.RawPath = "/lake/wh/t/data/y", "" }
		}, 403, "SignatureDoesNotMatch"},
		{"another query than signed", good, func(c *call) { c.after = func(r *http.Request) { r.URL.RawQuery = "versionId=v2" } }, 403, "SignatureDoesNotMatch"},
		{"header not signed", good, func(c *call) { c.after = func(r *http.Request) { r.Header.Set("X-Amz-Acl", "public-read") } }, 403, "AccessDenied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := sign
			call.keys = c.keys
			if c.change != nil {
				c.change(&call)
			}
			got := f.do(call)
			if got.status != c.status || got.code() != c.code {
				t.Errorf("got %d %s, want %d %s", got.status, got.body, c.status, c.code)
			}
			a := f.access()
			if c.status == 200 {
				f.origin.seen()
				return
			}
			f.wantNothingSent(t)
			if a.TableName != "" && c.code != "AccessDenied" {
				t.Errorf("a claim nobody believed was counted for table %q", a.TableName)
			}
			for _, secret := range []string{good.SecretAccessKey, good.SessionToken, "admin-secret", ownKeys.SecretAccessKey} {
				if strings.Contains(got.body+a.Err, secret) {
					t.Errorf("a secret is in %q or %q", got.body, a.Err)
				}
			}
		})
	}
}

// flip changes one character in the middle of a token.
func flip(token string) string {
	b := []byte(token)
	i := len(b) / 2
	if b[i]++; b[i] > 'z' || b[i] == '[' || b[i] == ':' {
		b[i] = 'a'
	}
	return string(b)
}

func TestSessionIsDecidedAnewWhenItExpires(t *testing.T) {
	now := time.Now()
	f := start(t, nil)
	keys := f.session(func(s *tap.Session) { s.Expires = now.Add(1500 * time.Millisecond) })
	f.origin.put("lake/wh/t/x", "x")
	if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys}); got.status != 200 {
		t.Fatalf("before: %d %s", got.status, got.body)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys})
		if got.code() == "ExpiredToken" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %d long after the end", got.status)
		}
	}
}

func TestVirtualHost(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.Domain = "s3.lake.test" })
	f.origin.put("lake/wh/t/x", "x")
	keys := f.session(nil)
	if got := f.do(call{method: "GET", target: "/wh/t/x", host: "lake.s3.lake.test:9191", keys: keys}); got.body != "x" {
		t.Errorf("virtual host: %d %s", got.status, got.body)
	}
	if got := f.do(call{method: "GET", target: "/lake/wh/t/x", host: "s3.lake.test:9191", keys: keys}); got.body != "x" {
		t.Errorf("path style: %d %s", got.status, got.body)
	}
	if got := f.do(call{method: "GET", target: "/lake/wh/t/x", host: "other.s3.lake.test", keys: keys}); got.code() != "AccessDenied" {
		t.Errorf("another bucket in the host: %d %s", got.status, got.body)
	}
}

// With several credentials, the one for the place goes out.
func TestCredentialsByPrefix(t *testing.T) {
	f := start(t, nil)
	stranger := sigv4.Credentials{AccessKeyID: "AKIAOTHER", SecretAccessKey: "other"}
	keys := f.session(func(s *tap.Session) {
		s.Upstream = []tap.Vended{{Prefix: "s3://aside/meta", Keys: stranger}, {Prefix: "s3://lake/wh/t", Keys: vended}}
		s.Scope = append(s.Scope, tap.Location{Origin: "main", Bucket: "aside", Path: "meta"})
	})
	for _, c := range []call{
		{method: "GET", target: "/lake/wh/t/x"},
		{method: "GET", target: "/lake?prefix=wh/t/"},
		{method: "HEAD", target: "/lake"},
		{method: "POST", target: "/lake?delete", body: deleteDoc("wh/t/x")},
	} {
		c.keys = keys
		f.do(c)
		if s := f.origin.seen(); len(s) != 1 || s[0].KeyID != vended.AccessKeyID {
			t.Errorf("%s %s: origin saw %s", c.method, c.target, describe(s))
		}
	}
	f.do(call{method: "GET", target: "/aside/meta/x", keys: keys})
	if s := f.origin.seen(); len(s) != 1 || s[0].KeyID != stranger.AccessKeyID {
		t.Errorf("origin saw %s", describe(s))
	}
}

// Stores vend session tokens of several KiB; ours, which hold them, still fit
// into a head and into a presigned URL.
func TestLargeUpstreamToken(t *testing.T) {
	f := start(t, nil)
	large := strings.Repeat("t", 4<<10)
	keys := f.session(func(s *tap.Session) {
		s.Upstream = []tap.Vended{{Keys: sigv4.Credentials{AccessKeyID: "ASIALARGE", SecretAccessKey: "s", SessionToken: large}}}
	})
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("X-Amz-Security-Token") != large {
			w.WriteHeader(http.StatusForbidden)
		}
		return true
	})
	for _, c := range []call{{method: "GET", target: "/lake/wh/t/x"}, {method: "PUT", target: "/lake/wh/t/x", body: "x"}} {
		c.keys = keys
		if got := f.do(c); got.status != 200 {
			t.Errorf("%s: got %d %s", c.method, got.status, got.body)
		}
	}
}

// What was learned of a key ends with the cluster key that it was made from, also
// where another one has its id.
func TestRotatedAwayKeysAreForgotten(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/data/x", "secret")
	alice := f.session(nil)
	for range 2 { // the second time its key is at hand
		if got := f.do(call{method: "GET", target: "/lake/wh/t/data/x", keys: alice}); got.status != 200 {
			t.Fatalf("status %d", got.status)
		}
	}
	id, _, _ := strings.Cut(strings.Split(string(f.keys.Text()), "\n")[1], " ")
	other, err := tap.ParseKeyring([]byte(id + " " + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 32))))
	if err != nil {
		t.Fatal(err)
	}
	f.keys.Adopt(other)
	if got := f.do(call{method: "GET", target: "/lake/wh/t/data/x", keys: alice}); got.status != 403 {
		t.Errorf("status %d once the cluster key is another", got.status)
	}
}
