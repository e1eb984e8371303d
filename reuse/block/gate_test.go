package block_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/reuse/block"
)

// A counter is an origin that takes a second for each answer, and knows how
// many it is asked for at once.
type counter struct {
	*origin
	takes time.Duration

	mu        sync.Mutex
	now, most int
	asked     []string // keys, with the right that asked, in order
	refuse    int      // so many next answers are SlowDown
	at        []time.Time
}

func newCounter() *counter { return &counter{origin: newOrigin(), takes: time.Second} }

func (s *counter) fetch(ctx context.Context, get laketap.Get) (*laketap.Reply, error) {
	s.mu.Lock()
	s.now++
	s.most = max(s.most, s.now)
	s.asked = append(s.asked, get.Right+" "+get.Name.Key)
	s.at = append(s.at, time.Now())
	refuse := s.refuse > 0
	s.refuse--
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now--
	}()
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if refuse {
		return failure(http.StatusServiceUnavailable), nil
	}
	return s.origin.fetch(ctx, get)
}

func (s *counter) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// of makes a read by a right.
func of(right, key string) laketap.Get {
	get := proven(key)
	get.Right = right
	return get
}

// gated runs a test with a cache in front of an origin, in a time of its own.
func gated(t *testing.T, opts block.Options, test func(t *testing.T, c *block.Cache, s *counter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newCounter()
		for i := range 100 {
			s.put(fmt.Sprint("k", i), bytesOf(i, 1000))
		}
		opts.Contract = everything{s.origin}
		c, err := block.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		test(t, c, s)
	})
}

// get reads and expects the bytes of the i-th object.
func (s *counter) get(t *testing.T, c *block.Cache, get laketap.Get, i int) {
	t.Helper()
	reply, err := c.Get(t.Context(), get, s.fetch)
	if err != nil {
		t.Error(err)
		return
	}
	defer reply.Body.Close()
	got := reply.Body.Bytes
	if reply.Body.Stream != nil {
		if got, err = io.ReadAll(reply.Body.Stream); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(got, bytesOf(i, 1000)) {
		t.Errorf("%s: wrong bytes, status %d", get.Name.Key, reply.Status)
	}
}

func TestRequestsAtOnceAreBounded(t *testing.T) {
	gated(t, block.Options{MaxRequests: 25}, func(t *testing.T, c *block.Cache, s *counter) {
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() { s.get(t, c, of("a", fmt.Sprint("k", i)), i) })
		}
		wg.Wait()
		if took := time.Since(start); s.most != 25 || took != 2*time.Second {
			t.Errorf("%d at once, all in %v; want 25 at once, in two rounds", s.most, took)
		}
	})
}

// A session that asks for much does not keep another from its first bytes.
func TestSessionsTakeTurns(t *testing.T) {
	gated(t, block.Options{MaxRequests: 1}, func(t *testing.T, c *block.Cache, s *counter) {
		s.takes = 100 * time.Millisecond
		var wg sync.WaitGroup
		ask := func(right string, i int) {
			wg.Go(func() { s.get(t, c, of(right, fmt.Sprint("k", i)), i) })
			synctest.Wait()
		}
		for i := range 6 {
			ask("greedy", i)
		}
		ask("modest", 10)
		ask("modest", 11)
		ask("late", 20)
		wg.Wait()
		want := []string{"greedy k0", "greedy k1", "modest k10", "late k20", "greedy k2", "modest k11", "greedy k3", "greedy k4", "greedy k5"}
		if got := s.seen(); !slices.Equal(got, want) {
			t.Errorf("origin was asked in the order %q, want %q", got, want)
		}
	})
}

// An origin that hangs, or a bound that is too low, is no reason to keep
// engines waiting that would have asked it themselves.
func TestClientsAreNotKeptForLong(t *testing.T) {
	reg := prometheus.NewRegistry()
	gated(t, block.Options{MaxRequests: 1, Registerer: reg}, func(t *testing.T, c *block.Cache, s *counter) {
		s.takes = time.Minute
		var wg sync.WaitGroup
		start := time.Now()
		for i := range 10 {
			wg.Go(func() { s.get(t, c, of("a", fmt.Sprint("k", i)), i) })
		}
		wg.Wait()
		if took := time.Since(start); took > time.Minute+5*time.Second {
			t.Errorf("took %v", took)
		}
		if queued, overdue := counted(t, reg, "laketap_block_queued_total"), counted(t, reg, "laketap_block_overdue_total"); queued != 9 || overdue != 9 {
			t.Errorf("%v queued, %v overdue, want 9 of both", queued, overdue)
		}
	})
}

// counted returns the sum of a metric.
func counted(t *testing.T, reg *prometheus.Registry, name string) (n float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				n += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return n
}

// A client that reads nothing keeps no other from the origin.
func TestSlowClientsHoldNoTurn(t *testing.T) {
	gated(t, block.Options{MaxRequests: 1, MaxFilling: 1}, func(t *testing.T, c *block.Cache, s *counter) { // all goes around the cache
		data := s.put("big", bytesOf(1, 3<<20))
		reply, err := c.Get(t.Context(), of("slow", "big"), s.fetch)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		if _, err := io.ReadFull(reply.Body.Stream, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s.get(t, c, of("other", "k1"), 1)
		if took := time.Since(start); took != time.Second {
			t.Errorf("another client waited %v for its answer", took)
		}
		if rest, err := io.ReadAll(reply.Body.Stream); err != nil || !bytes.Equal(rest, data[1<<20:]) {
			t.Errorf("the rest: %d bytes, %v", len(rest), err)
		}
	})
}

// What nobody waits for leaves room for those who do, and goes behind them.
func TestBackgroundGoesBehind(t *testing.T) {
	gated(t, block.Options{MaxRequests: 8}, func(t *testing.T, c *block.Cache, s *counter) {
		s.takes = 600 * time.Millisecond // three rounds are within the patience of a client
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				if n, err := c.Warm(t.Context(), of("bg", fmt.Sprint("k", i)), s.fetch); err != nil || n != 1000 {
					t.Errorf("warmed %d bytes, %v", n, err)
				}
			})
		}
		synctest.Wait()
		if s.now != 2 {
			t.Errorf("%d requests in the background at once, want a quarter of 8", s.now)
		}
		start := time.Now()
		for i := range 20 {
			wg.Go(func() { s.get(t, c, of("a", fmt.Sprint("k", 20+i)), 20+i) })
		}
		wg.Wait()
		// 6 clients beside the two; 8; 6 and, as nobody waits, what is behind.
		order := s.seen()
		first := slices.IndexFunc(order[2:], func(s string) bool { return strings.HasPrefix(s, "bg") }) + 2
		if first < 2+14 {
			t.Errorf("background request %d was begun while clients waited: %q", first, order)
		}
		if took := time.Since(start); took > 7*s.takes || s.most > 8 {
			t.Errorf("took %v, %d at once", took, s.most)
		}
	})
}

// The origin's SlowDown reaches a client at once and is not made good by us;
// in the background it is waited out, for longer each time.
func TestSlowDown(t *testing.T) {
	reg := prometheus.NewRegistry()
	gated(t, block.Options{MaxRequests: 8, Jitter: func() float64 { return 0.5 }, Registerer: reg}, func(t *testing.T, c *block.Cache, s *counter) {
		s.takes, s.refuse = 0, 1
		reply, err := c.Get(t.Context(), of("a", "k1"), s.fetch)
		if err != nil || reply.Status != http.StatusServiceUnavailable {
			t.Fatalf("got %v, %v", reply, err)
		}
		reply.Body.Close()
		if got := s.seen(); len(got) != 1 {
			t.Fatalf("a client's request was sent %d times", len(got))
		}
		s.mu.Lock()
		s.refuse = 3
		s.at = nil
		s.mu.Unlock()
		start := time.Now()
		if n, err := c.Warm(t.Context(), of("bg", "k2"), s.fetch); err != nil || n != 1000 {
			t.Fatalf("warmed %d bytes, %v", n, err)
		}
		// The client's answer counts as the first: 150 ms; then 300, 600, 1200.
		pauses := make([]time.Duration, 0, len(s.at))
		for _, at := range s.at {
			pauses = append(pauses, at.Sub(start))
			start = at
		}
		want := []time.Duration{150 * time.Millisecond, 300 * time.Millisecond, 600 * time.Millisecond, 1200 * time.Millisecond}
		if !slices.Equal(pauses, want) {
			t.Errorf("pauses of %v, want %v", pauses, want)
		}
		if slowed := counted(t, reg, "laketap_block_slowed_total"); slowed != 4 {
			t.Errorf("%v answers counted, want 4", slowed)
		}
		s.mu.Lock()
		s.refuse = 100
		s.mu.Unlock()
		if _, err := c.Warm(t.Context(), of("bg", "k3"), s.fetch); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("an origin that stays busy: %v", err)
		}
	})
}

// After SlowDown half as much goes on in the background, and again more and
// more as it goes well.
func TestBackgroundAdapts(t *testing.T) {
	gated(t, block.Options{MaxRequests: 64}, func(t *testing.T, c *block.Cache, s *counter) {
		warm := func(from, to int) (atOnce int) {
			s.mu.Lock()
			s.most = 0
			s.mu.Unlock()
			var wg sync.WaitGroup
			for i := from; i < to; i++ {
				wg.Go(func() { _, _ = c.Warm(t.Context(), of("bg", fmt.Sprint("k", i)), s.fetch) })
			}
			wg.Wait()
			return s.most
		}
		if got := warm(0, 20); got != 16 {
			t.Errorf("%d at once, want a quarter of 64", got)
		}
		s.refuse = 1
		if got := warm(20, 21); got != 1 {
			t.Fatalf("%d at once", got)
		}
		if got := warm(30, 50); got < 8 || got > 10 {
			t.Errorf("%d at once after SlowDown, want about half", got)
		}
		if got := warm(50, 100); got < 10 || got > 14 {
			t.Errorf("%d at once when all has gone well for a while, want some more", got)
		}
	})
}

// A client that asks for what is waiting in the background takes it along.
func TestClientHurriesTheBackground(t *testing.T) {
	gated(t, block.Options{MaxRequests: 8}, func(t *testing.T, c *block.Cache, s *counter) {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() { _, _ = c.Warm(t.Context(), of("a", fmt.Sprint("k", i)), s.fetch) })
			synctest.Wait()
		}
		start := time.Now()
		s.get(t, c, of("a", "k3"), 3) // the third that waits
		if took := time.Since(start); took != time.Second {
			t.Errorf("a client waited %v for what was queued", took)
		}
		wg.Wait()
		if got := s.seen(); len(got) != 4 {
			t.Errorf("origin was asked %q", got)
		}
		// Nor does it wait out the pause of what was refused.
		s.mu.Lock()
		s.refuse = 1
		s.mu.Unlock()
		wg.Go(func() { _, _ = c.Warm(t.Context(), of("a", "k10"), s.fetch) })
		time.Sleep(1010 * time.Millisecond)
		start = time.Now()
		s.get(t, c, of("a", "k10"), 10)
		if took := time.Since(start); took != time.Second {
			t.Errorf("a client waited %v for what had been refused in the background", took)
		}
		wg.Wait()
	})
}

func TestWhoLeavesTheQueueIsNotFetched(t *testing.T) {
	gated(t, block.Options{MaxRequests: 4}, func(t *testing.T, c *block.Cache, s *counter) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				_, err := c.Warm(ctx, of("a", fmt.Sprint("k", i)), s.fetch)
				if i > 0 && err == nil {
					t.Errorf("k%d was warmed", i)
				}
			})
			synctest.Wait()
		}
		cancel()
		wg.Wait()
		if got := s.seen(); len(got) != 1 {
			t.Errorf("origin was asked %q", got)
		}
		s.get(t, c, of("a", "k3"), 3)
	})
}

// What would not be kept is not fetched, or no further than its head.
func TestWarmFetchesNothingInVain(t *testing.T) {
	gated(t, block.Options{MaxFilling: 1}, func(t *testing.T, c *block.Cache, s *counter) {
		if _, err := c.Warm(t.Context(), of("a", "k1"), s.fetch); err == nil {
			t.Error("warmed what there is no room for")
		}
		if s.sent != 0 {
			t.Errorf("%d bytes were fetched", s.sent)
		}
	})
	gated(t, block.Options{}, func(t *testing.T, c *block.Cache, s *counter) {
		s.put("kms", bytesOf(1, 1<<20), laketap.Field{Name: "X-Amz-Server-Side-Encryption", Value: "aws:kms"})
		if _, err := c.Warm(t.Context(), of("a", "kms"), s.fetch); err == nil {
			t.Error("warmed what is not kept")
		}
		if s.sent != 0 {
			t.Errorf("%d bytes were fetched", s.sent)
		}
		if _, err := c.Warm(t.Context(), of("a", "absent"), s.fetch); err == nil || !strings.Contains(err.Error(), "404") {
			t.Errorf("absent: %v", err)
		}
	})
}
