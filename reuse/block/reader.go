package block

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/laketap/laketap"
)

// A reader is the body of an answer that lies in several places: extents in
// memory and on disk, fills on their way, and gaps, which it has fetched as it
// comes to them. All of it is one version. What goes wrong on the way is an
// error, so that the client's connection is cut: never a short body that
// looks whole.
type reader struct {
	r        *request
	o        *object
	pos, end int64
	f        *fill // that it reads from; nil: none
	later    *fill // that it will come to; nil: none
	err      error

	// The extent that was read last, so that the index is asked once for each.
	e    *extent
	have []byte // its bytes; nil: on disk, at at
	at   place
}

// newReader makes the body for bytes [off, end) of a version. c.mu is held.
func (c *Cache) newReader(r *request, o *object, off, end int64) *reader {
	b := &reader{r: r, o: o, pos: off, end: end}
	if e, holds := o.at(off); holds {
		b.use(e)
	} else if f := o.filling(off); f != nil {
		b.attach(f)
	}
	return b
}

// use reads from an extent next. Cache.mu is held.
func (b *reader) use(e *extent) {
	b.r.c.touch(e)
	b.e, b.have, b.at = e, e.bytes, e.place
}

// attach reads from a fill next.
func (b *reader) attach(f *fill) {
	if f != b.f && f.attach(b.pos) {
		b.leave()
		b.f = f
	}
}

// reserve makes it a reader of a fill that it will come to.
func (b *reader) reserve(f *fill) {
	if f != b.f && f.attach(b.pos) {
		b.later = f
	}
}

// leave reads from the fill no more.
func (b *reader) leave() {
	if b.f != nil {
		b.f.detach()
		b.f = nil
	}
}

// leaveAll reads from no fill any more.
func (b *reader) leaveAll() {
	b.leave()
	if b.later != nil {
		b.later.detach()
		b.later = nil
	}
}

// Read reads on from wherever the next byte lies.
func (b *reader) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	p = p[:min(int64(len(p)), b.end-b.pos)]
	for len(p) > 0 && n == 0 {
		if n, err = b.next(p); err != nil {
			b.err = fmt.Errorf("read %s/%s at byte %d: %w", b.o.Bucket, b.o.Key, b.pos, err)
			return 0, b.err
		}
	}
	b.pos += int64(n)
	b.r.handed(int64(n))
	if b.pos == b.end {
		b.err = io.EOF
		b.leaveAll()
		if n == 0 {
			return 0, io.EOF
		}
	}
	return n, nil
}

// next reads some bytes, or finds out where they are and reads none.
func (b *reader) next(p []byte) (int, error) {
	if e := b.e; e != nil {
		if e.off <= b.pos && b.pos < e.end() {
			return b.fromExtent(p)
		}
		b.e = nil
	}
	if b.f != nil {
		n, err := b.f.readAt(p, b.pos)
		if err == nil {
			b.r.came(laketap.FromOrigin, int64(n))
			return n, nil
		}
		b.leave()
		if !errors.Is(err, errMoved) {
			return 0, err
		}
	}
	return 0, b.look()
}

// fromExtent reads from the extent that b is in.
func (b *reader) fromExtent(p []byte) (int, error) {
	c, e := b.r.c, b.e
	if b.have != nil {
		n := copy(p, b.have[b.pos-e.off:])
		b.r.came(laketap.FromMemory, int64(n))
		return n, nil
	}
	n := min(int64(len(p)), e.end()-b.pos)
	if err := c.disk.read(b.at, p[:n], b.pos-e.off); err != nil {
		c.lost(e, b.at, err)
		b.e = nil
		return 0, nil // it is a gap now, or was moved
	}
	b.r.came(laketap.FromDisk, n)
	return int(n), nil
}

// look finds where the next byte is: in an extent, on its way, or nowhere.
func (b *reader) look() error {
	c := b.r.c
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	if e, holds := b.o.at(b.pos); holds {
		b.use(e)
		c.mu.Unlock()
		return nil
	}
	if b.later != nil && b.later.covers(b.pos) {
		b.leave()
		b.f, b.later = b.later, nil
		c.mu.Unlock()
		return nil
	}
	if f := b.o.filling(b.pos); f != nil {
		b.attach(f)
		if b.f == f {
			c.mu.Unlock()
			return nil
		}
	}
	off, end := b.o.gaps(b.pos, b.end)
	if off != b.pos || off == end {
		// A fill that has ended but still holds it; it will not bring more.
		off, end = b.pos, b.end
	}
	c.mu.Unlock()
	return b.fetch(off, end)
}

// fetch has a gap fetched, of this very version. If the version was dropped
// meanwhile, the bytes are for this reader alone.
func (b *reader) fetch(off, end int64) error {
	c, r := b.r.c, b.r
	get := r.part(b.o, off, end)
	reply, err := r.origin(get, nil)
	if err != nil {
		return err
	}
	v, reason := c.versionOf(get, reply)
	switch {
	case v == nil && reply.Status == http.StatusPreconditionFailed, v != nil && (v.object != b.o.Object):
		_ = reply.Body.Close()
		c.Forget(b.o.ObjectName)
		return errors.New("object has changed since the answer began")
	case v == nil:
		_ = reply.Body.Close()
		return fmt.Errorf("origin answered status %d for the rest (%s)", reply.Status, reason)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := r.fill(b.o, off, end, reply.Body.Stream)
	if f == nil {
		_ = reply.Body.Close()
		return errors.New("too many fills under way")
	}
	b.attach(f)
	f.detach()
	return nil
}

// Close ends the reading. What it alone was waiting for is not fetched any
// further.
func (b *reader) Close() error {
	b.leaveAll()
	if b.err == nil {
		b.err = io.ErrClosedPipe
	}
	return nil
}
