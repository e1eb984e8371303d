package parquet

import (
	"iter"
	"unsafe"

	"github.com/laketap/laketap"
)

// A Layout is the map of one Parquet file. It does not change, so it is safe
// for concurrent use.
type Layout struct {
	size, start int64 // of the file, and where its footer starts
	version     int32
	rows        int64
	createdBy   string
	schema      *schema
	orders      []Order // a leaf each; nil: not told
	groups      []rowGroup
	chunks      []chunk // [group*columns+column]
	placed      [parts]placed
	ignored     int
	meta        []byte // nil: dropped
	keyValues   span
}

// Size returns the size of the file in bytes.
func (l *Layout) Size() int64 { return l.size }

// Footer returns where the footer lies: metadata, its length, magic number.
func (l *Layout) Footer() laketap.Extent {
	return laketap.Extent{Off: l.start, Len: l.size - l.start}
}

// Version returns what the file calls its version.
func (l *Layout) Version() int { return int(l.version) }

// CreatedBy names the program that wrote the file, "" if it does not say.
func (l *Layout) CreatedBy() string { return l.createdBy }

// Rows returns the number of rows in the file.
func (l *Layout) Rows() int64 { return l.rows }

// Ignored counts locations of page indexes and Bloom filters that the footer
// gives and that cannot be true: outside the file, or over one another.
func (l *Layout) Ignored() int { return l.ignored }

// Memory returns about how many bytes the layout holds, its footer included.
func (l *Layout) Memory() int {
	n := int(unsafe.Sizeof(*l)) + len(l.createdBy) + cap(l.meta) + cap(l.orders)
	n += int(unsafe.Sizeof(chunk{}))*cap(l.chunks) + int(unsafe.Sizeof(rowGroup{}))*cap(l.groups)
	n += int(unsafe.Sizeof(node{}))*cap(l.schema.nodes) + 4*cap(l.schema.leaves) + len(l.schema.names)
	for p := range l.placed {
		n += 4 * cap(l.placed[p].order)
	}
	return n
}

// A RowGroup is a horizontal slice of the file.
type RowGroup struct {
	Rows         int64
	Uncompressed int64 // total_byte_size, as the writer counted it
	Compressed   int64 // the sum of its chunks in this file
	Ordinal      int   // -1: not told
}

// NumRowGroups returns how many row groups there are.
func (l *Layout) NumRowGroups() int { return len(l.groups) }

// RowGroup returns row group g.
func (l *Layout) RowGroup(g int) RowGroup {
	group := &l.groups[g]
	r := RowGroup{Rows: group.rows, Uncompressed: group.raw, Ordinal: int(group.ordinal)}
	for c := range l.schema.leaves {
		if k := l.at(g, c); k.held() {
			r.Compressed += k.size
		}
	}
	return r
}

// A Chunk is one column of one row group. Extents of Len 0 are absent.
type Chunk struct {
	Extent       laketap.Extent // its pages, dictionary included: what to read
	Dictionary   laketap.Extent // its dictionary page, a part of Extent
	ColumnIndex  laketap.Extent
	OffsetIndex  laketap.Extent
	Bloom        laketap.Extent // Off alone if the writer gave no length
	Values       int64          // nulls and empty lists included
	Uncompressed int64
	Codec        Codec
	Encodings    Encodings
	External     bool // in another file (a "_metadata" file): no extents here
}

// Chunk returns column c of row group g.
func (l *Layout) Chunk(g, c int) Chunk {
	k := l.at(g, c)
	out := Chunk{
		ColumnIndex:  laketap.Extent{Off: k.columnIndex, Len: int64(k.columnIndexLen)},
		OffsetIndex:  laketap.Extent{Off: k.offsetIndex, Len: int64(k.offsetIndexLen)},
		Bloom:        laketap.Extent{Off: k.bloom, Len: int64(k.bloomLen)},
		Values:       k.values,
		Uncompressed: k.raw,
		Codec:        k.codec,
		Encodings:    k.encodings,
		External:     k.external,
	}
	if k.held() {
		out.Extent = laketap.Extent{Off: k.start, Len: k.size}
	}
	if k.held() && k.data > k.start {
		out.Dictionary = laketap.Extent{Off: k.start, Len: k.data - k.start}
	}
	return out
}

// at returns the chunk of column c in row group g.
func (l *Layout) at(g, c int) *chunk {
	if c < 0 || c >= len(l.schema.leaves) {
		panic("parquet: no such column") // as an index out of range would
	}
	return &l.chunks[g*len(l.schema.leaves)+c]
}

// held reports whether the chunk has bytes in this file.
func (c *chunk) held() bool { return c.size > 0 && !c.external }

// KeyValues yields the file's own key-value pairs, all of them: they were read
// once with the rest of the footer, so nothing can be wrong with them. There
// are none if the footer was dropped.
func (l *Layout) KeyValues() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		if l.keyValues.to == 0 {
			return
		}
		s := &scanner{b: l.meta[:l.keyValues.to], p: int(l.keyValues.from)}
		s.pairs(tList, func(key, value []byte) bool { return yield(string(key), string(value)) })
	}
}
