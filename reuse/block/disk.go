package block

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// maxQueue is how many bytes wait to be written. What comes when as many wait
// stays in memory only: a disk that is slower than the origin is no help.
const maxQueue = 64 << 20

// pause is how long a disk that has failed is left alone.
const pause = 30 * time.Second

// A disk is the lower tier: segments, an index of them, and the one goroutine
// that writes both.
type disk struct {
	c       *Cache
	folder  Folder
	max     int64 // bytes of all files
	segSize int64 // at which a segment is full
	clean   bool  // the last process closed it in good order

	// Written under Cache.mu.
	live  int64 // bytes of extents that are held
	queue []*extent
	bytes int64 // of the queue
	ended bool
	woken chan struct{} // of one place: the queue has something, or it ended

	total  atomic.Int64            // bytes of all files
	reason atomic.Pointer[trouble] // why nothing is written; nil: it is
	segs   map[uint64]*segment     // the writer's alone
	last   *segment                // the one that is written; nil: none yet
	number uint64                  // of the last segment

	mu      sync.Mutex // guards the index's end
	index   File       // nil: the disk could not be opened at all
	end     int64
	settled int64    // its length when it was last rewritten
	unsaid  []uint64 // dropped objects that the index could not be told of
}

// trouble is why a disk is left alone, and until when.
type trouble struct {
	err   error
	until time.Time
}

// errNotOpen says that the directory could not be opened, yet.
var errNotOpen = errors.New("cache directory is not open")

// enqueue hands an extent over to be written. Cache.mu is held.
func (d *disk) enqueue(e *extent) {
	if d.ended || d.bytes+e.len > min(maxQueue, max(d.c.opts.MaxRAM, maxExtent)) || e.len > d.max/8 || d.troubled() {
		d.c.metrics.unwritten.Inc()
		return
	}
	e.place.waiting = true
	d.queue = append(d.queue, e)
	d.bytes += e.len
	d.wake()
}

func (d *disk) wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

// stop lets the writer end when it has written what waits.
func (d *disk) stop() {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	d.ended = true
	d.wake()
}

// run writes extents until stop.
func (d *disk) run() {
	for {
		e, ended := d.next()
		switch {
		case e != nil:
			if err := d.write(e); err != nil {
				d.fail(err)
			}
			d.settle()
		case ended:
			return
		default:
			<-d.woken
		}
	}
}

// next takes an extent off the queue.
func (d *disk) next() (e *extent, ended bool) {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	if len(d.queue) == 0 {
		d.queue = nil
		return nil, d.ended
	}
	e = d.queue[0]
	d.queue = d.queue[1:]
	d.bytes -= e.len
	return e, d.ended
}

// write writes one extent, and the record of its version if it is the first.
func (d *disk) write(e *extent) (err error) {
	d.c.mu.Lock()
	b, known := e.bytes, e.o.saved
	skip := e.gone || d.troubled()
	if skip {
		e.place.waiting = false
	} else {
		e.o.saved = true // from here on a Forget is told to the index
	}
	d.c.mu.Unlock()
	if skip {
		return nil
	}
	defer func() {
		if err != nil {
			d.abandon(e, !known)
		}
	}()
	if d.index == nil { // it could not be opened before
		if err := d.restart(); err != nil {
			return err
		}
	}
	var p place
	if err := d.makeRoom(e.len); err != nil {
		return err
	}
	if p, err = d.append(e.o.id, e, b); err != nil {
		return err
	}
	var records []byte
	if !known {
		records = appendRecord(records, d.c.describe(e.o))
	}
	if err := d.log(appendRecord(records, recordOf(e, p))); err != nil {
		return err
	}
	d.place(e, p)
	return nil
}

// abandon leaves an extent in memory only.
func (d *disk) abandon(e *extent, unsave bool) {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	e.place.waiting = false
	if unsave && !e.o.dead.Load() {
		e.o.saved = false
	}
	d.c.shrink()
}

// place notes where an extent has been written.
func (d *disk) place(e *extent, p place) {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	p.seg.list = append(p.seg.list, e)
	e.place.waiting = false
	if e.gone {
		return
	}
	if old := e.place.seg; old != nil {
		old.live -= e.len
		d.live -= e.len
	}
	e.place = p
	p.seg.live += e.len
	d.live += e.len
	d.c.shrink()
}

// describe makes the record of a version.
func (c *Cache) describe(o *object) *record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &record{
		kind: kindObject, id: o.id, checked: o.checked, object: o.Object,
		header: o.header, checksums: o.checksums, withSums: o.withSums,
	}
}

// recordOf makes the record of an extent.
func recordOf(e *extent, p place) *record {
	return &record{kind: kindExtent, id: e.o.id, off: e.off, len: e.len, segment: p.seg.number, at: p.off, sums: p.sums}
}

// append writes an extent's bytes to the end of the last segment.
func (d *disk) append(id uint64, e *extent, b []byte) (place, error) {
	if d.last == nil || d.last.size >= d.segSize {
		if err := d.newSegment(); err != nil {
			return place{}, err
		}
	}
	s := d.last
	if _, err := s.file.WriteAt(extentStart(id, e), s.size); err != nil {
		return place{}, fmt.Errorf("write %s: %w", segmentName(s.number), err)
	}
	at := s.size + extentHeader
	if _, err := s.file.WriteAt(b, at); err != nil {
		return place{}, fmt.Errorf("write %s: %w", segmentName(s.number), err)
	}
	s.size = at + e.len
	d.total.Add(extentHeader + e.len)
	return place{seg: s, off: at, len: e.len, sums: sumsOf(b)}, nil
}

// newSegment ends the last segment and begins another.
func (d *disk) newSegment() error {
	if d.last != nil {
		if err := d.last.file.Sync(); err != nil {
			return fmt.Errorf("sync %s: %w", segmentName(d.last.number), err)
		}
	}
	d.number++
	f, err := d.folder.Open(segmentName(d.number), true)
	if err != nil {
		return fmt.Errorf("create %s: %w", segmentName(d.number), err)
	}
	if _, err := f.WriteAt(segmentStart(), 0); err != nil {
		_ = f.Close()
		return fmt.Errorf("write %s: %w", segmentName(d.number), err)
	}
	d.last = &segment{number: d.number, size: segmentHeader, file: f}
	d.segs[d.number] = d.last
	d.total.Add(segmentHeader)
	return nil
}

// log appends records to the index. A record that could not be written whole
// is written over by the next.
func (d *disk) log(records []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.logLocked(records)
}

func (d *disk) logLocked(records []byte) error {
	for len(d.unsaid) > 0 {
		if err := d.writeIndex(appendRecord(nil, &record{kind: kindDrop, id: d.unsaid[0]})); err != nil {
			return err
		}
		d.unsaid = d.unsaid[1:]
	}
	return d.writeIndex(records)
}

func (d *disk) writeIndex(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if d.index == nil {
		return errNotOpen
	}
	if _, err := d.index.WriteAt(b, d.end); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	d.end += int64(len(b))
	d.total.Add(int64(len(b)))
	return nil
}

// maxUnsaid bounds the drops that wait for a disk to recover. When there are
// more, the index is given up as a whole.
const maxUnsaid = 1 << 16

// forget tells the index that nothing of a version counts any more, before
// whoever changes the object goes on. Cache.mu is held.
func (d *disk) forget(o *object) {
	if !o.saved {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.logLocked(appendRecord(nil, &record{kind: kindDrop, id: o.id})); err != nil {
		if len(d.unsaid) < maxUnsaid {
			d.unsaid = append(d.unsaid, o.id)
		}
		d.leaveAlone(err)
	}
}

// note tells the index that the origin has confirmed a version. Cache.mu is held.
func (d *disk) note(o *object) {
	if d.troubled() {
		return
	}
	if err := d.log(appendRecord(nil, &record{kind: kindChecked, id: o.id, checked: d.c.opts.Now()})); err != nil {
		d.leaveAlone(err)
	}
}

// troubled reports whether the disk is left alone for now.
func (d *disk) troubled() bool {
	t := d.reason.Load()
	return t != nil && d.c.opts.Now().Before(t.until)
}

// fail leaves the disk alone for a while. A folder that is gone is made anew,
// with nothing in it.
func (d *disk) fail(err error) {
	d.leaveAlone(err)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.restart(); err != nil {
			d.leaveAlone(err)
		}
	}
}

func (d *disk) leaveAlone(err error) {
	d.c.metrics.diskErrors.Inc()
	if d.reason.Swap(&trouble{err: err, until: d.c.opts.Now().Add(pause)}) == nil {
		d.c.log.Warn("cache directory fails, answers come from memory and the origin", "dir", d.c.opts.Dir, "error", err)
	}
}

// settle notes that the disk works again, and keeps the index short.
func (d *disk) settle() {
	t := d.reason.Load()
	if t != nil && d.c.opts.Now().Before(t.until) {
		return
	}
	if t != nil && d.reason.CompareAndSwap(t, nil) {
		d.c.log.Info("cache directory is tried again", "dir", d.c.opts.Dir)
	}
	d.mu.Lock()
	long := d.end > 4<<20+2*d.settled
	d.mu.Unlock()
	if long {
		if err := d.rewrite(); err != nil {
			d.fail(err)
		}
	}
}

// close writes that all is in good order, if it is.
func (d *disk) close() error {
	if d.index == nil {
		return nil
	}
	var errs []error
	if d.last != nil {
		errs = append(errs, d.last.file.Sync())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.logLocked(appendRecord(nil, &record{kind: kindClosed})); err == nil {
		errs = append(errs, d.index.Sync())
	} else {
		errs = append(errs, err)
	}
	for _, s := range d.segs {
		errs = append(errs, s.close())
	}
	errs = append(errs, d.index.Close(), d.folder.Close())
	return errors.Join(errs...)
}

// read reads bytes of an extent.
func (d *disk) read(p place, b []byte, off int64) error {
	if p.seg == nil {
		return errSegmentGone
	}
	return p.read(b, off)
}
