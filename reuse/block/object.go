package block

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/laketap/laketap"
)

// An object is what is known and held of one version. Its identity, header
// and size come from one reply of the origin and never change.
type object struct {
	laketap.Object
	id        uint64
	header    []laketap.Field // of a reply for the whole, without what is about one request
	checksums []laketap.Field // of the whole, if the origin was asked for them
	withSums  bool            // it was: checksums is the answer even if empty

	// The rest is guarded by Cache.mu.
	checked time.Time // when the origin was last asked
	order   uint64    // of the latest ask that found this version
	doubt   bool      // found after a crash: the origin is asked before it is used
	pinned  bool
	extents []*extent // sorted by off; INVARIANT: disjoint
	fills   []*fill   // under way
	saved   bool      // the index has its record

	// No longer the cache's; readers of it may still end. Set under Cache.mu.
	dead atomic.Bool
}

// An extent is bytes [off, off+len) of one version, in memory or on disk or
// both. INVARIANT: 0 < len <= maxExtent.
type extent struct {
	o        *object
	off, len int64

	// Guarded by Cache.mu.
	bytes []byte // immutable; nil: on disk only
	place place  // zero: in memory only
	inAll spot
	inRAM spot
	gone  bool
}

func (e *extent) end() int64 { return e.off + e.len }

// at returns the extent that holds a position, or the first one after it.
func (o *object) at(pos int64) (e *extent, holds bool) {
	i := sort.Search(len(o.extents), func(i int) bool { return o.extents[i].end() > pos })
	if i == len(o.extents) {
		return nil, false
	}
	return o.extents[i], o.extents[i].off <= pos
}

// insert adds an extent that overlaps no other.
func (o *object) insert(e *extent) {
	i := sort.Search(len(o.extents), func(i int) bool { return o.extents[i].off >= e.end() })
	o.extents = slices.Insert(o.extents, i, e)
}

// remove takes an extent out.
func (o *object) remove(e *extent) {
	i := sort.Search(len(o.extents), func(i int) bool { return o.extents[i].off >= e.off })
	if i < len(o.extents) && o.extents[i] == e {
		o.extents = slices.Delete(o.extents, i, i+1)
	}
}

// gap returns the first run of bytes in [from, to) that is neither held nor
// on its way; an empty one if there is none.
func (o *object) gap(from, to int64) (off, end int64) {
	for from < to {
		if e, holds := o.at(from); holds {
			from = e.end()
			continue
		}
		if f := o.filling(from); f != nil {
			if to := f.reach(); to > from {
				from = to
				continue
			}
		}
		end = to
		if e, _ := o.at(from); e != nil {
			end = min(end, e.off)
		}
		for _, f := range o.fills {
			if f.off > from {
				end = min(end, f.off)
			}
		}
		return from, end
	}
	return to, to
}

// filling returns the fill that a position is to come from, nil if there is none.
func (o *object) filling(pos int64) *fill {
	for _, f := range o.fills {
		if f.covers(pos) {
			return f
		}
	}
	return nil
}

// resolve returns the bytes [off, end) that a range names in an object of a
// size (RFC 9110 §14.1.2); ok is false if it names none, which is the
// origin's to say.
func resolve(r laketap.Range, size int64) (off, end int64, ok bool) {
	switch {
	case !r.Set:
		return 0, size, true
	case r.Suffix > 0:
		return max(0, size-r.Suffix), size, size > 0
	case r.From < 0 || r.From >= size:
		return 0, 0, false
	case r.To < 0 || r.To >= size:
		return r.From, size, true
	}
	return r.From, r.To + 1, r.To >= r.From
}

// ofRequest are header fields that are about one request or one part of an
// object, and not about the object.
const ofRequest = " date content-length content-range connection keep-alive x-amz-request-id x-amz-id-2 x-amz-mp-parts-count transfer-encoding" +
	" retry-after age via x-cache "

// parted splits an origin's reply header into what is the object's and the
// checksums of it. Those of a part are nobody's.
func parted(header []laketap.Field, whole bool) (own, checksums []laketap.Field) {
	for _, f := range header {
		switch lower := strings.ToLower(f.Name); {
		case strings.HasPrefix(lower, "x-amz-checksum-"):
			if whole {
				checksums = append(checksums, f)
			}
		case !strings.Contains(ofRequest, " "+lower+" "):
			own = append(own, f)
		}
	}
	return own, checksums
}

// field returns the first value of a header field, "" if there is none.
func field(header []laketap.Field, name string) string {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// contentRange parses "bytes from-to/total" (RFC 9110 §14.4). ok is false for
// everything else, also an unknown total: we could not say what it is a part of.
func contentRange(s string) (from, to, total int64, ok bool) {
	s, found := strings.CutPrefix(s, "bytes ")
	span, size, parted := strings.Cut(s, "/")
	first, last, ranged := strings.Cut(span, "-")
	if !found || !parted || !ranged {
		return 0, 0, 0, false
	}
	for _, n := range []struct {
		s string
		v *int64
	}{{first, &from}, {last, &to}, {size, &total}} {
		v, err := strconv.ParseUint(n.s, 10, 63)
		if err != nil {
			return 0, 0, 0, false
		}
		*n.v = int64(v) //nolint:gosec // 63 bits
	}
	return from, to, total, from <= to && to < total
}
