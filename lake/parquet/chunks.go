package parquet

import (
	"math"
	"strconv"
)

// A chunk is one column of one row group, as small as it can be: there are
// columns × row groups of them.
type chunk struct {
	start, data    int64 // of the chunk, and of its first data page
	size, raw      int64 // bytes stored, and uncompressed
	values         int64
	columnIndex    int64 // offsets; 0 is none
	offsetIndex    int64
	bloom          int64
	columnIndexLen int32
	offsetIndexLen int32
	bloomLen       int32
	stats          uint32 // where Statistics begin in the metadata; 0 is none
	encodings      Encodings
	codec          Codec
	external       bool // in another file
}

// end returns the offset of the first byte behind the chunk.
func (c *chunk) end() int64 { return c.start + c.size }

// A rowGroup is what a row group says of itself.
type rowGroup struct {
	rows, raw, size int64
	ordinal         int32 // -1 is not told
}

// minChunk is the least a ColumnChunk takes with all that this package needs.
const minChunk = 15

// rowGroups reads the list of row groups. All chunks share one array, whose
// size is known and checked before it is made.
func (l *Layout) rowGroups(s *scanner, opts *Options) {
	columns := len(l.schema.leaves)
	groups := s.list(tList, tStruct, 1+columns*minChunk)
	if s.err != nil {
		return
	}
	// A row group costs memory even if it has no columns.
	if n := int64(groups) * int64(max(columns, 1)); n > int64(opts.MaxChunks) {
		s.stop(&LimitError{What: "column chunks", Got: n, Most: int64(opts.MaxChunks)})
		return
	}
	l.groups = make([]rowGroup, groups)
	l.chunks = make([]chunk, groups*columns)
	for g := range l.groups {
		l.rowGroup(s, g)
		if s.err != nil {
			s.err = inPart(s.err, "row group", g)
			return
		}
	}
}

// inPart adds to a format error in which part of the file it was noticed.
func inPart(err error, part string, i int) error {
	if e, ok := err.(*FormatError); ok { //nolint:errorlint // made here, never wrapped
		e.What = part + " " + strconv.Itoa(i) + ": " + e.What
	}
	return err
}

// rowGroup reads RowGroup g.
func (l *Layout) rowGroup(s *scanner, g int) {
	var seen uint64
	group := &l.groups[g]
	group.ordinal = -1
	for id, typ := s.field(0); typ != tStop; id, typ = s.field(id) {
		if !s.once(&seen, id) {
			return
		}
		switch id {
		case 1:
			l.columnChunks(s, typ, g)
		case 2:
			group.raw = s.count(typ)
		case 3:
			group.rows = s.count(typ)
		case 6:
			group.size = s.count(typ)
		case 7:
			group.ordinal = s.ordinal(typ)
		default:
			s.skip(typ)
		}
	}
	const needs = 1<<1 | 1<<3
	if s.err == nil && seen&needs != needs {
		s.fail(s.p, "no columns, or no number of rows")
	}
}

// ordinal reads the place of a row group. Writers count past what the field
// holds and go on below zero: that tells nothing.
func (s *scanner) ordinal(typ byte) int32 {
	if !s.want(typ, tI16) {
		return -1
	}
	v := s.narrow()
	if v > math.MaxInt16 || v < math.MinInt16 {
		s.fail(s.p, "integer of more than 16 bits")
	}
	return max(v, -1)
}

// columnChunks reads the columns of row group g, which stand in the order of
// the leaves of the schema.
func (l *Layout) columnChunks(s *scanner, typ byte, g int) {
	columns := len(l.schema.leaves)
	if n := s.list(typ, tStruct, 1); s.err == nil && n != columns {
		s.fail(s.p, strconv.Itoa(n)+" column chunks where the schema has "+strconv.Itoa(columns))
	}
	for i := 0; i < columns && s.err == nil; i++ {
		at := s.p
		c := &l.chunks[g*columns+i]
		l.columnChunk(s, c, i)
		if s.err == nil {
			if problem := c.check(l.start); problem != "" {
				s.fail(at, problem)
			}
			l.ignored += c.dropStray(l.start)
			l.note(g*columns+i, c)
		}
		if s.err != nil {
			s.err = inPart(s.err, "column", i)
		}
	}
}

// columnChunk reads one ColumnChunk of the leaf.
func (l *Layout) columnChunk(s *scanner, c *chunk, leaf int) {
	var seen uint64
	for id, typ := s.field(0); typ != tStop && s.once(&seen, id); id, typ = s.field(id) {
		switch id {
		case 1:
			c.external = len(s.binary(typ)) > 0
		case 3:
			if s.want(typ, tStruct) {
				l.columnMetaData(s, c, leaf)
			}
		case 4:
			c.offsetIndex = s.spare(typ, tI64)
		case 5:
			c.offsetIndexLen = int32(s.spare(typ, tI32))
		case 6:
			c.columnIndex = s.spare(typ, tI64)
		case 7:
			c.columnIndexLen = int32(s.spare(typ, tI32))
		case 8, 9:
			s.stop(&EncryptedError{})
		default:
			s.skip(typ)
		}
	}
	if seen&(1<<3) == 0 {
		s.fail(s.p, "no metadata")
	}
}

// columnNeeds are the fields of ColumnMetaData that must be there, as bits.
const columnNeeds = 1<<1 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<9

// columnMetaData reads ColumnMetaData.
func (l *Layout) columnMetaData(s *scanner, c *chunk, leaf int) {
	var seen uint64
	dictionary := int64(0)
	for id, typ := s.field(0); typ != tStop; id, typ = s.field(id) {
		if !s.once(&seen, id) {
			return
		}
		switch id {
		case 1:
			if s.physical(typ) != l.schema.nodes[l.schema.leaves[leaf]].physical {
				s.fail(s.p, "another type than in the schema")
			}
		case 2:
			c.encodings = s.encodings(typ)
		case 3:
			l.schema.matchPath(s, typ, leaf)
		case 4:
			c.codec = s.codec(typ)
		case 5:
			c.values = s.count(typ)
		case 6:
			c.raw = s.count(typ)
		case 7:
			c.size = s.count(typ)
		case 9:
			c.data = s.i64(typ)
		case 11:
			dictionary = s.i64(typ)
		case 12:
			c.stats = uint32(s.p)
			if s.want(typ, tStruct) {
				s.skip(typ)
			}
		case 14:
			c.bloom = s.spare(typ, tI64)
		case 15:
			c.bloomLen = int32(s.spare(typ, tI32))
		default:
			s.skip(typ)
		}
	}
	if s.err == nil && seen&columnNeeds != columnNeeds {
		s.fail(s.p, "column metadata without a required field")
	}
	c.place(dictionary)
}

// encodings reads the list of encodings as a set.
func (s *scanner) encodings(typ byte) (set Encodings) {
	for range s.list(typ, tI32, 1) {
		e := s.narrow()
		if e < 0 || e >= int32(OtherEncoding) {
			e = int32(OtherEncoding)
		}
		set |= 1 << e
	}
	return set
}

// codec reads enum CompressionCodec.
func (s *scanner) codec(typ byte) Codec {
	v := s.i32(typ)
	if v < 0 || v > 255 {
		s.fail(s.p, "unknown codec")
		return 0
	}
	return Codec(v)
}

// matchPath fails if path_in_schema is not that of the leaf. Some engines find
// a chunk by its path, others by its place; where the two differ, they read
// different columns.
func (t *schema) matchPath(s *scanner, typ byte, leaf int) {
	i := t.leaves[leaf]
	depth := t.nodes[i].depth
	if depth > 1 {
		t.matchLongPath(s, typ, i, depth)
		return
	}
	if s.list(typ, tBinary, 1) != 1 {
		s.fail(s.p, "path of another depth than in the schema")
	} else if string(s.bytes()) != t.name(i) {
		s.fail(s.p, "another path than in the schema")
	}
}

// matchLongPath is matchPath for leaf i, which has groups above it.
func (t *schema) matchLongPath(s *scanner, typ byte, i, depth int32) {
	var chain [maxDepth]int32 // nodes from below the root to the leaf
	for d := depth - 1; d >= 0; d-- {
		chain[d] = i
		i = t.nodes[i].parent
	}
	n := s.list(typ, tBinary, 1)
	if s.err == nil && n != int(depth) {
		s.fail(s.p, "path of another depth than in the schema")
		return
	}
	for _, i := range chain[:depth] {
		if string(s.bytes()) != t.name(i) {
			s.fail(s.p, "another path than in the schema")
			return
		}
	}
}
