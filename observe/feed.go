package observe

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/laketap/laketap"
)

const (
	feedLen = 128 // accesses taken at a time, under one lock
	// A reader that is so far behind takes a sample, so that what it lacks is
	// known by chance and not by age. Each step behind halves the sample.
	feedLag = 8192
)

// A feed reads a ring in order. If it falls behind it takes one access of k by
// chance, which stands for k: sums stay right on average. What the ring
// overwrote before it could be read is counted as missed.
type feed struct {
	ring *ring
	rand *rand.Rand
	last uint64
	page [feedLen]laketap.Access // what next returned, reused

	missed  atomic.Int64
	sampled atomic.Int64 // accesses that others stand for
}

// newFeed returns a feed of what is recorded from now on.
func newFeed(r *ring, random *rand.Rand) *feed {
	_, last, _ := r.span()
	return &feed{ring: r, rand: random, last: last}
}

// next returns accesses, and how many each stands for; none are left if it
// returns none. They are valid until the next call.
func (f *feed) next() ([]laketap.Access, float64) {
	for {
		n, behind, missed := f.ring.copyAfter(&f.last, f.page[:])
		f.missed.Add(int64(missed)) //nolint:gosec // a count
		if n == 0 {
			return nil, 1
		}
		share := 1
		for ; behind > feedLag && share < 1024; behind /= 2 {
			share *= 2
		}
		if share == 1 {
			return f.page[:n], 1
		}
		kept := 0
		for i := range n {
			if f.rand.IntN(share) == 0 {
				f.page[kept] = f.page[i]
				kept++
			}
		}
		f.sampled.Add(int64(n - kept))
		if kept > 0 {
			return f.page[:kept], float64(share)
		}
	}
}

// copyAfter copies the accesses after a number and moves that on. It returns how
// many there were before, the copied ones included, and how many were
// overwritten.
func (r *ring) copyAfter(last *uint64, into []laketap.Access) (n int, behind, missed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if *last+1 < r.oldest {
		missed = r.oldest - 1 - *last
		*last = r.oldest - 1
	}
	for behind = r.last - *last; n < len(into) && *last < r.last; n++ {
		*last++
		into[n] = *r.slot(*last)
	}
	return n, behind, missed
}
