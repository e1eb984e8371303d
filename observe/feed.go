package observe

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/laketap/laketap"
)

const (
	feedLen = 256 // accesses taken at a time, under one lock
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

	missed  atomic.Int64
	sampled atomic.Int64 // accesses that others stand for
}

// newFeed returns a feed of what is recorded from now on.
func newFeed(r *ring, random *rand.Rand) *feed {
	_, last, _ := r.span()
	return &feed{ring: r, rand: random, last: last}
}

// next returns accesses, and how many each stands for; none are left if it
// returns none.
func (f *feed) next() ([]laketap.NumberedAccess, float64) {
	for {
		_, last, _ := f.ring.span()
		if last <= f.last {
			return nil, 1
		}
		share := 1
		for behind := last - f.last; behind > feedLag && share < 1024; behind /= 2 {
			share *= 2
		}
		page := f.ring.after(laketap.AccessQuery{After: f.last, Limit: feedLen})
		f.last = page.Next
		f.missed.Add(int64(page.Missed)) //nolint:gosec // a count
		if share == 1 {
			return page.Accesses, 1
		}
		kept := page.Accesses[:0]
		for _, a := range page.Accesses {
			if f.rand.IntN(share) == 0 {
				kept = append(kept, a)
			}
		}
		f.sampled.Add(int64(len(page.Accesses) - len(kept)))
		if len(kept) > 0 {
			return kept, float64(share)
		}
	}
}
