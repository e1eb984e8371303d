package block

// ram is the memory tier, in an order like that of all extents (see order). What
// is below it on disk is its memory of what went: an extent that comes from
// there begins in the large queue. Guarded by Cache.mu.
type ram struct {
	max, bytes int64
	small      queue // newcomers, a tenth of the bytes
	large      queue
}

func newRAM(most int64) ram {
	at := func(e *extent) *spot { return &e.inRAM }
	return ram{max: most, small: queue{at: at}, large: queue{at: at}}
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
		if r.small.bytes > r.max/smallPart || r.large.last == nil {
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
