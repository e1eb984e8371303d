package storage_test

import (
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// The tests of this file are named for cases of the field, which
// docs/testing.md lists with the tests of other files.

// direct sends a request to the origin itself, signed with its own keys.
func (f *fixture) direct(c call) result {
	f.t.Helper()
	path, query, _ := strings.Cut(c.target, "?")
	decoded, err := url.PathUnescape(path)
	if err != nil {
		f.t.Fatal(err)
	}
	req := &http.Request{Method: c.method, URL: &url.URL{Path: decoded, RawPath: path, RawQuery: query}, Header: c.header.Clone()}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	resp, err := f.origin.Send(f.t.Context(), "main", req, ownKeys, sigv4.Payload{Mode: sigv4.Unsigned}, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	return read(resp)
}

// alike fails if the tap answers otherwise than the origin does.
func (f *fixture) alike(t *testing.T, c call) {
	t.Helper()
	want, got := f.direct(c), f.do(c)
	if got.status != want.status || got.body != want.body || got.err != nil {
		t.Errorf("got %d, %d bytes (%v), the store says %d, %d bytes", got.status, len(got.body), got.err, want.status, len(want.body))
	}
	for _, name := range []string{"Content-Length", "Content-Range", "Content-Type", "Content-Encoding", "Cache-Control", "ETag", "Last-Modified", "Accept-Ranges", "X-Amz-Version-Id", "X-Amz-Meta-Mixed"} {
		if got.header.Get(name) != want.header.Get(name) {
			t.Errorf("%s is %q, the store says %q", name, got.header.Get(name), want.header.Get(name))
		}
	}
}

// Lists pass byte for byte, with every encoding and token; nothing in the
// query is spelled anew.
func TestG4ListingsPassUnchanged(t *testing.T) {
	f := start(t, nil)
	const reply = "<?xml version=\"1.0\"?>\n<ListBucketResult><Contents><Key>a b</Key></Contents><Contents><Key>a%2Bb+c</Key></Contents>" +
		"<Contents><Key>100%.csv</Key></Contents><Contents><Key>한글/x</Key></Contents><NextContinuationToken>1/x+y==&amp;</NextContinuationToken></ListBucketResult>"
	var uri string
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		uri = r.RequestURI
		w.Header().Set("Content-Type", "application/xml")
		write(t, w, reply)
		return true
	})
	for _, query := range []string{
		"list-type=2&prefix=wh%2Ft%2F&encoding-type=url&max-keys=1",
		"list-type=2&prefix=wh/t/a%20b&start-after=wh/t/a+b",
		"list-type=2&prefix=wh/t/&continuation-token=1%2Fx%2By%3D%3D%26",
		"prefix=wh/t/100%25.csv&marker=%ED%95%9C%EA%B8%80%2Fx&delimiter=%2f",
		"versions&prefix=wh/t/&key-marker=a%2Bb&version-id-marker=null",
	} {
		f.alike(t, call{method: "GET", target: "/lake?" + query, keys: f.session(nil)})
		if uri != "/lake?"+query {
			t.Errorf("the store was asked %s, want %s", uri, query)
		}
	}
}

// Every form of a range, also none, is answered as the store does (G5), with
// the exact length and total (G6).
func TestG5G6Ranges(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/hundred", strings.Repeat("0123456789", 10))
	f.origin.put("lake/wh/t/empty", "")
	for _, object := range []string{"hundred", "empty"} {
		for _, rng := range []string{
			"bytes=0-0", "bytes=10-19", "bytes=90-", "bytes=-1", "bytes=-100", "bytes=-500", "bytes=-0", "bytes=50-1000", "bytes=100-", "bytes=99-99",
			"bytes=33-10", "bytes=abc", "bytes=", "bytes=-", "bytes=0-9223372036854775807", "bytes=9223372036854775808-", "bytes=-99999999999999999999",
			"bytes=0-99999999999999999999", "Bytes=0-1", "pages=1", "bytes= 0-1", "bytes=0 -1", "bytes=+1-2",
		} {
			for _, method := range []string{"GET", "HEAD"} {
				t.Run(method+" "+object+" "+rng, func(t *testing.T) {
					f.alike(t, call{method: method, target: "/lake/wh/t/" + object, keys: f.session(nil), header: http.Header{"Range": {rng}}})
				})
			}
		}
	}
}

// The whole where a part was asked for (G7), and a part where the whole was
// (G8), pass as what the store called them: 200 is not made 206, nor 206 200.
func TestG7G8TheStoresStatusPasses(t *testing.T) {
	f := start(t, nil)
	part := false
	f.origin.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		if part {
			w.Header().Set("Content-Range", "bytes 0-4/9000")
			w.WriteHeader(http.StatusPartialContent)
		}
		write(t, w, "bytes")
		return true
	})
	f.alike(t, call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil), header: http.Header{"Range": {"bytes=2-3"}}})
	part = true
	f.alike(t, call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)})
}

// A whole, a part and a HEAD have the headers that the store gives them (G10);
// HEAD of a part has its length and no body (G12); what is stored packed stays
// so, whoever asks (G13).
func TestG10G12G13HeadersAndCodings(t *testing.T) {
	f := start(t, nil)
	f.origin.mu.Lock()
	f.origin.objects["lake/wh/t/x"] = object{[]byte("\x1f\x8bpacked, so to speak"), http.Header{
		"Content-Type": {"text/plain"}, "Content-Encoding": {"gzip"}, "Cache-Control": {"max-age=7"}, "X-Amz-Meta-Mixed": {"V"},
	}}
	f.origin.mu.Unlock()
	for _, method := range []string{"GET", "HEAD"} {
		for _, header := range []http.Header{
			{}, {"Range": {"bytes=1-4"}}, {"Accept-Encoding": {"gzip"}}, {"Accept-Encoding": {"identity"}}, {"Accept-Encoding": {"br, zstd"}, "Range": {"bytes=0-1"}},
		} {
			f.alike(t, call{method: method, target: "/lake/wh/t/x", keys: f.session(nil), header: header})
		}
	}
	got := f.do(call{method: "HEAD", target: "/lake/wh/t/x", keys: f.session(nil), header: http.Header{"Range": {"bytes=1-4"}}})
	if got.status != 206 || got.header.Get("Content-Length") != "4" || got.body != "" {
		t.Errorf("HEAD of a part: got %d %v %q", got.status, got.header, got.body)
	}
	for _, s := range f.origin.seen() {
		if through := s.Mode == sigv4.Signed; through && s.Header.Get("Accept-Encoding") != "" {
			t.Errorf("the store was asked to pack for one client: %s", s.Header.Get("Accept-Encoding"))
		}
	}
}

// Behind another name or bucket style than configured, the refusal says what
// was asked for, and a presigned URL is as good as its signature.
func TestG17HostNames(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.Domain = "s3.lake.test" })
	f.origin.put("lake/wh/t/x", "x")
	f.origin.put("my.dotted.bucket/x", "dotted")
	for _, c := range []struct {
		host, target, want string
	}{
		{"lake.s3.lake.test", "/wh/t/x", "x"},
		{"LAKE.S3.lake.test:9191", "/wh/t/x", ""}, // no bucket has capitals
		{"s3.lake.test", "/lake/wh/t/x", "x"},
		{"10.0.0.1:9191", "/lake/wh/t/x", "x"},
		{"proxy.example.com", "/lake/wh/t/x", "x"},
		{"my.dotted.bucket.s3.lake.test", "/x", "dotted"},
		{"proxy.example.com", "/my.dotted.bucket/x", "dotted"},
		{"proxy.example.com", "/prefix/lake/wh/t/x", ""}, // a path prefix is a bucket for S3
	} {
		got := f.do(call{method: "GET", target: c.target, host: c.host, keys: adminKeys})
		if c.want != "" && got.body != c.want || c.want == "" && got.status < 400 {
			t.Errorf("%s %s: got %d %s", c.host, c.target, got.status, got.body)
		}
	}
}

// A condition of a write reaches the store, on completion too; of two writers
// exactly one wins, and the other is told so in the store's own words.
func TestG18ConditionalWrites(t *testing.T) {
	b := &blocks{}
	f := start(t, withBlocks(b))
	keys := f.session(nil)
	for round := range 20 {
		var writers sync.WaitGroup
		results := make([]result, 2)
		for i := range results {
			c := call{method: "PUT", target: fmt.Sprintf("/lake/wh/t/race%d", round), body: strconv.Itoa(i), keys: keys, header: http.Header{"If-None-Match": {"*"}}}
			req := f.request(c)
			writers.Go(func() {
				resp, err := f.http.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				results[i] = read(resp)
			})
		}
		writers.Wait()
		winner := slices.IndexFunc(results, func(r result) bool { return r.status == 200 })
		if winner < 0 || results[1-winner].status != 412 || results[1-winner].code() != "PreconditionFailed" {
			t.Fatalf("got %d and %d %s", results[0].status, results[1].status, results[1].body)
		}
		if obj, _ := f.origin.object(fmt.Sprintf("lake/wh/t/race%d", round)); string(obj.data) != strconv.Itoa(winner) {
			t.Errorf("stored %q, the winner was %d", obj.data, winner)
		}
	}
	for _, status := range []int{412, 409, 404} {
		f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("If-Match") != `"e"` || !r.URL.Query().Has("uploadId") {
				return false
			}
			skim(r.Body)
			w.WriteHeader(status)
			write(t, w, "<Error><Code>Conditional</Code></Error>")
			return true
		})
		got := f.do(call{method: "POST", target: "/lake/wh/t/x?uploadId=u", body: "<CompleteMultipartUpload/>", keys: keys, header: http.Header{"If-Match": {`"e"`}}})
		if got.status != status || got.code() != "Conditional" {
			t.Errorf("completion: got %d %s, want %d", got.status, got.body, status)
		}
	}
}

// Offsets and lengths have 64 bits; an absurd one is the store's to judge.
func TestG21LargeObjects(t *testing.T) {
	f := start(t, nil)
	const size = 6 << 30
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		switch r.Header.Get("Range") {
		case "":
			if r.Method == http.MethodGet {
				_, _ = io.CopyN(w, &zeros{size}, 1<<20) // enough for the client
			}
		case "bytes=6442450940-6442450943", "bytes=6442450940-99999999999999999999", "bytes=-4":
			w.Header().Set("Content-Length", "4")
			w.Header().Set("Content-Range", "bytes 6442450940-6442450943/6442450944")
			w.WriteHeader(http.StatusPartialContent)
			if r.Method == http.MethodGet {
				write(t, w, "tail")
			}
		default:
			w.Header().Set("Content-Length", "0")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}
		return true
	})
	for _, rng := range []string{"bytes=6442450940-6442450943", "bytes=6442450940-99999999999999999999", "bytes=-4", "bytes=9223372036854775808-", "bytes=18446744073709551616-18446744073709551617"} {
		f.alike(t, call{method: "GET", target: "/lake/wh/t/huge", keys: f.session(nil), header: http.Header{"Range": {rng}}})
		f.access()
	}
	f.alike(t, call{method: "HEAD", target: "/lake/wh/t/huge", keys: f.session(nil)})
	f.access()
	resp, err := f.http.Do(f.request(call{method: "GET", target: "/lake/wh/t/huge", keys: f.session(nil)}))
	if err != nil {
		t.Fatal(err)
	}
	if resp.ContentLength != size {
		t.Errorf("length is %d", resp.ContentLength)
	}
	resp.Body.Close()
	put := call{method: "PUT", target: "/lake/wh/t/huge", keys: f.session(nil), payload: &sigv4.Payload{Mode: sigv4.Unsigned}}
	got := f.raw(f.head(put) + "Content-Length: 9223372036854775808\r\n\r\nx")
	if !strings.HasPrefix(got, "HTTP/1.1 400 ") {
		t.Errorf("length of 2^63: got %q", got)
	}
}

// What removes orphans lists and deletes through us: nothing of a sibling,
// nothing without the store's word, every deleted key forgotten.
func TestG24OrphanRemoval(t *testing.T) {
	b := &blocks{}
	f := start(t, withBlocks(b))
	for _, key := range []string{"wh/t/data/live", "wh/t/data/a b=1+2%.parquet", "wh/t/data/orphan", "wh/t_other/data/x", "wh/t2/x"} {
		f.origin.put("lake/"+key, key)
	}
	own, through := f.session(nil), f.session(func(s *tap.Session) { upstream(s) })
	for _, c := range []struct {
		query string
		open  bool // to a key that is limited by its scope alone
	}{
		{"list-type=2&prefix=wh/t/", true},
		{"list-type=2&prefix=wh%2Ft%2Fdata&delimiter=%2F&encoding-type=url", true},
		{"prefix=wh/t/&marker=wh/t/data/a%20b&max-keys=1000", true},
		{"list-type=2&prefix=wh/t/&start-after=wh/t/data/live", true},
		{"versions&prefix=wh/t/", true},
		{"uploads&prefix=wh/t/", true},
		{"list-type=2&prefix=wh/t", false}, // wh/t_other begins so too
		{"list-type=2&prefix=wh/", false},
		{"list-type=2", false},
		{"versions", false},
		{"uploads", false},
	} {
		got := f.do(call{method: "GET", target: "/lake?" + c.query, keys: own})
		if (got.status == 200) != c.open || !c.open && got.code() != "AccessDenied" {
			t.Errorf("%s: got %d %s", c.query, got.status, got.body)
		}
		// With keys of the store's own, it is the store that decides.
		f.origin.seen()
		f.do(call{method: "GET", target: "/lake?" + c.query, keys: through})
		if s := f.origin.seen(); len(s) != 1 || s[0].KeyID != vended.AccessKeyID {
			t.Errorf("%s: origin saw %s", c.query, describe(s))
		}
	}
	b.taken()
	doc := deleteDoc("wh/t/data/orphan", "wh/t/data/a b=1+2%.parquet")
	sum := md5.Sum([]byte(doc))
	for _, header := range []http.Header{{"Content-Md5": {base64.StdEncoding.EncodeToString(sum[:])}}, {"X-Amz-Checksum-Crc32": {crc32Of(doc)}}} {
		got := f.do(call{method: "POST", target: "/lake?delete", body: doc, keys: own, header: header})
		if got.status != 200 {
			t.Errorf("delete: got %d %s", got.status, got.body)
		}
	}
	if _, gone := f.origin.object("lake/wh/t/data/orphan"); gone {
		t.Error("the orphan is still there")
	}
	for _, key := range []string{"wh/t/data/live", "wh/t_other/data/x", "wh/t2/x"} {
		if _, ok := f.origin.object("lake/" + key); !ok {
			t.Errorf("%s is gone", key)
		}
	}
	if got := f.do(call{method: "POST", target: "/lake?delete", body: deleteDoc("wh/t/data/live", "wh/t_other/data/x"), keys: own}); got.code() != "AccessDenied" {
		t.Errorf("delete of a sibling: got %d %s", got.status, got.body)
	}
	log := b.taken()
	for _, want := range []string{"forget wh/t/data/orphan", "forget wh/t/data/a b=1+2%.parquet"} {
		if n := len(log) - len(slices.DeleteFunc(slices.Clone(log), func(s string) bool { return s == want })); n < 2 {
			t.Errorf("%q %d times in %v, want before and after", want, n, log)
		}
	}
}
