//go:build bench

package block

import (
	"fmt"
	"testing"
)

// TestBenchEvict prints how near the cache's order comes to the best there is,
// beside the policies that others use: make bench-evict.
func TestBenchEvict(t *testing.T) {
	for _, share := range []int{2, 5, 10, 20} {
		var hits [6]float64
		var late [6]float64 // misses just after a compaction
		names := []string{"lru", "s3-fifo", "sieve", "w-tinylfu", "ours", "belady"}
		for seed := range uint64(5) {
			tr := newTrace(seed + 1)
			trace := tr.run(400_000)
			size := len(tr.pages) * share / 100
			for i, p := range []simPolicy{newLRU(size), newS3FIFO(size), newSieve(size), newTinyLFU(size), newOurs(size), newBelady(size, trace)} {
				h, l := 0, 0
				for _, touch := range trace {
					hit := p.read(touch)
					if hit {
						h++
					} else if touch.after {
						l++
					}
				}
				hits[i] += float64(h) / float64(len(trace)) / 5
				late[i] += float64(l) / 5
			}
		}
		best := max(hits[0], hits[1], hits[2], hits[3])
		for i, name := range names {
			fmt.Printf("evict size=%d%% %-9s hits=%.4f late_misses=%.0f\n", share, name, hits[i], late[i])
		}
		gap := (hits[4] - best) / (hits[5] - best)
		verdict := "short"
		if gap >= 0.5 {
			verdict = "ok"
		}
		fmt.Printf("P6 gap size=%d%% closed=%.2f target=0.50 %s\n", share, gap, verdict)
	}
}
