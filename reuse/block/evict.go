package block

import (
	"encoding/binary"
	"hash/maphash"
	"strings"

	"github.com/laketap/laketap"
)

// A Subject is an extent as it is judged: which bytes of which version.
type Subject struct {
	laketap.Object
	Off, Len int64
}

// Prior is what an extent is worth by its place in the format alone, against
// column data. Metadata is read by every query, a file's tail by every reader
// of the file, and a column by those who want the column.
func Prior(s Subject) float64 {
	key := s.Key
	switch {
	case strings.HasSuffix(key, ".metadata.json"), strings.HasSuffix(key, ".avro") && strings.Contains(key, "/metadata/"):
		return 16
	case strings.HasSuffix(key, ".puffin"), strings.Contains(key, "/metadata/"):
		return 8
	case s.Off+s.Len == s.Size && s.Off > 0:
		return 8 // a footer, or what was read with one
	}
	return 1
}

// An order says which extents are given up first: S3-FIFO (Yang et al., "FIFO
// queues are all you need for cache eviction", SOSP 2023) over bytes. What is
// read once passes through the small queue and is gone; what is read again, or
// comes back soon after it went, moves to the large one, so that a scan does not
// push out what everybody needs. What is worth more by its meaning begins as if
// it had been read already. Guarded by Cache.mu.
type order struct {
	small, large queue

	seed   maphash.Seed
	ghosts map[uint64]bool // extents that went lately
	gone   []uint64        // the same, in the order in which they went
}

const (
	maxUsed   = 3  // how many rounds of the large queue an extent's past is worth
	smallPart = 10 // the small queue has a tenth of the bytes
	worthy    = 4  // a weight from which on an extent begins in the large queue
	minGhosts = 1024
)

func newOrder() order {
	at := func(e *extent) *spot { return &e.inAll }
	return order{small: queue{at: at}, large: queue{at: at}, seed: maphash.MakeSeed(), ghosts: map[uint64]bool{}}
}

// add takes in an extent.
func (o *order) add(e *extent, weight float64) {
	name := o.name(e)
	e.inAll.used = 0
	if o.ghosts[name] || weight >= worthy {
		delete(o.ghosts, name)
		o.large.push(e)
		return
	}
	o.small.push(e)
}

// remove takes an extent out, if it is in.
func (o *order) remove(e *extent) {
	if q := e.inAll.in; q != nil {
		q.remove(e)
	}
}

// least returns the extent to give up next, nil if there is none. Pinned ones
// are passed over.
func (o *order) least() *extent {
	// Each extent is moved at most maxUsed+2 times before one is found.
	for steps := (o.small.n + o.large.n + 1) * (maxUsed + 2); steps > 0; steps-- {
		q := &o.large
		if o.small.bytes > (o.small.bytes+o.large.bytes)/smallPart || o.large.last == nil {
			q = &o.small
		}
		e := q.last
		if e == nil {
			return nil
		}
		switch used := e.inAll.used; {
		case e.o.pinned:
			q.remove(e)
			o.large.push(e)
		case q == &o.small && used > 1:
			q.remove(e)
			o.large.push(e)
			e.inAll.used = 0
		case q == &o.large && used > 0:
			q.remove(e)
			q.push(e)
			e.inAll.used = used - 1
		default:
			if q == &o.small {
				o.remember(e)
			}
			return e
		}
	}
	return nil
}

// remember notes that an extent goes, for as many as there are extents.
func (o *order) remember(e *extent) {
	name := o.name(e)
	o.ghosts[name] = true
	o.gone = append(o.gone, name)
	for len(o.gone) > max(minGhosts, o.small.n+o.large.n) {
		delete(o.ghosts, o.gone[0])
		o.gone = o.gone[1:]
	}
}

// name is what an extent is known by after it went: bytes of a version from an
// offset on.
func (o *order) name(e *extent) uint64 {
	var h maphash.Hash
	h.SetSeed(o.seed)
	_, _ = h.WriteString(e.o.Bucket)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(e.o.Key)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(e.o.ETag)
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(e.off))) //nolint:gosec // not negative
	return h.Sum64()
}
