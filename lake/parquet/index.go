package parquet

import (
	"cmp"
	"slices"
)

// index sorts the chunks by where each kind of part lies, so that PartAt can
// search, and sees to it that no byte is claimed twice. Chunks over one another
// are an error: whose the bytes are could only be guessed. A page index or a
// Bloom filter over something else is forgotten.
func (l *Layout) index() error {
	for p := range parts {
		l.sorted[p] = l.order(p)
	}
	last := int64(headLen)
	for _, i := range l.sorted[partChunk] {
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

// order returns the chunks that have part p, by its offset. Nearly all files
// are written in that order.
func (l *Layout) order(p int) []uint32 {
	n, ascending, last := 0, true, int64(0)
	for i := range l.chunks {
		if off, length := l.chunks[i].location(p); length > 0 {
			n++
			ascending = ascending && off >= last
			last = off
		}
	}
	if n == 0 {
		return nil
	}
	order := make([]uint32, 0, n)
	for i := range l.chunks {
		if _, length := l.chunks[i].location(p); length > 0 {
			order = append(order, uint32(i))
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
	for k, i := range l.sorted[p] {
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
	a, b := l.sorted[p], l.sorted[q]
	if len(a) == 0 || len(b) == 0 || l.apart(p, q) || l.apart(q, p) {
		return
	}
	badP, badQ := make(map[uint32]struct{}), make(map[uint32]struct{})
	for len(a) > 0 && len(b) > 0 {
		x, xn := l.chunks[a[0]].location(p)
		y, yn := l.chunks[b[0]].location(q)
		if x < y+yn && y < x+xn {
			badP[a[0]], badQ[b[0]] = struct{}{}, struct{}{}
		}
		if x+xn <= y+yn {
			a = a[1:]
		} else {
			b = b[1:]
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
	a, b := l.sorted[p], l.sorted[q]
	off, n := l.chunks[a[len(a)-1]].location(p)
	first, _ := l.chunks[b[0]].location(q)
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
	l.sorted[p] = slices.DeleteFunc(l.sorted[p], func(i uint32) bool {
		_, ok := bad[i]
		return ok
	})
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
