package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An object is a JSON object as text, cut into its members. Editing replaces,
// drops and appends members and leaves every other byte as it was: order,
// white space, duplicate names and numbers of any size survive.
type object struct {
	raw     []byte
	from    int // of the first segment, behind '{'
	to      int // of '}'
	members []member
}

// A member is one name and value, and the segment between commas that it
// stands in, white space included.
type member struct {
	name           string // decoded
	from, to       int    // the segment
	valFrom, valTo int
	inner          *object // the value, where it is an object that was cut with its parent
}

// A pair is a member to set: its name and its value as JSON text.
type pair struct {
	name  string
	value []byte
}

// text makes a pair whose value is a string.
func text(name, value string) pair { return pair{name, quote(value)} }

// quote spells a string as JSON.
func quote(s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil { // strings always marshal
		return []byte(`""`)
	}
	return quoted
}

// parseObject cuts a JSON object into members, and the objects among their
// values too: metadata of megabytes is walked once. ok is false if raw is not
// valid JSON or no object.
func parseObject(raw []byte) (object, bool) {
	o, end := scanObject(raw, skipSpace(raw, 0), 2, 1)
	if end < 0 || skipSpace(raw, end) != len(raw) {
		return object{}, false
	}
	return o, true
}

// cut is [parseObject] for text that is known to be valid, such as a value out
// of a valid object.
func cut(raw []byte) (object, bool) {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return object{}, false
	}
	o := object{raw: raw, from: i + 1}
	i++
	for {
		segment := i
		i = skipSpace(raw, i)
		if raw[i] == '}' { // only of an empty object: JSON has no trailing commas
			o.to = i
			return o, true
		}
		nameFrom := i
		i = skipString(raw, i)
		name := unquote(raw[nameFrom:i])
		i = skipSpace(raw, i) + 1 // behind ':'
		valFrom := skipSpace(raw, i)
		valTo := skipValue(raw, valFrom)
		i = skipSpace(raw, valTo)
		o.members = append(o.members, member{name: name, from: segment, to: i, valFrom: valFrom, valTo: valTo})
		if raw[i] == '}' {
			o.to = i
			return o, true
		}
		i++ // behind ','
	}
}

// get returns the value of a member and how often its name occurs.
func (o object) get(name string) (value []byte, times int) {
	for _, m := range o.members {
		if m.name == name {
			value = o.raw[m.valFrom:m.valTo]
			times++
		}
	}
	return value, times
}

// text returns the string value of a member; ok is false if there is none, or
// it is no string, or the name occurs twice or the string is no Unicode, so
// that readers may differ in what they take of it.
func (o object) text(name string) (s string, ok bool) {
	value, times := o.get(name)
	if times != 1 || len(value) == 0 || value[0] != '"' {
		return "", false
	}
	s = unquote(value)
	return s, !strings.ContainsRune(s, utf8.RuneError) // bytes that are no UTF-8 among them
}

// once reports whether none of the names stands for two members.
func (o object) once(names []string) bool {
	for _, name := range names {
		if _, times := o.get(name); times > 1 {
			return false
		}
	}
	return true
}

// object returns the object that is the value of a member.
func (o object) object(name string) (object, bool) {
	value, times := o.get(name)
	if times != 1 {
		return object{}, false
	}
	for _, m := range o.members {
		if m.name == name && m.inner != nil {
			return *m.inner, true
		}
	}
	return cut(value)
}

// integer returns the 64-bit number of a member, or what it is without one.
func (o object) integer(name string, without int64) int64 {
	value, times := o.get(name)
	if times != 1 {
		return without
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return without
	}
	return n
}

// edit returns the object's text with the pairs set, in place where their
// names occur and else at the end, and the members dropped that drop names.
// drop may be nil.
func (o object) edit(set []pair, drop func(name string) bool) []byte {
	return bytes.Join(o.pieces(set, drop), nil)
}

// pieces is [object.edit] without the copy that a large text is better spared:
// what is kept is where it was.
func (o object) pieces(set []pair, drop func(name string) bool) [][]byte {
	out := [][]byte{o.raw[:o.from]}
	first := true
	add := func(pieces ...[]byte) {
		if !first {
			out = append(out, []byte{','})
		}
		first = false
		out = append(out, pieces...)
	}
	done := make([]bool, len(set))
	for _, m := range o.members {
		i := slices.IndexFunc(set, func(p pair) bool { return p.name == m.name })
		switch {
		case i >= 0 && !done[i]:
			done[i] = true
			add(o.raw[m.from:m.valFrom], set[i].value, o.raw[m.valTo:m.to])
		case i >= 0 || drop != nil && drop(m.name):
		default:
			add(o.raw[m.from:m.to])
		}
	}
	for i, p := range set {
		if !done[i] {
			add(quote(p.name), []byte{':'}, p.value)
		}
	}
	return append(out, o.raw[o.to:])
}

// elements cuts a JSON array, known to be valid, into its values; ok is false
// if raw is no array.
func elements(raw []byte) (values [][]byte, ok bool) {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return nil, false
	}
	i = skipSpace(raw, i+1)
	for raw[i] != ']' {
		end := skipValue(raw, i)
		values = append(values, raw[i:end])
		i = skipSpace(raw, end)
		if raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return values, true
}

// isNull reports whether a value is absent or null.
func isNull(value []byte) bool { return len(value) == 0 || string(value) == "null" }

// unquote decodes a valid JSON string.
func unquote(quoted []byte) string {
	if body := quoted[1 : len(quoted)-1]; !bytes.ContainsRune(body, '\\') {
		return string(body)
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return string(quoted)
	}
	return s
}

// The functions below walk text that is known to be valid JSON.

// skipSpace returns the index of the next byte that is no white space.
func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index behind the string that begins at i.
func skipString(raw []byte, i int) int {
	for i++; ; i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// skipValue returns the index behind the value that begins at i.
func skipValue(raw []byte, i int) int {
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
		for depth := 0; ; {
			switch raw[i] {
			case '"':
				i = skipString(raw, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
	}
	for i < len(raw) && raw[i] != ',' && raw[i] != '}' && raw[i] != ']' && raw[i] > ' ' {
		i++
	}
	return i
}
