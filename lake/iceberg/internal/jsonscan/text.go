package jsonscan

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// String consumes a string.
func (s *Scanner) String() string {
	s.peek()
	text, escapes := s.quoted()
	if s.err != nil || !escapes {
		return string(text)
	}
	return s.unescape(text)
}

// skipString consumes a string without making one.
func (s *Scanner) skipString() {
	if text, escapes := s.quoted(); escapes {
		s.checkEscapes(text)
	}
}

// checkEscapes notes an error if an escape is none.
func (s *Scanner) checkEscapes(text []byte) {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		switch text[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			_, n := unicodeEscape(text[i-1:])
			if n == 0 {
				s.Fail("wrong escape of a character in a string")
				return
			}
			i += n - 2
		default:
			s.Fail("unknown escape in a string")
			return
		}
	}
}

// quoted consumes a string and returns what lies between the quotes, and
// whether something in it is escaped.
func (s *Scanner) quoted() (text []byte, escapes bool) {
	s.expect('"')
	if s.err != nil {
		return nil, false
	}
	start := s.pos
	for s.pos < len(s.in) {
		switch c := s.in[s.pos]; {
		case c == '"':
			text = s.in[start:s.pos]
			s.validUTF8(text)
			s.pos++
			return text, escapes
		case c < ' ':
			s.Fail("control character in a string")
			return nil, false
		case c == '\\':
			escapes = true
			s.pos++
		}
		s.pos++
	}
	s.pos = len(s.in)
	s.Fail("string without an end")
	return nil, false
}

// unescape returns the text that a string with escapes stands for.
func (s *Scanner) unescape(text []byte) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		i++ // quoted saw to it that there is one
		switch c := text[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, n := unicodeEscape(text[i-1:])
			if n == 0 {
				s.Fail("wrong escape of a character in a string")
				return ""
			}
			out = utf8.AppendRune(out, r)
			i += n - 2
		default:
			s.Fail("unknown escape in a string")
			return ""
		}
	}
	return string(out)
}

// unicodeEscape decodes the \uXXXX, or pair of them, at the start of the text
// and returns its length, 0 if there is none. Half of a pair stands for U+FFFD,
// as most readers have it: Java writes such text.
func unicodeEscape(text []byte) (rune, int) {
	hex := func(at int) rune {
		if len(text) < at+6 || text[at] != '\\' || text[at+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(text[at+2:at+6]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	r := hex(0)
	switch {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if pair := utf16.DecodeRune(r, hex(6)); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}
