package block_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/reuse/block"
)

// C16, as far as it is the cache's.
func TestImmutableIsFetchedOnce(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		s := newOrigin()
		c := open(t, block.Options{Dir: dir, Contract: everything{s}})
		data := s.put("k", bytesOf(1, 100_000))
		want(t, c, s, part("k", 99_000, 99_999), data[99_000:], "GET k 99000-99999")
		want(t, c, s, part("k", 99_000, 99_999), data[99_000:])
		want(t, c, s, part("k", 99_500, 99_600), data[99_500:99_601])
		want(t, c, s, part("k", 98_000, 99_999), data[98_000:], "GET k 98000-98999 match")
		want(t, c, s, part("k", 98_500, 99_500), data[98_500:99_501])
		suffix := proven("k")
		suffix.Range = laketap.Range{Suffix: 1000, Set: true}
		want(t, c, s, suffix, data[99_000:])
		want(t, c, s, proven("k"), data, "GET k 0-97999 match")
		want(t, c, s, proven("k"), data)
		head := proven("k")
		head.Head = true
		if r := want(t, c, s, head, nil); r.Length != 100_000 {
			t.Errorf("HEAD says %d bytes", r.Length)
		}
	}
}

func TestMutableIsAskedFor(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{})
	data := s.put("k", bytesOf(1, 1000))
	want(t, c, s, proven("k"), data, "GET k")
	want(t, c, s, proven("k"), data, "GET k none")
	data = s.put("k", bytesOf(2, 1000)) // behind our back, same size
	want(t, c, s, part("k", 10, 19), data[10:20], "GET k 10-19 none")
	want(t, c, s, part("k", 10, 29), data[10:30], "GET k 10-29 none", "GET k 20-29 match")
	data = s.put("k", bytesOf(3, 500))
	want(t, c, s, part("k", 100, 199), data[100:200], "GET k 100-199 match", "GET k 100-199")
}

func TestForget(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	data := s.put("k", bytesOf(1, 1000))
	want(t, c, s, proven("k"), data, "GET k")
	data = s.put("k", bytesOf(2, 1000))
	c.Forget(name("k"))
	want(t, c, s, proven("k"), data, "GET k")
}

func TestWhoIsNotProvenIsAskedFor(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	data := s.put("k", bytesOf(1, 1000))
	stranger := proven("k")
	stranger.Proven = false
	want(t, c, s, stranger, data, "GET k")
	want(t, c, s, stranger, data, "GET k none")
	want(t, c, s, proven("k"), data)
}

func TestManyClientsOneRequest(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	data := s.put("k", bytesOf(1, 2<<20))
	s.hold = make(chan struct{})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			reply, err := c.Get(context.Background(), proven("k"), s.fetch)
			if err != nil {
				t.Error(err)
				return
			}
			defer reply.Body.Close()
			var body io.Reader = bytes.NewReader(reply.Body.Bytes) // who comes when all is there
			if reply.Body.Stream != nil {
				body = reply.Body.Stream
			}
			if i%8 == 0 { // some leave early
				_, _ = io.ReadFull(body, make([]byte, 10))
				return
			}
			if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, data) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
		})
	}
	eventually(t, "origin is asked", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.calls) > 0 })
	close(s.hold)
	wg.Wait()
	if calls := s.taken(); len(calls) != 1 {
		t.Errorf("origin was asked %q", calls)
	}
}

func TestReopen(t *testing.T) {
	s := newOrigin()
	dir := t.TempDir()
	opts := block.Options{Dir: dir, Contract: everything{s}}
	c := open(t, opts)
	data := make([][]byte, 20)
	for i := range data {
		data[i] = s.put(fmt.Sprint("k", i), bytesOf(i, 10_000*(i+1)))
		want(t, c, s, part(fmt.Sprint("k", i), 100, 9999), data[i][100:10_000], fmt.Sprintf("GET k%d 100-9999", i))
	}
	c.Forget(name("k3"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = open(t, opts)
	for i := range 20 {
		calls := []string{}
		if i == 3 {
			calls = append(calls, "GET k3 200-8999")
		}
		want(t, c, s, part(fmt.Sprint("k", i), 200, 8999), data[i][200:9000], calls...)
	}
	if v, err := c.Verify(t.Context(), nil); err != nil || v.Damaged != 0 || v.Extents < 19 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// G10: the header of an object is the same cold and warm, but for what is about
// one request.
func TestG10Headers(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	data := s.put("k", bytesOf(1, 100), laketap.Field{Name: "Content-Encoding", Value: "gzip"}, laketap.Field{Name: "X-Amz-Meta-A", Value: "1"})
	cold := want(t, c, s, part("k", 0, 9), data[:10], "GET k 0-9")
	warm := want(t, c, s, part("k", 0, 9), data[:10])
	for _, f := range []string{"ETag", "Content-Encoding", "X-Amz-Meta-A", "Content-Type", "Content-Range"} {
		if field(cold, f) == "" || field(cold, f) != field(warm, f) {
			t.Errorf("%s: cold %q, warm %q", f, field(cold, f), field(warm, f))
		}
	}
	if id := field(warm, "X-Amz-Request-Id"); id != "" {
		t.Errorf("warm answer has the request id %s of another", id)
	}
}
