package sigv4_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// A presigned URL is good to the second in which it ends, and a quarter of an
// hour before it begins: the client's clock may be ahead of ours.
func TestPresignedLife(t *testing.T) {
	for _, tt := range []struct {
		at   time.Duration // since the URL's date
		want string
	}{
		{-15*time.Minute - time.Second, "403 AccessDenied"},
		{-15 * time.Minute, ""},
		{24 * time.Hour, ""},
		{24*time.Hour + time.Second, "403 AccessDenied"},
		{365 * 24 * time.Hour, "403 AccessDenied"},
	} {
		r := presigned(func(map[string]string) {})
		if _, err := verify(&r, exampleSecret, exampleTime().Add(tt.at)); statusAndCode(err) != tt.want {
			t.Errorf("after %v: got %v, want %q", tt.at, err, tt.want)
		}
	}
	r := presigned(func(map[string]string) {})
	_, err := verify(&r, exampleSecret, exampleTime().Add(25*time.Hour))
	e, ok := errors.AsType[*sigv4.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	want := fields("X-Amz-Expires", "86400", "Expires", "2013-05-25T00:00:00Z", "ServerTime", "2013-05-25T01:00:00Z")
	if diff := cmp.Diff(want, e.Detail); diff != "" {
		t.Errorf("what a client is told of an old URL (-want +got)\n%s", diff)
	}
}

// A client that cannot set x-amz-date sends Date, in the form of HTTP or of
// AWS. A bad x-amz-date is not made good by a Date beside it.
func TestDateInsteadOfAmzDate(t *testing.T) {
	for _, tt := range []struct {
		header []laketap.Field
		want   string // code; "" is that the date was read
	}{
		{fields("Date", "Fri, 24 May 2013 00:00:00 GMT"), ""},
		{fields("date", exampleDate), ""},
		{fields("Date", "Thu, 23 May 2013 00:00:00 GMT"), "AuthorizationHeaderMalformed"}, // not of the scope's day
		{fields("Date", "yesterday"), "AccessDenied"},
		{fields("X-Amz-Date", "x", "Date", exampleDate), "AccessDenied"},
		{nil, "AccessDenied"},
	} {
		r := sigv4.Request{Method: http.MethodGet, Path: "/b/k", Host: "s3.test", Header: append(tt.header,
			laketap.Field{Name: "x-amz-content-sha256", Value: noBytes}, authorization(exampleScope, "host", strings.Repeat("0", 64)))}
		a, err := sigv4.Parse(&r)
		if code(err) != tt.want {
			t.Errorf("%v: got %v, want %q", tt.header, err, tt.want)
		}
		if err == nil && !a.Time.Equal(exampleTime()) {
			t.Errorf("%v: time %v", tt.header, a.Time)
		}
	}
}

// The hash that was signed and the one of the bytes are both told, so that a
// person sees which of them is the hash of nothing.
func TestWrongHashTellsBoth(t *testing.T) {
	r := sigv4.Request{Method: http.MethodPut, Path: "/b/k", Host: "s3.test", Header: fields("content-length", "5")}
	handSign(&r, nil, noBytes)
	a, err := verify(&r, keys().SecretAccessKey, exampleTime())
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(a.Body(strings.NewReader("hello"), keys().SecretAccessKey))
	e, ok := errors.AsType[*sigv4.Error](err)
	if !ok || e.Code != "XAmzContentSHA256Mismatch" || len(got) >= len("hello") {
		t.Fatalf("got %q, %v; want less than the body, and a mismatch", got, err)
	}
	want := fields("ClientComputedContentSHA256", noBytes,
		"S3ComputedContentSHA256", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
	if diff := cmp.Diff(want, e.Detail); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A checksum that the standard library has is computed; one it has not is
// checked for its form and left to the store.
func TestTrailingChecksums(t *testing.T) {
	object := []byte("hello")
	sum := sha512.Sum512(object)
	base := base64.StdEncoding.EncodeToString
	for _, tt := range []struct{ name, value, want string }{
		{"x-amz-checksum-sha512", base(sum[:]), ""},
		{"x-amz-checksum-sha512", base(make([]byte, 64)), "BadDigest"},
		{"x-amz-checksum-crc64nvme", base(make([]byte, 8)), "BadDigest"},
		{"x-amz-checksum-md5", base(make([]byte, 16)), "BadDigest"},
		{"x-amz-checksum-xxhash3", base(make([]byte, 8)), ""},
		{"x-amz-checksum-xxhash128", base(make([]byte, 16)), ""},
	} {
		p := sigv4.Payload{Mode: sigv4.StreamingUnsignedTrailer, Length: int64(len(object)), Trailers: []string{tt.name}}
		trailer := fields(tt.name, tt.value)
		r, wire := upload(t, object, p, trailer)
		a := parse(t, &r)
		body := a.Body(bytes.NewReader(wire), keys().SecretAccessKey)
		got, err := io.ReadAll(body)
		if code(err) != tt.want {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
		if err == nil && (!bytes.Equal(got, object) || !cmp.Equal(body.Trailer(), trailer)) {
			t.Errorf("%s: %q with %v", tt.name, got, body.Trailer())
		}
		if err != nil && (bytes.Equal(got, object) || body.Trailer() != nil) {
			t.Errorf("%s: a wrong body came whole, with %v", tt.name, body.Trailer())
		}
	}
}
