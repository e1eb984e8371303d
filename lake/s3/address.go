package s3

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/laketap/laketap/internal/sigv4"
)

// address points a path-style request at the origin: its path spelled as S3
// signs it, the bucket in the host name where the origin has it there.
func (s *Store) address(req *http.Request) error {
	escaped := req.URL.Opaque
	if escaped == "" {
		escaped = req.URL.EscapedPath()
	}
	raw, ok := sigv4.AppendPath(nil, escaped)
	if !ok || raw[0] != '/' {
		return errors.New("path cannot be decoded")
	}
	path := string(raw)
	host := s.host()
	if bucket, rest := splitBucket(path); s.inHost(bucket) {
		host, path = bucket+"."+host, rest
	}
	decoded, err := url.PathUnescape(path)
	if err != nil {
		return errors.New("path cannot be decoded")
	}
	// Both forms are set, so that net/http sends the escaped one untouched.
	req.URL = &url.URL{Scheme: s.endpoint.Scheme, Host: host, Path: decoded, RawPath: path, RawQuery: req.URL.RawQuery}
	req.Host = host
	return nil
}

// host returns the origin's host and port, without a bucket.
func (s *Store) host() string {
	if s.endpoint.Host != "" {
		return s.endpoint.Host
	}
	domain := "amazonaws.com"
	if strings.HasPrefix(s.origin.Region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return "s3." + s.origin.Region + "." + domain
}

// splitBucket splits "/bucket/key" into the bucket and "/key".
func splitBucket(path string) (bucket, rest string) {
	bucket, key, _ := strings.Cut(path[1:], "/")
	return bucket, "/" + key
}

// inHost reports whether a bucket is addressed in the host name. One with a
// dot fits no wildcard certificate, one with capitals no host name, and an
// address has no names below it.
func (s *Store) inHost(bucket string) bool {
	if s.origin.PathStyle || len(bucket) < 3 || len(bucket) > 63 {
		return false
	}
	for i := range len(bucket) {
		c := bucket[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || i == 0 || i == len(bucket)-1) {
			return false
		}
	}
	name := s.endpoint.Hostname()
	return name != "localhost" && net.ParseIP(name) == nil
}
