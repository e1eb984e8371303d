package block

// maxUsed is how many rounds of the large queue an extent's past is worth.
const maxUsed = 3

// smallPart says that the small queue of a pair may have a tenth of the bytes.
const smallPart = 10

// queues are a pair in which what is new waits in the small one for a second
// look, and goes round in the large one for as long as it is read: S3-FIFO (Yang
// et al., "FIFO queues are all you need for cache eviction", SOSP 2023) over
// bytes. A scan passes through the small one, and does not push out what
// everybody needs.
type queues struct {
	small, large queue

	enough uint8 // reads after which a newcomer moves to the large queue
}

func newQueues(at func(*extent) *spot, enough uint8) queues {
	return queues{small: queue{at: at}, large: queue{at: at}, enough: enough}
}

// remove takes an extent out, if it is in.
func (q *queues) remove(e *extent) {
	if in := q.small.at(e).in; in != nil {
		in.remove(e)
	}
}

// bytes is the length of all that is in.
func (q *queues) bytes() int64 { return q.small.bytes + q.large.bytes }

// victim returns the extent to give up next of a pair that may have so many
// bytes, nil if none can be. kept says where one goes that has to stay; nil if
// it need not.
func (q *queues) victim(most int64, kept func(e *extent, in *queue) *queue) *extent {
	// Each extent is moved at most maxUsed+2 times before one is found.
	for steps := (q.small.n + q.large.n + 1) * (maxUsed + 2); steps > 0; steps-- {
		in := &q.large
		if q.small.bytes > most/smallPart || q.large.last == nil {
			in = &q.small
		}
		e := in.last
		if e == nil {
			return nil
		}
		s := in.at(e)
		switch to := kept(e, in); {
		case to != nil:
			in.remove(e)
			to.push(e)
		case in == &q.small && s.used >= q.enough:
			in.remove(e)
			q.large.push(e)
			s.used = 0
		case in == &q.large && s.used > 0:
			in.remove(e)
			in.push(e)
			s.used--
		default:
			return e
		}
	}
	return nil
}

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
