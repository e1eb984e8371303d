package catalog

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

const (
	lessonsMax     = 256       // waiting to be learned
	lessonBytesMax = 256 << 20 // of bodies among them
)

// A lesson is an answer that passed, or a transaction that succeeded, to be
// read when there is time.
type lesson struct {
	up          *upstream
	route       route
	name        string // dotted
	at          time.Time
	body        []byte
	encoding    string // of body
	transaction bool   // body is a request to commit a transaction
}

// lessons is a bounded queue: what does not fit is not learned.
type lessons struct {
	queue chan lesson
	bytes atomic.Int64 // INVARIANT: the sum of the bodies queued
}

func newLessons() *lessons { return &lessons{queue: make(chan lesson, lessonsMax)} }

// add queues a lesson; false if there is no room.
func (l *lessons) add(one lesson) bool {
	size := int64(len(one.body))
	if l.bytes.Add(size) > lessonBytesMax {
		l.bytes.Add(-size)
		return false
	}
	select {
	case l.queue <- one:
		return true
	default:
		l.bytes.Add(-size)
		return false
	}
}

// run teaches until ctx ends.
func (l *lessons) run(ctx context.Context, learn func(lesson)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case one := <-l.queue:
			learn(one)
			l.bytes.Add(-int64(len(one.body)))
		}
	}
}

// queue hands a lesson over and counts it if there is no room.
func (h *Handler) queue(one lesson) {
	if !h.lessons.add(one) {
		h.metrics.dropped.Inc()
	}
}

// learn reads one lesson. Whatever is wrong with it, the answer has passed.
func (h *Handler) learn(one lesson) {
	body, ok := inflate(one.body, one.encoding, h.opts.MaxEdit)
	if !ok {
		return
	}
	if one.transaction {
		h.learnTransaction(one, body)
		return
	}
	if l, ok := readLoaded(body); ok {
		h.see(one.up, one.route, one.name, l, nil, one.at)
	}
}

// learnLater queues an answer that was read and passes unedited.
func (x *exchange) learnLater(body []byte, l loaded) {
	if l.location == "" {
		return
	}
	x.access.Table = x.h.tableID(x.up, x.route, l)
	x.h.queue(lesson{up: x.up, route: x.route, name: x.access.TableName, at: x.access.At, body: body})
}

// learnPassing has a lesson queued when an answer has been read to its end.
func (x *exchange) learnPassing(resp *http.Response) {
	one := lesson{
		up: x.up, route: x.route, name: x.access.TableName, at: x.access.At,
		encoding: resp.Header.Get("Content-Encoding"),
	}
	resp.Body = &capture{
		ReadCloser: resp.Body, limit: int(x.h.opts.MaxEdit), room: &x.held, length: resp.ContentLength,
		ended: func(body []byte) { one.body = body; x.h.queue(one) },
	}
}

// tableID is the identity of a table that was loaded at a route.
func (h *Handler) tableID(up *upstream, r route, l loaded) laketap.TableID {
	return laketap.TableID{Catalog: up.name, Prefix: r.prefix, Ref: refOf(r.prefix), UUID: l.uuid}
}

// see learns a table. g is what a session for it was made of, nil if none was.
func (h *Handler) see(up *upstream, r route, name string, l loaded, g *grant, at time.Time) {
	id := h.tableID(up, r, l)
	if name != "" {
		h.ids.put(idKey{up.name, r.prefix, name}, id)
	}
	if g == nil {
		g = &grant{}
		_, endpoint := up.told()
		if e, ok := l.config.text("s3.endpoint"); ok {
			endpoint = e
		}
		if h.place(g, l, endpoint) != "" {
			g = nil // not in a store of ours: no access to it will come by
		}
	}
	origin := ""
	if g != nil {
		origin = g.scope[0].Origin
		h.opts.Tables.Put(tap.Table{
			ID: id, Name: name, Location: g.scope[0], More: g.scope[1:],
			MetadataLocation: l.metadataLocation, Schema: l.schema, Snapshot: l.snapshot, Seen: at,
		})
	}
	h.opts.Recorder.Table(laketap.TableSeen{
		At: at, ID: id, Name: name, Location: l.location, Origin: origin, MetadataLocation: l.metadataLocation,
		Snapshot: l.snapshot, Schema: l.schema, Metadata: l.metadata,
	})
}

// forget drops a table by name, as after a DROP or a rename.
func (x *exchange) forget(name string) {
	x.h.ids.forget(x.key(name))
	x.h.opts.Tables.Forget(x.up.name, x.route.prefix, name)
}
