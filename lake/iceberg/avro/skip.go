package avro

import (
	"encoding/binary"
	"math/bits"
)

// Skip passes over a value. The work is bounded by the bytes it takes.
func (c *Cursor) Skip(t *Type) {
	if t.zero || c.err != nil {
		return
	}
	if c.depth++; c.depth > maxDataDepth {
		c.err = over("records inside records", maxDataDepth+1, maxDataDepth)
		c.pos = len(c.buf)
		return
	}
	switch t.Kind {
	case Boolean:
		c.Fixed(1)
	case Int, Long, Enum:
		c.skipVarints(1)
	case Float:
		c.Fixed(4)
	case Double:
		c.Fixed(8)
	case Fixed:
		c.Fixed(t.Size)
	case Bytes, String:
		c.Bytes()
	case Record:
		c.skipSteps(t.skip)
	case Array:
		c.skipItems(t.Elem)
	case Map:
		c.skipEntries(t.Elem)
	case Union:
		c.Skip(c.branch(t))
	}
	c.depth--
}

// branch decodes which branch of a union comes.
func (c *Cursor) branch(t *Type) *Type {
	i := c.Long()
	if i < 0 || i >= int64(len(t.Branches)) {
		c.Fail("branch %d of a union of %d", i, len(t.Branches))
		return t
	}
	return t.Branches[i]
}

// skipSteps passes over the fields of a record.
func (c *Cursor) skipSteps(steps []step) {
	for i := range steps {
		switch s := &steps[i]; {
		case s.varints > 0:
			c.skipVarints(s.varints)
		case s.typ == nil:
			c.Fixed(s.size)
		case s.typ.Kind == Bytes || s.typ.Kind == String:
			c.Bytes()
		default:
			c.Skip(s.typ)
		}
		if c.err != nil {
			return
		}
	}
}

// skipItems passes over an array. A run that states its size is not taken at its
// word: what is not wanted must read as what is.
func (c *Cursor) skipItems(elem *Type) {
	for c.err == nil {
		run := c.Items(minBytes(elem))
		if run.N == 0 {
			return
		}
		c.skipRun(elem, run.N)
		c.Ran(run)
	}
}

// skipRun passes over n items of an array.
func (c *Cursor) skipRun(elem *Type, n int) {
	switch {
	case elem.zero:
	case elem.Kind == Record && len(elem.skip) == 1 && elem.skip[0].varints > 0:
		c.skipVarints(n * elem.skip[0].varints)
	case elem.Kind == Record && isPair(elem.skip):
		c.skipPairs(n, elem.skip[0].varints)
	case elem.Kind == Record:
		for ; n > 0 && c.err == nil; n-- {
			c.skipSteps(elem.skip)
		}
	default:
		for ; n > 0 && c.err == nil; n-- {
			c.Skip(elem)
		}
	}
}

// isPair tells whether records are numbers and then bytes, as bounds are.
func isPair(s []step) bool {
	return len(s) == 2 && s[0].varints > 0 && s[1].typ != nil && (s[1].typ.Kind == Bytes || s[1].typ.Kind == String)
}

// skipPairs passes over n times some numbers and bytes.
func (c *Cursor) skipPairs(n, varints int) {
	for ; n > 0 && c.err == nil; n-- {
		if varints == 1 && c.pos+1 < len(c.buf) && c.buf[c.pos] < 0x80 && c.buf[c.pos+1] < 0x80 {
			// One byte each, the common case. An odd one is a negative length.
			size := c.buf[c.pos+1]
			if next := c.pos + 2 + int(size>>1); size&1 == 0 && next <= len(c.buf) {
				c.pos = next
				continue
			}
		}
		c.skipVarints(varints)
		c.Bytes()
	}
}

// skipEntries passes over a map.
func (c *Cursor) skipEntries(values *Type) {
	for c.err == nil {
		run := c.Items(1)
		if run.N == 0 {
			return
		}
		for n := run.N; n > 0 && c.err == nil; n-- {
			c.Bytes()
			c.Skip(values)
		}
		c.Ran(run)
	}
}

// minBytes returns the least a value takes, as far as counts are checked.
func minBytes(t *Type) int {
	if t.zero {
		return 0
	}
	return 1
}

// skipVarints passes over n ints, longs or enums. Counts and sizes of columns
// are most of a manifest, so it looks at eight bytes at once: those without the
// high bit end a number each.
func (c *Cursor) skipVarints(n int) {
	buf, pos, length := c.buf, c.pos, 0 // length: bytes of the number that pos is in
	for n >= 8 && pos+8 <= len(buf) {
		ends := ^binary.LittleEndian.Uint64(buf[pos:]) & highBits
		before := bits.TrailingZeros64(ends) / 8
		if length+before >= maxVarint { // eight where none ends
			break
		}
		if ends == 0 {
			length += 8
		} else {
			length = bits.LeadingZeros64(ends) / 8
		}
		n -= bits.OnesCount64(ends)
		pos += 8
	}
	for n > 0 && pos < len(buf) {
		length++
		if buf[pos] < 0x80 {
			n--
			length = 0
		} else if length == maxVarint {
			c.Fail("number of more than 64 bits")
			return
		}
		pos++
	}
	if c.pos = pos; n > 0 {
		c.Fail("number without an end")
	}
}

const (
	highBits  = 0x8080808080808080
	maxVarint = 10 // bytes of a number of 64 bits
)
