package observe

import (
	"maps"
	"sync"

	"github.com/laketap/laketap"
)

// reports keeps the last reports of engines, bounded in number and bytes. They
// come once a query, not once a request: a slice under a lock is enough.
type reports struct {
	max      int
	maxBytes int64

	mu    sync.Mutex
	kept  []laketap.Report // oldest first; INVARIANT: len ≤ max
	bytes int64            // INVARIANT: sum of the lengths of kept's bodies, ≤ maxBytes
	kinds map[string]int64 // received, by kind
}

func newReports(limit int, maxBytes int64) *reports {
	return &reports{max: limit, maxBytes: maxBytes, kinds: map[string]int64{"scan-report": 0, "commit-report": 0, other: 0}}
}

// add keeps a report, and drops the oldest ones that it leaves no room for. One
// that alone is too large is counted and dropped.
func (r *reports) add(rep laketap.Report) {
	size := int64(len(rep.Body))
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.kinds[rep.Kind]; known {
		r.kinds[rep.Kind]++
	} else {
		r.kinds[other]++
	}
	if size > r.maxBytes {
		return
	}
	for len(r.kept) > 0 && (len(r.kept) >= r.max || r.bytes+size > r.maxBytes) {
		r.bytes -= int64(len(r.kept[0].Body))
		r.kept[0] = laketap.Report{}
		r.kept = r.kept[1:]
	}
	r.kept = append(r.kept, rep)
	r.bytes += size
}

// all returns the reports that are kept, oldest first.
func (r *reports) all() []laketap.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]laketap.Report(nil), r.kept...)
}

// received returns how many reports of each kind came.
func (r *reports) received() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.kinds)
}
