package sigv4_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

func keys() sigv4.Credentials {
	return sigv4.Credentials{AccessKeyID: "AKID", SecretAccessKey: "secret/with+signs"}
}

// code returns the S3 code of an error; "" is no error.
func code(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*sigv4.Error](err); ok {
		return e.Code
	}
	return "not an *Error: " + err.Error()
}

// received returns what a server gets to see of a request.
func received(req *http.Request) sigv4.Request {
	r := sigv4.Request{Method: req.Method, Path: req.URL.Opaque, Query: req.URL.RawQuery, Host: req.Host}
	if r.Path == "" {
		r.Path = req.URL.EscapedPath()
	}
	if r.Host == "" {
		r.Host = req.URL.Host
	}
	names := make([]string, 0, len(req.Header))
	for name := range req.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range req.Header[name] {
			r.Header = append(r.Header, laketap.Field{Name: name, Value: value})
		}
	}
	if req.ContentLength > 0 {
		r.Header = append(r.Header, laketap.Field{Name: "Content-Length", Value: strconv.FormatInt(req.ContentLength, 10)})
	}
	return r
}

func newRequest(t testing.TB, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// verify parses and verifies what a server received.
func verify(r *sigv4.Request, secret string, now time.Time) (*sigv4.Auth, error) {
	a, err := sigv4.Parse(r)
	if err != nil {
		return nil, err
	}
	return a, a.Verify(r, secret, "us-east-1", now)
}

// upload signs a PUT of an object and returns the request as received and its
// body on the wire.
func upload(t testing.TB, object []byte, p sigv4.Payload, trailer []laketap.Field) (sigv4.Request, []byte) {
	t.Helper()
	req := newRequest(t, http.MethodPut, "http://s3.test/bucket/key", bytes.NewReader(object))
	if err := sigv4.Sign(req, keys(), p, "us-east-1", exampleTime(), func() []laketap.Field { return trailer }); err != nil {
		t.Fatal(err)
	}
	wire, err := io.ReadAll(req.Body)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(wire)) != req.ContentLength {
		t.Fatalf("body has %d bytes, Content-Length says %d", len(wire), req.ContentLength)
	}
	return received(req), wire
}

// statusAndCode returns "403 AccessDenied" of an error; "" is no error.
func statusAndCode(err error) string {
	if e, ok := errors.AsType[*sigv4.Error](err); ok {
		return strconv.Itoa(e.Status) + " " + e.Code
	}
	return code(err)
}
