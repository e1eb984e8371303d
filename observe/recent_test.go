package observe_test

import (
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

// Pages follow one another without a gap, and what was overwritten is counted.
func TestRecent(t *testing.T) {
	m := &memory{}
	r := observe.NewRecent(m)
	const n = 20_000
	var read, missed uint64
	after := uint64(0)
	for i := range n {
		r.Remember(laketap.Batch{Observations: []laketap.Observation{{Bytes: int64(i + 1)}}})
		if i%7000 != 0 {
			continue
		}
		for page := r.Observations(after, 500); page.Next > after; page = r.Observations(after, 500) {
			missed += page.Missed
			for _, o := range page.Observations {
				read++
				if o.Seq != uint64(o.Bytes) || o.Seq != read+missed {
					t.Fatalf("observation %d has the number %d after %d", o.Bytes, o.Seq, read+missed)
				}
			}
			after = page.Next
		}
	}
	if page := r.Observations(0, n); page.Next != n || len(page.Observations)+int(page.Missed) != n { //nolint:gosec // a count
		t.Errorf("%d observations, %d missed, next %d", len(page.Observations), page.Missed, page.Next)
	}
	if page := r.Observations(n+5, 1); page.Missed == 0 || len(page.Observations) != 1 {
		t.Errorf("after a restart: %+v", page)
	}
	if m.n != n {
		t.Errorf("passed on %d batches", m.n)
	}
	observe.NewRecent(nil).Remember(laketap.Batch{}) // nobody to pass on to
}
