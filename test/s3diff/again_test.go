package s3diff_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/s3"
)

// What is read a second time with the cache on is what was read the first time
// and what the store gives, headers included but for the date and ids.
func TestReadAgain(t *testing.T) {
	bare := startStore(t)
	server := startTap(t, bare, "accelerate")
	direct, through := client(bare.endpoint), client(server.Storage)
	succeed(t, through, s3.Request{Method: http.MethodPut, Target: "/flow"})
	big := strings.Repeat("laketap 16 bytes", 3<<16)
	objects := map[string]string{"plain": "twelve bytes", "a%20b%2Bc%3D%C3%A9": "another", "big": big, "empty": ""}
	for key, body := range objects {
		succeed(t, through, s3.Request{
			Method: http.MethodPut, Target: "/flow/" + key, Text: body,
			Header: map[string]string{
				"Content-Type": "text/laketap", "Cache-Control": "max-age=7", "Content-Language": "de",
				"X-Amz-Meta-Who": "me", "X-Amz-Checksum-Algorithm": "CRC32",
			},
		})
	}
	for key := range objects {
		for _, r := range readings("/flow/" + key) {
			sameAgain(t, direct, through, r)
		}
	}
	// Without a read that the cache has served, the above says nothing of it.
	served := map[string]int{}
	for _, a := range server.Accesses(t) {
		if a.Object != nil && (a.Served == "memory" || a.Served == "disk") {
			served[a.Object.Key]++
		}
	}
	t.Logf("served by the cache: %v", served)
	for _, key := range []string{"plain", "a b+c=é", "big"} {
		if served[key] == 0 {
			t.Errorf("served by the cache: %v, want a read of %s", served, key)
		}
	}
	// Replaced behind the storage tap's back, it is read as it is now.
	succeed(t, direct, s3.Request{Method: http.MethodPut, Target: "/flow/plain", Text: "TWELVE BYTES"})
	for _, r := range readings("/flow/plain") {
		sameAgain(t, direct, through, r)
	}
}

// sameAgain reads three times through the storage tap what the store gives.
func sameAgain(t *testing.T, direct, through *s3.Client, r s3.Request) {
	t.Helper()
	sees := answered(ask(t, direct, r))
	for _, nth := range []string{"first", "second", "third"} {
		if diff := cmp.Diff(sees, answered(ask(t, through, r))); diff != "" {
			t.Errorf("%s %s %v, %s time (-directly +through Laketap):\n%s", r.Method, r.Target, r.Header, nth, diff)
		}
	}
}

// readings are the ways to read an object, the whole before its parts.
func readings(target string) []s3.Request {
	checksums := map[string]string{"X-Amz-Checksum-Mode": "ENABLED"}
	part := func(span string) s3.Request {
		return s3.Request{Target: target, Header: map[string]string{"Range": span}}
	}
	return []s3.Request{
		{Target: target},
		{Target: target, Header: checksums},
		{Method: http.MethodHead, Target: target},
		{Method: http.MethodHead, Target: target, Header: checksums},
		{Target: target, Header: map[string]string{"If-None-Match": `"none"`}},
		{Target: target, Header: map[string]string{"If-Match": `"none"`}},
		{Target: target + "?response-content-type=text%2Fother"},
		part("bytes=0-3"), part("bytes=2-"), part("bytes=-4"), part("bytes=900000000-"), part("bytes=3-1"),
	}
}

// answered is what an answer says, but for what differs each time.
func answered(r s3.Response) any {
	header := r.Header.Clone()
	for _, name := range []string{"Date", "X-Amz-Request-Id", "X-Amz-Id-2"} {
		header.Del(name)
	}
	body := string(r.Body)
	if r.Status >= http.StatusBadRequest { // its ids differ
		body = r.Code
		header.Del("Content-Length")
	}
	return struct {
		Status int
		Header http.Header
		Body   string
	}{r.Status, header, body}
}
