package block

import (
	"context"
	"fmt"
	"io"

	"github.com/laketap/laketap"
)

// Stats are what a cache holds at a moment.
type Stats struct {
	Objects, Extents int
	RAM, MaxRAM      int64 // bytes of extents in memory
	Disk, MaxDisk    int64 // bytes of files
	Live             int64 // bytes on disk that are held; the rest waits to be reclaimed
	Filling          int64 // bytes of memory that fills may take
	Waiting          int64 // bytes that wait to be written
	Dir              string
	Traffic          Traffic
	Trouble          string // why nothing is written to Dir; "": nothing is wrong
}

// Stats returns what is held.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{
		Objects: len(c.objects), Extents: c.extents, RAM: c.ram.bytes(), MaxRAM: c.ram.max, Filling: c.filling, Dir: c.opts.Dir,
		Traffic: c.metrics.read(),
	}
	if d := c.disk; d != nil {
		s.Disk, s.MaxDisk, s.Live, s.Waiting = d.total.Load(), d.max, d.live, d.bytes
		if t := d.reason.Load(); t != nil {
			s.Trouble = t.err.Error()
		}
	}
	return s
}

// Verified is what [Cache.Verify] found.
type Verified struct {
	Of      int // extents that were on disk or in memory when it began
	Extents int // that were read from disk
	Bytes   int64
	Damaged int // dropped
}

// verifyStep is after how many bytes Verify tells how far it is.
const verifyStep = 64 << 20

// Verify reads every extent on disk and drops those that are damaged. It tells
// now and then how far it is; told may be nil.
func (c *Cache) Verify(ctx context.Context, told func(Verified)) (v Verified, err error) {
	if c.disk == nil {
		return v, nil
	}
	c.mu.Lock()
	var all []*extent
	for _, o := range c.objects {
		all = append(all, o.extents...)
	}
	c.mu.Unlock()
	v.Of = len(all)
	buf := make([]byte, maxExtent)
	next := int64(verifyStep)
	for _, e := range all {
		if told != nil && v.Bytes >= next {
			told(v)
			next = v.Bytes + verifyStep
		}
		if err := ctx.Err(); err != nil {
			return v, fmt.Errorf("verify: %w", err)
		}
		c.mu.Lock()
		p, skip := e.place, e.gone || e.place.seg == nil
		c.mu.Unlock()
		if skip {
			continue
		}
		v.Extents++
		v.Bytes += e.len
		if err := p.read(buf[:e.len], 0); err != nil {
			v.Damaged++
			c.lost(e, p, err)
		}
	}
	return v, nil
}

// Warm brings a part of an object in, as a client's read of it would, and
// returns how many bytes were read, wherever they came from. It is in the
// background, whatever get says: at the origin, clients go first.
func (c *Cache) Warm(ctx context.Context, get laketap.Get, fetch laketap.Fetch) (int64, error) {
	get.Background = true
	reply, err := c.Get(ctx, get, fetch)
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	if _, kept := reply.Body.Stream.(*reader); reply.Body.Stream != nil && !kept && reply.Status/100 == 2 && !get.Head {
		return 0, fmt.Errorf("warm %s/%s: %w", get.Name.Bucket, get.Name.Key, errNotKept)
	}
	if reply.Status/100 != 2 {
		return 0, fmt.Errorf("warm %s/%s: origin answered status %d", get.Name.Bucket, get.Name.Key, reply.Status)
	}
	if reply.Body.Stream == nil {
		return int64(len(reply.Body.Bytes)), nil
	}
	n, err := io.Copy(io.Discard, reply.Body.Stream)
	if err != nil {
		return n, fmt.Errorf("warm: %w", err)
	}
	return n, nil
}

// Held returns bytes of an object if all of them are held, without asking
// anybody. Whoever uses them knows them to be of the version returned, and not
// whether that is still the origin's. n < 0 is all there is from off on; off < 0
// counts from the end.
func (c *Cache) Held(name laketap.ObjectName, off, n int64) ([]byte, laketap.Object, bool) {
	c.mu.Lock()
	o := c.objects[name]
	if o == nil {
		c.mu.Unlock()
		return nil, laketap.Object{}, false
	}
	if off < 0 {
		off = max(0, o.Size+off)
	}
	if n < 0 {
		n = o.Size - off
	}
	if off > o.Size || n > o.Size-off {
		c.mu.Unlock()
		return nil, o.Object, false
	}
	type part struct {
		e     *extent
		bytes []byte
		place place
	}
	var parts []part
	for pos := off; pos < off+n; {
		e, holds := o.at(pos)
		if !holds {
			c.mu.Unlock()
			return nil, o.Object, false
		}
		parts = append(parts, part{e, e.bytes, e.place})
		pos = e.end()
	}
	c.mu.Unlock()
	b := make([]byte, n)
	for _, p := range parts {
		from, to := max(off, p.e.off), min(off+n, p.e.end())
		into := b[from-off : to-off]
		if p.bytes != nil {
			copy(into, p.bytes[from-p.e.off:])
		} else if err := c.disk.read(p.place, into, from-p.e.off); err != nil {
			c.lost(p.e, p.place, err)
			return nil, o.Object, false
		}
	}
	return b, o.Object, true
}
