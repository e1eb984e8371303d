package observe

import (
	"slices"
	"sync"

	"github.com/laketap/laketap"
)

// maxGathered bounds what is gathered of each kind between two batches.
const maxGathered = 10_000

// A batch is what was understood since the last one was handed on. It is
// gathered by two goroutines: one learns of tables, one interprets accesses.
type batch struct {
	mu   sync.Mutex
	next laketap.Batch
	lost int64 // facts and changes past the bound
}

// facts notes what metadata says; what it said before is out of date.
func (b *batch) facts(f laketap.TableFacts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.next.Tables, func(old laketap.TableFacts) bool { return old.ID == f.ID })
	switch {
	case i >= 0:
		b.next.Tables[i] = f
	case len(b.next.Tables) < maxGathered:
		b.next.Tables = append(b.next.Tables, f)
	default:
		b.lost++
	}
}

// change notes what a commit changed.
func (b *batch) change(c laketap.Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.next.Changes) >= maxGathered {
		b.lost++
		return
	}
	b.next.Changes = append(b.next.Changes, c)
}

// query notes a query.
func (b *batch) query(q laketap.Query) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.next.Queries) >= maxGathered {
		b.lost++
		return
	}
	b.next.Queries = append(b.next.Queries, q)
}

// observe notes an observation and returns how many there are.
func (b *batch) observe(o laketap.Observation) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next.Observations = append(b.next.Observations, o)
	return len(b.next.Observations)
}

// take returns what was gathered, if anything was.
func (b *batch) take() (laketap.Batch, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.next
	// The next batch is mostly about as large.
	b.next = laketap.Batch{Observations: make([]laketap.Observation, 0, len(taken.Observations))}
	return taken, len(taken.Tables)+len(taken.Changes)+len(taken.Observations)+len(taken.Queries) > 0
}
