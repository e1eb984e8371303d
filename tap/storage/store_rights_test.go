package storage_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/reuse/block"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// everything is a contract that vouches for every object, so that the cache
// answers all it can.
type everything struct{}

func (everything) Version(_ laketap.TableID, name laketap.ObjectName) (laketap.Object, bool) {
	return laketap.Object{ObjectName: name, Size: -1}, true
}

// withCache puts the real cache in a tap.
func withCache(t *testing.T, o *storage.Options) {
	t.Helper()
	cache, err := block.Open(block.Options{Contract: everything{}, Now: o.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cache.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Blocks = cache
}

// keysOf names keys that a catalog vends, by what they open.
func keysOf(name string) sigv4.Credentials {
	return sigv4.Credentials{AccessKeyID: "ASIA" + strings.ToUpper(name), SecretAccessKey: name + "-secret", SessionToken: name + "-token"}
}

// under allows what lies under a prefix of a bucket.
func under(prefix string) func(bool, string) bool {
	return func(_ bool, name string) bool { return strings.HasPrefix(name, prefix) }
}

// vendings are keys of the store that open less than the session that they
// come in, which is for all of wh/t and may write.
func vendings() map[string]func(write bool, name string) bool {
	return map[string]func(bool, string) bool{
		"all":     func(bool, string) bool { return true },
		"readers": func(write bool, _ string) bool { return !write },
		"prefix":  under("lake/wh/t/"),
		"other":   under("lake/wh/o/"),
		"below":   under("lake/wh/t/inner/"), // less than a table: needs proof: object
		"revoked": func(bool, string) bool { return false },
	}
}

// What the store denies to the keys that a catalog vended is denied through us,
// and what it allows is allowed: every operation, everywhere, whether or not
// somebody with more rights has just brought the object into the cache.
func TestStoresRightsMatrix(t *testing.T) {
	for _, mode := range []struct {
		name           string
		cached, object bool
	}{{"without a cache", false, false}, {"cached", true, false}, {"cached, proof by object", true, true}} {
		t.Run(mode.name, func(t *testing.T) {
			f := start(t, func(o *storage.Options) {
				if o.ProofByObject = mode.object; mode.cached {
					withCache(t, o)
				}
			})
			var count tally
			for vending, allows := range vendings() {
				if vending == "below" && mode.cached && !mode.object {
					continue // what proof: object is for
				}
				keys := keysOf(vending)
				f.origin.admit(guest{keys, allows})
				for where, path := range places {
					for what, c := range operations(path, places["t"]) {
						if c.host == "" { // the store of these tests has no hosts for buckets
							f.sameAsDirect(&count, c, keys, path, "keys "+vending+": "+what+" at "+where)
						}
					}
				}
			}
			if count.denied < 100 || count.allowed < 50 || mode.cached != (count.hits > 0) {
				t.Errorf("%+v: the matrix has holes", count)
			}
		})
	}
}

// A tally counts what the store said, and how often it had not to be asked.
type tally struct{ denied, allowed, hits int }

// sameAsDirect sends a request to the store itself, and then through the tap
// with a session of the same keys.
func (f *fixture) sameAsDirect(count *tally, c call, keys sigv4.Credentials, path, name string) {
	f.t.Helper()
	direct := &fixture{t: f.t, http: f.http, addr: strings.TrimPrefix(f.origin.server.URL, "http://")}
	f.fill(path)
	plain := c.header
	c.keys, c.header = keys, plain.Clone()
	want := direct.do(c)
	f.fill(path)
	c.keys, c.header = f.session(func(s *tap.Session) { s.Upstream = []tap.Vended{{Keys: keys}} }), plain.Clone()
	got := f.do(c)
	if got.status != want.status || got.code() != want.code() || got.body != want.body {
		f.t.Errorf("%s: got %d %q, the store says %d %q", name, got.status, got.body, want.status, want.body)
	}
	served := f.access().Served
	if want.status == http.StatusForbidden {
		count.denied++
		return
	}
	count.allowed++
	if served == laketap.FromMemory {
		count.hits++
	}
}

// fill puts what the operations ask for in the store, and reads it with keys
// for everything, so that a cache has it.
func (f *fixture) fill(path string) {
	f.t.Helper()
	wide := f.session(upstream)
	for _, name := range []string{"lake/" + path + "/x", "lake/" + places["t"] + "/x"} {
		f.origin.put(name, "data")
		for range 2 {
			if got := f.do(call{method: "GET", target: "/" + name, keys: wide}); got.body != "data" {
				f.t.Fatalf("keys for everything get %d %q", got.status, got.body)
			}
			f.access()
		}
	}
}

// Keys that the store takes back open nothing from the next request on that
// reaches it. What they had opened is served from the cache for as long as the
// proof of it lasts, unless the store's refusal is heard first.
func TestRevokedKeysOfTheStore(t *testing.T) {
	for name, heard := range map[string]bool{"refusal heard": true, "proof runs out": false} {
		t.Run(name, func(t *testing.T) {
			var later atomic.Int64
			f := start(t, func(o *storage.Options) {
				o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
				withCache(t, o)
			})
			keys := keysOf("fickle")
			f.origin.admit(guest{keys, under("lake/wh/t/")})
			for _, name := range []string{"x", "y"} {
				f.origin.put("lake/wh/t/"+name, "data")
			}
			session := f.session(func(s *tap.Session) { s.Upstream = []tap.Vended{{Keys: keys}} })
			want := func(method, key string, status int, served laketap.Served) {
				t.Helper()
				got := f.do(call{method: method, target: "/lake/wh/t/" + key, keys: session})
				if a := f.access(); got.status != status || a.Served != served {
					t.Errorf("%s %s: got %d from %v, want %d from %v", method, key, got.status, a.Served, status, served)
				}
			}
			want("GET", "x", 200, laketap.FromOrigin)
			want("GET", "x", 200, laketap.FromMemory)
			f.origin.admit(guest{keys, func(bool, string) bool { return false }})
			want("PUT", "z", 403, laketap.FromOrigin)
			want("DELETE", "z", 403, laketap.FromOrigin)
			if heard {
				want("GET", "y", 403, laketap.FromOrigin)
			} else {
				later.Store(int64(5 * time.Minute))
			}
			want("GET", "x", 403, laketap.FromOrigin)
			want("HEAD", "x", 403, laketap.FromOrigin)
		})
	}
}
