package observe

import (
	"time"

	"github.com/laketap/laketap"
)

// A waiter is an access whose meaning is yet to come.
type waiter struct {
	access laketap.Access
	weight float64
	since  time.Time
}

// waiting are the accesses that wait, by object. They belong to one goroutine.
type waiting struct {
	max     int
	n       int // INVARIANT: the sum over all objects, ≤ max
	objects map[laketap.ObjectName][]waiter
	due     time.Time
}

func newWaiting(most int) *waiting {
	return &waiting{max: most, objects: map[laketap.ObjectName][]waiter{}}
}

// add has an access wait, if there is room.
func (w *waiting) add(one waiter) bool {
	if w.n >= w.max {
		return false
	}
	w.n++
	name := one.access.Object
	w.objects[name] = append(w.objects[name], one)
	return true
}

// retry tries all that wait, once in a while. Of an object the first one is
// tried, and the others if that succeeds.
func (w *waiting) retry(now time.Time, resolve func(*waiter, time.Time) bool) {
	if now.Before(w.due) {
		return
	}
	w.due = now.Add(retryAfter)
	w.each(func(one *waiter) bool { return resolve(one, now) })
}

// expire gives up those that have waited for too long.
func (w *waiting) expire(now time.Time, patience time.Duration, giveUp func(*waiter)) {
	w.each(func(one *waiter) bool {
		if now.Sub(one.since) < patience {
			return false
		}
		giveUp(one)
		return true
	})
}

// each takes out of each object's line, from the front, as long as done says
// so.
func (w *waiting) each(done func(*waiter) bool) {
	for name, line := range w.objects {
		n := 0
		for n < len(line) && done(&line[n]) {
			n++
		}
		w.n -= n
		if n == len(line) {
			delete(w.objects, name)
		} else if n > 0 {
			w.objects[name] = line[n:]
		}
	}
}
