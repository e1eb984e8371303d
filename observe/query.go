package observe

import (
	"slices"

	"github.com/laketap/laketap"
)

// Accesses answers a query. A query After a number that was never reached, as
// a client holds from before a restart, begins at the oldest access kept.
func (o *Observer) Accesses(q laketap.AccessQuery) laketap.AccessPage {
	if q.Limit <= 0 {
		q.Limit = pageLen
	}
	if q.Newest {
		return o.ring.newest(q)
	}
	return o.ring.after(q)
}

// after collects forwards. It lets go of the lock between chunks, so that a
// tap never waits for a long search.
func (r *ring) after(q laketap.AccessQuery) laketap.AccessPage {
	_, last, _ := r.span()
	if q.After > last {
		q.After = 0
	}
	page := laketap.AccessPage{Next: q.After}
	for len(page.Accesses) < q.Limit && page.Next < last {
		r.mu.Lock()
		// Looked at each time: the ring may have gone round meanwhile.
		if page.Next+1 < r.oldest {
			page.Missed += r.oldest - 1 - page.Next
			page.Next = r.oldest - 1
		}
		for end := min(page.Next+chunkLen, r.last); page.Next < end && len(page.Accesses) < q.Limit; {
			page.Next++
			if a := r.slot(page.Next); matches(a, &q) {
				page.Accesses = append(page.Accesses, laketap.NumberedAccess{Seq: page.Next, Access: *a})
			}
		}
		r.mu.Unlock()
	}
	return page
}

// newest collects backwards from the newest access and turns the result round.
func (r *ring) newest(q laketap.AccessQuery) laketap.AccessPage {
	_, last, _ := r.span()
	page := laketap.AccessPage{Next: last}
	for n, more := last, true; more; {
		r.mu.Lock()
		for end := n - min(n, chunkLen); n > end && n >= r.oldest && len(page.Accesses) < q.Limit; n-- {
			if a := r.slot(n); matches(a, &q) {
				page.Accesses = append(page.Accesses, laketap.NumberedAccess{Seq: n, Access: *a})
			}
		}
		more = n >= r.oldest && len(page.Accesses) < q.Limit
		r.mu.Unlock()
	}
	slices.Reverse(page.Accesses)
	return page
}

// matches reports whether an access has all the words of a query.
func matches(a *laketap.Access, q *laketap.AccessQuery) bool {
	return (q.Tap == "" || q.Tap == a.Tap) &&
		(q.Op == "" || q.Op == a.Op) &&
		(q.Engine == "" || q.Engine == a.Engine.Name || q.Engine == a.Engine.String()) &&
		(q.Table == "" || q.Table == a.TableName || q.Table == a.Table.UUID)
}
