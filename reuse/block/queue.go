package block

// A queue is a list of extents, the newest first. An extent is in at most one
// queue of those that share an at.
type queue struct {
	at          func(*extent) *spot
	first, last *extent
	n           int
	bytes       int64
}

// A spot is where an extent is in queues of one kind.
type spot struct {
	in         *queue // nil: in none
	prev, next *extent
	used       uint8 // reads since it was last looked at, up to maxUsed
}

func (s *spot) read() { s.used = min(s.used+1, maxUsed) }

func (q *queue) push(e *extent) {
	s := q.at(e)
	s.in, s.prev, s.next = q, nil, q.first
	if q.first != nil {
		q.at(q.first).prev = e
	} else {
		q.last = e
	}
	q.first = e
	q.n++
	q.bytes += e.len
}

func (q *queue) remove(e *extent) {
	s := q.at(e)
	if s.prev != nil {
		q.at(s.prev).next = s.next
	} else {
		q.first = s.next
	}
	if s.next != nil {
		q.at(s.next).prev = s.prev
	} else {
		q.last = s.prev
	}
	s.in, s.prev, s.next = nil, nil, nil
	q.n--
	q.bytes -= e.len
}
