package block

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/laketap/laketap"
)

// linger is how much a fill still takes in for nobody, when its last reader
// has left: less costs more to ask for again than to wait for.
const linger = 256 << 10

// window is how far a fill runs ahead of its fastest reader: far enough to keep
// the origin sending, and no further, since many engines open a file to its end
// and leave after a page.
const window = 1 << 20

// A fill is bytes of one version on their way from the origin, read once for
// all who want them. It holds the piece that arrives and the one before; older
// ones are extents. It runs a little ahead of its fastest reader, and ends when it
// has none.
type fill struct {
	c    *Cache
	o    *object
	off  int64
	body io.ReadCloser

	reserved int64 // the most bytes that it has in memory

	mu      sync.Mutex
	moved   sync.Cond // bytes came, a reader moved or left, the fill ended
	end     int64     // falls when the fill is given up
	pieces  [2]piece  // the one before, and the one that arrives
	readers int
	ahead   int64 // how far the fastest reader has come
	ended   bool
	err     error // why bytes up to end will not come
}

// A piece is bytes of a fill in memory, n of them there.
type piece struct {
	off int64
	buf []byte
	n   int
}

func (p piece) has(pos int64) bool { return p.off <= pos && pos < p.off+int64(p.n) }

// fill starts to take in bytes [off, end) of a version from the body of a
// reply; nil if as many are under way as may be, of which the background has
// half. c.mu is held. The caller is its first reader, and detaches when it has
// made another.
func (r *request) fill(o *object, off, end int64, body io.ReadCloser) *fill {
	c := r.c
	if off == end {
		// An object of no bytes: nothing will come.
		f := &fill{c: c, o: o, off: off, end: end, body: body, readers: 1, ended: true}
		f.moved.L = &f.mu
		_ = body.Close()
		return f
	}
	f := &fill{c: c, o: o, off: off, end: end, body: body, readers: 1, ahead: off}
	f.reserved = min(end-off, 2*c.piece)
	most := c.opts.MaxFilling
	if r.get.Background {
		most /= 2
	}
	if c.filling+f.reserved > most {
		return nil
	}
	c.filling += f.reserved
	f.moved.L = &f.mu
	f.pieces[0].off, f.pieces[1].off = off, off
	o.fills = append(o.fills, f)
	c.work.Go(f.run)
	return f
}

// part asks for bytes of a version, and for those of no other.
func (r *request) part(o *object, off, end int64) laketap.Get {
	get := r.get
	get.Head, get.Checksums, get.Range, get.Cond = false, false, span(off, end), laketap.Cond{IfMatch: o.ETag}
	if off == 0 && end == o.Size {
		get.Range = laketap.Range{}
	}
	return get
}

// begin fetches a gap of a version, and answers the request when the origin
// has begun to send it. c.mu is held, and released.
func (r *request) begin(o *object, off, end int64) (*laketap.Reply, bool, error) {
	get := r.part(o, off, end)
	a := r.register(get, true)
	defer r.settle(a)
	reply, err := r.origin(get, a.urgent)
	if err != nil {
		return nil, true, err
	}
	if v, _ := r.c.versionOf(get, reply); v != nil {
		return r.begun(a, v, reply)
	}
	switch reply.Status {
	case http.StatusPreconditionFailed:
		// Another version by now: the record is of no use to anybody.
		_ = reply.Body.Close()
		r.c.mu.Lock()
		r.c.drop(o)
		r.c.mu.Unlock()
		r.c.metrics.changed.Inc()
		return nil, false, nil
	case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable, http.StatusNotModified:
		// Not what was asked for, so not what the client asked for.
		_ = reply.Body.Close()
		return r.finally(r.bypass("range"))
	}
	return r.finally(r.pass(a, reply, "status"))
}

// begun takes in the gap that the origin has begun to send, and looks again:
// the answer's first bytes are now on their way.
func (r *request) begun(a *ask, v *version, reply *laketap.Reply) (*laketap.Reply, bool, error) {
	c := r.c
	c.mu.Lock()
	o, _ := c.record(a, v)
	var f *fill
	if o != nil {
		a.o, r.vouched = o, o
		f = r.fill(o, v.off, v.end, reply.Body.Stream)
	}
	if f == nil {
		c.mu.Unlock()
		_ = reply.Body.Close()
		return r.finally(r.bypass("busy"))
	}
	defer f.detach()
	a.began(f)
	off, end, ok := resolve(r.get.Range, o.Size)
	if !ok || !o.meets(r.get) {
		c.mu.Unlock()
		return r.finally(r.bypass("condition"))
	}
	reader := c.newReader(r, o, off, end)
	reader.reserve(f)
	c.mu.Unlock()
	return r.finally(r.reply(o, off, end, laketap.Body{Stream: reader}, laketap.FromOrigin), nil)
}

// covers reports whether a position is to come from the fill, or is still in
// its memory.
func (f *fill) covers(pos int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pieces[0].off <= pos && pos < f.end
}

// reach returns where the fill will end.
func (f *fill) reach() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end
}

// attach makes one more reader, at a position or before all that the fill
// brings; false if the fill does not have or bring it any more.
func (f *fill) attach(pos int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || pos >= f.off && pos < f.pieces[0].off || pos >= f.end {
		return false
	}
	f.readers++
	if pos > f.ahead {
		f.ahead = pos
		f.moved.Broadcast()
	}
	return true
}

// hold makes more readers, who have yet to say where they read.
func (f *fill) hold(readers int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers += readers
}

// detach ends a reader.
func (f *fill) detach() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers--
	f.moved.Broadcast()
}

// errMoved says that a fill does not hold a position any more: it has become
// an extent.
var errMoved = errors.New("fill has moved on")

// readAt copies bytes from a position on, waiting for them if they are to
// come. It returns errMoved for bytes that it had.
func (f *fill) readAt(p []byte, pos int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if pos > f.ahead {
		f.ahead = pos
		f.moved.Broadcast()
	}
	for {
		for _, piece := range f.pieces {
			if piece.has(pos) {
				return copy(p, piece.buf[pos-piece.off:piece.n]), nil
			}
		}
		switch {
		case pos < f.pieces[1].off:
			return 0, errMoved
		case f.err != nil:
			return 0, f.err
		case f.ended:
			return 0, errMoved
		}
		f.moved.Wait()
	}
}

// run takes the bytes in, piece by piece.
func (f *fill) run() {
	// A server that ends does not wait for what the origin may never send.
	release := context.AfterFunc(f.c.base, func() {
		_ = f.body.Close()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.moved.Broadcast()
	})
	var err error
	for pos := f.off; pos < f.end && err == nil; {
		if !f.turn(pos) {
			break
		}
		var n int
		n, err = f.take(pos)
		if err == nil || errors.Is(err, errAbandoned) {
			f.c.keep(f, pos, f.pieces[1].buf[:n:n])
		}
		pos += int64(n)
	}
	release()
	f.c.finish(f, err)
	_ = f.body.Close()
}

// turn begins another piece at pos; false if there is no reader left for it.
func (f *fill) turn(pos int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == 0 || f.c.base.Err() != nil {
		return false
	}
	f.pieces[0] = f.pieces[1]
	f.pieces[1] = piece{off: pos, buf: make([]byte, min(f.end-pos, f.c.piece))}
	return true
}

var errAbandoned = errors.New("nobody waits for the rest")

// pace waits while the fill is far ahead of all its readers.
func (f *fill) pace(pos int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.readers > 0 && pos-f.ahead >= window && f.c.base.Err() == nil {
		f.moved.Wait()
	}
}

// take reads one piece, and tells of every bit of it. What has arrived when
// the last reader leaves is whole as far as it goes.
func (f *fill) take(pos int64) (n int, err error) {
	buf := f.pieces[1].buf
	for n < len(buf) {
		f.pace(pos + int64(n))
		m, err := f.body.Read(buf[n:min(len(buf), n+window/4)])
		n += m
		f.mu.Lock()
		f.pieces[1].n = n
		alone := f.readers == 0 && f.end-pos-int64(n) > linger
		f.moved.Broadcast()
		f.mu.Unlock()
		switch {
		case n == len(buf):
			return n, nil
		case errors.Is(err, io.EOF):
			return n, io.ErrUnexpectedEOF
		case err != nil:
			return n, err
		case alone:
			return n, errAbandoned
		}
	}
	return n, nil
}

// finish takes a fill off its record.
func (c *Cache) finish(f *fill, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.o.fills = slices.DeleteFunc(f.o.fills, func(other *fill) bool { return other == f })
	f.mu.Lock()
	defer f.mu.Unlock()
	c.filling -= f.reserved
	f.ended = true
	if last := f.pieces[1].off + int64(f.pieces[1].n); last < f.end {
		f.end = last
		if err != nil && !errors.Is(err, errAbandoned) {
			f.err = err
			c.metrics.broken.Inc()
		}
	}
	f.moved.Broadcast()
}
