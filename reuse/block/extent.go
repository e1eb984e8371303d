package block

// keep makes extents of a piece that has arrived whole, except of bytes that
// are held already. What was dropped meanwhile is not kept.
func (c *Cache) keep(f *fill, off int64, b []byte) {
	if len(b) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	o := f.o
	if o.dead.Load() || c.closed {
		return
	}
	for pos, end := off, off+int64(len(b)); pos < end; {
		e, holds := o.at(pos)
		if holds {
			pos = e.end()
			continue
		}
		to := end
		if e != nil {
			to = min(to, e.off)
		}
		c.add(o, pos, b[pos-off:to-off:to-off])
		pos = to
	}
}

// add makes one extent. c.mu is held.
func (c *Cache) add(o *object, off int64, b []byte) {
	for c.extents >= c.opts.MaxExtents {
		if !c.evictOne() {
			return
		}
	}
	e := &extent{o: o, off: off, len: int64(len(b)), bytes: b}
	o.insert(e)
	c.extents++
	c.order.add(e, c.weight(e))
	c.ram.add(e)
	if c.disk != nil {
		c.disk.enqueue(e)
	}
	c.shrink()
}

// touch notes that an extent is read. c.mu is held.
func (c *Cache) touch(e *extent) {
	e.inAll.read()
	e.inRAM.read()
}

// release takes an extent out of everything. c.mu is held.
func (c *Cache) release(e *extent) {
	if e.gone {
		return
	}
	e.gone = true
	c.extents--
	c.ram.remove(e)
	c.order.remove(e)
	if e.place.seg != nil {
		e.place.seg.live -= e.len
		c.disk.live -= e.len
	}
}

// evict takes an extent out of its record, too. The record stays: it is small,
// and saves a HEAD. c.mu is held.
func (c *Cache) evict(e *extent) {
	e.o.remove(e)
	c.release(e)
}

// lost removes an extent whose bytes could not be read at a place. One that was
// only moved meanwhile is where the index says.
func (c *Cache) lost(e *extent, at place, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.gone || c.closed || e.place.seg != at.seg || e.place.off != at.off {
		return
	}
	c.metrics.damaged.Inc()
	c.log.Warn("dropped damaged extent", "bucket", e.o.Bucket, "key", e.o.Key, "offset", e.off, "length", e.len, "error", err)
	c.evict(e)
}

// evictOne drops the extent that is worth least; false if there is none to drop.
// c.mu is held.
func (c *Cache) evictOne() bool {
	e := c.order.least()
	if e == nil {
		return false
	}
	c.metrics.evicted.Inc()
	c.evict(e)
	return true
}

// shrink keeps the memory tier within its bound. Extents that are on no disk
// leave with their bytes; those that are about to be written stay for it.
// c.mu is held.
func (c *Cache) shrink() {
	for c.ram.bytes() > c.ram.max {
		e := c.ram.surplus()
		if e == nil {
			return
		}
		c.ram.remove(e)
		if e.place.seg != nil {
			e.bytes = nil
			continue
		}
		c.metrics.evicted.Inc()
		c.evict(e)
	}
}

// promote takes bytes that were read from disk into memory, if they are all
// of their extent.
func (c *Cache) promote(e *extent, off int64, b []byte) {
	if off != e.off || int64(len(b)) != e.len {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.gone || e.bytes != nil {
		return
	}
	e.bytes = b
	c.ram.add(e)
	c.shrink()
}

// weight is what an extent is worth by what it means.
func (c *Cache) weight(e *extent) float64 {
	return c.opts.Weigh(Subject{Object: e.o.Object, Off: e.off, Len: e.len})
}
