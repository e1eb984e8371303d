package block

import "slices"

// A turn is one who waits at a gate.
type turn struct {
	right string
	ready chan struct{} // closed when it may go
}

// turns are those who wait, in fair order: of one right in the order in which
// they came, and one of each right after the other, so that a session that asks
// for a thousand things does not keep another from its first.
type turns struct {
	n    int
	of   map[string][]*turn
	ring []string // rights of which somebody waits, the next one first
}

func newTurns() turns { return turns{of: map[string][]*turn{}} }

// push has one more wait.
func (q *turns) push(t *turn) {
	if len(q.of[t.right]) == 0 {
		q.ring = append(q.ring, t.right)
	}
	q.of[t.right] = append(q.of[t.right], t)
	q.n++
}

// next takes out whose turn it is; nil if nobody waits.
func (q *turns) next() *turn {
	if q.n == 0 {
		return nil
	}
	right := q.ring[0]
	q.ring = q.ring[1:]
	t := q.of[right][0]
	q.drop(right, 0)
	if len(q.of[right]) > 0 {
		q.ring = append(q.ring, right)
	}
	return t
}

// remove takes one out who waits no more.
func (q *turns) remove(t *turn) {
	i := slices.Index(q.of[t.right], t)
	if i < 0 {
		return
	}
	q.drop(t.right, i)
	if len(q.of[t.right]) == 0 {
		q.ring = slices.DeleteFunc(q.ring, func(right string) bool { return right == t.right })
	}
}

func (q *turns) drop(right string, i int) {
	q.n--
	if q.of[right] = slices.Delete(q.of[right], i, i+1); len(q.of[right]) == 0 {
		delete(q.of, right)
	}
}
