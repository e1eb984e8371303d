package storage_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// Requests that another server could read otherwise are answered 400 and the
// connection closed: what follows them is never taken for a request.
func TestSmugglingShapes(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.HeaderTimeout = 300 * time.Millisecond })
	f.origin.put("lake/wh/t/x", "x")
	keys := f.session(nil)
	inner := f.head(call{method: "GET", target: "/lake/wh/t/x", keys: keys}) + "\r\n"
	put := f.head(call{method: "PUT", target: "/lake/wh/t/y", keys: keys, payload: &sigv4.Payload{Mode: sigv4.Unsigned}})
	bare := "PUT /lake/wh/t/y HTTP/1.1\r\nHost: " + f.addr + "\r\n"
	for _, c := range []struct{ name, request string }{
		{"two lengths", put + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd"},
		{"two other lengths", put + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd"},
		{"length list", put + "Content-Length: 4, 4\r\n\r\nabcd"},
		{"signed length", put + "Content-Length: +4\r\n\r\nabcd"},
		{"length and coding", put + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"coding and length", put + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"},
		{"two codings", put + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"coding list", put + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
		{"identity", put + "Transfer-Encoding: identity\r\n\r\n"},
		{"odd coding", put + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
		{"folded line", put + "X-Fold: a\r\n b\r\n\r\n"},
		{"folded coding", put + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"},
		{"bare line feed", put + "X-A: a\nX-B: b\r\n\r\n"},
		{"bare line feed at the end", put + "X-A: a\r\n\n\r\n\r\n"},
		{"carriage return inside", put + "X-A: a\rContent-Length: 4\r\n\r\nabcd"},
		{"NUL", put + "X-A: a\x00b\r\n\r\n"},
		{"space before the colon", put + "Content-Length : 4\r\n\r\nabcd"},
		{"space in a name", put + "X A: 4\r\n\r\n"},
		{"space before the first", "PUT /lake/wh/t/y HTTP/1.1\r\n Host: a\r\n\r\n"},
		{"no colon", put + "nonsense\r\n\r\n"},
		{"two hosts", put + "Host: other\r\n\r\n"},
		{"no host", "PUT /lake/wh/t/y HTTP/1.1\r\n\r\n"},
		{"HTTP/1.0 with coding", strings.Replace(put, "HTTP/1.1", "HTTP/1.0", 1) + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"HTTP/2 in words", strings.Replace(put, "HTTP/1.1", "HTTX/1.1", 1) + "\r\n"},
		{"chunk extension with a line feed", put + "Transfer-Encoding: chunked\r\n\r\n4;a\nb\r\nabcd\r\n0\r\n\r\n"},
		{"chunk without its end", put + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcdX\r\n0\r\n\r\n"},
		{"chunk size with a sign", put + "Transfer-Encoding: chunked\r\n\r\n-4\r\nabcd\r\n0\r\n\r\n"},
		{"not a method", "G@T /x HTTP/1.1\r\nHost: a\r\n\r\n"},
		{"absolute target of another host", "GET http://other" + f.addr + "/lake/wh/t/x HTTP/1.1\r\nHost: " + f.addr + "\r\nConnection: close\r\n\r\n"},
		{"fragment", "GET /lake/wh/t/x#y HTTP/1.1\r\nHost: " + f.addr + "\r\nConnection: close\r\n\r\n"},
		{"escape", "GET /lake/wh/t/%zz HTTP/1.1\r\nHost: " + f.addr + "\r\nConnection: close\r\n\r\n"},
		{"line feeds only", "GET /lake/wh/t/x HTTP/1.1\nHost: a\n\n"},
		{"head too large", bare + "X-Large: " + strings.Repeat("x", 40<<10) + "\r\n\r\n"},
		{"head that never ends", bare + "X-Slow: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := f.raw(c.request + inner)
			if !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "<Code>") {
				t.Errorf("got %q", got)
			}
			if n := strings.Count(got, "HTTP/1.1 "); n != 1 && !strings.Contains(c.request, "Connection: close") {
				t.Errorf("%d answers: %q", n, got)
			}
			for _, s := range f.origin.seen() {
				if s.Err == "" {
					t.Errorf("the origin took %s %s", s.Method, s.URI)
				}
			}
			if _, ok := f.origin.object("lake/wh/t/y"); ok {
				t.Error("an object was stored")
			}
		})
	}
}

// Keep-alive and pipelining work for what is in order.
func TestPipelining(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/x", "x")
	keys := f.session(nil)
	conn := f.dial()
	get := f.head(call{method: "GET", target: "/lake/wh/t/x", keys: keys}) + "\r\n"
	no := f.head(call{method: "GET", target: "/lake/wh/t2/x", keys: keys}) + "\r\n"
	write(t, conn, get+no+get+f.head(call{method: "HEAD", target: "/lake/wh/t/none", keys: keys})+"\r\n"+get)
	r := bufio.NewReader(conn)
	for i, want := range []int{200, 403, 200, 404, 200} {
		method := "GET"
		if i == 3 {
			method = "HEAD"
		}
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil || resp.StatusCode != want {
			t.Fatalf("answer %d: %v, %v", i, resp, err)
		}
		skim(resp.Body)
		resp.Body.Close()
	}
}

// Field case G14: aws-chunked within chunks.
func TestChunkedUpload(t *testing.T) {
	f := start(t, nil)
	p := &sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Trailers: []string{"x-amz-checksum-crc32"}}
	// aws-chunked inside HTTP's own chunks.
	got := f.do(call{
		method: "PUT", target: "/lake/wh/t/x", body: "twice framed", keys: f.session(nil), payload: p,
		trailer: trailerOf("twice framed"), after: func(r *http.Request) { r.ContentLength = -1 },
	})
	if obj, _ := f.origin.object("lake/wh/t/x"); got.status != 200 || string(obj.data) != "twice framed" {
		t.Errorf("got %d %s, stored %q", got.status, got.body, obj.data)
	}
	got2 := f.raw(f.head(call{method: "PUT", target: "/lake/wh/t/z", keys: f.session(nil)}) + "\r\n")
	if !strings.HasPrefix(got2, "HTTP/1.1 411 ") || !strings.Contains(got2, "MissingContentLength") {
		t.Errorf("no length: got %q", got2)
	}
}

// Field case G16: what proxies add is neither signed nor sent on.
func TestHeadersThatStay(t *testing.T) {
	f := start(t, nil)
	keys := f.session(nil)
	f.do(call{method: "PUT", target: "/lake/wh/t/x", body: "b", keys: keys, header: http.Header{
		"Content-Md5": {"kutf/uauL+w61xx3dTFXjw=="}, "X-Amz-Acl": {"private"}, "If-None-Match": {"*"}, "Idempotency-Key": {"k"},
		"Forwarded": {"for=a"}, "X-Forwarded-For": {"1.2.3.4"}, "Via": {"1.1 x"}, "Te": {"trailers"}, "Connection": {"x-hop, x-amz-acl"}, "X-Hop": {"1"},
		"X-Http-Method-Override": {"DELETE"}, "Accept-Encoding": {"identity"}, "User-Agent": {""}, "X-Amz-Server-Side-Encryption": {"AES256"},
	}})
	s := f.origin.seen()
	if len(s) != 1 || s[0].Err != "" {
		t.Fatalf("origin saw %s", describe(s))
	}
	h := s[0].Header
	for n, want := range map[string]string{
		"Content-Md5": "kutf/uauL+w61xx3dTFXjw==", "X-Amz-Acl": "private", "If-None-Match": "*", "Idempotency-Key": "k", "Accept-Encoding": "identity",
		"X-Amz-Server-Side-Encryption": "AES256",
		"Forwarded":                    "", "X-Forwarded-For": "", "Via": "", "Te": "", "X-Hop": "", "X-Http-Method-Override": "", "User-Agent": "", "X-Amz-Security-Token": "",
	} {
		if got := h.Get(n); got != want {
			t.Errorf("%s is %q, want %q", n, got, want)
		}
	}
	if strings.Contains(h.Get("Authorization"), keys.AccessKeyID) {
		t.Error("the client's key reached the origin")
	}
	// Conditions are the origin's to judge.
	got := f.do(call{method: "PUT", target: "/lake/wh/t/x", body: "b", keys: keys, header: http.Header{"If-None-Match": {"*"}}})
	if got.status != 412 || got.code() != "PreconditionFailed" {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestQueryPassesAsItIs(t *testing.T) {
	f := start(t, nil)
	const query = "list-type=2&prefix=wh/t/a%20b%2B&start-after=wh%2Ft%2F%C3%A9&delimiter=%2f&encoding-type=url&continuation-token=1%2Fx%3D%3D&fetch-owner"
	got := f.do(call{method: "GET", target: "/lake?" + query, keys: f.session(nil)})
	if want := strings.ReplaceAll(query, "&", "&amp;"); !strings.Contains(got.body, want) {
		t.Errorf("got %d %s, want the query %s", got.status, got.body, want)
	}
	if a := f.access(); a.Op != "ListObjectsV2" || a.TableName != "db.t" {
		t.Errorf("recorded %s of %q", a.Op, a.TableName)
	}
}

func TestPathsOfTheServiceAndBuckets(t *testing.T) {
	f := start(t, nil)
	for _, c := range []struct{ target, uri string }{{"/", "/"}, {"/lake", "/lake"}, {"/lake/", "/lake/"}, {"/lake?policy", "/lake?policy"}} {
		f.do(call{method: "GET", target: c.target, keys: adminKeys})
		if s := f.origin.seen(); len(s) != 1 || s[0].URI != c.uri || s[0].Err != "" {
			t.Errorf("%s: origin saw %s", c.target, describe(s))
		}
	}
	for _, c := range []struct{ target, code string }{{"/..", "InvalidBucketName"}, {"/a%2Fb/c", "InvalidBucketName"}, {"//lake/x", "InvalidBucketName"}} {
		if got := f.do(call{method: "GET", target: c.target, keys: adminKeys}); got.code() != c.code {
			t.Errorf("%s: got %d %s, want %s", c.target, got.status, got.body, c.code)
		}
		f.wantNothingSent(t)
	}
}

func TestBucketOfNoOrigin(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.Origins[0].Buckets = []string{"lake"} })
	if got := f.do(call{method: "GET", target: "/stray/x", keys: adminKeys}); got.code() != "AccessDenied" || !strings.Contains(got.body, "storage.origins") {
		t.Errorf("got %d %s", got.status, got.body)
	}
	got := f.do(call{method: "PUT", target: "/lake/x", header: copyFrom("/stray/x"), keys: adminKeys})
	if got.status != 501 {
		t.Errorf("copy between stores: got %d %s", got.status, got.body)
	}
	f.wantNothingSent(t)
}

func TestTwoCopySources(t *testing.T) {
	f := start(t, nil)
	head := f.head(call{method: "PUT", target: "/lake/wh/t/x", keys: f.session(nil), header: copyFrom("/lake/wh/t/y"), after: func(r *http.Request) {}})
	got := f.raw(head + "x-amz-copy-source: /lake/wh/t2/y\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 4") {
		t.Errorf("got %q", got)
	}
	f.wantNothingSent(t)
}

func trailerOf(body string) []laketap.Field {
	return []laketap.Field{{Name: "x-amz-checksum-crc32", Value: crc32Of(body)}}
}

// Field case G23: a tap that is its own origin says so.
func TestLoops(t *testing.T) {
	t.Run("at start", func(t *testing.T) {
		for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
			ln := listen(t)
			keys, err := tap.NewKeyring(strings.NewReader(strings.Repeat("k", 100)))
			if err != nil {
				t.Fatal(err)
			}
			_, port, _ := strings.Cut(ln.Addr().String(), ":")
			s, err := storage.New(storage.Options{
				Origins: []tap.Origin{{Name: "main", Endpoint: fmt.Sprintf("http://%s:%s", host, port)}}, Send: newOrigin(t), Keys: keys,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Serve(ln); err == nil || !strings.Contains(err.Error(), "storage.origins") {
				t.Errorf("%s: served: %v", host, err)
			}
			ln.Close()
		}
	})
	t.Run("while serving", func(t *testing.T) {
		f := start(t, func(o *storage.Options) {
			o.Origins[0].Endpoint = "http://s3.internal.test"
			o.Static = append(o.Static, storage.StaticKey{ID: ownKeys.AccessKeyID, Secret: ownKeys.SecretAccessKey, All: true})
		})
		got := f.do(call{method: "GET", target: "/lake/x", keys: ownKeys, host: "s3.internal.test"})
		if got.status != http.StatusLoopDetected || got.code() != "LoopDetected" {
			t.Errorf("got %d %s", got.status, got.body)
		}
		f.wantNothingSent(t)
		if got := f.do(call{method: "GET", target: "/lake/x", keys: adminKeys, host: "s3.internal.test"}); got.code() == "LoopDetected" {
			t.Errorf("another key's request is no loop: %d %s", got.status, got.body)
		}
	})
}

func TestOptionsThatCannotWork(t *testing.T) {
	keys, err := tap.NewKeyring(strings.NewReader(strings.Repeat("k", 100)))
	if err != nil {
		t.Fatal(err)
	}
	vendedLooking, err := keys.Vend(tap.Session{}, strings.NewReader(strings.Repeat("r", 100)))
	if err != nil {
		t.Fatal(err)
	}
	base := func(static ...storage.StaticKey) storage.Options {
		return storage.Options{Origins: []tap.Origin{{Name: "main"}}, Send: newOrigin(t), Keys: keys, Static: static}
	}
	for _, c := range []struct {
		name, want string
		opts       storage.Options
	}{
		{"no origin", "storage.origins", storage.Options{Send: newOrigin(t), Keys: keys}},
		{"no keyring", "Options.Keys", storage.Options{Origins: []tap.Origin{{Name: "main"}}, Send: newOrigin(t)}},
		{"no secret", "needs an id and a secret", base(storage.StaticKey{ID: "a", All: true})},
		{"twice", "appears twice", base(storage.StaticKey{ID: "a", Secret: "s", All: true}, storage.StaticKey{ID: "a", Secret: "s", All: true})},
		{"nothing to touch", "scope: all", base(storage.StaticKey{ID: "a", Secret: "s"})},
		{"like a vended key", "looks like a vended key", base(storage.StaticKey{ID: vendedLooking.AccessKeyID, Secret: "s", All: true})},
	} {
		if _, err := storage.New(c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
