package avro

import (
	"context"
	"encoding/binary"
)

// An inflater unpacks raw deflate (RFC 1951) that is in memory whole, straight
// into the bytes it makes: manifests are mostly time spent here, and readers of
// streams copy through a window that this has no need of.
type inflater struct {
	in   []byte
	pos  int
	bits uint64
	n    int // bits in bits; below 0 once more was taken than there is

	out      []byte
	lit, far *prefixCode // of the block at hand
	own      [2]prefixCode
	fixed    *[2]prefixCode // nil until a block needs them
	lengths  [maxLit + maxFar]uint8
}

const (
	maxLit   = 288
	maxFar   = 32
	maxCode  = 15 // bits
	fastBits = 11
	// What one turn of the loop takes at most: two codes with what follows them.
	turnBits  = maxCode + 5 + maxCode + 13
	turnBytes = 258
)

// errInflate says that packed bytes break their format.
func errInflate(what string) error { return malformed("deflate: %s", what) }

// blocksBetween is how many blocks are unpacked between looks at the context.
const blocksBetween = 256

// run unpacks in to out, of at most most bytes, and returns how many bytes of
// in lie behind the packed ones.
func (f *inflater) run(ctx context.Context, out, in []byte, most int64) (unpacked []byte, left int, err error) {
	f.in, f.pos, f.bits, f.n, f.out = in, 0, 0, 0, out[:0]
	for n, last := 0, false; !last; n++ {
		if n%blocksBetween == 0 && ctx.Err() != nil {
			return f.out, 0, ctx.Err()
		}
		f.refill()
		last = f.take(1) == 1
		switch f.take(2) {
		case 0:
			err = f.stored(most)
		case 1:
			f.useFixed()
			err = f.block(most)
		case 2:
			if err = f.dynamic(); err == nil {
				err = f.block(most)
			}
		default:
			err = errInflate("unknown kind of block")
		}
		if err == nil && f.n < 0 {
			err = errInflate("cut short")
		}
		if err != nil {
			return f.out, 0, err
		}
	}
	return f.out, len(f.in) - f.pos + f.n/8, nil
}

// refill loads bits until there are enough for a turn, or no more come. Past
// the end zeros are taken, which n tells.
func (f *inflater) refill() {
	if f.pos+8 <= len(f.in) && f.n >= 0 {
		f.bits |= binary.LittleEndian.Uint64(f.in[f.pos:]) << f.n
		f.pos += (63 - f.n) >> 3
		f.n |= 56
		return
	}
	for f.n >= 0 && f.n <= 56 && f.pos < len(f.in) {
		f.bits |= uint64(f.in[f.pos]) << f.n
		f.pos++
		f.n += 8
	}
}

// take takes k bits, of those that refill loaded.
func (f *inflater) take(k int) int {
	v := f.bits & (1<<k - 1)
	f.bits >>= k
	f.n -= k
	return int(v) //nolint:gosec // 16 bits at most
}

// room makes room for n more bytes.
func (f *inflater) room(n int, most int64) error {
	if have := int64(len(f.out)); have+int64(n) > most+turnBytes || have > most {
		return over("bytes in a block", have+int64(n), most)
	}
	if cap(f.out)-len(f.out) < n {
		f.out = append(make([]byte, 0, max(64<<10, 2*cap(f.out), len(f.out)+n)), f.out...)
	}
	return nil
}

// stored copies a block that is not packed.
func (f *inflater) stored(most int64) error {
	if f.n < 0 {
		return errInflate("cut short")
	}
	f.pos -= f.n / 8
	f.bits, f.n = 0, 0
	if len(f.in)-f.pos < 4 {
		return errInflate("cut short")
	}
	size := binary.LittleEndian.Uint16(f.in[f.pos:])
	if size != ^binary.LittleEndian.Uint16(f.in[f.pos+2:]) {
		return errInflate("lengths of a block differ")
	}
	f.pos += 4
	if len(f.in)-f.pos < int(size) {
		return errInflate("cut short")
	}
	if err := f.room(int(size), most); err != nil {
		return err
	}
	f.out = append(f.out, f.in[f.pos:f.pos+int(size)]...)
	f.pos += int(size)
	return nil
}

// useFixed uses the codes that the format defines. They are made once: blocks
// of a few bits would else cost the making each.
func (f *inflater) useFixed() {
	if f.fixed == nil {
		f.fixed = f.makeFixed()
	}
	f.lit, f.far = &f.fixed[0], &f.fixed[1]
}

// makeFixed makes the codes that the format defines.
func (f *inflater) makeFixed() *[2]prefixCode {
	fixed := new([2]prefixCode)
	for i := range maxLit {
		switch {
		case i < 144:
			f.lengths[i] = 8
		case i < 256:
			f.lengths[i] = 9
		case i < 280:
			f.lengths[i] = 7
		default:
			f.lengths[i] = 8
		}
	}
	fixed[0].set(f.lengths[:maxLit])
	for i := range maxFar {
		f.lengths[i] = 5
	}
	fixed[1].set(f.lengths[:maxFar])
	return fixed
}

// lengthOrder is the order in which lengths of lengths are written.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of a block.
func (f *inflater) dynamic() error {
	f.lit, f.far = &f.own[0], &f.own[1]
	f.refill()
	lits, fars, n := f.take(5)+257, f.take(5)+1, f.take(4)+4
	if lits > maxLit-2 {
		return errInflate("too many codes")
	}
	clear(f.lengths[:19])
	for i := range n {
		f.refill()
		f.lengths[lengthOrder[i]] = uint8(f.take(3)) //nolint:gosec // 3 bits
	}
	if !f.lit.set(f.lengths[:19]) {
		return errInflate("lengths of codes make no code")
	}
	if err := f.readLengths(lits + fars); err != nil {
		return err
	}
	if f.lengths[256] == 0 || !f.lit.set(f.lengths[:lits]) || !f.far.set(f.lengths[lits:lits+fars]) {
		return errInflate("lengths make no code")
	}
	return nil
}

// readLengths reads the lengths of so many codes.
func (f *inflater) readLengths(total int) error {
	for i := 0; i < total; {
		f.refill()
		sym := f.next(f.lit)
		if sym < 0 || f.n < 0 {
			return errInflate("unknown code, or cut short")
		}
		if sym < 16 {
			f.lengths[i] = uint8(sym) //nolint:gosec // below 16
			i++
			continue
		}
		var value uint8
		var times int
		switch sym {
		case 16:
			if i == 0 {
				return errInflate("nothing to repeat")
			}
			value, times = f.lengths[i-1], 3+f.take(2)
		case 17:
			times = 3 + f.take(3)
		default:
			times = 11 + f.take(7)
		}
		if i+times > total {
			return errInflate("too many lengths")
		}
		for ; times > 0; times-- {
			f.lengths[i] = value
			i++
		}
	}
	return nil
}

// block unpacks a block by the codes that are set: most of it by sprint, and
// what that leaves, turn by turn.
func (f *inflater) block(most int64) error {
	for {
		f.sprint()
		if f.n < turnBits {
			f.refill()
		}
		if cap(f.out)-len(f.out) < turnBytes || int64(len(f.out)) > most {
			if err := f.room(turnBytes, most); err != nil {
				return err
			}
		}
		sym := f.next(f.lit)
		switch {
		case f.n < 0:
			return errInflate("cut short")
		case sym < 0:
			return errInflate("unknown code")
		case sym < 256:
			f.out = append(f.out, byte(sym))
			continue
		case sym == 256:
			return nil
		}
		if err := f.copyBack(sym - 257); err != nil {
			return err
		}
	}
}

// sprint unpacks for as long as bytes come by eights, there is room, and codes
// are short and right. It stops before the first turn of which that is not true,
// so nothing in it has to say what is wrong: block takes that turn again, slowly,
// and says it. All it needs is in local variables, which the compiler keeps in
// registers.
func (f *inflater) sprint() {
	in, pos, buf, n := f.in, f.pos, f.bits, f.n
	o, out := len(f.out), f.out[:cap(f.out)]
	lit, far := &f.lit.fast, &f.far.fast
	for n >= 0 && pos+8 <= len(in) && o+turnBytes+8 <= len(out) {
		if n < turnBits {
			buf |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
			pos += (63 - n) >> 3
			n |= 56
		}
		e := lit[buf&(1<<fastBits-1)]
		sym, b, left := int(e>>4), buf>>(e&15), n-int(e&15)
		if sym < 256 {
			out[o] = byte(sym)
			o, buf, n = o+1, b, left
			for range 2 { // literals come in runs, and what is loaded is enough for three
				e = lit[buf&(1<<fastBits-1)]
				if e >= 256<<4 {
					break
				}
				out[o] = byte(e >> 4)
				o, buf, n = o+1, buf>>(e&15), n-int(e&15)
			}
			continue
		}
		if sym -= 257; sym < 0 || sym >= len(lengthBase) {
			break // the end of the block, or a long code
		}
		extra := lengthExtra[sym] & 15                       // says to the compiler that shifts are small
		length := int(lengthBase[sym]) + int(b&(1<<extra-1)) //nolint:gosec // 5 bits
		b, left = b>>extra, left-int(extra)
		e = far[b&(1<<fastBits-1)]
		d := int(e >> 4)
		if d >= 30 {
			break
		}
		b, left = b>>(e&15), left-int(e&15)
		back := d + 1
		if d >= 4 {
			extra := uint(d/2-1) & 15                       //nolint:gosec // 13 at most
			back = (2+d&1)<<extra + 1 + int(b&(1<<extra-1)) //nolint:gosec // 13 bits
			b, left = b>>extra, left-int(extra)             //nolint:gosec // 13 at most
		}
		if back > o {
			break
		}
		// Matches are short, a dozen bytes: eight at a time they take less than
		// the call of copy. What is written past their end is written again.
		end := o + length
		if from := o - back; back >= 8 {
			for ; o < end; o, from = o+8, from+8 {
				binary.LittleEndian.PutUint64(out[o:o+8], binary.LittleEndian.Uint64(out[from:from+8]))
			}
		} else {
			for ; o < end; o, from = o+1, from+1 {
				out[o] = out[from]
			}
		}
		o, buf, n = end, b, left
	}
	f.pos, f.bits, f.n, f.out = pos, buf, n, out[:o]
}

// The base and the extra bits of lengths and distances.
var (
	lengthBase  = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lengthExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
)

// copyBack copies what was unpacked before.
func (f *inflater) copyBack(sym int) error {
	if sym >= len(lengthBase) {
		return errInflate("unknown length")
	}
	length := int(lengthBase[sym]) + f.take(int(lengthExtra[sym]))
	d := f.next(f.far)
	if d < 0 || d >= 30 {
		return errInflate("unknown distance")
	}
	far := d + 1
	if d >= 4 {
		extra := d/2 - 1
		far = (2+d&1)<<extra + 1 + f.take(extra)
	}
	o := len(f.out)
	if far > o || f.n < 0 {
		return errInflate("distance past the start, or cut short")
	}
	if far >= length {
		f.out = append(f.out, f.out[o-far:o-far+length]...)
		return nil
	}
	out := f.out[:o+length] // block made room
	for i := o; i < len(out); i++ {
		out[i] = out[i-far]
	}
	f.out = out
	return nil
}
