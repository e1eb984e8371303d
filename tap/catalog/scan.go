package catalog

import (
	"encoding/binary"
	"math/bits"
)

// The functions below check foreign text against the grammar of JSON and find
// where things stand in it, in one pass and without a tree. Their verdict is
// that of encoding/json, which is their judge in [FuzzScan]: text that it
// refuses is never edited. Each returns the index behind what it read, or -1.

const (
	// nestingMax is how deep encoding/json goes.
	nestingMax = 10_000
	// membersMax bounds what the index of one object may take of memory, some
	// 100 bytes a member. A table has a few dozen.
	membersMax = 1 << 16
)

// scanObject cuts the object that begins at i into its members, and the
// objects among their values as well, down to levels. The object's raw is all
// of raw; the caller knows where it ends.
func scanObject(raw []byte, i, levels, depth int) (object, int) {
	if i >= len(raw) || raw[i] != '{' {
		return object{}, -1
	}
	o := object{raw: raw, from: i + 1}
	i++
	if end := skipSpace(raw, i); end < len(raw) && raw[end] == '}' {
		o.to = end
		return o, end + 1
	}
	for len(o.members) < membersMax {
		m := member{from: i}
		nameFrom := skipSpace(raw, i)
		if i = scanString(raw, nameFrom); i < 0 {
			return object{}, -1
		}
		m.name = unquote(raw[nameFrom:i])
		if i = skipSpace(raw, i); i >= len(raw) || raw[i] != ':' {
			return object{}, -1
		}
		m.valFrom = skipSpace(raw, i+1)
		if levels > 1 && m.valFrom < len(raw) && raw[m.valFrom] == '{' {
			m.inner, m.valTo = scanInner(raw[m.valFrom:], levels-1, depth+1)
			m.valTo += m.valFrom
		} else {
			m.valTo = scanValue(raw, m.valFrom, depth+1)
		}
		if m.valTo < m.valFrom {
			return object{}, -1
		}
		if m.to = skipSpace(raw, m.valTo); m.to >= len(raw) {
			return object{}, -1
		}
		o.members = append(o.members, m)
		switch i = m.to; raw[i] {
		case ',':
			i++
		case '}':
			o.to = i
			return o, i + 1
		default:
			return object{}, -1
		}
	}
	return object{}, -1
}

// scanInner cuts an object that begins with raw, and trims it.
func scanInner(raw []byte, levels, depth int) (*object, int) {
	o, end := scanObject(raw, 0, levels, depth)
	if end < 0 {
		return nil, -1
	}
	o.raw = raw[:end]
	return &o, end
}

// scanValue checks the value that begins at i; depth counts the containers
// around it and itself, if it is one.
func scanValue(raw []byte, i, depth int) int {
	if i >= len(raw) {
		return -1
	}
	switch raw[i] {
	case '"':
		return scanString(raw, i)
	case '{', '[':
		return scanContainer(raw, i, depth)
	case 't':
		return scanWord(raw, i, "true")
	case 'f':
		return scanWord(raw, i, "false")
	case 'n':
		return scanWord(raw, i, "null")
	}
	return scanNumber(raw, i)
}

// scanContainer checks an object or an array.
func scanContainer(raw []byte, i, depth int) int {
	if depth > nestingMax {
		return -1
	}
	named, end := raw[i] == '{', raw[i]+2 // '{' and '}', '[' and ']' are two apart
	if i = skipSpace(raw, i+1); i < len(raw) && raw[i] == end {
		return i + 1
	}
	for {
		if named {
			if i = scanString(raw, i); i < 0 {
				return -1
			}
			if i = skipSpace(raw, i); i >= len(raw) || raw[i] != ':' {
				return -1
			}
			i = skipSpace(raw, i+1)
		}
		if i = scanValue(raw, i, depth+1); i < 0 {
			return -1
		}
		if i = skipSpace(raw, i); i >= len(raw) {
			return -1
		}
		switch raw[i] {
		case ',':
			i = skipSpace(raw, i+1)
		case end:
			return i + 1
		default:
			return -1
		}
	}
}

// scanString checks a string. Bytes that are no UTF-8 pass, as they do with
// encoding/json: what is made of such a string is judged where it is used.
func scanString(raw []byte, i int) int {
	if i >= len(raw) || raw[i] != '"' {
		return -1
	}
	for i++; ; {
		i = skipPlain(raw, i)
		switch {
		case i >= len(raw) || raw[i] < ' ':
			return -1
		case raw[i] == '"':
			return i + 1
		}
		if i++; i >= len(raw) { // behind a backslash
			return -1
		}
		switch raw[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i++
		case 'u':
			if i += 5; i > len(raw) || !isHex(raw[i-4:i]) {
				return -1
			}
		default:
			return -1
		}
	}
}

// skipPlain returns the index of the next byte that ends or escapes or may not
// be in a string. It looks at eight bytes at once: most of a table's metadata
// is paths and numbers in quotes.
func skipPlain(raw []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for i+8 <= len(raw) {
		w := binary.LittleEndian.Uint64(raw[i:])
		quotes, slashes := w^(ones*'"'), w^(ones*'\\')
		// Each term has a high bit where a byte is below 0x20, a quote, a
		// backslash; "&^ w" leaves the bytes above 0x7f alone. A borrow can set
		// more of them, but only above one that is right: the lowest counts.
		found := (w-ones*0x20)&^w | (quotes-ones)&^quotes | (slashes-ones)&^slashes
		if found &= highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
		i += 8
	}
	for i < len(raw) && raw[i] >= ' ' && raw[i] != '"' && raw[i] != '\\' {
		i++
	}
	return i
}

func isHex(four []byte) bool {
	for _, c := range four {
		if c-'0' > 9 && (c|0x20)-'a' > 5 {
			return false
		}
	}
	return true
}

func scanWord(raw []byte, i int, word string) int {
	if len(raw)-i < len(word) || string(raw[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

// scanNumber checks a number of any size.
func scanNumber(raw []byte, i int) int {
	if i < len(raw) && raw[i] == '-' {
		i++
	}
	if i < len(raw) && raw[i] == '0' {
		i++
	} else if i = scanDigits(raw, i); i < 0 {
		return -1
	}
	if i < len(raw) && raw[i] == '.' {
		if i = scanDigits(raw, i+1); i < 0 {
			return -1
		}
	}
	if i < len(raw) && raw[i]|0x20 == 'e' {
		if i++; i < len(raw) && (raw[i] == '+' || raw[i] == '-') {
			i++
		}
		return scanDigits(raw, i)
	}
	return i
}

// scanDigits passes over digits, of which there must be one.
func scanDigits(raw []byte, i int) int {
	first := i
	for i < len(raw) && raw[i]-'0' <= 9 {
		i++
	}
	if i == first {
		return -1
	}
	return i
}
