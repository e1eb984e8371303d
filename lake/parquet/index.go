package parquet

import (
	"cmp"
	"slices"
)

// placed are the chunks that have one kind of part, by where it lies.
type placed struct {
	order []uint32 // nil if the chunks are in order as they are
	n     int
	// While chunks are read: whether the parts so far ascend with none over
	// another, and where the last one ends. Nearly all files are written so.
	untidy bool
	end    int64
}

// note takes down where the parts of chunk i lie, as chunks are read.
func (l *Layout) note(i int, c *chunk) {
	for p := range parts {
		off, n := c.location(p)
		if n == 0 {
			continue
		}
		k := &l.placed[p]
		if off < k.end || k.n != i { // the second: some chunks lack it
			k.untidy = true
		}
		k.n++
		k.end = off + n
	}
}

// at returns the chunk that is kth by where its part lies.
func (k *placed) at(i int) uint32 {
	if k.order == nil {
		return uint32(i)
	}
	return k.order[i]
}

// index sorts the chunks by where each kind of part lies, so that PartAt can
// search, and sees to it that no byte is claimed twice. Chunks over one another
// are an error: whose the bytes are could only be guessed. A page index or a
// Bloom filter over something else is forgotten.
func (l *Layout) index() error {
	for p := range parts {
		if k := &l.placed[p]; k.untidy {
			k.order = l.order(p, k.n)
		}
	}
	last := int64(headLen)
	for _, i := range l.placed[partChunk].order {
		c := &l.chunks[i]
		if c.start < last {
			return &FormatError{Offset: c.start, What: "column chunks over one another"}
		}
		last = c.end()
	}
	for p := partColumnIndex; p < parts; p++ {
		l.dropOverlaps(p)
	}
	for p := range parts {
		for q := max(p+1, partColumnIndex); q < parts; q++ {
			l.dropClashes(p, q)
		}
	}
	return nil
}

// order returns the n chunks that have part p, by its offset.
func (l *Layout) order(p, n int) []uint32 {
	order := make([]uint32, 0, n)
	ascending, last := true, int64(0)
	for i := range l.chunks {
		off, length := l.chunks[i].location(p)
		if length > 0 {
			order = append(order, uint32(i))
			ascending = ascending && off >= last
			last = off
		}
	}
	if !ascending {
		slices.SortFunc(order, func(a, b uint32) int {
			x, _ := l.chunks[a].location(p)
			y, _ := l.chunks[b].location(p)
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
		})
	}
	return order
}

// dropOverlaps forgets parts of kind p that share bytes with another of it.
func (l *Layout) dropOverlaps(p int) {
	bad := make(map[uint32]struct{})
	end, last := int64(0), uint32(0) // of the part that reaches furthest so far
	for k, i := range l.placed[p].order {
		off, n := l.chunks[i].location(p)
		if k > 0 && off < end {
			bad[i], bad[last] = struct{}{}, struct{}{}
		}
		if off+n > end {
			end, last = off+n, i
		}
	}
	l.forget(p, bad)
}

// dropClashes forgets parts of kind q that share bytes with one of kind p, and
// those of kind p unless they are chunks, which engines cannot do without.
func (l *Layout) dropClashes(p, q int) {
	a, b := &l.placed[p], &l.placed[q]
	if a.n == 0 || b.n == 0 || l.apart(p, q) || l.apart(q, p) {
		return
	}
	badP, badQ := make(map[uint32]struct{}), make(map[uint32]struct{})
	for i, j := 0, 0; i < a.n && j < b.n; {
		x, xn := l.chunks[a.at(i)].location(p)
		y, yn := l.chunks[b.at(j)].location(q)
		if x < y+yn && y < x+xn {
			badP[a.at(i)], badQ[b.at(j)] = struct{}{}, struct{}{}
		}
		if x+xn <= y+yn {
			i++
		} else {
			j++
		}
	}
	l.forget(q, badQ)
	if p != partChunk {
		l.forget(p, badP)
	}
}

// apart reports whether all parts of kind p lie before all of kind q, as is
// usual: then there is nothing to compare.
func (l *Layout) apart(p, q int) bool {
	a, b := &l.placed[p], &l.placed[q]
	off, n := l.chunks[a.at(a.n-1)].location(p)
	first, _ := l.chunks[b.at(0)].location(q)
	return off+n <= first
}

// forget takes part p from these chunks.
func (l *Layout) forget(p int, bad map[uint32]struct{}) {
	if len(bad) == 0 {
		return
	}
	l.ignored += len(bad)
	for i := range bad {
		l.chunks[i].forget(p)
	}
	k := &l.placed[p]
	if k.order == nil {
		k.order = l.order(p, k.n) // of those that are left
	} else {
		k.order = slices.DeleteFunc(k.order, func(i uint32) bool {
			_, ok := bad[i]
			return ok
		})
	}
	k.n = len(k.order)
}

// forget takes part p from the chunk.
func (c *chunk) forget(p int) {
	switch p {
	case partColumnIndex:
		c.columnIndex, c.columnIndexLen = 0, 0
	case partOffsetIndex:
		c.offsetIndex, c.offsetIndexLen = 0, 0
	case partBloom:
		c.bloom, c.bloomLen = 0, 0
	}
}
