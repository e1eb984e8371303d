package avro

import "math/bits"

// A prefixCode is a canonical Huffman code: short codes are looked up, long
// ones, which are rare by nature, are counted down.
type prefixCode struct {
	fast   [1 << fastBits]uint16 // symbol<<4 | bits, or noCode
	count  [maxCode + 1]uint16   // codes of each length
	symbol [maxLit]uint16        // in the order of their codes
}

// noCode stands in for long codes and for what is no code: a symbol that none
// of the codes has.
const noCode = 0xfff0

// set makes the code of lengths, and tells whether they make one: none twice
// and, unless it has a single one or none, all of them.
func (p *prefixCode) set(lengths []uint8) bool {
	p.count = [maxCode + 1]uint16{}
	for _, l := range lengths {
		p.count[l]++
	}
	used := len(lengths) - int(p.count[0])
	p.count[0] = 0
	var at, code [maxCode + 2]uint16
	left := 1 // codes of the length at hand that no shorter one has taken
	for l := 1; l <= maxCode; l++ {
		if left = left*2 - int(p.count[l]); left < 0 {
			return false
		}
		at[l+1] = at[l] + p.count[l]
		code[l+1] = (code[l] + p.count[l]) << 1
	}
	if left > 0 && (used > 1 || used == 1 && p.count[1] != 1) {
		return false
	}
	long := left > 0
	for l := fastBits + 1; l <= maxCode; l++ {
		long = long || p.count[l] > 0
	}
	if long { // else the codes below fill the table
		for i := range p.fast {
			p.fast[i] = noCode
		}
	}
	for sym, l := range lengths {
		if l == 0 {
			continue
		}
		p.symbol[at[l]] = uint16(sym) //nolint:gosec // below maxLit
		at[l]++
		if l <= fastBits {
			entry := uint16(sym)<<4 | uint16(l) //nolint:gosec // below maxLit
			for i := bits.Reverse16(code[l]) >> (16 - l); i < 1<<fastBits; i += 1 << l {
				p.fast[i] = entry
			}
		}
		code[l]++
	}
	return true
}

// next takes a code and returns its symbol, -1 if there is no such code.
func (f *inflater) next(p *prefixCode) int {
	if e := p.fast[f.bits&(1<<fastBits-1)]; e != noCode {
		f.bits >>= e & 15
		f.n -= int(e & 15)
		return int(e >> 4)
	}
	return f.nextLong(p)
}

// nextLong takes a code by its bits, one after another.
func (f *inflater) nextLong(p *prefixCode) int {
	code, first, index := 0, 0, 0
	for l := 1; l <= maxCode; l++ {
		code |= int(f.bits>>(l-1)) & 1 //nolint:gosec // one bit
		n := int(p.count[l])
		if code-n < first {
			f.take(l)
			return int(p.symbol[index+code-first])
		}
		index += n
		first = (first + n) << 1
		code <<= 1
	}
	return -1
}
