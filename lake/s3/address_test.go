package s3

import (
	"context"
	"net/http"
	"net/url"
	"testing"
)

func TestAddress(t *testing.T) {
	minio := Origin{Endpoint: "https://minio.example.com:9000"}
	tests := []struct {
		name   string
		origin Origin
		target string // as the taps hand it over
		want   string // host and request target on the wire
	}{
		{"aws", Origin{}, "/bucket/a/b", "bucket.s3.us-east-1.amazonaws.com /a/b"},
		{"aws region", Origin{Region: "eu-central-1"}, "/bucket/a", "bucket.s3.eu-central-1.amazonaws.com /a"},
		{"aws china", Origin{Region: "cn-north-1"}, "/bucket/a", "bucket.s3.cn-north-1.amazonaws.com.cn /a"},
		{"aws path style", Origin{PathStyle: true}, "/bucket/a", "s3.us-east-1.amazonaws.com /bucket/a"},
		{"bucket alone", Origin{}, "/bucket", "bucket.s3.us-east-1.amazonaws.com /"},
		{"bucket and slash", Origin{}, "/bucket/", "bucket.s3.us-east-1.amazonaws.com /"},
		{"query", Origin{}, "/bucket?list-type=2&prefix=a%2Fb+c", "bucket.s3.us-east-1.amazonaws.com /?list-type=2&prefix=a%2Fb+c"},
		{"no bucket", Origin{}, "/", "s3.us-east-1.amazonaws.com /"},
		{"bucket with dots", Origin{}, "/my.bucket/a", "s3.us-east-1.amazonaws.com /my.bucket/a"},
		{"bucket with capitals", Origin{}, "/Bucket/a", "s3.us-east-1.amazonaws.com /Bucket/a"},
		{"bucket that ends in a dash", Origin{}, "/bucket-/a", "s3.us-east-1.amazonaws.com /bucket-/a"},
		{"bucket that is not one", Origin{}, "/b%2Fc@d/a", "s3.us-east-1.amazonaws.com /b/c%40d/a"},
		{"endpoint", minio, "/bucket/a", "bucket.minio.example.com:9000 /a"},
		{"endpoint path style", Origin{Endpoint: minio.Endpoint, PathStyle: true}, "/bucket/a", "minio.example.com:9000 /bucket/a"},
		{"endpoint with slash", Origin{Endpoint: "http://minio:9000/", PathStyle: true}, "/bucket/a", "minio:9000 /bucket/a"},
		{"port that goes without saying", Origin{Endpoint: "https://minio:443", PathStyle: true}, "/bucket", "minio /bucket"},
		{"port of the other scheme", Origin{Endpoint: "http://minio:443", PathStyle: true}, "/bucket", "minio:443 /bucket"},
		{"address", Origin{Endpoint: "http://127.0.0.1:9000"}, "/bucket/a", "127.0.0.1:9000 /bucket/a"},
		{"address of six", Origin{Endpoint: "http://[::1]:9000"}, "/bucket/a", "[::1]:9000 /bucket/a"},
		{"localhost", Origin{Endpoint: "http://localhost:9000"}, "/bucket/a", "localhost:9000 /bucket/a"},

		{"key spelled loosely", Origin{}, "/bucket/d=1/x+y%3d%7e", "bucket.s3.us-east-1.amazonaws.com /d%3D1/x%2By%3D~"},
		{"key with space", Origin{}, "/bucket/a%20b", "bucket.s3.us-east-1.amazonaws.com /a%20b"},
		{"key with percent", Origin{}, "/bucket/a%252Fb%25", "bucket.s3.us-east-1.amazonaws.com /a%252Fb%25"},
		{"key with slashes", Origin{}, "/bucket//a//b/", "bucket.s3.us-east-1.amazonaws.com //a//b/"},
		{"key with slashes, path style", Origin{PathStyle: true}, "/bucket//a", "s3.us-east-1.amazonaws.com /bucket//a"},
		{"key with dots", Origin{}, "/bucket/../a/./b", "bucket.s3.us-east-1.amazonaws.com /../a/./b"},
		{"key with a query mark", Origin{}, "/bucket/a%3Fb%23c", "bucket.s3.us-east-1.amazonaws.com /a%3Fb%23c"},
		{"key in utf-8", Origin{}, "/bucket/%C3%A9", "bucket.s3.us-east-1.amazonaws.com /%C3%A9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := New(tt.origin, Options{})
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse("http://tap" + tt.target)
			if err != nil {
				t.Fatal(err)
			}
			opaque := &url.URL{Opaque: u.EscapedPath(), RawQuery: u.RawQuery}
			for _, u := range []*url.URL{u, opaque} {
				req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://tap", nil)
				if err != nil {
					t.Fatal(err)
				}
				req.URL = u
				if err := s.address(req); err != nil {
					t.Fatal(err)
				}
				if got := req.Host + " " + req.URL.RequestURI(); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				if req.URL.Host != req.Host {
					t.Errorf("dials %s for %s", req.URL.Host, req.Host)
				}
			}
		})
	}
	t.Run("undecodable", func(t *testing.T) {
		s, err := New(Origin{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, opaque := range []string{"/b/%zz", "b/k", "*"} {
			if err := s.address(&http.Request{URL: &url.URL{Opaque: opaque}}); err == nil {
				t.Errorf("%q: no error", opaque)
			}
		}
	})
}
