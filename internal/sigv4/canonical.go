package sigv4

import (
	"net/http"
	"slices"
	"strings"
)

const hexDigits = "0123456789ABCDEF"

// A canonicalRequest is what both sides hash.
type canonicalRequest struct {
	method, path, query, payload string
	// rawPath takes the path as it stands instead of in S3's spelling.
	rawPath bool
	names   []string // of the signed headers, lower case and sorted
	// One of them has the headers. An interface or a func here would move the
	// buffers of every verification to the heap.
	in  *Request
	out *http.Request
}

// appendTo appends the canonical request (Signature Version 4, "Task 1"):
//
//	method LF path LF query LF
//	name:value LF                 each signed header, sorted
//	LF
//	names joined by ";" LF
//	hash of the payload
//
// ok is false if path or query cannot be decoded.
func (c *canonicalRequest) appendTo(dst []byte) (_ []byte, ok bool) {
	dst = append(dst, c.method...)
	dst = append(dst, '\n')
	if c.rawPath {
		dst = append(dst, c.path...)
	} else if dst, ok = AppendPath(dst, c.path); !ok {
		return dst, false
	}
	dst = append(dst, '\n')
	if dst, ok = appendQuery(dst, c.query); !ok {
		return dst, false
	}
	dst = append(dst, '\n')
	for _, name := range c.names {
		dst = append(dst, name...)
		dst = append(dst, ':')
		if c.in != nil {
			dst = appendHeader(dst, c.in, name)
		} else {
			dst = appendOutgoing(dst, c.out, name)
		}
		dst = append(dst, '\n')
	}
	dst = append(dst, '\n')
	for i, name := range c.names {
		if i > 0 {
			dst = append(dst, ';')
		}
		dst = append(dst, name...)
	}
	dst = append(dst, '\n')
	return append(dst, c.payload...), true
}

// AppendPath appends an escaped path in the one spelling that S3 signs: every
// byte but the unreserved ones and '/' as %XX, once. So "a=b", "a%3db" and
// "a%3Db" are one path, '+' is a plus, and %252F stays a literal %2F. ok is
// false if the path cannot be decoded.
func AppendPath(dst []byte, escaped string) (_ []byte, ok bool) {
	if escaped == "" {
		return append(dst, '/'), true
	}
	for i := 0; i < len(escaped); i++ {
		c := escaped[i]
		if c == '%' {
			if c, ok = unescape(escaped, i); !ok {
				return dst, false
			}
			i += 2
		}
		if unreserved(c) || c == '/' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return dst, true
}

// appendQuery appends a raw query as S3 signs it: parameters sorted, a missing
// '=' added, everything encoded once. X-Amz-Signature is not part of what it signs.
func appendQuery(dst []byte, query string) (_ []byte, ok bool) {
	if query == "" {
		return dst, true
	}
	type param struct{ name, value string }
	var room [16]param
	params := room[:0]
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		if name, ok = canonicalQueryPart(name); !ok {
			return dst, false
		}
		if name == "X-Amz-Signature" {
			continue
		}
		if value, ok = canonicalQueryPart(value); !ok {
			return dst, false
		}
		params = append(params, param{name, value})
	}
	// Sorted as encoded, and by value where a name is there twice. Encoding
	// first matters: '%' sorts before every letter that it may stand for.
	slices.SortFunc(params, func(a, b param) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.value, b.value)
	})
	for i, p := range params {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(dst, p.name...)
		dst = append(dst, '=')
		dst = append(dst, p.value...)
	}
	return dst, true
}

// canonicalQueryPart spells a name or value of a query as it is signed. Most
// clients send it so already, which costs nothing here.
func canonicalQueryPart(s string) (string, bool) {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = unreserved(s[i])
	}
	if plain {
		return s, true
	}
	decoded, ok := unescapeQuery(s)
	if !ok {
		return "", false
	}
	dst := make([]byte, 0, len(s)+16)
	for i := range len(decoded) {
		if c := decoded[i]; unreserved(c) {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return string(dst), true
}

// unescapeQuery decodes a name or value of a query, where '+' is a space.
func unescapeQuery(s string) (string, bool) {
	if !strings.ContainsAny(s, "%+") {
		return s, true
	}
	dst := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '+':
			dst = append(dst, ' ')
		case '%':
			c, ok := unescape(s, i)
			if !ok {
				return "", false
			}
			dst = append(dst, c)
			i += 2
		default:
			dst = append(dst, c)
		}
	}
	return string(dst), true
}

// unescape decodes the %XX at s[i]. It works byte by byte since every
// verification does it, and net/url would allocate for each key.
func unescape(s string, i int) (byte, bool) {
	if i+2 >= len(s) {
		return 0, false
	}
	hi, ok1 := unhex(s[i+1])
	lo, ok2 := unhex(s[i+2])
	return hi<<4 | lo, ok1 && ok2
}

// unreserved reports whether a byte stands for itself (RFC 3986 §2.3).
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '_' || c == '.' || c == '~'
}

// appendFolded appends a header value without space around it and with runs
// of spaces inside as one. Tabs inside stay: AWS's clients fold spaces only.
func appendFolded(dst []byte, value string) []byte {
	value = strings.Trim(value, " \t")
	if !strings.Contains(value, "  ") {
		return append(dst, value...)
	}
	for i := range len(value) {
		if value[i] == ' ' && value[i-1] == ' ' {
			continue
		}
		dst = append(dst, value[i])
	}
	return dst
}
