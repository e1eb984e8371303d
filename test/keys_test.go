package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// sides are one lake's store, reached with its owner's keys and through
// Laketap with a session: both must say the same.
type sides struct {
	direct, through *s3.Client
	path            string // of the table, "/bucket/path"
}

func startSides(t *testing.T) sides {
	t.Helper()
	l := lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	catalog.Client{URI: l.Catalog}.Create(t, "o", "t", "")
	table := catalog.Client{URI: server.Catalog}.Load(t, "o", "t")
	return sides{l.Owner(), table.Client(), table.Path()}
}

// same sends a request both ways, compares what a client can see of the
// answers, and returns that. The store itself is asked in the one spelling
// that it takes.
func (s sides) same(t *testing.T, r s3.Request) s3.Response {
	t.Helper()
	plain := r
	path, query, asked := strings.Cut(r.Target, "?")
	if plain.Target = canonical(t, path); asked {
		plain.Target += "?" + query
	}
	want, errWant := s.direct.Do(t.Context(), plain)
	got, errGot := s.through.Do(t.Context(), r)
	if errWant != nil || errGot != nil {
		t.Fatalf("%s %s: direct %v, through Laketap %v", r.Method, r.Target, errWant, errGot)
	}
	if diff := cmp.Diff(visible(want), visible(got)); diff != "" {
		t.Errorf("%s %s %v (-direct +through Laketap):\n%s", r.Method, r.Target, r.Header, diff)
	}
	return got
}

// canonical spells a path as S3 signs it.
func canonical(t *testing.T, path string) string {
	t.Helper()
	decoded, err := url.PathUnescape(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range []byte(decoded) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// visible returns an answer without what is another each time.
func visible(r s3.Response) map[string]string {
	all := map[string]string{"status": strconv.Itoa(r.Status), "code": r.Code}
	if r.Status < 400 {
		all["body"] = string(r.Body)
	}
	for name := range r.Header {
		switch name {
		case "Date", "X-Amz-Request-Id", "X-Amz-Id-2", "Server", "Connection", "Keep-Alive":
		case "Content-Length", "Content-Type":
			if r.Status < 400 {
				all[name] = r.Header.Get(name)
			}
		default:
			all[name] = r.Header.Get(name)
		}
	}
	return all
}

// One object for each decoded key, whatever its characters and however it is
// spelled; a plus is a plus, and a literal %2F stays one.
func TestKeysOfEverySpelling(t *testing.T) {
	s := startSides(t)
	for _, spelled := range [][]string{
		{"a+b", "a%2Bb"},
		{"d=1/x", "d%3D1/x", "d%3d1/x"},
		{"t%2012:30.1/x", "t%2012%3A30.1/x"},
		{"x_$folder$", "x_%24folder%24"},
		{"mac@2x", "mac%402x"},
		{"a%252Fb"},
		{"%C3%A9/%C3%BC", "%c3%a9/%c3%bc"},
		{"JULY%2027.zip"},
		{"100%25.csv"},
		{"it's(1)!*~", "it%27s%281%29%21%2A%7E"},
		{"a,b;c&d", "a%2Cb%3Bc%26d"},
		{"%ED%95%9C%EA%B8%80/x"},
	} {
		body := "body of " + spelled[0]
		put, err := s.through.Do(t.Context(), s3.Request{Method: http.MethodPut, Target: s.path + "/data/" + spelled[0], Text: body})
		if err != nil || put.Status != http.StatusOK {
			t.Errorf("put %s: %v %v", spelled[0], put, err)
			continue
		}
		for _, as := range spelled {
			got := s.same(t, s3.Request{Target: s.path + "/data/" + as})
			if string(got.Body) != body {
				t.Errorf("get %s: %v %q, want %q", as, got, got.Body, body)
			}
			s.same(t, s3.Request{Method: http.MethodHead, Target: s.path + "/data/" + as})
		}
	}
	prefix := strings.ReplaceAll(strings.TrimPrefix(s.path, "/lake/"), "/", "%2F") + "%2F"
	for _, query := range []string{
		"?list-type=2&prefix=" + prefix, "?prefix=" + prefix, "?list-type=2&encoding-type=url&prefix=" + prefix,
		"?list-type=2&max-keys=2&prefix=" + prefix, "?list-type=2&delimiter=%2F&prefix=" + prefix + "data%2F",
		"?list-type=2&prefix=" + prefix + "data%2F&start-after=" + prefix + "data%2Fa%2Bb",
	} {
		if got := s.same(t, s3.Request{Target: "/lake" + query}); got.Status != http.StatusOK {
			t.Errorf("list %s: %v", query, got)
		}
	}
}

// Ranges, conditions and what they are answered with are the store's.
func TestRangesAndConditions(t *testing.T) {
	s := startSides(t)
	target, empty := s.path+"/data/hundred", s.path+"/data/empty"
	put, err := s.through.Do(t.Context(), s3.Request{
		Method: http.MethodPut, Target: target, Text: strings.Repeat("0123456789", 10),
		Header: map[string]string{"Content-Type": "text/odd", "Cache-Control": "max-age=1", "X-Amz-Meta-Who": "me", "Content-Encoding": "gzip"},
	})
	if err != nil || put.Status != http.StatusOK {
		t.Fatalf("put: %v %v", put, err)
	}
	if put, err = s.through.Do(t.Context(), s3.Request{Method: http.MethodPut, Target: empty}); err != nil || put.Status != http.StatusOK {
		t.Fatalf("put: %v %v", put, err)
	}
	etag := s.same(t, s3.Request{Method: http.MethodHead, Target: target}).Header.Get("Etag")
	for _, header := range []map[string]string{
		nil,
		{"Range": "bytes=0-0"},
		{"Range": "bytes=33-66"},
		{"Range": "bytes=50-1000"},
		{"Range": "bytes=99-"},
		{"Range": "bytes=-1"},
		{"Range": "bytes=-500"},
		{"Range": "bytes=100-"},
		{"Range": "bytes=33-10"},
		{"Range": "bytes=abc"},
		{"Range": "bytes=-0"},
		{"Range": "bytes=0-1,4-5"},
		{"Range": "lines=1-2"},
		{"Range": "bytes=5-99999999999999999999"},
		{"If-Match": etag},
		{"If-Match": `"no"`},
		{"If-None-Match": etag},
		{"If-None-Match": `"no"`},
		{"If-Match": etag, "Range": "bytes=1-4"},
		{"If-None-Match": etag, "Range": "bytes=1-4"},
		{"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"},
		{"If-Unmodified-Since": "Thu, 01 Jan 1970 00:00:01 GMT"},
		{"Accept-Encoding": "gzip"},
		{"X-Amz-Checksum-Mode": "ENABLED"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			s.same(t, s3.Request{Method: method, Target: target, Header: header})
			s.same(t, s3.Request{Method: method, Target: empty, Header: header})
		}
	}
	s.same(t, s3.Request{Target: s.path + "/data/none"})
	s.same(t, s3.Request{Method: http.MethodHead, Target: s.path + "/data/none"})
	// Conditions on writes reach the store.
	s.same(t, s3.Request{Method: http.MethodPut, Target: target, Text: "x", Header: map[string]string{"If-None-Match": "*"}})
	s.same(t, s3.Request{Method: http.MethodPut, Target: target, Text: "x", Header: map[string]string{"If-Match": `"no"`}})
}
