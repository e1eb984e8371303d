package storage_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// A keeper keeps what it was given last.
type keeper struct {
	get   laketap.Get
	fetch laketap.Fetch
}

func (k *keeper) Get(ctx context.Context, get laketap.Get, fetch laketap.Fetch) (*laketap.Reply, error) {
	k.get, k.fetch = get, fetch
	return fetch(ctx, get)
}

func (k *keeper) Forget(laketap.ObjectName) {}

// fetched fetches another object by what was kept, "" if it may not.
func (k *keeper) fetched(t *testing.T, change func(*laketap.Get)) string {
	t.Helper()
	get := k.get
	get.Range = laketap.Range{}
	change(&get)
	reply, err := k.fetch(t.Context(), get)
	if errors.Is(err, laketap.ErrNoRight) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body.Stream)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What Blocks fetches beside a read is what the reader may read by the same
// right, and goes out with the same credentials.
func TestFetchBeside(t *testing.T) {
	k := &keeper{}
	f := start(t, func(o *storage.Options) { o.Blocks = k })
	for _, key := range []string{"lake/wh/t/x", "lake/wh/t/y z", "lake/wh/t/aside/y", "lake/wh/t2/y", "other/wh/t/y"} {
		f.origin.put(key, "bytes of "+key)
	}
	keys := f.session(func(s *tap.Session) {
		upstream(s)
		s.Scope = append(s.Scope, tap.Location{Origin: "main", Bucket: "lake", Path: "wh/t/aside"})
	})
	key := func(key string) func(*laketap.Get) { return func(g *laketap.Get) { g.Name.Key = key } }
	tests := []struct {
		name   string
		change func(*laketap.Get)
		want   string
	}{
		{"another object of the scope", key("wh/t/y z"), "bytes of lake/wh/t/y z"},
		{"a part of it", func(g *laketap.Get) {
			g.Name.Key, g.Range = "wh/t/y z", laketap.Range{From: 9, To: 12, Set: true}
		}, "lake"},
		{"the object itself", key("wh/t/x"), "bytes of lake/wh/t/x"},
		{"outside of the scope", key("wh/t2/y"), ""},
		{"a climb out of it", key("wh/t/../t2/y"), ""},
		{"by another right of the session", key("wh/t/aside/y"), ""},
		{"another bucket", func(g *laketap.Get) { g.Name.Bucket = "other" }, ""},
		{"another store", func(g *laketap.Get) { g.Name.Origin = "second" }, ""},
		{"a right made up", func(g *laketap.Get) { g.Name.Key, g.Right = "wh/t/y z", "x" }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys})
			if got.body != "bytes of lake/wh/t/x" {
				t.Fatalf("client got %d %s", got.status, got.body)
			}
			f.origin.seen()
			if got := k.fetched(t, tt.change); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			seen := f.origin.seen()
			if asked := len(seen) == 1; asked != (tt.want != "") {
				t.Fatalf("origin saw %s", describe(seen))
			}
			if tt.want != "" && seen[0].KeyID != vended.AccessKeyID {
				t.Errorf("origin was asked by %s", seen[0].KeyID)
			}
		})
	}
}

// A session that was kept does not outlive its end or a denial.
func TestFetchBesideEnds(t *testing.T) {
	k, list := &keeper{}, &denying{}
	list.entry.Store("")
	var late atomic.Bool
	f := start(t, func(o *storage.Options) {
		o.Blocks, o.Deny = k, list
		o.Now = func() time.Time {
			if late.Load() {
				return time.Now().Add(2 * time.Hour)
			}
			return time.Now()
		}
	})
	f.origin.put("lake/wh/t/x", "x")
	f.origin.put("lake/wh/t/y", "y")
	f.do(call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)})
	beside := func() string { return k.fetched(t, func(g *laketap.Get) { g.Name.Key = "wh/t/y" }) }
	if got := beside(); got != "y" {
		t.Fatalf("got %q", got)
	}
	list.entry.Store("principal alice")
	if got := beside(); got != "" {
		t.Errorf("denied, and got %q", got)
	}
	list.entry.Store("")
	late.Store(true)
	if got := beside(); got != "" {
		t.Errorf("expired, and got %q", got)
	}
}
