package block

// ram is the memory tier: S3-FIFO (Yang et al., "FIFO queues are all you need
// for cache eviction", SOSP 2023) over bytes. What is read once passes through
// the small queue and is gone; what is read again moves to the large one, so a
// scan does not push out what everybody needs. Guarded by Cache.mu.
type ram struct {
	max, bytes int64
	small      queue // newcomers, a tenth of the bytes
	large      queue
}

// maxUsed bounds how many rounds of the large queue an extent's past is worth.
const maxUsed = 3

// A ramPlace is where an extent is in the memory tier.
type ramPlace struct {
	in         *queue // nil: not in memory
	prev, next *extent
	used       uint8 // reads since it was last looked at
}

// A queue is a list of extents, the newest first.
type queue struct {
	first, last *extent
	n           int
	bytes       int64
}

func (q *queue) push(e *extent) {
	e.inRAM.in, e.inRAM.prev, e.inRAM.next = q, nil, q.first
	if q.first != nil {
		q.first.inRAM.prev = e
	} else {
		q.last = e
	}
	q.first = e
	q.n++
	q.bytes += e.len
}

func (q *queue) remove(e *extent) {
	p := &e.inRAM
	if p.prev != nil {
		p.prev.inRAM.next = p.next
	} else {
		q.first = p.next
	}
	if p.next != nil {
		p.next.inRAM.prev = p.prev
	} else {
		q.last = p.prev
	}
	p.in, p.prev, p.next = nil, nil, nil
	q.n--
	q.bytes -= e.len
}

// add takes in an extent that has its bytes.
func (r *ram) add(e *extent) {
	e.inRAM.used = 0
	q := &r.small
	if e.place.seg != nil {
		q = &r.large // it was asked for again, from disk
	}
	q.push(e)
	r.bytes += e.len
}

// remove takes an extent out, if it is in.
func (r *ram) remove(e *extent) {
	if q := e.inRAM.in; q != nil {
		q.remove(e)
		r.bytes -= e.len
	}
}

// victim returns the extent to give up next, nil if none can be: those that
// wait to be written stay until they are.
func (r *ram) victim() *extent {
	// Each extent is moved at most maxUsed+2 times before one is found.
	for steps := (r.small.n + r.large.n + 1) * (maxUsed + 2); steps > 0; steps-- {
		q := &r.large
		if r.small.bytes > r.max/10 || r.large.last == nil {
			q = &r.small
		}
		e := q.last
		if e == nil {
			return nil
		}
		switch used := e.inRAM.used; {
		case e.place.waiting, e.o.pinned && e.place.seg == nil:
			q.remove(e)
			q.push(e)
		case used > 0 && q == &r.small:
			q.remove(e)
			r.large.push(e)
			e.inRAM.used = 0
		case used > 0:
			q.remove(e)
			q.push(e)
			e.inRAM.used = used - 1
		default:
			return e
		}
	}
	return nil
}
