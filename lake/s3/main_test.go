package s3_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/lake/s3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func keys() sigv4.Credentials {
	return sigv4.Credentials{AccessKeyID: "AKID", SecretAccessKey: "hunter2", SessionToken: "token"}
}

// newStore returns a store for a server, closed at the end of the test.
func newStore(t testing.TB, endpoint string, opts s3.Options) *s3.Store {
	t.Helper()
	s, err := s3.New(s3.Origin{Name: "lake", Endpoint: endpoint, PathStyle: true, AccessKeyID: "own", SecretAccessKey: "own secret"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// serve starts a server, closed at the end of the test.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// request makes a request as the storage tap hands it over.
func request(method, target string, body io.Reader, header ...string) *http.Request {
	path, query, _ := strings.Cut(target, "?")
	req := &http.Request{Method: method, URL: &url.URL{Opaque: path, RawQuery: query}, Header: http.Header{}}
	if body != nil {
		req.Body = io.NopCloser(body)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	return req
}

// a stored object, as the strict server got it.
type stored struct {
	target  string
	header  http.Header
	body    []byte
	trailer []laketap.Field
	err     error
}

// strict is a handler that takes nothing that is not signed as S3 wants it.
func strict(secrets map[string]string, got func(stored)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		target := req.RequestURI
		path, query, _ := strings.Cut(target, "?")
		r := sigv4.Request{Method: req.Method, Path: path, Query: query, Host: req.Host}
		for name, values := range req.Header {
			for _, value := range values {
				r.Header = append(r.Header, laketap.Field{Name: name, Value: value})
			}
		}
		s := stored{target: target, header: req.Header}
		a, err := sigv4.Parse(&r)
		if err == nil {
			err = a.Verify(&r, secrets[a.AccessKeyID], "us-east-1", time.Now())
		}
		if err == nil {
			body := a.Body(req.Body, secrets[a.AccessKeyID])
			s.body, err = io.ReadAll(body)
			s.trailer = body.Trailer()
		}
		s.err = err
		if err != nil {
			w.WriteHeader(http.StatusForbidden)
		}
		got(s)
	}
}

func send(t testing.TB, s *s3.Store, req *http.Request, p sigv4.Payload, trailer func() []laketap.Field) (*http.Response, error) {
	t.Helper()
	return s.Send(context.Background(), req, keys(), p, trailer)
}

// status sends a request and returns the status and body of the reply.
func status(t testing.TB, s *s3.Store, req *http.Request, p sigv4.Payload) (int, string) {
	t.Helper()
	resp, err := send(t, s, req, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
