package storage_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
)

func TestGetPassesThrough(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/data/a.parquet", "0123456789")
	keys := f.session(nil)

	for _, c := range []struct {
		name       string
		method     string
		header     http.Header
		status     int
		body       string
		length     string
		rng        laketap.Range
		contentRng string
	}{
		{"whole", "GET", nil, 200, "0123456789", "10", laketap.Range{}, ""},
		{"part", "GET", http.Header{"Range": {"bytes=2-4"}}, 206, "234", "3", laketap.Range{From: 2, To: 4, Set: true}, "bytes 2-4/10"},
		{"suffix", "GET", http.Header{"Range": {"bytes=-3"}}, 206, "789", "3", laketap.Range{Suffix: 3, Set: true}, "bytes 7-9/10"},
		{"open", "GET", http.Header{"Range": {"bytes=8-"}}, 206, "89", "2", laketap.Range{From: 8, To: -1, Set: true}, "bytes 8-9/10"},
		{"not a range", "GET", http.Header{"Range": {"pages=1"}}, 200, "0123456789", "10", laketap.Range{}, ""},
		{"past the end", "GET", http.Header{"Range": {"bytes=10-"}}, 416, "invalid range: failed to overlap\n", "33", laketap.Range{From: 10, To: -1, Set: true}, "bytes */10"},
		{"head", "HEAD", nil, 200, "", "10", laketap.Range{}, ""},
		{"head of a part", "HEAD", http.Header{"Range": {"bytes=1-4"}}, 206, "", "4", laketap.Range{From: 1, To: 4, Set: true}, "bytes 1-4/10"},
		{"not modified", "GET", http.Header{"If-None-Match": {etag([]byte("0123456789"))}}, 304, "", "", laketap.Range{}, ""},
		{"precondition", "GET", http.Header{"If-Match": {`"other"`}}, 412, "", "0", laketap.Range{}, ""},
		{"since", "GET", http.Header{"If-Modified-Since": {"Mon, 01 Jan 2035 00:00:00 GMT"}}, 304, "", "", laketap.Range{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := f.do(call{method: c.method, target: "/lake/wh/t/data/a.parquet", header: c.header, keys: keys})
			if got.status != c.status || got.body != c.body || got.err != nil {
				t.Errorf("got %d %q (%v), want %d %q", got.status, got.body, got.err, c.status, c.body)
			}
			if l := got.header.Get("Content-Length"); l != c.length {
				t.Errorf("Content-Length %q, want %q", l, c.length)
			}
			if cr := got.header.Get("Content-Range"); cr != c.contentRng {
				t.Errorf("Content-Range %q, want %q", cr, c.contentRng)
			}
			a := f.access()
			if diff := cmp.Diff(c.rng, a.Range); diff != "" {
				t.Errorf("range of the access (-want +got):\n%s", diff)
			}
			if read := c.status == 200 || c.status == 206; read != (a.Size == 10) || read != (a.ETag == etag([]byte("0123456789"))) {
				t.Errorf("access of %d is to the version %q of %d bytes", c.status, a.ETag, a.Size)
			}
			if a.Status != c.status || a.BytesOut != int64(len(c.body)) {
				t.Errorf("access has status %d and %d bytes, want %d and %d", a.Status, a.BytesOut, c.status, len(c.body))
			}
		})
	}
}

func TestAccessSaysWhoReadWhat(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/data/a", "abc")
	keys := f.session(nil)
	f.do(call{method: "GET", target: "/lake/wh/t/data/a", keys: keys})
	a := f.access()
	want := laketap.Access{
		Tap: laketap.StorageTap, Op: "GetObject", Engine: laketap.Engine{Name: "spark", Version: "4.1"},
		Principal: "alice", Session: keys.AccessKeyID, Catalog: "prod", Table: tableT, TableName: "db.t",
		Object: laketap.ObjectName{Origin: "main", Bucket: "lake", Key: "wh/t/data/a"}, Status: 200, BytesOut: 3,
		ETag: etag([]byte("abc")), Size: 3,
	}
	if a.RequestID == "" || a.Latency <= 0 || a.At.IsZero() {
		t.Errorf("access lacks its id or times: %+v", a)
	}
	a.RequestID, a.Latency, a.At = "", 0, want.At
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
}

func TestHeadersPassAsStored(t *testing.T) {
	f := start(t, nil)
	f.origin.mu.Lock()
	f.origin.objects["lake/wh/t/x"] = object{[]byte("zipped"), http.Header{
		"Content-Type": {"text/plain; charset=x"}, "Content-Encoding": {"gzip"}, "Cache-Control": {"max-age=7"}, "X-Amz-Meta-Mixed": {"V"},
	}}
	f.origin.mu.Unlock()
	raw := f.request(call{method: "GET", target: "/lake/wh/t/x", keys: adminKeys})
	var dump []byte
	dump = append(dump, "GET /lake/wh/t/x HTTP/1.1\r\nHost: "+f.addr+"\r\nConnection: close\r\n"...)
	for n, v := range raw.Header {
		dump = append(dump, n+": "+v[0]+"\r\n"...)
	}
	got := f.raw(string(dump) + "\r\n")
	for _, line := range []string{
		"HTTP/1.1 200 OK\r\n", "Content-Type: text/plain; charset=x\r\n", "Content-Encoding: gzip\r\n", "Cache-Control: max-age=7\r\n",
		"x-amz-meta-mixed: V\r\n", "x-amz-version-id: v1\r\n", "x-amz-request-id: ORIGIN1\r\n", "Content-Length: 6\r\n",
		"ETag: " + etag([]byte("zipped")) + "\r\n", "Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n", "Accept-Ranges: bytes\r\n", "\r\n\r\nzipped",
	} {
		if !contains(got, line) {
			t.Errorf("answer lacks %q:\n%s", line, got)
		}
	}
	for _, line := range []string{"Server: ", "fasthttp", "Transfer-Encoding"} {
		if contains(got, line) {
			t.Errorf("answer has %q:\n%s", line, got)
		}
	}
}

func contains(s, sub string) bool { return strings.Contains(s, sub) }
