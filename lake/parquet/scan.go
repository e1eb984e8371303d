package parquet

import "math"

// Types of the compact protocol, as they stand in field and list headers.
const (
	tStop   = 0
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI16    = 4
	tI32    = 5
	tI64    = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tSet    = 10
	tMap    = 11
	tStruct = 12
	tUUID   = 13
)

// maxNesting bounds how deep structs, lists and maps of fields that are passed
// over may nest. The format itself needs six.
const maxNesting = 32

// A scanner reads the compact protocol from bytes that may be hostile. The
// first trouble is kept in err and moves it to the end of its bytes, so that
// every loop over fields ends; reads after that return zero values.
type scanner struct {
	b    []byte
	p    int
	base int64 // of b[0] in the file, for errors
	err  error
}

// fail keeps the first trouble. what names it; at is an offset within b.
func (s *scanner) fail(at int, what string) {
	if s.err == nil {
		s.err = &FormatError{Offset: s.base + int64(at), What: what}
	}
	s.p = len(s.b)
}

// stop is fail for an error that is not about the format.
func (s *scanner) stop(err error) {
	if s.err == nil {
		s.err = err
	}
	s.p = len(s.b)
}

// left returns how many bytes are left.
func (s *scanner) left() int { return len(s.b) - s.p }

// uvarint reads an unsigned varint.
func (s *scanner) uvarint() uint64 {
	b, p := s.b, s.p
	var v uint64
	for shift := uint(0); shift < 70 && p < len(b); shift += 7 {
		c := b[p]
		p++
		if c < 0x80 {
			if shift == 63 && c > 1 { // the tenth byte holds the 64th bit only
				break
			}
			s.p = p
			return v | uint64(c)<<shift
		}
		v |= uint64(c&0x7f) << shift
	}
	if p == len(b) {
		s.fail(p, "varint cut short")
	} else {
		s.fail(s.p, "varint of more than 64 bits")
	}
	return 0
}

// varint reads a zigzag varint.
func (s *scanner) varint() int64 {
	u := s.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// field reads the header of the next field of a struct, given the id of the
// one before (0 at first). Type tStop is the end of the struct. This is the
// short form, small enough to be inlined: an id by its distance, and the end.
func (s *scanner) field(last int) (id int, typ byte) {
	if s.p < len(s.b) {
		if c := s.b[s.p]; c == 0 || c > 0xf && (c-1)&0xf < tUUID {
			s.p++
			return last + int(c>>4), c & 0xf
		}
	}
	return s.longField()
}

// longField reads the header of a field whose id stands in full, and fails for
// those that cannot be.
func (s *scanner) longField() (id int, typ byte) {
	if s.p >= len(s.b) {
		s.fail(len(s.b), "struct cut short")
		return 0, tStop
	}
	c := s.b[s.p]
	s.p++
	if (c-1)&0xf >= tUUID {
		s.fail(s.p-1, "field of an unknown type")
		return 0, tStop
	}
	wide := s.varint()
	if wide > math.MaxInt16 || wide < math.MinInt16 {
		s.fail(s.p, "field id of more than 16 bits")
	}
	if s.err != nil {
		return 0, tStop
	}
	return int(wide), c & 0xf
}

// want fails if a field that the format defines has another type than it says:
// what it holds would have to be guessed.
func (s *scanner) want(typ, want byte) bool {
	if typ == want {
		return true
	}
	s.fail(s.p, "field of another type than the format says")
	return false
}

// i64 reads an integer of 64 bits.
func (s *scanner) i64(typ byte) int64 {
	if !s.want(typ, tI64) {
		return 0
	}
	return s.varint()
}

// i32 reads an integer of 32 bits.
func (s *scanner) i32(typ byte) int32 {
	if !s.want(typ, tI32) {
		return 0
	}
	return s.narrow()
}

// natural reads an integer of 32 bits that is never negative.
func (s *scanner) natural(typ byte) int32 {
	n := s.i32(typ)
	if n < 0 {
		s.fail(s.p, "negative number")
	}
	return n
}

// count reads a count or a size of 64 bits, which is never negative.
func (s *scanner) count(typ byte) int64 {
	n := s.i64(typ)
	if n < 0 {
		s.fail(s.p, "negative count or size")
	}
	return n
}

// narrow reads a zigzag varint that must fit into 32 bits.
func (s *scanner) narrow() int32 {
	if s.p < len(s.b) && s.b[s.p] < 0x80 { // most are enums and counts
		u := s.b[s.p]
		s.p++
		return int32(u>>1) ^ -int32(u&1)
	}
	v := s.varint()
	if v > math.MaxInt32 || v < math.MinInt32 {
		s.fail(s.p, "integer of more than 32 bits")
		return 0
	}
	return int32(v)
}

// spare reads an integer that engines can do without. If it has another type it
// is passed over, as generated readers do: Dremio has used the id of a later
// field for something else.
func (s *scanner) spare(typ, want byte) int64 {
	switch {
	case typ != want:
		s.skip(typ)
		return 0
	case want == tI32:
		return int64(s.narrow())
	}
	return s.varint()
}

// boolean reads a boolean field, whose value is its type.
func (s *scanner) boolean(typ byte) bool {
	if typ != tTrue && typ != tFalse {
		s.want(typ, tTrue)
	}
	return typ == tTrue
}

// binary reads a string or binary field. The result is part of b.
func (s *scanner) binary(typ byte) []byte {
	if !s.want(typ, tBinary) {
		return nil
	}
	return s.bytes()
}

// bytes reads a length and as many bytes.
func (s *scanner) bytes() []byte {
	n := s.uvarint()
	if n > uint64(s.left()) {
		s.fail(s.p, "string longer than the footer")
		return nil
	}
	v := s.b[s.p : s.p+int(n) : s.p+int(n)]
	s.p += int(n)
	return v
}

// list reads the header of a list field whose elements have the given type and
// take at least least bytes each. A count that cannot be true fails here,
// before anything is allocated for it.
func (s *scanner) list(typ, elem byte, least int) int {
	if !s.want(typ, tList) {
		return 0
	}
	n, got := s.listHeader()
	if n > 0 && got != elem {
		s.fail(s.p, "list of another type than the format says")
		return 0
	}
	if n > s.left()/least {
		s.fail(s.p, "list longer than the footer")
		return 0
	}
	return n
}

// listHeader reads the header of a list or set: how many, of which type. There
// are never more elements than bytes left, for each takes one at least.
func (s *scanner) listHeader() (n int, elem byte) {
	if s.p >= len(s.b) {
		s.fail(len(s.b), "list cut short")
		return 0, 0
	}
	c := s.b[s.p]
	s.p++
	count := uint64(c >> 4)
	if count == 15 {
		count = s.uvarint()
	}
	if count > uint64(s.left()) {
		s.fail(s.p, "list longer than the footer")
		return 0, 0
	}
	return int(count), c & 0xf
}
