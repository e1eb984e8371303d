package observe

import (
	"sync"

	"github.com/laketap/laketap"
)

// maxRecent bounds the observations that are kept for people to look at.
const maxRecent = 8192

// Recent is a [Memory] that keeps the newest observations for people to look
// at, and passes everything on.
type Recent struct {
	next Memory

	mu   sync.Mutex
	kept []laketap.NumberedObservation // by number modulo maxRecent
	last uint64                        // number of the newest; 0: none yet
}

// NewRecent returns one that passes on to next; nil is nobody.
func NewRecent(next Memory) *Recent { return &Recent{next: next} }

// Remember implements [Memory].
func (r *Recent) Remember(b laketap.Batch) {
	r.keep(b.Observations)
	if r.next != nil {
		r.next.Remember(b)
	}
}

func (r *Recent) keep(all []laketap.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range all {
		r.last++
		numbered := laketap.NumberedObservation{Seq: r.last, Observation: o}
		if len(r.kept) < maxRecent {
			r.kept = append(r.kept, numbered)
			continue
		}
		r.kept[(r.last-1)%maxRecent] = numbered
	}
}

// Observations returns at most limit observations with a higher number than
// after, oldest first. A number that was never reached, as from before a
// restart, is 0.
func (r *Recent) Observations(after uint64, limit int) laketap.ObservationPage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if after > r.last {
		after = 0
	}
	page := laketap.ObservationPage{Next: after}
	if oldest := r.last - uint64(len(r.kept)); after < oldest {
		page.Missed, page.Next = oldest-after, oldest
	}
	for page.Next < r.last && len(page.Observations) < limit {
		page.Observations = append(page.Observations, r.kept[page.Next%maxRecent])
		page.Next++
	}
	return page
}
