package storage_test

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap/storage"
)

func crc32Of(body string) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
}

// modes are the ways in which a client may send a body.
func modes() []struct {
	name    string
	payload sigv4.Payload
} {
	return []struct {
		name    string
		payload sigv4.Payload
	}{
		{"signed", sigv4.Payload{Mode: sigv4.Signed}},
		{"unsigned", sigv4.Payload{Mode: sigv4.Unsigned}},
		{"streaming signed", sigv4.Payload{Mode: sigv4.StreamingSigned}},
		{"streaming signed with trailer", sigv4.Payload{Mode: sigv4.StreamingSignedTrailer, Trailers: []string{"x-amz-checksum-crc32"}}},
		{"streaming unsigned with trailer", sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Trailers: []string{"x-amz-checksum-crc32"}}},
	}
}

// Field case G14: the payload is stored, its framing is not.
func TestPutKeepsTheClientsMode(t *testing.T) {
	f := start(t, nil)
	keys := f.session(nil)
	for _, size := range []int{0, 1, 100, 64 << 10, 300<<10 + 7} {
		for _, m := range modes() {
			t.Run(fmt.Sprint(m.name, " ", size), func(t *testing.T) {
				body := strings.Repeat("x", size)
				trailer := []laketap.Field{{Name: "x-amz-checksum-crc32", Value: crc32Of(body)}}
				got := f.do(call{
					method: "PUT", target: "/lake/wh/t/data/up", body: body, keys: keys, payload: &m.payload, trailer: trailer,
					header: http.Header{"Content-Type": {"application/x-parquet"}, "Content-Encoding": {"zstd"}, "X-Amz-Meta-Mixed": {"V"}},
				})
				if got.status != 200 || got.header.Get("ETag") != etag([]byte(body)) {
					t.Fatalf("got %d %s %v", got.status, got.body, got.header)
				}
				s := f.origin.seen()
				if len(s) != 1 || s[0].Err != "" || s[0].Mode != m.payload.Mode {
					t.Fatalf("origin saw %s in mode %v, want one request in %v", describe(s), s[0].Mode, m.payload.Mode)
				}
				if len(m.payload.Trailers) > 0 && !slices.Equal(s[0].Trailer, trailer) {
					t.Errorf("trailer %v, want %v", s[0].Trailer, trailer)
				}
				obj, _ := f.origin.object("lake/wh/t/data/up")
				if string(obj.data) != body {
					t.Errorf("stored %d bytes, want %d", len(obj.data), size)
				}
				want := "zstd"
				if m.payload.Mode >= sigv4.StreamingSigned {
					want = "aws-chunked,zstd"
				}
				if enc := obj.header.Get("Content-Encoding"); enc != want {
					t.Errorf("Content-Encoding %q, want %q", enc, want)
				}
				if a := f.access(); a.Op != "PutObject" || a.BytesIn < int64(size) || a.Status != 200 {
					t.Errorf("access %s, %d bytes in, status %d", a.Op, a.BytesIn, a.Status)
				}
			})
		}
	}
}

// A body that is not what was signed must not become an object.
//
// Field case G15.
func TestWrongBodiesStoreNothing(t *testing.T) {
	f := start(t, nil)
	keys := f.session(nil)
	body := strings.Repeat("y", 200<<10)
	replace := func(from, to string) func(*http.Request) {
		return func(r *http.Request) {
			framed, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			changed := strings.Replace(string(framed), from, to, 1)
			if changed == string(framed) {
				t.Errorf("%q is not in the body", from)
			}
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(changed)), int64(len(changed))
		}
	}
	for _, c := range []struct {
		name    string
		payload sigv4.Payload
		trailer string
		after   func(*http.Request)
		code    string
	}{
		{"hash", sigv4.Payload{Mode: sigv4.Signed, Hash: hash("another")}, "", nil, "XAmzContentSHA256Mismatch"},
		{"byte in a chunk", sigv4.Payload{Mode: sigv4.StreamingSigned}, "", replace("yy", "yz"), "SignatureDoesNotMatch"},
		{"chunk signature", sigv4.Payload{Mode: sigv4.StreamingSigned}, "", replace("chunk-signature=", "chunk-signature=0"), ""},
		{"chunk size", sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Trailers: []string{"x-amz-checksum-crc32"}}, crc32Of(body), replace("10000\r\n", "0ffff\r\n"), ""},
		{"trailer", sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Trailers: []string{"x-amz-checksum-crc32"}}, crc32Of("another"), nil, "BadDigest"},
		{"signed trailer", sigv4.Payload{Mode: sigv4.StreamingSignedTrailer, Trailers: []string{"x-amz-checksum-crc32"}}, crc32Of("another"), nil, "BadDigest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := f.do(call{
				method: "PUT", target: "/lake/wh/t/data/bad", body: body, keys: keys, payload: &c.payload, after: c.after,
				trailer: []laketap.Field{{Name: "x-amz-checksum-crc32", Value: c.trailer}},
			})
			if got.status < 400 || got.status >= 500 || c.code != "" && got.code() != c.code {
				t.Errorf("got %d %s, want %s", got.status, got.body, c.code)
			}
			if _, ok := f.origin.object("lake/wh/t/data/bad"); ok {
				t.Error("an object was stored")
			}
		})
	}
}

func TestEmptyBodyIsVerifiedToo(t *testing.T) {
	f := start(t, nil)
	got := f.do(call{method: "PUT", target: "/lake/wh/t/e", keys: f.session(nil), payload: &sigv4.Payload{Hash: hash("not empty")}})
	if got.code() != "XAmzContentSHA256Mismatch" {
		t.Errorf("got %d %s", got.status, got.body)
	}
	f.wantNothingSent(t)
}

// head signs a request and spells its head without the body.
func (f *fixture) head(c call) string {
	r := f.request(c)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.URL.RequestURI(), f.addr)
	for n, v := range r.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", n, v[0])
	}
	return b.String()
}

func TestClientThatDiesStoresNothing(t *testing.T) {
	f := start(t, nil)
	keys := f.session(nil)
	for _, m := range modes()[:2] {
		for _, sent := range []int{0, 100, 9 << 10, 500 << 10} {
			conn := f.dial()
			body := strings.Repeat("z", 1<<20)
			fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", f.head(call{method: "PUT", target: "/lake/wh/t/dead", body: body, keys: keys, payload: &m.payload}), len(body), body[:sent])
			conn.Close()
			if a := f.access(); a.Status == 200 {
				t.Errorf("%s, %d bytes: recorded %d", m.name, sent, a.Status)
			}
			if _, ok := f.origin.object("lake/wh/t/dead"); ok {
				t.Errorf("%s, %d bytes: an object was stored", m.name, sent)
			}
			f.origin.seen()
		}
	}
}

func TestHalfClosedUploadIsAnswered(t *testing.T) {
	f := start(t, nil)
	conn := f.dial()
	fmt.Fprintf(conn, "%sContent-Length: 100000\r\n\r\n%s", f.head(call{method: "PUT", target: "/lake/wh/t/half", keys: f.session(nil), payload: &sigv4.Payload{Mode: sigv4.Unsigned}}), strings.Repeat("h", 50000))
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(got), "HTTP/1.1 400 ") || !strings.Contains(string(got), "IncompleteBody") {
		t.Errorf("got %q", got)
	}
	if _, ok := f.origin.object("lake/wh/t/half"); ok {
		t.Error("an object was stored")
	}
}

func TestStalledUploadEnds(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.StallTimeout = 200 * time.Millisecond })
	conn := f.dial()
	fmt.Fprintf(conn, "%sContent-Length: 100000\r\n\r\n%s", f.head(call{method: "PUT", target: "/lake/wh/t/slow", keys: f.session(nil), payload: &sigv4.Payload{Mode: sigv4.Unsigned}}), strings.Repeat("h", 50000))
	got, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(got), "HTTP/1.1 400 ") || !strings.Contains(string(got), "RequestTimeout") {
		t.Errorf("got %q", got)
	}
	if _, ok := f.origin.object("lake/wh/t/slow"); ok {
		t.Error("an object was stored")
	}
}

// Field case G20: a prompt 100, or a prompt refusal.
func TestExpectContinue(t *testing.T) {
	f := start(t, nil)
	body := strings.Repeat("e", 100<<10)
	unsigned := &sigv4.Payload{Mode: sigv4.Unsigned}
	keys := f.session(nil)
	good := call{method: "PUT", target: "/lake/wh/t/exp", keys: keys, payload: unsigned}

	t.Run("let in", func(t *testing.T) {
		conn := f.dial()
		fmt.Fprintf(conn, "%sExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", f.head(good), len(body))
		r := bufio.NewReader(conn)
		if line, _ := r.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
			t.Fatalf("got %q", line)
		}
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		write(t, conn, body)
		resp, err := http.ReadResponse(r, nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("got %v, %v", resp, err)
		}
		resp.Body.Close()
		if obj, _ := f.origin.object("lake/wh/t/exp"); string(obj.data) != body {
			t.Errorf("stored %d bytes", len(obj.data))
		}
		// The connection goes on.
		write(t, conn, f.head(call{method: "GET", target: "/lake/wh/t/exp", keys: keys})+"\r\n")
		if resp, err = http.ReadResponse(r, nil); err != nil || resp.StatusCode != http.StatusOK || resp.ContentLength != int64(len(body)) {
			t.Fatalf("next request got %v, %v", resp, err)
		}
		skim(resp.Body)
		resp.Body.Close()
		if s := f.origin.seen(); len(s) != 2 || s[0].Header.Get("Expect") != "" {
			t.Errorf("origin saw %s", describe(s))
		}
	})
	for _, c := range []struct {
		name, expect, want string
		call               call
	}{
		{"refused at once", "100-continue", "HTTP/1.1 403 ", call{method: "PUT", target: "/lake/wh/t2/exp", keys: keys, payload: unsigned}},
		{"another expectation", "200-ok", "HTTP/1.1 417 ", good},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := f.dial()
			fmt.Fprintf(conn, "%sExpect: %s\r\nContent-Length: 3\r\n\r\nabc", f.head(c.call), c.expect)
			got, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil || !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q (%v), want %s", got, err, c.want)
			}
			f.wantNothingSent(t)
		})
	}
}

// An origin may answer before it has read the body; what is left of it must
// not be taken for the next request.
func TestOriginThatAnswersEarly(t *testing.T) {
	f := start(t, nil)
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusForbidden)
		write(t, w, "<Error><Code>AccessDenied</Code></Error>")
		return true
	})
	f.origin.put("lake/wh/t/x", "x")
	keys := f.session(nil)
	for _, size := range []int{10, 100 << 10, 8 << 20} {
		got := f.do(call{method: "PUT", target: "/lake/wh/t/early", body: strings.Repeat("b", size), keys: keys, payload: &sigv4.Payload{Mode: sigv4.Unsigned}})
		// The origin's answer can be lost when it closes with bytes unread;
		// then we say that we do not know.
		if got.code() != "AccessDenied" && got.code() != "InternalError" {
			t.Errorf("%d bytes: got %d %s", size, got.status, got.body)
		}
		if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys}); got.body != "x" {
			t.Errorf("%d bytes: next request got %d %s", size, got.status, got.body)
		}
	}
}

func TestRefusalLeavesTheConnectionUsable(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/x", "x")
	keys := f.session(nil)
	for _, size := range []int{0, 1000, 100 << 10, 400 << 10, 8 << 20} {
		body := make([]byte, size)
		if _, err := rand.Read(body); err != nil {
			t.Fatal(err)
		}
		got := f.do(call{method: "PUT", target: "/lake/wh/t2/no", body: string(body), keys: keys, payload: &sigv4.Payload{Mode: sigv4.Unsigned}})
		if got.code() != "AccessDenied" {
			t.Errorf("%d bytes: got %d %s", size, got.status, got.body)
		}
		if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys}); got.body != "x" {
			t.Errorf("%d bytes: next request got %d %s", size, got.status, got.body)
		}
	}
}

func TestMultipart(t *testing.T) {
	f := start(t, nil)
	keys := f.session(nil)
	got := f.do(call{method: "POST", target: "/lake/wh/t/big?uploads", keys: keys})
	if !strings.Contains(got.body, "<UploadId>up0</UploadId>") {
		t.Fatalf("create: %d %s", got.status, got.body)
	}
	for i, part := range []string{"first ", "second"} {
		got = f.do(call{method: "PUT", target: fmt.Sprintf("/lake/wh/t/big?partNumber=%d&uploadId=up0&x-id=UploadPart", i+1), body: part, keys: keys})
		if got.status != 200 || got.header.Get("ETag") != etag([]byte(part)) {
			t.Fatalf("part %d: %d %s", i+1, got.status, got.body)
		}
	}
	got = f.do(call{method: "POST", target: "/lake/wh/t/big?uploadId=up0", body: "<CompleteMultipartUpload/>", keys: keys})
	if got.body != "<CompleteMultipartUploadResult/>" {
		t.Fatalf("complete: %d %s", got.status, got.body)
	}
	if obj, _ := f.origin.object("lake/wh/t/big"); string(obj.data) != "first second" {
		t.Errorf("stored %q", obj.data)
	}
}

// Field cases G1 and G2: one object for all spellings of its key.
func TestKeysSurviveEncoding(t *testing.T) {
	f := start(t, nil)
	keys := f.session(nil)
	for _, c := range []struct{ wire, key string }{
		{"a+b", "a+b"},
		{"a%2Bb", "a+b"},
		{"d=1/x", "d=1/x"},
		{"d%3D1/x", "d=1/x"},
		{"t%2012:30.1/x", "t 12:30.1/x"},
		{"x_$folder$", "x_$folder$"},
		{"mac@2x", "mac@2x"},
		{"x_%24folder%24", "x_$folder$"},
		{"mac%402x", "mac@2x"},
		{"t%2012%3A30.1/x", "t 12:30.1/x"},
		{"a%252Fb", "a%2Fb"},
		{"%C3%A9/%C3%BC", "é/ü"},
		{"JULY%2027.zip", "JULY 27.zip"},
		{"test%20folder/%25", "test folder/%"},
		{"a//b", "a//b"},
		{"a%2fb", "a/b"},
		{"q%3Fx%23y", "q?x#y"},
		{"tilde~x!*'()", "tilde~x!*'()"},
		{"slash/", "slash/"},
	} {
		name := "lake/wh/t/" + c.key
		if got := f.do(call{method: "PUT", target: "/lake/wh/t/" + c.wire, body: c.key, keys: keys}); got.status != 200 {
			t.Errorf("PUT %s: %d %s", c.wire, got.status, got.body)
			continue
		}
		if obj, ok := f.origin.object(name); !ok || string(obj.data) != c.key {
			t.Errorf("%s is not stored as %s: origin saw %s", c.wire, c.key, describe(f.origin.seen()))
		}
		if got := f.do(call{method: "GET", target: "/lake/wh/t/" + c.wire, keys: keys}); got.body != c.key {
			t.Errorf("GET %s: %d %s", c.wire, got.status, got.body)
		}
	}
}
