package block

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/laketap/laketap"
)

// maxTurns is how often a request looks again after what it relied on was
// dropped. Then it goes to the origin, which is always right.
const maxTurns = 4

// readNow is how much is read from disk before the answer begins, so that a
// bad disk can still be made good by the origin.
const readNow = 1 << 20

// A request is one Get on its way.
type request struct {
	c     *Cache
	get   laketap.Get
	fetch laketap.Fetch
	at    time.Time

	immutable bool            // the contract says so, of size
	size      int64           // -1: the contract does not state it
	vouched   *object         // what the origin has told us, for this right, since the request came
	left      <-chan struct{} // closed when nobody wants it any more; nil: a client does
	alone     bool            // has waited for another's reply in vain
	waited    *fill           // what it waited for has begun: one reader of it is this request's
}

// Get answers a read. What is held is given out if the origin would give the
// same, which either the contract or the origin itself says; the rest comes
// through fetch and is kept. ctx bounds the waiting for others; a fetch
// outlives the one who began it.
func (c *Cache) Get(ctx context.Context, get laketap.Get, fetch laketap.Fetch) (*laketap.Reply, error) {
	r := &request{c: c, get: get, fetch: fetch, at: c.opts.Now()}
	if get.Background {
		r.left = ctx.Done()
	}
	if get.Proven && c.opts.Contract != nil {
		var v laketap.Object
		v, r.immutable = c.opts.Contract.Version(get.Table, get.Name)
		r.size = v.Size
	}
	defer r.letGo()
	for range maxTurns {
		if reply, done, err := r.turn(ctx); done {
			return reply, err
		}
	}
	return r.bypass("unsettled")
}

// turn takes one look at what is held and acts on it. done is false if it
// must be looked at again.
func (r *request) turn(ctx context.Context) (reply *laketap.Reply, done bool, err error) {
	r.c.mu.Lock()
	o := r.c.objects[r.get.Name]
	if o == nil {
		return r.unknown(ctx)
	}
	off, end, ok := resolve(r.get.Range, o.Size)
	switch {
	case !ok:
		r.c.mu.Unlock()
		return r.finally(r.bypass("range"))
	case !o.meets(r.get):
		r.c.mu.Unlock()
		return r.finally(r.bypass("condition"))
	case !r.trusts(o):
		return r.doubted(ctx, o, off, end)
	}
	return r.trusted(ctx, o, off, end)
}

func (r *request) finally(reply *laketap.Reply, err error) (*laketap.Reply, bool, error) {
	return reply, true, err
}

// trusts reports whether a record may be answered from without asking. Who is
// not proven has no other word than the origin's.
func (r *request) trusts(o *object) bool {
	switch {
	case o == r.vouched:
		return true
	case !r.get.Proven, o.doubt, !r.immutable:
		return false
	}
	return (r.size < 0 || r.size == o.Size) && r.at.Sub(o.checked) < r.c.opts.Trust
}

// meets reports whether the record answers a request as it was put: its
// conditions hold, and the checksums it asks for are known. What does not is
// for the origin, which has the words for it.
func (o *object) meets(get laketap.Get) bool {
	if get.Checksums && !get.Range.Set && !o.withSums {
		return false
	}
	if m := get.Cond.IfMatch; m != "" && m != "*" && !lists(m, o.ETag) {
		return false
	}
	none := get.Cond.IfNoneMatch
	return none == "" || none != "*" && !lists(none, o.ETag)
}

// lists reports whether a list of validators may have the one (RFC 9110
// §13.1). Quotes are optional, as they are for S3.
func lists(list, etag string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.Trim(strings.TrimPrefix(strings.TrimSpace(part), "W/"), `"`) == strings.Trim(etag, `"`) {
			return true
		}
	}
	return false
}

// unknown asks the origin about an object that no record is of. c.mu is held.
func (r *request) unknown(ctx context.Context) (*laketap.Reply, bool, error) {
	if a := r.joinable(r.get.Range); a != nil {
		return r.join(ctx, a)
	}
	return r.finally(r.ask(r.get, nil, true))
}

// doubted asks the origin whether a record still holds, in the very request
// that fetches what is not held. c.mu is held.
func (r *request) doubted(ctx context.Context, o *object, off, end int64) (*laketap.Reply, bool, error) {
	if a := r.joinable(span(off, end)); a != nil {
		return r.join(ctx, a)
	}
	if r.get.Head || off == end {
		return r.finally(r.ask(r.get, nil, r.get.Head))
	}
	if gapOff, gapEnd := o.gap(off, end); gapOff == off && gapEnd > off {
		return r.begin(o, off, gapEnd)
	}
	get := r.get
	get.Cond = laketap.Cond{IfNoneMatch: o.ETag}
	reply, err := r.ask(get, o, false)
	if err == nil && reply == nil {
		return nil, false, nil // it holds: look again
	}
	return reply, true, err
}

// trusted answers from a record, fetching what is not held. c.mu is held.
func (r *request) trusted(ctx context.Context, o *object, off, end int64) (*laketap.Reply, bool, error) {
	if r.get.Head {
		defer r.c.mu.Unlock()
		return r.finally(r.head(o, off, end), nil)
	}
	gapOff, gapEnd := o.gaps(off, end)
	if gapOff == gapEnd {
		return r.serve(o, off, end)
	}
	if a := r.joinable(span(gapOff, gapEnd)); a != nil {
		return r.join(ctx, a)
	}
	return r.begin(o, gapOff, gapEnd)
}

// joinHeld is how many bytes that are held are fetched again if that saves a
// request to the origin.
const joinHeld = 64 << 10

// gaps returns the first gap, extended over later ones that are near.
func (o *object) gaps(from, to int64) (off, end int64) {
	off, end = o.gap(from, to)
	for off < end {
		nextOff, nextEnd := o.gap(end, to)
		if nextOff == nextEnd || nextOff-end > joinHeld {
			break
		}
		end = nextEnd
	}
	return off, end
}

// serve answers from what is held and on its way. c.mu is held.
func (r *request) serve(o *object, off, end int64) (*laketap.Reply, bool, error) {
	c := r.c
	if off == end {
		defer c.mu.Unlock()
		return r.finally(r.reply(o, off, end, laketap.Body{}, laketap.FromMemory), nil)
	}
	e, holds := o.at(off)
	if !holds || e.end() < end || e.bytes == nil && end-off > readNow {
		reader := c.newReader(r, o, off, end)
		c.mu.Unlock()
		return r.finally(r.reply(o, off, end, laketap.Body{Stream: reader}, laketap.FromDisk), nil)
	}
	c.touch(e)
	if e.bytes != nil {
		b := e.bytes[off-e.off : end-e.off : end-e.off]
		c.mu.Unlock()
		r.came(laketap.FromMemory, int64(len(b)))
		r.handed(int64(len(b)))
		return r.finally(r.reply(o, off, end, laketap.Body{Bytes: b}, laketap.FromMemory), nil)
	}
	p := e.place
	c.mu.Unlock()
	b := make([]byte, end-off)
	if err := c.disk.read(p, b, off-e.off); err != nil {
		c.lost(e, p, err)
		return nil, false, nil
	}
	c.promote(e, off, b)
	r.came(laketap.FromDisk, int64(len(b)))
	r.handed(int64(len(b)))
	return r.finally(r.reply(o, off, end, laketap.Body{Bytes: b}, laketap.FromDisk), nil)
}

// span is the range of bytes [off, end).
func span(off, end int64) laketap.Range { return laketap.Range{From: off, To: end - 1, Set: true} }

// bypass asks the origin just what the client asked, and keeps nothing.
func (r *request) bypass(reason string) (*laketap.Reply, error) {
	if r.get.Background {
		return nil, fmt.Errorf("%w (%s)", errNotKept, reason)
	}
	r.c.metrics.bypassed(reason)
	reply, err := r.origin(r.get, nil)
	if err == nil && reply.Status/100 == 2 && !r.get.Head {
		reply.Body = r.c.metrics.counted(reply.Body)
	}
	return reply, err
}
