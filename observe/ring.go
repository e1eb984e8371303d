package observe

import (
	"context"
	"strings"
	"sync"
	"unsafe"

	"github.com/laketap/laketap"
)

const (
	chunkLen = 1024 // accesses per chunk, and looked at under one lock
	maxText  = 2048 // bytes kept of any string of an access
	pageLen  = 1000 // accesses of a page if the query names no limit
)

// accessSize is what an access takes without its strings.
const accessSize = int64(unsafe.Sizeof(laketap.Access{}))

// A ring keeps the most recent accesses. The access with number n lies in slot
// n mod size; slots come in chunks that are made when first used, so that
// neither an idle process pays for all of them nor a busy one for moving them.
type ring struct {
	size     uint64
	maxBytes int64

	mu     sync.Mutex
	chunks [][]laketap.Access
	last   uint64 // number of the newest access; 0: none yet
	oldest uint64 // INVARIANT: all of [oldest, last] are kept; oldest = last+1 if none
	bytes  int64  // INVARIANT: sum of cost over those kept, ≤ maxBytes unless only one is kept
	news   chan struct{}
}

func newRing(size int, maxBytes int64) *ring {
	return &ring{
		size:     uint64(max(size, 1)),
		maxBytes: maxBytes,
		chunks:   make([][]laketap.Access, (max(size, 1)+chunkLen-1)/chunkLen),
		oldest:   1,
	}
}

// add keeps an access and wakes whoever waits for one.
func (r *ring) add(a *laketap.Access) {
	kept := *a
	clip(&kept)
	size := cost(&kept)

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last+1-r.oldest == r.size {
		r.dropOldest()
	}
	for r.oldest <= r.last && r.bytes+size > r.maxBytes {
		r.dropOldest()
	}
	r.last++
	*r.slot(r.last) = kept
	r.bytes += size
	if r.news != nil {
		close(r.news)
		r.news = nil
	}
}

// dropOldest forgets one access; the caller holds the lock.
func (r *ring) dropOldest() {
	slot := r.slot(r.oldest)
	r.bytes -= cost(slot)
	*slot = laketap.Access{}
	r.oldest++
}

// slot returns where access n lies; the caller holds the lock.
func (r *ring) slot(n uint64) *laketap.Access {
	i := n % r.size
	chunk := &r.chunks[i/chunkLen]
	if *chunk == nil {
		*chunk = make([]laketap.Access, min(chunkLen, r.size-i/chunkLen*chunkLen))
	}
	return &(*chunk)[i%chunkLen]
}

// clip bounds the strings of an access. The key is copied even when short: a
// tap may have cut it from a request's whole header buffer, and would keep that
// alive.
func clip(a *laketap.Access) {
	a.Object.Key = strings.Clone(head(a.Object.Key))
	for _, s := range []*string{
		&a.RequestID, &a.Op, &a.Engine.Name, &a.Engine.Version, &a.Principal, &a.Session, &a.Catalog,
		&a.Table.Catalog, &a.Table.Prefix, &a.Table.Ref, &a.Table.UUID, &a.TableName, &a.Object.Origin, &a.Object.Bucket, &a.ETag, &a.Err,
	} {
		if len(*s) > maxText {
			*s = strings.Clone(head(*s))
		}
	}
}

// head returns the beginning of s, at most maxText bytes of it.
func head(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxText)], "\uFFFD") }

// cost returns the bytes that an access keeps alive. Strings that accesses
// share are counted for each: the bound is on the safe side.
func cost(a *laketap.Access) int64 {
	return accessSize + int64(len(a.RequestID)+len(a.Op)+len(a.Engine.Name)+len(a.Engine.Version)+
		len(a.Principal)+len(a.Session)+len(a.Catalog)+
		len(a.Table.Catalog)+len(a.Table.Prefix)+len(a.Table.Ref)+len(a.Table.UUID)+len(a.TableName)+
		len(a.Object.Origin)+len(a.Object.Bucket)+len(a.Object.Key)+len(a.ETag)+len(a.Err))
}

// span returns the numbers of the oldest and the newest access kept, and the
// bytes of all.
func (r *ring) span() (oldest, last uint64, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.oldest, r.last, r.bytes
}

// Wait returns nil as soon as there is an access with a number above after, or
// the context's cause.
func (o *Observer) Wait(ctx context.Context, after uint64) error {
	for {
		news := o.ring.waitFor(after)
		if news == nil {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// waitFor returns nil if there is an access above after, else a channel that
// the next access closes. A number from before a restart lies above all of
// ours and would wait for ever; it counts as behind.
func (r *ring) waitFor(after uint64) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != 0 && r.last != after {
		return nil
	}
	if r.news == nil {
		r.news = make(chan struct{})
	}
	return r.news
}
