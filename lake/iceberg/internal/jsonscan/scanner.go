package jsonscan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// ErrMalformed says that a document is not what its reader needs it to be.
var ErrMalformed = errors.New("malformed")

const (
	// MaxDepth bounds how deep arrays and objects may lie in one another.
	MaxDepth = 128
	// MaxItems bounds the members and elements that are not skipped: what is made
	// of one can take ten times the bytes that it is written in.
	MaxItems = 1 << 23
)

// ErrLimit says that a document has more in it than a reader has room for.
var ErrLimit = errors.New("over the limit")

// A Scanner reads one document. Its methods consume the next value; the first
// error stays, and makes every later call do nothing.
type Scanner struct {
	in    []byte
	pos   int
	depth int
	items int // members and elements so far
	err   error
	keys  []string // of the objects that are open, for the search for doubles
}

// New returns a scanner at the start of a document.
func New(in []byte) *Scanner { return &Scanner{in: in} }

// Err returns the first error, if any.
func (s *Scanner) Err() error { return s.err }

// End notes an error unless the document ends here.
func (s *Scanner) End() error {
	if s.peek(); s.err == nil && s.pos < len(s.in) {
		s.Fail("more follows the end of the document")
	}
	return s.err
}

// count counts a member or an element.
func (s *Scanner) count() {
	if s.items++; s.items > MaxItems {
		s.Wrap(fmt.Errorf("%w: more than %d members and elements", ErrLimit, MaxItems))
	}
}

// Fail notes what is wrong at the present position.
func (s *Scanner) Fail(what string) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: byte %d: %s", ErrMalformed, s.pos, what)
	}
}

// Failf is Fail with a format.
func (s *Scanner) Failf(format string, args ...any) {
	if s.err == nil {
		s.Fail(fmt.Sprintf(format, args...))
	}
}

// Wrap notes an error of the caller's own.
func (s *Scanner) Wrap(err error) {
	if s.err == nil && err != nil {
		s.err = err
	}
}

// Next returns the first byte of the next value, 0 if there is none.
func (s *Scanner) Next() byte {
	if c := s.peek(); s.err == nil {
		return c
	}
	return 0
}

// peek returns the first byte of the next token, 0 at the end.
func (s *Scanner) peek() byte {
	for s.err == nil && s.pos < len(s.in) {
		switch c := s.in[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// take consumes the byte if it is the next one.
func (s *Scanner) take(c byte) bool {
	if s.peek() != c || s.err != nil {
		return false
	}
	s.pos++
	return true
}

// expect consumes the byte, which must be the next one.
func (s *Scanner) expect(c byte) {
	if !s.take(c) {
		s.Failf("expected %q", string(rune(c)))
	}
}

// enter opens an array or object.
func (s *Scanner) enter(c byte) bool {
	s.expect(c)
	if s.depth++; s.depth > MaxDepth {
		s.Failf("nested deeper than %d", MaxDepth)
	}
	return s.err == nil
}

// Null consumes a null, and tells whether there was one.
func (s *Scanner) Null() bool {
	if s.peek() != 'n' {
		return false
	}
	s.literal("null")
	return s.err == nil
}

// literal consumes true, false or null.
func (s *Scanner) literal(word string) {
	if s.err == nil && (len(s.in)-s.pos < len(word) || string(s.in[s.pos:s.pos+len(word)]) != word) {
		s.Failf("expected %s", word)
	}
	if s.err == nil {
		s.pos += len(word)
	}
}

// Bool consumes true or false.
func (s *Scanner) Bool() bool {
	if s.peek() == 't' {
		s.literal("true")
		return s.err == nil
	}
	s.literal("false")
	return false
}

// Object consumes an object. For each member it calls f, which must consume
// the value. A name that comes twice is an error.
func (s *Scanner) Object(f func(name string)) {
	if !s.enter('{') {
		return
	}
	defer s.leave(len(s.keys))
	if s.take('}') {
		return
	}
	names := nameSet{first: len(s.keys)}
	for s.err == nil {
		s.count()
		name := s.String()
		s.expect(':')
		if s.err == nil && !names.add(s, name) {
			s.Failf("member %q comes twice", name)
		}
		if s.err != nil {
			return
		}
		f(name)
		if !s.take(',') {
			s.expect('}')
			return
		}
	}
}

// leave closes an array or object and forgets its names.
func (s *Scanner) leave(keys int) {
	s.depth--
	s.keys = s.keys[:keys]
}

// A nameSet finds doubles among the names of one object: by looking at all of
// them while they are few, by a map from then on.
type nameSet struct {
	first int
	many  map[string]struct{}
}

const fewNames = 24

// add adds a name, and tells whether it is new.
func (n *nameSet) add(s *Scanner, name string) bool {
	if n.many != nil {
		_, double := n.many[name]
		n.many[name] = struct{}{}
		return !double
	}
	own := s.keys[n.first:]
	if slices.Contains(own, name) {
		return false
	}
	if s.keys = append(s.keys, name); len(own) >= fewNames {
		n.many = make(map[string]struct{}, 2*fewNames)
		for _, k := range s.keys[n.first:] {
			n.many[k] = struct{}{}
		}
	}
	return true
}

// Array consumes an array. For each element it calls f, which must consume it.
func (s *Scanner) Array(f func(i int)) {
	if !s.enter('[') {
		return
	}
	defer s.leave(len(s.keys))
	if s.take(']') {
		return
	}
	for i := 0; s.err == nil; i++ {
		if s.count(); s.err != nil {
			return
		}
		f(i)
		if !s.take(',') {
			s.expect(']')
			return
		}
	}
}

// Int64 consumes a number that is exactly an integer of 64 bits, written
// without fraction and exponent.
func (s *Scanner) Int64() int64 {
	neg := s.take('-')
	digits, first := 0, byte(0)
	if s.pos < len(s.in) {
		first = s.in[s.pos] // and no white space between the sign and the digits
	}
	var u uint64
	for s.err == nil && s.pos < len(s.in) {
		c := s.in[s.pos] - '0'
		if c > 9 {
			break
		}
		if u > math.MaxUint64/10 || u*10 > math.MaxUint64-uint64(c) {
			s.Fail("number takes more than 64 bits")
		}
		u = u*10 + uint64(c)
		digits++
		s.pos++
	}
	switch {
	case digits == 0:
		s.Fail("expected an integer")
	case digits > 1 && first == '0':
		s.Fail("number starts with 0")
	case s.pos < len(s.in) && (s.in[s.pos] == '.' || s.in[s.pos]|0x20 == 'e'):
		s.Fail("expected an integer, found a fraction")
	case neg && u > 1<<63, !neg && u > math.MaxInt64:
		s.Fail("number takes more than 64 bits")
	}
	if s.err != nil {
		return 0
	}
	if neg {
		return -int64(u) //nolint:gosec // -2^63 is its own negative
	}
	return int64(u) //nolint:gosec // checked above
}

// Int32 consumes an integer of 32 bits.
func (s *Scanner) Int32() int {
	n := s.Int64()
	if n < math.MinInt32 || n > math.MaxInt32 {
		s.Fail("number takes more than 32 bits")
		return 0
	}
	return int(n)
}

// Raw consumes any value and returns its text, which aliases the input.
func (s *Scanner) Raw() []byte {
	s.peek()
	start := s.pos
	s.Skip()
	if s.err != nil {
		return nil
	}
	return s.in[start:s.pos]
}

// Skip consumes any value.
func (s *Scanner) Skip() {
	switch c := s.peek(); {
	case s.err != nil:
	case c == '{':
		s.skipObject()
	case c == '[':
		s.skipArray()
	case c == '"':
		s.skipString()
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	case c == '-' || c >= '0' && c <= '9':
		s.skipNumber()
	default:
		s.Fail("expected a value")
	}
}

// skipArray consumes an array.
func (s *Scanner) skipArray() {
	if !s.enter('[') {
		return
	}
	defer s.leave(len(s.keys))
	if s.take(']') {
		return
	}
	for s.err == nil {
		s.Skip()
		if !s.take(',') {
			s.expect(']')
			return
		}
	}
}

// skipObject consumes an object; its names may come twice, as nobody asks.
func (s *Scanner) skipObject() {
	if !s.enter('{') {
		return
	}
	defer s.leave(len(s.keys))
	if s.take('}') {
		return
	}
	for s.err == nil {
		s.peek()
		s.skipString()
		s.expect(':')
		s.Skip()
		if !s.take(',') {
			s.expect('}')
			return
		}
	}
}

// skipNumber consumes a number of any form.
func (s *Scanner) skipNumber() {
	digits := func() {
		start := s.pos
		for s.pos < len(s.in) && s.in[s.pos]-'0' <= 9 {
			s.pos++
		}
		if s.pos == start {
			s.Fail("expected a digit")
		}
	}
	s.take('-')
	whole := s.pos
	digits()
	if s.pos > whole+1 && s.in[whole] == '0' {
		s.Fail("number starts with 0")
	}
	if s.pos < len(s.in) && s.in[s.pos] == '.' {
		s.pos++
		digits()
	}
	if s.pos < len(s.in) && s.in[s.pos]|0x20 == 'e' {
		if s.pos++; s.pos < len(s.in) && (s.in[s.pos] == '+' || s.in[s.pos] == '-') {
			s.pos++
		}
		digits()
	}
}

// validUTF8 notes an error if the text is not UTF-8.
func (s *Scanner) validUTF8(text []byte) {
	if !utf8.Valid(text) {
		s.Fail("text is not UTF-8")
	}
}
