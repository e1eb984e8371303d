package block

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/laketap/laketap"
)

// An ask is a request to the origin whose head has not arrived. Others that
// would ask the same wait for it.
type ask struct {
	right  string
	head   bool
	rng    laketap.Range
	shared bool // others may wait for it
	at     time.Time
	order  uint64 // later asks know better
	done   chan struct{}
	urgent chan struct{} // closed when a client waits for what was begun in the background; nil: one did from the start

	// Guarded by Cache.mu.
	dead    bool  // what it asks for has changed meanwhile
	waiters int   // who wait for it, until the fill has begun
	fill    *fill // what it brings; nil: nothing, or not yet

	// Set before done is closed.
	o     *object        // what was learned; nil: nothing
	error *laketap.Reply // the origin's trouble, to be had by all who wait; body in memory
}

// joinable returns an ask that this request can wait for instead of asking
// itself: one with the same right, or of anybody if the origin lets this one
// in anyway, that brings the first byte of a range. c.mu is held.
func (r *request) joinable(rng laketap.Range) *ask {
	if r.alone {
		return nil
	}
	for _, a := range r.c.asks[r.get.Name] {
		if a.shared && !a.dead && (r.get.Proven || a.right == r.get.Right) && (r.get.Head || !a.head && brings(a.rng, rng)) {
			return a
		}
	}
	return nil
}

// brings reports whether a range has the first byte of another, whatever the
// size of the object.
func brings(a, b laketap.Range) bool {
	switch {
	case !a.Set:
		return true
	case a.Suffix > 0:
		return b.Suffix > 0 && b.Suffix <= a.Suffix
	case b.Suffix > 0:
		return false
	case !b.Set:
		return a.From == 0
	}
	return a.From <= b.From && (a.To < 0 || b.From <= a.To)
}

// join waits for another's reply. What it taught is as good as our own. Who waits
// is a reader of what it brings already, so that it is not given up when the one
// who asked leaves first. c.mu is held, and released.
func (r *request) join(ctx context.Context, a *ask) (*laketap.Reply, bool, error) {
	if a.fill != nil {
		a.fill.hold(1)
	} else {
		a.waiters++
	}
	if !r.get.Background && a.urgent != nil && !closed(a.urgent) {
		close(a.urgent)
	}
	r.c.mu.Unlock()
	select {
	case <-a.done:
	case <-ctx.Done():
		r.c.mu.Lock()
		defer r.c.mu.Unlock()
		if a.fill != nil {
			a.fill.detach()
		} else {
			a.waiters--
		}
		return nil, true, context.Cause(ctx)
	}
	r.letGo()
	r.waited = a.fill
	r.c.metrics.joined.Inc()
	switch {
	case a.error != nil:
		reply := *a.error
		return &reply, true, nil
	case a.o != nil:
		r.vouched = a.o
	default:
		r.alone = true
	}
	return nil, false, nil
}

// letGo ends the reader that the request was while it waited.
func (r *request) letGo() {
	if r.waited != nil {
		r.waited.detach()
		r.waited = nil
	}
}

// began notes what an ask brings, for those who wait for it. c.mu is held.
func (a *ask) began(f *fill) {
	f.hold(a.waiters)
	a.fill, a.waiters = f, 0
}

// ask asks the origin and learns from its reply, which becomes the answer. If
// o is set and the origin says that it still is the version, the reply is nil
// and o is vouched for. c.mu is held, and released.
func (r *request) ask(get laketap.Get, o *object, shared bool) (reply *laketap.Reply, err error) {
	a := r.register(get, shared)
	defer r.settle(a)
	reply, err = r.origin(get, a.urgent)
	if err != nil {
		return nil, err
	}
	if o != nil && reply.Status == http.StatusNotModified {
		_ = reply.Body.Close()
		r.c.confirm(a, o)
		r.vouched = o
		r.c.metrics.confirmed.Inc()
		return nil, nil //nolint:nilnil // said above
	}
	return r.learn(a, get, reply)
}

// register makes an ask known. c.mu is held, and released.
func (r *request) register(get laketap.Get, shared bool) *ask {
	c := r.c
	defer c.mu.Unlock()
	c.nextID++
	a := &ask{
		right: get.Right, head: get.Head, rng: get.Range, shared: shared,
		at: c.opts.Now(), order: c.nextID, done: make(chan struct{}),
	}
	if get.Background {
		a.urgent = make(chan struct{})
	}
	c.asks[get.Name] = append(c.asks[get.Name], a)
	return a
}

// settle ends an ask, whatever came of it.
func (r *request) settle(a *ask) {
	c, name := r.c, r.get.Name
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks[name] = slices.DeleteFunc(c.asks[name], func(other *ask) bool { return other == a })
	if len(c.asks[name]) == 0 {
		delete(c.asks, name)
	}
	close(a.done)
}

// confirm notes that the origin has said that a version is its current one.
func (c *Cache) confirm(a *ask, o *object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.dead || o.dead.Load() {
		return
	}
	o.order = max(o.order, a.order)
	o.doubt = false
	if o.saved && c.disk != nil && a.at.Sub(o.checked) > c.opts.Trust/2 {
		c.disk.note(o) // so that a restart need not ask again
	}
	if a.at.After(o.checked) {
		o.checked = a.at
	}
}

// learn takes what a reply says of its object into the index, and its body on
// its way to the cache. The reply is the origin's own, its body ours.
func (r *request) learn(a *ask, get laketap.Get, reply *laketap.Reply) (*laketap.Reply, error) {
	c := r.c
	v, reason := c.versionOf(get, reply)
	if v == nil {
		return r.pass(a, reply, reason)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	o, reason := c.record(a, v)
	if o == nil {
		return c.passing(reply, reason), nil
	}
	a.o = o
	if get.Head {
		return reply, nil
	}
	f := r.fill(o, v.off, v.end, reply.Body.Stream)
	if f == nil {
		return c.passing(reply, "busy"), nil
	}
	defer f.detach()
	a.began(f)
	reader := c.newReader(r, o, v.off, v.end)
	reader.reserve(f)
	reply.Body = laketap.Body{Stream: reader}
	return reply, nil
}

// record returns the record that a version belongs to, made if it is new.
// Versions that contradict each other leave none unless it is known which is
// the later. c.mu is held.
func (c *Cache) record(a *ask, v *version) (*object, string) {
	if a.dead || c.closed {
		return nil, "changed"
	}
	o := c.objects[v.object.ObjectName]
	if o != nil && (o.ETag != v.object.ETag || o.Size != v.object.Size) {
		older := a.order < o.order
		c.drop(o)
		c.metrics.changed.Inc()
		if older {
			return nil, "changed"
		}
		o = nil
	}
	if o == nil {
		c.makeRoom()
		c.nextID++
		o = &object{Object: v.object, id: c.nextID, header: v.header}
		c.objects[o.ObjectName] = o
	}
	if v.withSums && !o.withSums {
		o.checksums, o.withSums = v.checksums, true
	}
	o.order, o.doubt = max(o.order, a.order), false
	if a.at.After(o.checked) {
		o.checked = a.at
	}
	return o, ""
}

// makeRoom keeps the number of records bounded. Those of which nothing is
// held go first; any of them will do. c.mu is held.
func (c *Cache) makeRoom() {
	for tries := 0; len(c.objects) >= c.opts.MaxObjects; tries++ {
		for _, o := range c.objects {
			if tries > 64 || len(o.extents)+len(o.fills) == 0 {
				c.drop(o)
			}
			break
		}
	}
}

// pass hands a reply on that nothing is kept of. An absence is learned from;
// the origin's trouble is shared with those who wait.
func (r *request) pass(a *ask, reply *laketap.Reply, reason string) (*laketap.Reply, error) {
	switch reply.Status {
	case http.StatusNotFound, http.StatusPreconditionFailed:
		r.c.mu.Lock()
		if o := r.c.objects[r.get.Name]; o != nil && o.order <= a.order && !conditional(r.get) {
			r.c.drop(o)
		}
		r.c.mu.Unlock()
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		share(a, reply)
	}
	return r.c.passing(reply, reason), nil
}

// conditional reports whether the client itself put a condition.
func conditional(get laketap.Get) bool { return get.Cond != laketap.Cond{} }

// passing counts a reply that goes around the cache.
func (c *Cache) passing(reply *laketap.Reply, reason string) *laketap.Reply {
	if reply.Status/100 == 2 {
		c.metrics.bypassed(reason)
		reply.Body = c.metrics.counted(reply.Body)
	}
	return reply
}

// maxShared is the longest error document that is handed to several.
const maxShared = 64 << 10

// share reads the body of an error, so that it can be answered to several.
func share(a *ask, reply *laketap.Reply) {
	if reply.Body.Stream == nil || reply.Length < 0 || reply.Length > maxShared {
		return
	}
	body := make([]byte, reply.Length)
	_, err := io.ReadFull(reply.Body.Stream, body)
	_ = reply.Body.Close()
	if err != nil {
		// The client of this one gets what there is, which is short of its
		// length, so that its connection is cut.
		reply.Body = laketap.Body{Stream: io.NopCloser(strings.NewReader(""))}
		return
	}
	reply.Body = laketap.Body{Bytes: body}
	shared := *reply
	a.error = &shared
}
