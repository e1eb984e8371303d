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

// An order says which extents are given up first. What comes back soon after it
// went, or is worth more by its meaning, begins in the large queue. Guarded by
// Cache.mu.
type order struct {
	queues

	seed   maphash.Seed
	ghosts map[uint64]bool // extents that went lately
	gone   []uint64        // the same, in the order in which they went
}

const (
	worthy    = 4 // a weight from which on an extent begins in the large queue
	minGhosts = 1024
)

func newOrder() order {
	at := func(e *extent) *spot { return &e.inAll }
	return order{queues: newQueues(at, 2), seed: maphash.MakeSeed(), ghosts: map[uint64]bool{}}
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

// least returns the extent to give up next, nil if there is none. Pinned ones
// are passed over.
func (o *order) least() *extent {
	e := o.victim(o.bytes(), func(e *extent, _ *queue) *queue {
		if e.o.pinned {
			return &o.large
		}
		return nil
	})
	if e != nil && e.inAll.in == &o.small {
		o.remember(e)
	}
	return e
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
