package storage_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// blocks is a cache that holds one answer and notes what it is asked.
type blocks struct {
	mu   sync.Mutex
	log  []string
	hold string // answers every Get; "" fetches
	fail error  // answers every Get without fetching
	get  laketap.Get
}

func (b *blocks) Get(ctx context.Context, get laketap.Get, fetch laketap.Fetch) (*laketap.Reply, error) {
	b.note("get " + get.Name.Key)
	b.mu.Lock()
	b.get = get
	b.mu.Unlock()
	switch {
	case b.fail != nil:
		return nil, b.fail
	case b.hold != "":
		return &laketap.Reply{
			Status: 200, Length: int64(len(b.hold)), Body: laketap.Body{Bytes: []byte(b.hold)}, Served: laketap.FromMemory,
			Header: []laketap.Field{{Name: "ETag", Value: `"held"`}},
		}, nil
	}
	return fetch(ctx, get)
}

func (b *blocks) Forget(name laketap.ObjectName) { b.note("forget " + name.Key) }

func (b *blocks) note(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, s)
}

func (b *blocks) taken() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	log := b.log
	b.log = nil
	return log
}

func withBlocks(b *blocks) func(*storage.Options) {
	return func(o *storage.Options) { o.Blocks = b }
}

func TestPlainReadsGoThroughBlocks(t *testing.T) {
	b := &blocks{hold: "from memory"}
	f := start(t, withBlocks(b))
	f.origin.put("lake/wh/t/x", "from origin")
	own, through := f.session(nil), f.session(upstream)
	for _, c := range []struct {
		name   string
		call   call
		cached bool
		want   laketap.Get
	}{
		{"get", call{method: "GET", target: "/lake/wh/t/x?x-id=GetObject"}, true, laketap.Get{}},
		{"head", call{method: "HEAD", target: "/lake/wh/t/x"}, true, laketap.Get{Head: true}},
		{"range and conditions", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"Range": {"bytes=2-"}, "If-Match": {`"a"`}, "If-None-Match": {`"b"`}}}, true, laketap.Get{
			Range: laketap.Range{From: 2, To: -1, Set: true}, Cond: laketap.Cond{IfMatch: `"a"`, IfNoneMatch: `"b"`},
		}},
		{"checksum mode on the whole", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"X-Amz-Checksum-Mode": {"ENABLED"}}}, true, laketap.Get{Checksums: true}},
		{"checksum header of Spark", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"X-Amz-Checksum-Crc32": {"AAAAAA=="}}}, true, laketap.Get{}},
		{"checksum mode on a part", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"X-Amz-Checksum-Mode": {"ENABLED"}, "Range": {"bytes=0-1"}}}, true, laketap.Get{Checksums: true, Range: laketap.Range{To: 1, Set: true}}},
		{"ClickHouse counting its attempts", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"Clickhouse-Request": {"attempt=1"}}}, true, laketap.Get{}},
		{"an MD5 behind the body, of Java's SDK", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"X-Amz-Te": {"append-md5"}}}, true, laketap.Get{}},
		{"the API version", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"X-Amz-Api-Version": {"2006-03-01"}}}, true, laketap.Get{}},
		{"another API version", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"X-Amz-Api-Version": {"2036-03-01"}}}, false, laketap.Get{}},
		{"checksum mode unheard of", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"X-Amz-Checksum-Mode": {"FULL"}}}, false, laketap.Get{}},
		{"version", call{method: "GET", target: "/lake/wh/t/x?versionId=1"}, false, laketap.Get{}},
		{"part", call{method: "GET", target: "/lake/wh/t/x?partNumber=1"}, false, laketap.Get{}},
		{"response header", call{method: "GET", target: "/lake/wh/t/x?response-content-type=a"}, false, laketap.Get{}},
		{"SSE-C", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"X-Amz-Server-Side-Encryption-Customer-Key": {"k"}}}, false, laketap.Get{}},
		{"unknown header", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"X-New": {"1"}}}, false, laketap.Get{}},
		{"date condition", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"If-Modified-Since": {"Mon, 01 Jan 2001 00:00:00 GMT"}}}, false, laketap.Get{}},
		{"two ranges", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"Range": {"bytes=0-1,3-4"}}}, false, laketap.Get{}},
		{"suffix of nothing", call{method: "GET", target: "/lake/wh/t/x", header: http.Header{"Range": {"bytes=-0"}}}, false, laketap.Get{}},
		{"listing", call{method: "GET", target: "/lake?prefix=wh/t/"}, false, laketap.Get{}},
	} {
		for name, keys := range map[string]sigv4.Credentials{"own": own, "through": through} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				call := c.call
				call.keys, call.header = keys, call.header.Clone()
				got := f.do(call)
				log := b.taken()
				if asked := len(log) > 0; asked != c.cached {
					t.Fatalf("blocks were asked: %v, want %v (%d %s)", asked, c.cached, got.status, got.body)
				}
				a := f.access()
				if !c.cached {
					if s := f.origin.seen(); len(s) != 1 || a.Served != laketap.FromOrigin {
						t.Errorf("origin saw %s, served by %v", describe(s), a.Served)
					}
					return
				}
				f.wantNothingSent(t)
				c.want.Name = laketap.ObjectName{Origin: "main", Bucket: "lake", Key: "wh/t/x"}
				if b.get.Right == "" || b.get.Table != (laketap.TableID{Catalog: "prod", UUID: "uuid-t"}) {
					t.Errorf("asked for the table %v with the right %q", b.get.Table, b.get.Right)
				}
				if b.get.Scope != "wh/t" || b.get.Engine != (laketap.Engine{Name: "spark", Version: "4.1"}) {
					t.Errorf("asked in the scope %q of %v", b.get.Scope, b.get.Engine)
				}
				b.get = laketap.Get{Name: b.get.Name, Head: b.get.Head, Range: b.get.Range, Cond: b.get.Cond, Checksums: b.get.Checksums, Proven: b.get.Proven}
				if diff := cmp.Diff(c.want, b.get); diff != "" {
					t.Errorf("get (-want +got):\n%s", diff)
				}
				if call.method == "GET" && got.body != "from memory" || got.header.Get("ETag") != `"held"` || got.header.Get("x-amz-request-id") != a.RequestID || a.Served != laketap.FromMemory {
					t.Errorf("got %q, %v, served by %v", got.body, got.header, a.Served)
				}
			})
		}
	}
	t.Run("outside the scope", func(t *testing.T) {
		f.do(call{method: "GET", target: "/lake/wh/t2/x", keys: through})
		if log := b.taken(); len(log) > 0 || len(f.origin.seen()) != 1 {
			t.Errorf("blocks had a part in it: %v", log)
		}
	})
}

func TestBlocksInTroubleAreBypassed(t *testing.T) {
	f := start(t, withBlocks(&blocks{fail: errors.New("disk is full")}))
	f.origin.put("lake/wh/t/x", "from origin")
	if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)}); got.body != "from origin" {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestFailedFetchIsNotRepeated(t *testing.T) {
	f := start(t, withBlocks(&blocks{}))
	f.origin.server.CloseClientConnections()
	f.origin.server.Listener.Close()
	got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)})
	if n := f.origin.sent(); got.status != 503 || n != 1 {
		t.Errorf("got %d after %d tries", got.status, n)
	}
}

// Every write forgets what it changes before and after.
func TestWritesForget(t *testing.T) {
	b := &blocks{}
	f := start(t, withBlocks(b))
	f.origin.put("lake/wh/t/x", "x")
	keys := f.session(nil)
	for _, c := range []struct {
		call call
		want []string
	}{
		{call{method: "PUT", target: "/lake/wh/t/a%20b", body: "x"}, []string{"wh/t/a b", "wh/t/a b"}},
		{call{method: "DELETE", target: "/lake/wh/t/a"}, []string{"wh/t/a", "wh/t/a"}},
		{call{method: "PUT", target: "/lake/wh/t/c", header: copyFrom("/lake/wh/t/x")}, []string{"wh/t/c", "wh/t/c"}},
		{call{method: "POST", target: "/lake/wh/t/m?uploadId=u", body: "<CompleteMultipartUpload/>"}, []string{"wh/t/m", "wh/t/m"}},
		{call{method: "POST", target: "/lake?delete", body: deleteDoc("wh/t/p", "wh/t/q")}, []string{"wh/t/p", "wh/t/q", "wh/t/p", "wh/t/q"}},
		// Refused by us, or by the origin.
		{call{method: "PUT", target: "/lake/wh/t2/a", body: "x"}, nil},
		{call{method: "PUT", target: "/lake/wh/t/x", body: "x", header: http.Header{"If-None-Match": {"*"}}}, []string{"wh/t/x"}},
	} {
		c.call.keys = keys
		f.do(c.call)
		f.access()
		got := b.taken()
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], "forget ")
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s forgot %v, want %v", c.call.method, c.call.target, got, c.want)
		}
	}
	f.do(call{method: "PUT", target: "/lake?policy", body: "{}", keys: adminKeys})
	if got := b.taken(); len(got) > 0 {
		t.Errorf("a bucket's policy forgot %v", got)
	}
}

func TestPresigned(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/a b", "presigned")
	for name, keys := range map[string]sigv4.Credentials{"session": f.session(nil), "upstream": f.session(upstream), "static": adminKeys} {
		t.Run(name, func(t *testing.T) {
			credentials := aws.Credentials{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey, SessionToken: keys.SessionToken}
			presign := func(method, path string, at time.Time) string {
				u, err := url.Parse("http://" + f.addr + path)
				if err != nil {
					t.Fatal(err)
				}
				q := u.Query()
				q.Set("X-Amz-Expires", "60")
				u.RawQuery = q.Encode()
				signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
				signed, _, err := signer.PresignHTTP(t.Context(), credentials, &http.Request{Method: method, URL: u, Host: f.addr, Header: http.Header{}}, "UNSIGNED-PAYLOAD", "s3", "us-east-1", at)
				if err != nil {
					t.Fatal(err)
				}
				return signed
			}
			send := func(method, u, body string) result {
				req, err := http.NewRequestWithContext(t.Context(), method, u, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := f.http.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				return read(resp)
			}
			if got := send("GET", presign("GET", "/lake/wh/t/a%20b", time.Now()), ""); got.body != "presigned" {
				t.Errorf("GET: %d %s", got.status, got.body)
			}
			if got := send("PUT", presign("PUT", "/lake/wh/t/put", time.Now()), "by URL"); got.status != 200 {
				t.Errorf("PUT: %d %s", got.status, got.body)
			}
			if obj, _ := f.origin.object("lake/wh/t/put"); string(obj.data) != "by URL" {
				t.Errorf("stored %q", obj.data)
			}
			for _, s := range f.origin.seen() {
				if s.Err != "" || strings.Contains(s.URI, "X-Amz-") {
					t.Errorf("origin saw %s %s (%s)", s.Method, s.URI, s.Err)
				}
			}
			if got := send("GET", presign("GET", "/lake/wh/t/a%20b", time.Now().Add(-2*time.Minute)), ""); got.code() != "AccessDenied" {
				t.Errorf("expired: %d %s", got.status, got.body)
			}
			if got := send("GET", presign("GET", "/lake/wh/t/a%20b", time.Now())+"&versionId=2", ""); got.code() != "SignatureDoesNotMatch" {
				t.Errorf("changed: %d %s", got.status, got.body)
			}
			f.wantNothingSent(t)
		})
	}
}

func TestTableOfAnAccess(t *testing.T) {
	f := start(t, nil)
	other := tap.Table{ID: laketap.TableID{Catalog: "prod", UUID: "u2"}, Name: "db.t2", Location: tap.Location{Origin: "main", Bucket: "lake", Path: "wh/t2"}}
	f.tables.Put(other)
	keys := f.session(upstream)
	for _, c := range []struct{ target, table string }{
		{"/lake/wh/t/x", "db.t"}, {"/lake/wh/t2/x", "db.t2"}, {"/lake/elsewhere/x", ""}, {"/lake?prefix=wh/t2/", "db.t2"},
	} {
		f.do(call{method: "GET", target: c.target, keys: keys})
		if a := f.access(); a.TableName != c.table || a.Catalog != "prod" {
			t.Errorf("%s belongs to %q of %q, want %q", c.target, a.TableName, a.Catalog, c.table)
		}
	}
}

func TestEveryRequestIsCounted(t *testing.T) {
	f := start(t, nil)
	f.origin.put("lake/wh/t/x", "x")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			f.do(call{method: "GET", target: "/lake/wh/t/" + []string{"x", "none"}[i%2], keys: f.session(nil)})
		})
	}
	wg.Wait()
	ids := map[string]bool{}
	for range 20 {
		ids[f.access().RequestID] = true
	}
	if len(ids) != 20 {
		t.Errorf("%d different request ids", len(ids))
	}
}

// panicking is a cache with a bug.
type panicking struct{ *blocks }

func (panicking) Get(context.Context, laketap.Get, laketap.Fetch) (*laketap.Reply, error) {
	panic("a bug")
}

// A panic costs one request its answer, and nobody else anything.
func TestPanicIsOneRequests(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.Blocks = panicking{&blocks{}} })
	f.origin.put("lake/wh/t/x", "right")
	keys := f.session(nil)
	for range 3 {
		if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys}); got.status != 500 || got.code() != "InternalError" || strings.Contains(got.body, "bug") {
			t.Errorf("got %d %s", got.status, got.body)
		}
		if got := f.do(call{method: "GET", target: "/lake/wh/t/x?versionId=1", keys: keys}); got.body != "right" {
			t.Errorf("beside it: got %d %s", got.status, got.body)
		}
	}
}
