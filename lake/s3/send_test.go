package s3_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/lake/s3"
)

var secrets = map[string]string{"AKID": "hunter2", "own": "own secret"}

// Every key and query arrives as it was meant and verifies.
//
// Field case G1: keys are encoded once.
func TestSendIsSigned(t *testing.T) {
	var got stored
	s := newStore(t, serve(t, strict(secrets, func(s stored) { got = s })), s3.Options{})
	for _, target := range []string{
		"/bucket", "/bucket/", "/bucket/a/b", "/bucket/a%20b", "/bucket/a%252Fb", "/bucket//a//b", "/bucket/../x", "/bucket/%C3%A9",
		"/bucket/d%3D1/x", "/bucket?list-type=2&prefix=a%2Fb&delimiter=%2F", "/bucket/k?uploads", "/bucket/k?versionId=1&b=%20+",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodPut, http.MethodPost} {
			code, _ := status(t, s, request(method, target, nil, "Range", "bytes=0-9", "X-Amz-Meta-A", " a  b", "If-Match", `"e"`), sigv4.Payload{})
			if code != http.StatusOK || got.err != nil || got.target != target {
				t.Errorf("%s %s: got %s, %v", method, target, got.target, got.err)
			}
			if got.header.Get("If-Match") != `"e"` || got.header.Get("X-Amz-Security-Token") != "token" {
				t.Errorf("%s %s: header %v", method, target, got.header)
			}
		}
	}
}

// Without keys a request goes out as it is: nobody's.
func TestSendUnsigned(t *testing.T) {
	var got http.Header
	var body []byte
	s := newStore(t, serve(t, func(_ http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		body, _ = io.ReadAll(r.Body)
	}), s3.Options{})
	req := request(http.MethodPut, "/bucket/a%20b", nil, "X-Amz-Date", "the client's")
	req.Body, req.ContentLength = io.NopCloser(strings.NewReader("form")), 4
	resp, err := s.Send(t.Context(), req, sigv4.Credentials{}, sigv4.Payload{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if string(body) != "form" || got.Get("X-Amz-Date") != "the client's" {
		t.Errorf("got %q, %v", body, got)
	}
	for name := range got {
		if name == "Authorization" || name == "X-Amz-Content-Sha256" || name == "X-Amz-Security-Token" {
			t.Errorf("%s was added", name)
		}
	}
}

// The store gets the object in the client's own payload mode.
func TestSendKeepsThePayloadMode(t *testing.T) {
	object := bytes.Repeat([]byte("lake "), 40_000)
	sum := sha256.Sum256(object)
	n := int64(len(object))
	names := []string{"x-amz-checksum-sha256"}
	trailer := func() []laketap.Field {
		return []laketap.Field{{Name: names[0], Value: base64Of(sum[:])}}
	}
	var got stored
	s := newStore(t, serve(t, strict(secrets, func(s stored) { got = s })), s3.Options{})
	for name, p := range map[string]sigv4.Payload{
		"signed":           {Hash: hex.EncodeToString(sum[:]), Length: n},
		"unsigned":         {Mode: sigv4.Unsigned, Length: n},
		"chunks":           {Mode: sigv4.StreamingSigned, Length: n},
		"signed trailer":   {Mode: sigv4.StreamingSignedTrailer, Length: n, Trailers: names},
		"unsigned trailer": {Mode: sigv4.StreamingUnsignedTrailer, Length: n, Trailers: names},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := send(t, s, request(http.MethodPut, "/bucket/k", bytes.NewReader(object), "Content-Encoding", "gzip"), p, trailer)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if got.err != nil || !bytes.Equal(got.body, object) {
				t.Errorf("got %d bytes, %v", len(got.body), got.err)
			}
			var want []laketap.Field
			if p.Trailers != nil {
				want = trailer()
			}
			if diff := cmp.Diff(want, got.trailer); diff != "" {
				t.Errorf("trailer (-want +got)\n%s", diff)
			}
			coding := "gzip"
			if p.Mode >= sigv4.StreamingSigned {
				coding = "aws-chunked,gzip"
			}
			if got := got.header.Get("Content-Encoding"); got != coding {
				t.Errorf("content encoding: got %s, want %s", got, coding)
			}
		})
	}
	t.Run("empty objects", func(t *testing.T) {
		for _, mode := range []sigv4.Mode{sigv4.Signed, sigv4.Unsigned, sigv4.StreamingSigned, sigv4.StreamingUnsignedTrailer} {
			if code, _ := status(t, s, request(http.MethodPut, "/bucket/k", strings.NewReader("")), sigv4.Payload{Mode: mode}); code != http.StatusOK {
				t.Errorf("mode %d: got %v", mode, got.err)
			}
		}
	})
}

// An upload that breaks on our side leaves nothing complete at the store.
func TestSendOfBrokenBody(t *testing.T) {
	gone := errors.New("client went away")
	for _, mode := range []sigv4.Mode{sigv4.Unsigned, sigv4.StreamingSigned, sigv4.StreamingUnsignedTrailer} {
		done := make(chan stored, 1)
		s := newStore(t, serve(t, strict(secrets, func(s stored) { done <- s })), s3.Options{})
		body := io.MultiReader(strings.NewReader(strings.Repeat("x", 200_000)), iotest.ErrReader(gone))
		resp, err := send(t, s, request(http.MethodPut, "/bucket/k", body), sigv4.Payload{Mode: mode, Length: 300_000}, nil)
		if err == nil {
			_ = resp.Body.Close()
			t.Errorf("mode %d: got status %d", mode, resp.StatusCode)
		}
		if !errors.Is(err, gone) {
			t.Errorf("mode %d: got %v", mode, err)
		}
		if got := <-done; got.err == nil {
			t.Errorf("mode %d: the store took %d bytes for whole", mode, len(got.body))
		}
	}
}

// What the store says goes to the caller: redirects, errors, codings.
//
// Field case G13: codings are the client's to undo.
func TestSendPassesReplies(t *testing.T) {
	calls := 0
	s := newStore(t, serve(t, func(w http.ResponseWriter, req *http.Request) {
		calls++
		if req.Header.Get("Accept-Encoding") != "" {
			t.Errorf("asks for %s", req.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Content-Encoding", "gzip")
		code := http.StatusTemporaryRedirect
		switch req.URL.Path {
		case "/bucket/301":
			code = http.StatusMovedPermanently
		case "/bucket/503":
			code = http.StatusServiceUnavailable
		case "/bucket/200":
			code = http.StatusOK
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "as stored")
	}), s3.Options{})
	for path, want := range map[string]int{"/bucket/307": 307, "/bucket/301": 301, "/bucket/503": 503, "/bucket/200": 200} {
		calls = 0
		if code, body := status(t, s, request(http.MethodGet, path, nil), sigv4.Payload{}); code != want || body != "as stored" || calls != 1 {
			t.Errorf("%s: got %d, %q in %d calls", path, code, body, calls)
		}
	}
}

// Bytes flow while the reply is still being made, and an upload while it is
// still being read.
func TestSendStreams(t *testing.T) {
	more := make(chan struct{})
	s := newStore(t, serve(t, func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPut {
			first := make([]byte, 5)
			_, _ = io.ReadFull(req.Body, first)
			close(more)
			_, _ = io.Copy(io.Discard, req.Body)
			return
		}
		_, _ = io.WriteString(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "second")
	}), s3.Options{})
	resp, err := send(t, s, request(http.MethodGet, "/bucket/k", nil), sigv4.Payload{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "first" {
		t.Fatalf("got %q, %v", first, err)
	}
	close(more)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "second" {
		t.Errorf("got %q, %v", rest, err)
	}
	_ = resp.Body.Close()

	more = make(chan struct{})
	r, w := io.Pipe()
	go func() {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 128<<10)) // more than any buffer on the way
		<-more                                             // arrived before the rest exists
		_, _ = w.Write(bytes.Repeat([]byte("x"), 128<<10))
		_ = w.Close()
	}()
	if code, _ := status(t, s, request(http.MethodPut, "/bucket/k", r), sigv4.Payload{Mode: sigv4.Unsigned, Length: 256 << 10}); code != http.StatusOK {
		t.Errorf("got %d", code)
	}
}

// A refusal of an announced body comes back before the body is sent.
func TestSendExpects(t *testing.T) {
	s := newStore(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }),
		s3.Options{ExpectContinueTimeout: time.Minute})
	read := false
	body := readFunc(func([]byte) (int, error) { read = true; return 0, io.EOF })
	code, _ := status(t, s, request(http.MethodPut, "/bucket/k", body, "Expect", "100-continue"), sigv4.Payload{Mode: sigv4.Unsigned, Length: 5})
	if code != http.StatusForbidden || read {
		t.Errorf("got %d, read %v", code, read)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// Reads are bounded in time if so configured; a write may take long.
func TestSendWaitsForWrites(t *testing.T) {
	release := make(chan struct{})
	s := newStore(t, serve(t, func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-release:
		case <-req.Context().Done():
		}
	}), s3.Options{ResponseHeaderTimeout: 20 * time.Millisecond})
	resp, err := send(t, s, request(http.MethodGet, "/bucket/k", nil), sigv4.Payload{}, nil)
	if err == nil {
		_ = resp.Body.Close()
		t.Error("the read was not bounded")
	}
	// The write is answered only after the read has given up.
	close(release)
	if code, _ := status(t, s, request(http.MethodPost, "/bucket/k?uploadId=x", nil), sigv4.Payload{}); code != http.StatusOK {
		t.Errorf("got %d", code)
	}
}

func TestSendErrors(t *testing.T) {
	closed := &closeCounter{Reader: strings.NewReader("x")}
	req := request(http.MethodPut, "/bucket/%zz", nil)
	req.Body = closed
	s := newStore(t, "http://127.0.0.1:1", s3.Options{})
	for name, do := range map[string]func() (*http.Response, error){
		"path": func() (*http.Response, error) { return send(t, s, req, sigv4.Payload{}, nil) },
		"nobody listens": func() (*http.Response, error) {
			return send(t, s, request(http.MethodGet, "/bucket", nil), sigv4.Payload{}, nil)
		},
		"no such origin": func() (*http.Response, error) {
			req := request(http.MethodPut, "/bucket", nil)
			req.Body = closed
			return s3.Stores{}.Send(context.Background(), "lake", req, keys(), sigv4.Payload{}, nil)
		},
	} {
		resp, err := do()
		if err == nil {
			_ = resp.Body.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		if !strings.Contains(err.Error(), "lake") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if closed.n != 2 {
		t.Errorf("bodies closed %d times", closed.n)
	}
}

type closeCounter struct {
	io.Reader
	n int
}

func (c *closeCounter) Close() error { c.n++; return nil }

// A signature from elsewhere is made over the request as it is sent, once, and
// without one nothing is sent.
func TestSendSigned(t *testing.T) {
	var got stored
	server := httptest.NewServer(strict(map[string]string{keys().AccessKeyID: keys().SecretAccessKey}, func(s stored) { got = s }))
	defer server.Close()
	stores, err := s3.NewStores([]s3.Origin{{Name: "lake", Endpoint: server.URL, PathStyle: true, Region: "us-east-1"}}, s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stores.Close()
	p := sigv4.Payload{Mode: sigv4.StreamingSigned, Length: 4}.Plain()
	signed := 0
	resp, err := stores.SendSigned(t.Context(), "lake", request(http.MethodPut, "/bucket/a b", strings.NewReader("data")), func(req *http.Request) error {
		signed++
		if want := server.URL + "/bucket/a%20b"; req.URL.String() != want {
			t.Errorf("to sign is %s, want %s", req.URL, want)
		}
		return sigv4.Sign(req, keys(), p, "us-east-1", time.Now(), nil)
	}, p)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if signed != 1 || got.err != nil || string(got.body) != "data" {
		t.Errorf("signed %d times, the store got %q, %v", signed, got.body, got.err)
	}
	got = stored{}
	no := errors.New("no")
	for _, origin := range []string{"lake", "elsewhere"} {
		_, err = stores.SendSigned(t.Context(), origin, request(http.MethodPut, "/bucket/k", strings.NewReader("data")), func(*http.Request) error { return no }, p) //nolint:bodyclose // there is none
		if err == nil || got.target != "" || origin == "lake" && !errors.Is(err, no) {
			t.Errorf("%s: error %v, the store got %q", origin, err, got.target)
		}
	}
}
