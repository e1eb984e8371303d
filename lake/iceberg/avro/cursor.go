package avro

import (
	"encoding/binary"
	"math"
)

// A Cursor decodes the values of one block, in the order of their schema. The
// first error stays; after it every method returns zeros without moving.
type Cursor struct {
	buf   []byte
	pos   int
	err   error
	depth int
}

// NewCursor returns a cursor over encoded values.
func NewCursor(buf []byte) *Cursor { return &Cursor{buf: buf} }

// Reset puts the cursor at the start of encoded values.
func (c *Cursor) Reset(buf []byte) { *c = Cursor{buf: buf} }

// Err returns the first error, if any.
func (c *Cursor) Err() error { return c.err }

// Left returns how many bytes have not been decoded.
func (c *Cursor) Left() int { return len(c.buf) - c.pos }

// Fail notes an error of the caller's.
func (c *Cursor) Fail(format string, args ...any) {
	if c.err == nil {
		c.err = malformed("byte %d of the block: "+format, append([]any{c.pos}, args...)...)
	}
	c.pos = len(c.buf)
}

// Long decodes an int, a long or the index of an enum.
func (c *Cursor) Long() int64 {
	if c.pos < len(c.buf) && c.buf[c.pos] < 0x80 { // the common case
		u := c.buf[c.pos]
		c.pos++
		return int64(u>>1) ^ -int64(u&1)
	}
	u, n := binary.Uvarint(c.buf[c.pos:])
	if n <= 0 {
		c.Fail("number without an end")
		return 0
	}
	c.pos += n
	return int64(u>>1) ^ -int64(u&1) //nolint:gosec // zigzag
}

// Int decodes an int: a long of at most 32 bits.
func (c *Cursor) Int() int64 {
	n := c.Long()
	if n < math.MinInt32 || n > math.MaxInt32 {
		c.Fail("number takes more than 32 bits")
		return 0
	}
	return n
}

// Boolean decodes a boolean.
func (c *Cursor) Boolean() bool {
	b := c.Fixed(1)
	if c.err == nil && b[0] > 1 {
		c.Fail("boolean that is neither true nor false")
	}
	return c.err == nil && b[0] == 1
}

// Float decodes a float.
func (c *Cursor) Float() float32 {
	if b := c.Fixed(4); c.err == nil {
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// Double decodes a double.
func (c *Cursor) Double() float64 {
	if b := c.Fixed(8); c.err == nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// Bytes decodes bytes or a string. What it returns aliases the block.
func (c *Cursor) Bytes() []byte {
	n := c.Long()
	if n < 0 || n > int64(c.Left()) {
		c.Fail("%d bytes, with %d left", n, c.Left())
		return nil
	}
	return c.Fixed(int(n))
}

// Fixed decodes n bytes as they are. What it returns aliases the block.
func (c *Cursor) Fixed(n int) []byte {
	if n > c.Left() {
		c.Fail("%d bytes, with %d left", n, c.Left())
		return nil
	}
	b := c.buf[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return b
}

// A Run is a number of items of an array or map that come together.
type Run struct {
	N   int // 0: the items are over
	end int // where it says it ends; -1: it does not say
}

// Items decodes the head of the next run of an array's or map's items. Each
// takes at least min bytes. When the items have been decoded, Ran looks whether
// they took what the run said.
func (c *Cursor) Items(minBytes int) Run {
	count, end := c.Long(), -1
	if count < 0 {
		if count = -count; count < 0 {
			c.Fail("2^63 items")
			return Run{}
		}
		size := c.Long()
		if size < 0 || size > int64(c.Left()) {
			c.Fail("items of %d bytes, with %d left", size, c.Left())
			return Run{}
		}
		end = c.pos + int(size)
	}
	if minBytes > 0 && count > int64(c.Left()/minBytes) {
		c.Fail("%d items, with %d bytes left", count, c.Left())
		return Run{}
	}
	if c.err != nil {
		return Run{}
	}
	return Run{N: int(min(count, math.MaxInt)), end: end}
}

// Ran notes an error if a run, now decoded, took another number of bytes than it
// had said: whoever passes over it by that number would go on elsewhere.
func (c *Cursor) Ran(r Run) {
	if r.end >= 0 && c.err == nil && c.pos != r.end {
		c.Fail("items end %d bytes from where they said", c.pos-r.end)
	}
}
