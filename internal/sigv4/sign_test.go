package sigv4_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

func TestSignSetsHeaders(t *testing.T) {
	crc := []string{"x-amz-checksum-crc32"}
	tests := []struct {
		name   string
		p      sigv4.Payload
		before http.Header
		want   http.Header
	}{
		{
			"no body",
			sigv4.Payload{},
			http.Header{"User-Agent": {"x"}, "X-Amz-Security-Token": {"of the client"}, "Authorization": {"of the client"}},
			http.Header{"User-Agent": {"x"}, "X-Amz-Content-Sha256": {noBytes}},
		},
		{"unsigned", sigv4.Payload{Mode: sigv4.Unsigned, Length: 5}, nil, http.Header{"X-Amz-Content-Sha256": {"UNSIGNED-PAYLOAD"}}},
		{
			"streaming",
			sigv4.Payload{Mode: sigv4.StreamingSigned, Length: 5},
			http.Header{"Content-Encoding": {"AWS-chunked,gzip", "br"}},
			http.Header{
				"X-Amz-Content-Sha256": {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}, "Content-Encoding": {"aws-chunked,gzip,br"},
				"X-Amz-Decoded-Content-Length": {"5"},
			},
		},
		{
			"signed trailer",
			sigv4.Payload{Mode: sigv4.StreamingSignedTrailer, Length: 5, Trailers: crc},
			nil,
			http.Header{
				"X-Amz-Content-Sha256": {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"}, "Content-Encoding": {"aws-chunked"},
				"X-Amz-Decoded-Content-Length": {"5"}, "X-Amz-Trailer": {"x-amz-checksum-crc32"},
			},
		},
		{
			"unsigned trailer",
			sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Length: 5},
			http.Header{"X-Amz-Trailer": {"old"}},
			http.Header{
				"X-Amz-Content-Sha256": {"STREAMING-UNSIGNED-PAYLOAD-TRAILER"}, "Content-Encoding": {"aws-chunked"},
				"X-Amz-Decoded-Content-Length": {"5"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := newRequest(t, http.MethodPut, "http://s3.test/b/k", strings.NewReader("hello"))
			req.Header = tt.before
			if err := sigv4.Sign(req, keys(), tt.p, "us-east-1", exampleTime(), nil); err != nil {
				t.Fatal(err)
			}
			tt.want.Set("X-Amz-Date", exampleDate)
			got := req.Header.Clone()
			got.Del("Authorization")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			r := received(req)
			if _, err := verify(&r, keys().SecretAccessKey, exampleTime()); err != nil {
				t.Error(err)
			}
		})
	}
}

// net/http sends an opaque path as it stands, which is how a raw key survives.
func TestSignsOpaquePaths(t *testing.T) {
	for _, target := range []string{"/b/a%20b//c", "/b/a%252Fb", "/b/.."} {
		for _, opaque := range []string{target, "//s3.test" + target} {
			req := newRequest(t, http.MethodGet, "http://s3.test/", nil)
			req.URL.Opaque = opaque
			if err := sigv4.Sign(req, keys(), sigv4.Payload{}, "us-east-1", exampleTime(), nil); err != nil {
				t.Fatal(err)
			}
			r := received(req)
			r.Path = target
			if _, err := verify(&r, keys().SecretAccessKey, exampleTime()); err != nil {
				t.Errorf("%s: %v", opaque, err)
			}
		}
	}
}

func TestSignRefuses(t *testing.T) {
	tests := []struct {
		name string
		keys sigv4.Credentials
		p    sigv4.Payload
		path string
	}{
		{"no keys", sigv4.Credentials{}, sigv4.Payload{}, "/b/k"},
		{"streaming without length", keys(), sigv4.Payload{Mode: sigv4.StreamingSigned, Length: -1}, "/b/k"},
		{"trailer of unknown size", keys(), sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Trailers: []string{"x-amz-meta-a"}}, "/b/k"},
		{"path undecodable", keys(), sigv4.Payload{}, "/b/%zz"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := newRequest(t, http.MethodPut, "http://s3.test/", strings.NewReader("hello"))
			req.URL.Opaque = tt.path
			err := sigv4.Sign(req, tt.keys, tt.p, "us-east-1", exampleTime(), nil)
			if err == nil {
				t.Fatal("no error")
			}
			if secret := tt.keys.SecretAccessKey; secret != "" && strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells the secret: %v", err)
			}
		})
	}
}

// An upload that goes wrong on our side must not look complete to the store.
func TestFramesNeverEndWell(t *testing.T) {
	object := randomBytes(100_000)
	good := crc32Trailer(object)
	broken := errors.New("client went away")
	tests := []struct {
		name    string
		body    io.Reader
		trailer []laketap.Field
	}{
		{"body fails at once", iotest.ErrReader(broken), good},
		{"body fails in the middle", io.MultiReader(bytes.NewReader(object[:70_000]), iotest.ErrReader(broken)), good},
		{"body fails at its end", io.MultiReader(bytes.NewReader(object), iotest.ErrReader(broken)), good},
		{"body too short", bytes.NewReader(object[:99_999]), good},
		{"body too long", bytes.NewReader(append(bytes.Clone(object), 'x')), good},
		{"no trailer", bytes.NewReader(object), nil},
		{"another trailer", bytes.NewReader(object), fields("x-amz-checksum-sha1", "2jmj7l5rSw0yVb/vlWAYkK/YBwk=")},
		{"trailer with a line feed", bytes.NewReader(object), fields("x-amz-checksum-crc32", "AAAA\nAA=")},
		{"trailer of another length", bytes.NewReader(object), fields("x-amz-checksum-crc32", "AAAAAAAA")},
	}
	for _, tt := range tests {
		for _, mode := range []sigv4.Mode{sigv4.StreamingSignedTrailer, sigv4.StreamingUnsignedTrailer} {
			req := newRequest(t, http.MethodPut, "http://s3.test/b/k", tt.body)
			p := sigv4.Payload{Mode: mode, Length: int64(len(object)), Trailers: []string{"x-amz-checksum-crc32"}}
			if err := sigv4.Sign(req, keys(), p, "us-east-1", exampleTime(), func() []laketap.Field { return tt.trailer }); err != nil {
				t.Fatal(err)
			}
			wire, err := io.ReadAll(req.Body)
			if err == nil || int64(len(wire)) >= req.ContentLength {
				t.Errorf("%s: got %d of %d bytes, %v", tt.name, len(wire), req.ContentLength, err)
			}
			if strings.HasSuffix(tt.name, "fails") && !errors.Is(err, broken) {
				t.Errorf("%s: got %v", tt.name, err)
			}
		}
	}
}

// A body that arrives wrong leaves wrong, in any pair of modes.
func TestRelayOfWrongBody(t *testing.T) {
	object := randomBytes(100_000)
	for in, p := range modes(object) {
		if p.Mode == sigv4.Unsigned || p.Mode == sigv4.StreamingUnsignedTrailer && p.Trailers == nil {
			continue
		}
		r, wire := upload(t, object, p, crc32Trailer(object))
		wire[len(wire)/2] ^= 1
		for out, q := range modes(object) {
			body := parse(t, &r).Body(bytes.NewReader(wire), keys().SecretAccessKey)
			req := newRequest(t, http.MethodPut, "http://s3.test/b/k", body)
			if err := sigv4.Sign(req, keys(), q, "us-east-1", exampleTime(), body.Trailer); err != nil {
				t.Fatal(err)
			}
			sent, err := io.ReadAll(req.Body)
			if _, ok := errors.AsType[*sigv4.Error](err); !ok {
				t.Errorf("%s to %s: the refusal is lost: %v", in, out, err)
			}
			if bytes.Contains(sent, []byte("\r\n0")) && q.Mode != sigv4.Signed && len(sent) > len(object) {
				t.Errorf("%s to %s: the last chunk was sent", in, out)
			}
		}
	}
}

// The body inside is closed with the one around it.
func TestFramesClose(t *testing.T) {
	inner := &closer{Reader: strings.NewReader("hello")}
	req := newRequest(t, http.MethodPut, "http://s3.test/b/k", inner)
	if err := sigv4.Sign(req, keys(), sigv4.Payload{Mode: sigv4.StreamingSigned, Length: 5}, "us-east-1", exampleTime(), nil); err != nil {
		t.Fatal(err)
	}
	if req.GetBody != nil {
		t.Error("the body can be had twice")
	}
	if err := req.Body.Close(); err != nil || !inner.closed {
		t.Errorf("got %v, closed %v", err, inner.closed)
	}
}

type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

// What somebody else signs has no framing, and nothing of an earlier signature.
func TestPrepare(t *testing.T) {
	hash := strings.Repeat("a", 64)
	for _, c := range []struct {
		p    sigv4.Payload
		want string
	}{
		{sigv4.Payload{Hash: hash, Length: 5}, hash},
		{sigv4.Payload{}, noBytes},
		{sigv4.Payload{Mode: sigv4.Unsigned, Length: 5}, "UNSIGNED-PAYLOAD"},
		{sigv4.Payload{Mode: sigv4.StreamingSigned, Length: 5}, "UNSIGNED-PAYLOAD"},
		{sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Length: 5, Trailers: []string{"x-amz-checksum-crc32"}}, "UNSIGNED-PAYLOAD"},
	} {
		p := c.p.Plain()
		if p.Length != c.p.Length || len(p.Trailers) != 0 {
			t.Errorf("%+v became %+v", c.p, p)
		}
		req := &http.Request{Header: http.Header{
			"Authorization": {"old"}, "X-Amz-Date": {"old"}, "X-Amz-Security-Token": {"old"}, "X-Amz-Trailer": {"old"}, "Range": {"bytes=0-1"},
		}}
		sigv4.Prepare(req, p)
		if diff := cmp.Diff(http.Header{"X-Amz-Content-Sha256": {c.want}, "Range": {"bytes=0-1"}}, req.Header); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.p, diff)
		}
	}
}
