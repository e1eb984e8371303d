package block

// ram is the memory tier, in an order like that of all extents. What is below it
// on disk is its memory of what went: an extent that comes from there begins in
// the large queue. Guarded by Cache.mu.
type ram struct {
	queues

	max int64 // bytes
}

func newRAM(most int64) ram {
	return ram{queues: newQueues(func(e *extent) *spot { return &e.inRAM }, 1), max: most}
}

// add takes in an extent that has its bytes.
func (r *ram) add(e *extent) {
	e.inRAM.used = 0
	if e.place.seg != nil {
		r.large.push(e) // it was asked for again, from disk
		return
	}
	r.small.push(e)
}

// surplus returns the extent to give up next, nil if none can be: those that
// wait to be written stay until they are.
func (r *ram) surplus() *extent {
	return r.victim(r.max, func(e *extent, in *queue) *queue {
		if e.place.waiting || e.o.pinned && e.place.seg == nil {
			return in
		}
		return nil
	})
}
