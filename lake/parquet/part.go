package parquet

import (
	"iter"
	"math"
	"sort"

	"github.com/laketap/laketap"
)

// A Kind is what a byte range of a file is.
type Kind uint8

// The kinds of parts.
const (
	Unknown     Kind = iota // not explained by the footer: padding, or foreign
	Magic                   // the four bytes at the start
	Footer                  // metadata, its length and the magic number behind it
	ColumnChunk             // pages of one column of one row group
	Dictionary              // the dictionary page of a column chunk
	ColumnIndex             // one half of a chunk's page index
	OffsetIndex             // the other
	BloomFilter
)

var kindNames = []string{
	"unknown", "magic", "footer", "column chunk", "dictionary", "column index", "offset index", "bloom filter",
}

// String returns the word for the kind.
func (k Kind) String() string { return nameOf(kindNames, int(k), "Kind") }

// A Part is a byte range of a file and what it is. RowGroup, Column and Field
// are -1 for parts that belong to no column chunk; Column is a leaf, Field as
// in [Column].
type Part struct {
	Kind                    Kind
	RowGroup, Column, Field int
	// Extent is the whole part; of a column chunk, its dictionary included.
	Extent laketap.Extent
}

// What a chunk can have in a file, as indexes of Layout.placed.
const (
	partChunk = iota
	partColumnIndex
	partOffsetIndex
	partBloom
	parts
)

var partKinds = [parts]Kind{ColumnChunk, ColumnIndex, OffsetIndex, BloomFilter}

// location returns where part p of the chunk is; n is 0 if it has none.
func (c *chunk) location(p int) (off, n int64) {
	switch p {
	case partColumnIndex:
		return c.columnIndex, int64(c.columnIndexLen)
	case partOffsetIndex:
		return c.offsetIndex, int64(c.offsetIndexLen)
	case partBloom:
		return c.bloom, int64(c.bloomLen)
	}
	if c.external {
		return 0, 0
	}
	return c.start, c.size
}

// PartAt returns the part that the byte at off belongs to, and Unknown with
// the extent of the gap if the footer does not explain it. Outside of the file
// the extent is empty.
func (l *Layout) PartAt(off int64) Part {
	none := Part{Kind: Unknown, RowGroup: -1, Column: -1, Field: NoField}
	switch {
	case off < 0 || off >= l.size:
		none.Extent.Off = off
		return none
	case off >= l.start:
		none.Kind, none.Extent = Footer, l.Footer()
		return none
	case off < headLen:
		none.Kind, none.Extent = Magic, laketap.Extent{Len: headLen}
		return none
	}
	from, to := int64(headLen), l.start // of the gap
	for p := range parts {
		part, before, after := l.find(p, off)
		if part.Kind != Unknown {
			return part
		}
		from, to = max(from, before), min(to, after)
	}
	none.Extent = laketap.Extent{Off: from, Len: to - from}
	return none
}

// find returns the part of kind p at off; if there is none, the offsets between
// which there is none.
func (l *Layout) find(p int, off int64) (part Part, from, to int64) {
	order := &l.placed[p]
	k := sort.Search(order.n, func(k int) bool {
		start, _ := l.chunks[order.at(k)].location(p)
		return start > off
	})
	to = math.MaxInt64
	if k < order.n {
		to, _ = l.chunks[order.at(k)].location(p)
	}
	if k == 0 {
		return Part{}, 0, to
	}
	i := int(order.at(k - 1))
	start, n := l.chunks[i].location(p)
	if off >= start+n {
		return Part{}, start + n, to
	}
	return l.part(p, i, off), 0, 0
}

// part describes part p of chunk i; if that is the chunk itself, the part of
// it at off.
func (l *Layout) part(p, i int, off int64) Part {
	c := &l.chunks[i]
	columns := len(l.schema.leaves)
	start, n := c.location(p)
	part := Part{
		Kind:     partKinds[p],
		RowGroup: i / columns,
		Column:   i % columns,
		Field:    l.schema.field(l.schema.leaves[i%columns]),
		Extent:   laketap.Extent{Off: start, Len: n},
	}
	if p == partChunk && off < c.data {
		part.Kind, part.Extent.Len = Dictionary, c.data-start
	}
	return part
}

// Parts yields the parts that a byte range touches, ascending. Each has its
// whole extent, also where that reaches beyond the range.
func (l *Layout) Parts(e laketap.Extent) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		off, end := max(e.Off, 0), l.size
		if e.Len < end-off {
			end = off + e.Len
		}
		for off < end {
			part := l.PartAt(off)
			next := part.Extent.Off + part.Extent.Len
			if next <= off || !yield(part) {
				return
			}
			off = next
		}
	}
}
