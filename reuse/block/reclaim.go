package block

import (
	"errors"
	"fmt"
)

// room is how much of the disk's bound is for what is held; the rest is for
// what is not any more and waits to be reclaimed.
const room = 0.85

// errNoRoom says that nothing can be reclaimed.
var errNoRoom = errors.New("no room on disk within the bound")

// makeRoom reclaims segments until n more bytes fit within the bound, with a
// segment to spare to move extents to.
func (d *disk) makeRoom(n int64) error {
	spare := min(d.segSize+d.c.piece, d.max/4)
	for range 4 * segmentsAtMost {
		if d.total.Load()+extentHeader+n <= d.max-spare {
			return nil
		}
		d.evict(n)
		s := d.emptiest()
		if s == nil {
			return errNoRoom
		}
		if err := d.reclaim(s); err != nil {
			return err
		}
	}
	return errNoRoom
}

// evict drops extents until what is held leaves room.
func (d *disk) evict(n int64) {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	for d.live > 0 && float64(d.live+n) > room*float64(d.max) {
		if !d.c.evictOne() {
			return
		}
	}
}

// emptiest returns the full segment with the least that is held.
func (d *disk) emptiest() *segment {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	var least *segment
	for _, s := range d.segs {
		if s != d.last && (least == nil || s.live < least.live) {
			least = s
		}
	}
	if least == nil && d.last != nil && d.last.live < d.last.size/2 {
		least, d.last = d.last, nil
	}
	return least
}

// reclaim moves what is held of a segment to the last one, and removes it.
func (d *disk) reclaim(s *segment) error {
	d.c.mu.Lock()
	list := s.list
	s.list = nil
	d.c.mu.Unlock()
	for i, e := range list {
		if err := d.move(s, e); err != nil {
			d.c.mu.Lock()
			s.list = list[i:]
			d.c.mu.Unlock()
			return err
		}
	}
	return d.remove(s)
}

// move writes an extent again, unless it is gone or damaged.
func (d *disk) move(s *segment, e *extent) error {
	d.c.mu.Lock()
	p, gone := e.place, e.gone || e.place.seg != s
	d.c.mu.Unlock()
	if gone {
		return nil
	}
	b := make([]byte, e.len)
	if err := p.read(b, 0); err != nil {
		d.c.lost(e, p, err)
		return nil
	}
	moved, err := d.append(e.o.id, e, b)
	if err == nil {
		err = d.log(appendRecord(nil, recordOf(e, moved)))
	}
	if err != nil {
		return fmt.Errorf("move extent: %w", err)
	}
	d.c.metrics.moved.Add(float64(e.len))
	d.place(e, moved)
	return nil
}

// remove deletes a segment of which nothing is held.
func (d *disk) remove(s *segment) error {
	delete(d.segs, s.number)
	d.total.Add(-s.size)
	err := errors.Join(s.close(), d.folder.Remove(segmentName(s.number)))
	if err != nil {
		return fmt.Errorf("remove %s: %w", segmentName(s.number), err)
	}
	return nil
}

// rewrite writes the index anew, without what does not count any more.
func (d *disk) rewrite() error {
	const name = indexName + ".new"
	s := d.snapshot()
	f, err := d.folder.Open(name, true)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	if err = errors.Join(f.Truncate(0), writeAll(f, s.b), f.Sync()); err == nil {
		err = d.exchange(f, name, s)
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("rewrite index: %w", err)
	}
	return nil
}

// exchange puts the new index in the old one's place. Forgets of the meantime
// are in the old one only; without them the new one would bring back what was
// forgotten.
func (d *disk) exchange(f File, name string, s *snapshot) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var late []byte
	for _, o := range s.objects {
		if o.dead.Load() {
			late = appendRecord(late, &record{kind: kindDrop, id: o.id})
		}
	}
	end := int64(len(s.b) + len(late))
	if len(late) > 0 {
		if _, err := f.WriteAt(late, int64(len(s.b))); err != nil {
			return err
		}
	}
	if err := d.folder.Rename(name, indexName); err != nil {
		return err
	}
	_ = d.index.Close()
	d.total.Add(end - d.end)
	d.index, d.end, d.settled = f, end, end
	return nil
}

func writeAll(f File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}

// A snapshot is the index as it would be written anew.
type snapshot struct {
	b       []byte
	objects []*object
}

// snapshot takes down all that is on disk. Only the writer adds to that, and
// it is the writer who asks.
func (d *disk) snapshot() *snapshot {
	s := &snapshot{b: appendRecord(indexStart(), &record{kind: kindOpened})}
	type held struct {
		e *extent
		p place
	}
	var extents []held
	d.c.mu.Lock()
	for _, o := range d.c.objects {
		if o.saved {
			s.objects = append(s.objects, o)
		}
		for _, e := range o.extents {
			if e.place.seg != nil {
				extents = append(extents, held{e, e.place})
			}
		}
	}
	d.c.mu.Unlock()
	for _, o := range s.objects {
		s.b = appendRecord(s.b, d.c.describe(o))
	}
	for _, h := range extents {
		s.b = appendRecord(s.b, recordOf(h.e, h.p))
	}
	return s
}
