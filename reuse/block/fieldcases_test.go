package block_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/reuse/block"
)

// The tests of this file are named for field cases: what such caches have been
// seen to break on. docs/testing.md lists them.

// G5, G6: every form of a range answers as the origin does, cold and warm.
func TestG5RangeGrammar(t *testing.T) {
	s := newOrigin()
	s.put("k", bytesOf(1, 100))
	s.put("empty", nil)
	for _, warm := range []bool{false, true} {
		for _, key := range []string{"k", "empty"} {
			for _, r := range []laketap.Range{
				{},
				{Set: true, From: 0, To: 0},
				{Set: true, From: 50, To: 1000},
				{Set: true, From: 99, To: -1},
				{Set: true, From: 100, To: -1},
				{Set: true, From: 100, To: 200},
				{Set: true, Suffix: 1},
				{Set: true, Suffix: 500},
				{Set: true, From: 0, To: 1<<62 - 1},
			} {
				c := open(t, block.Options{Contract: everything{s}})
				if warm {
					read(c, s, proven(key))
				}
				get := proven(key)
				get.Range = r
				s.mu.Lock()
				truth := s.reply(get)
				s.mu.Unlock()
				got := read(c, s, get)
				if got.status != truth.Status || got.reply.Length != truth.Length || field(got.reply, "Content-Range") != field(truth, "Content-Range") {
					t.Errorf("%s %+v, warm %v: %d, %d bytes, %q; want %d, %d, %q", key, r, warm, got.status, got.reply.Length,
						field(got.reply, "Content-Range"), truth.Status, truth.Length, field(truth, "Content-Range"))
				}
			}
		}
	}
}

// G7, G8: an origin that ignores a range, or answers a part for the whole, is
// believed by its own client only.
func TestG7G8OddAnswersAreNotKept(t *testing.T) {
	for name, how := range map[string]int{"ignores Range": 0, "lies about the part": 1, "a part for the whole": 2, "error": 3} {
		t.Run(name, func(t *testing.T) {
			s := newOrigin()
			c := open(t, block.Options{Contract: everything{s}})
			data := s.put("k", bytesOf(1, 1000))
			for _, get := range []laketap.Get{part("k", 100, 199), proven("k")} {
				s.answer = s.strange(how)
				read(c, s, get)
				s.answer = nil
				s.taken()
			}
			if got := read(c, s, part("k", 100, 199)); got.err != nil || !bytes.Equal(got.data, data[100:200]) {
				t.Errorf("then a part: %d, %v", got.status, got.err)
			}
			if got := read(c, s, proven("k")); got.err != nil || got.status != http.StatusOK || !bytes.Equal(got.data, data) {
				t.Errorf("then the whole: %d, %d bytes, %v", got.status, len(got.data), got.err)
			}
		})
	}
}

// G12: HEAD agrees with GET, with a range too, and fetches no bytes.
func TestG12Head(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	s.put("k", bytesOf(1, 1000))
	head := part("k", 1, 4)
	head.Head = true
	for _, calls := range [][]string{{"HEAD k 1-4"}, {}} {
		r := want(t, c, s, head, nil, calls...)
		if r.Status != http.StatusPartialContent || r.Length != 4 || field(r, "Content-Range") != "bytes 1-4/1000" {
			t.Errorf("%d, %d bytes, %s", r.Status, r.Length, field(r, "Content-Range"))
		}
	}
	if s.sent != 0 {
		t.Errorf("%d bytes were fetched", s.sent)
	}
}

// C2, C4: length, ETag and body are of one version while the object is
// rewritten under its readers, by us and by others.
func TestC2OneVersionInEachAnswer(t *testing.T) {
	for _, throughUs := range []bool{true, false} {
		s := newOrigin()
		c := open(t, block.Options{})
		versions := map[string][]byte{}
		var mu sync.Mutex
		write := func(i int) {
			mu.Lock()
			defer mu.Unlock()
			if throughUs {
				c.Forget(name("k"))
				defer c.Forget(name("k"))
			}
			data := s.put("k", bytesOf(i, 1000+37*i))
			s.mu.Lock()
			versions[s.objects["k"].etag] = data
			s.mu.Unlock()
		}
		write(0)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					got := read(c, s, proven("k"))
					mu.Lock()
					data := versions[field(got.reply, "ETag")]
					mu.Unlock()
					if got.err != nil || !bytes.Equal(got.data, data) {
						t.Errorf("%d bytes that are not of version %s: %v", len(got.data), field(got.reply, "ETag"), got.err)
					}
				}
			})
		}
		for i := range 100 {
			write(i + 1)
		}
		wg.Wait()
	}
}

// C3: a read that began before a write does not bring the old bytes back after
// it, however long it takes.
func TestC3ReadBeforeWrite(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	old := s.put("k", bytesOf(1, 1000))
	s.pause = make(chan struct{})
	reply, err := c.Get(context.Background(), proven("k"), s.fetch)
	if err != nil {
		t.Fatal(err)
	}
	c.Forget(name("k"))
	fresh := s.put("k", bytesOf(2, 1000))
	c.Forget(name("k"))
	close(s.pause)
	if got, err := io.ReadAll(reply.Body.Stream); err != nil || !bytes.Equal(got, old) {
		t.Errorf("who came before got %d bytes, %v", len(got), err)
	}
	reply.Body.Close()
	s.taken()
	want(t, c, s, proven("k"), fresh, "GET k")
	want(t, c, s, proven("k"), fresh)
}

// C3: nor does a reply whose head was still to come.
func TestC3AskBeforeWrite(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	s.put("k", bytesOf(1, 1000))
	var stale *laketap.Reply
	asked, answer := make(chan struct{}), make(chan struct{})
	s.answer = func(get laketap.Get) *laketap.Reply {
		s.mu.Lock()
		stale = s.reply(get)
		s.mu.Unlock()
		close(asked)
		<-answer
		return stale
	}
	done := make(chan outcome)
	go func() { done <- read(c, s, proven("k")) }()
	<-asked
	c.Forget(name("k"))
	fresh := s.put("k", bytesOf(2, 1000))
	c.Forget(name("k"))
	s.mu.Lock()
	s.answer = nil
	s.mu.Unlock()
	close(answer)
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
	s.taken()
	want(t, c, s, proven("k"), fresh, "GET k")
}

// C6: an object that is overwritten between two fills of one answer breaks the
// answer off, or is all of one version.
func TestC6NoTwoVersionsInOneAnswer(t *testing.T) {
	s := newOrigin()
	c, err := block.OpenPieces(block.Options{Contract: everything{s}}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	data := s.put("k", bytesOf(1, 200_000))
	// Held in the middle, so that the answer needs two requests, too far apart
	// to be one.
	if got := read(c, s, part("k", 50_000, 149_999)); got.err != nil {
		t.Fatal(got.err)
	}
	reply, err := c.Get(context.Background(), proven("k"), s.fetch)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	first := make([]byte, 10, len(data))
	if _, err := io.ReadFull(reply.Body.Stream, first); err != nil {
		t.Fatal(err)
	}
	s.put("k", bytesOf(2, 200_000)) // same size
	rest, err := io.ReadAll(reply.Body.Stream)
	if err == nil && !bytes.Equal(append(first, rest...), data) {
		t.Error("an answer of two versions")
	}
	if err == nil {
		t.Error("an answer that needs bytes of a version that is gone came to a good end")
	}
}

// C7: two versions of one size in one second are two; and what has no
// validator, or a weak one, is not kept.
func TestC7ValidatorsAlone(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{})
	want(t, c, s, proven("k"), s.put("k", bytesOf(1, 100)), "GET k")
	want(t, c, s, proven("k"), s.put("k", bytesOf(2, 100)), "GET k none")
	for _, etag := range []string{"", `W/"weak"`} {
		s.answer = func(get laketap.Get) *laketap.Reply {
			s.mu.Lock()
			defer s.mu.Unlock()
			r := s.reply(get)
			r.Header[0].Value = etag
			return r
		}
		data := s.put("w", bytesOf(3, 100))
		for range 2 {
			want(t, c, s, proven("w"), data, "GET w")
		}
	}
}

// C8: bytes that are evicted between look-up and sending are fetched, of the
// same version; a body is never short and well.
func TestC8EvictedWhileSent(t *testing.T) {
	s := newOrigin()
	c, err := block.OpenPieces(block.Options{Contract: everything{s}, MaxRAM: 8000}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	data := s.put("k", bytesOf(1, 6000))
	if got := read(c, s, proven("k")); got.err != nil {
		t.Fatal(got.err)
	}
	reply, err := c.Get(context.Background(), proven("k"), s.fetch)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	first := make([]byte, 1500, len(data))
	if _, err := io.ReadFull(reply.Body.Stream, first); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		key := fmt.Sprint("other", i)
		s.put(key, bytesOf(i, 3000))
		read(c, s, proven(key))
		read(c, s, proven(key))
	}
	rest, err := io.ReadAll(reply.Body.Stream)
	if err != nil || !bytes.Equal(append(first, rest...), data) {
		t.Errorf("%d bytes, %v", len(first)+len(rest), err)
	}
}

// C10: every range around the edges of extents, with what lies on one side
// held and on the other not.
func TestC10Boundaries(t *testing.T) {
	s := newOrigin()
	data := s.put("k", bytesOf(1, 300))
	edges := []int64{0, 99, 100, 101, 199, 200, 201, 299}
	for _, from := range edges {
		for _, to := range edges {
			if to < from {
				continue
			}
			c, err := block.OpenPieces(block.Options{Contract: everything{s}}, 100)
			if err != nil {
				t.Fatal(err)
			}
			read(c, s, part("k", 100, 199))
			got := read(c, s, part("k", from, to))
			if got.err != nil || !bytes.Equal(got.data, data[from:to+1]) {
				t.Errorf("%d-%d: %d bytes, %v", from, to, len(got.data), got.err)
			}
			c.Close()
		}
	}
}

// C11: that an object is not there is not remembered.
func TestC11AbsenceIsNotRemembered(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	if got := read(c, s, proven("k")); got.status != http.StatusNotFound {
		t.Fatalf("status %d", got.status)
	}
	s.taken()
	want(t, c, s, proven("k"), s.put("k", bytesOf(1, 10)), "GET k")
}

// C12, C13: what one may not have, or gets wrong, is neither kept nor shared.
func TestC13EachHasTheOriginsAnswer(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	data := s.put("k", bytesOf(1, 100))
	refused := func(_ context.Context, get laketap.Get) (*laketap.Reply, error) {
		return failure(http.StatusForbidden), nil
	}
	want(t, c, s, proven("k"), data, "GET k")
	stranger := proven("k")
	stranger.Proven, stranger.Right = false, "stranger"
	for _, head := range []bool{false, true} {
		stranger.Head = head
		reply, err := c.Get(context.Background(), stranger, refused)
		if err != nil || reply.Status != http.StatusForbidden {
			t.Fatalf("a stranger got %+v, %v", reply, err)
		}
		reply.Body.Close()
	}
	want(t, c, s, proven("k"), data)
}

// C17: a herd on a cold object: one request for all who may wait for it, and
// each his own answer.
func TestC17Herd(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	data := s.put("k", bytesOf(1, 100_000))
	s.hold = make(chan struct{})
	type client struct {
		get    laketap.Get
		status int
		data   []byte
	}
	var clients []client
	add := func(n int, get laketap.Get, status int, data []byte) {
		for range n {
			clients = append(clients, client{get, status, data})
		}
	}
	wrong, none, head := proven("k"), proven("k"), proven("k")
	wrong.Cond.IfMatch, none.Cond.IfNoneMatch, head.Head = `"other"`, s.objects["k"].etag, true
	add(1, proven("k"), 200, data) // the first
	add(100, part("k", 0, 999), 206, data[:1000])
	add(40, part("k", 500, 1499), 206, data[500:1500])
	add(20, proven("k"), 200, data)
	add(10, head, 200, nil)
	add(10, wrong, 412, nil)
	add(10, none, 304, nil)
	var wg sync.WaitGroup
	for i, cl := range clients {
		wg.Go(func() {
			got := read(c, s, cl.get)
			if got.err != nil || got.status != cl.status || got.status/100 == 2 && !bytes.Equal(got.data, cl.data) {
				t.Errorf("%+v: %d, %d bytes, %v; want %d", cl.get, got.status, len(got.data), got.err, cl.status)
			}
		})
		if i == 0 {
			eventually(t, "first is asked", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.calls) == 1 })
		}
	}
	close(s.hold)
	wg.Wait()
	// What the record cannot answer is the origin's: the conditions that do not
	// hold. All others share one request.
	if calls := s.taken(); len(calls) > 1+20 {
		t.Errorf("%d requests", len(calls))
	}
}

// C17: the origin's trouble fails those who waited for that request, with the
// origin's own words, and nobody after them.
func TestC17TroubleIsSharedOnce(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	data := s.put("k", bytesOf(1, 1000))
	s.hold = make(chan struct{})
	s.answer = func(laketap.Get) *laketap.Reply { return failure(http.StatusServiceUnavailable) }
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			got := read(c, s, proven("k"))
			if got.status != http.StatusServiceUnavailable || string(got.data) != http.StatusText(http.StatusServiceUnavailable) {
				t.Errorf("%d %q, %v", got.status, got.data, got.err)
			}
		})
	}
	eventually(t, "origin is asked", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.calls) > 0 })
	close(s.hold)
	wg.Wait()
	s.mu.Lock()
	s.answer = nil
	s.mu.Unlock()
	s.taken()
	want(t, c, s, proven("k"), data, "GET k")
}

// C18: what was learned of an object's length does not clip or refuse a read
// after another node has changed it.
func TestC18LengthOfAnotherNode(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{})
	want(t, c, s, proven("k"), s.put("k", bytesOf(1, 1000)), "GET k")
	suffix := proven("k")
	suffix.Range = laketap.Range{Set: true, Suffix: 100}
	for _, size := range []int{400, 2000} {
		data := s.put("k", bytesOf(size, size))
		for _, get := range []laketap.Get{suffix, part("k", 300, 1100), part("k", 399, 399), proven("k")} {
			off, end := int64(0), int64(size)
			switch {
			case get.Range.Suffix > 0:
				off = end - 100
			case get.Range.Set:
				off, end = get.Range.From, min(end, get.Range.To+1)
			}
			if got := read(c, s, get); got.err != nil || !bytes.Equal(got.data, data[off:end]) {
				t.Errorf("%+v of %d bytes: %d, %d bytes, %v", get.Range, size, got.status, len(got.data), got.err)
			}
		}
	}
	s.mu.Lock()
	delete(s.objects, "k")
	s.mu.Unlock()
	if got := read(c, s, proven("k")); got.status != http.StatusNotFound {
		t.Errorf("deleted: %d", got.status)
	}
}

// An engine that opens a file to its end and leaves after the first page costs
// little more than it read.
func TestWhoLeavesStopsTheFetching(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	s.put("k", bytesOf(1, 30<<20))
	s.pause = make(chan struct{}) // after the first half of what is sent
	for range 3 {
		reply, err := c.Get(context.Background(), part("k", 0, -1), s.fetch)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(reply.Body.Stream, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
	}
	eventually(t, "fills end", func() bool { return c.Stats().Filling == 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent > 6<<20 {
		t.Errorf("%d bytes were fetched for 300", s.sent)
	}
}

// An object's trust runs out: after a day the contract is asked about at the
// origin, in the request that would fetch it.
func TestTrustRunsOut(t *testing.T) {
	var seconds atomic.Int64 // fills still look at the clock when their readers have left
	seconds.Store(1_800_000_000)
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}, Now: func() time.Time { return time.Unix(seconds.Load(), 0) }})
	data := s.put("k", bytesOf(1, 100))
	want(t, c, s, proven("k"), data, "GET k")
	seconds.Add(23 * 3600)
	want(t, c, s, proven("k"), data)
	seconds.Add(2 * 3600)
	want(t, c, s, proven("k"), data, "GET k none")
	want(t, c, s, proven("k"), data)
}

// What the store encrypts with a key of its user's is not kept, unless a person
// says so; what no store may keep is not either.
func TestEncryptedIsNotKept(t *testing.T) {
	for _, c := range []struct {
		header laketap.Field
		allow  bool
		kept   bool
	}{
		{laketap.Field{Name: "x-amz-server-side-encryption", Value: "aws:kms"}, false, false},
		{laketap.Field{Name: "x-amz-server-side-encryption", Value: "aws:kms:dsse"}, false, false},
		{laketap.Field{Name: "x-amz-server-side-encryption", Value: "aws:kms"}, true, true},
		{laketap.Field{Name: "x-amz-server-side-encryption", Value: "AES256"}, false, true},
		{laketap.Field{Name: "Cache-Control", Value: "max-age=1, No-Store"}, false, false},
	} {
		s := newOrigin()
		cache := open(t, block.Options{Contract: everything{s}, Encrypted: c.allow})
		data := s.put("k", bytesOf(1, 100), c.header)
		want(t, cache, s, proven("k"), data, "GET k")
		again := []string{"GET k"}
		if c.kept {
			again = nil
		}
		want(t, cache, s, proven("k"), data, again...)
	}
}

// Checksums are given only to who asked, for the whole, and if they are known.
func TestChecksums(t *testing.T) {
	s := newOrigin()
	c := open(t, block.Options{Contract: everything{s}})
	sum := laketap.Field{Name: "x-amz-checksum-crc32", Value: "AAAAAA=="}
	data := s.put("k", bytesOf(1, 100), sum)
	asks := proven("k")
	asks.Checksums = true
	want(t, c, s, part("k", 0, 9), data[:10], "GET k 0-9")
	if r := want(t, c, s, asks, data, "GET k"); field(r, sum.Name) != sum.Value {
		t.Error("cold answer has no checksum")
	}
	want(t, c, s, proven("k"), data, "GET k 10-99 match")
	if r := want(t, c, s, proven("k"), data); field(r, sum.Name) != "" {
		t.Error("checksum for who did not ask")
	}
	c.Forget(name("k"))
	want(t, c, s, asks, data, "GET k")
	if r := want(t, c, s, asks, data); field(r, sum.Name) != sum.Value {
		t.Error("warm answer has no checksum")
	}
	asks.Range = laketap.Range{Set: true, From: 0, To: 9}
	if r := want(t, c, s, asks, data[:10]); field(r, sum.Name) != "" {
		t.Error("a part with the checksum of the whole")
	}
}
