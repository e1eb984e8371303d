package iceberg

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// A literal is a value in the one spelling that its type has, as JSON, or a
// description of one that is not known.
type literal struct {
	json    string
	unknown bool
}

// text spells the literal in a predicate.
func (l literal) text() string { return l.json }

// appendJSON writes the literal.
func (l literal) appendJSON(b []byte) []byte {
	if l.unknown {
		return appendQuoted(b, l.json)
	}
	return append(b, l.json...)
}

// literal reads a literal of a type.
func (b *binder) literal(raw rawLiteral, typ Type) (literal, error) {
	if raw.typ != "" {
		if err := compatible(raw.typ, typ); err != nil {
			return literal{}, err
		}
	}
	text := string(raw.json)
	s := jsonscan.New(raw.json)
	quoted := s.Next() == '"'
	if quoted {
		text = s.String()
		if err := s.End(); err != nil {
			return literal{}, err
		}
		if b.opts.Sanitized && sanitized(text) {
			return literal{text, true}, nil
		}
	}
	out, ok := spell(text, quoted, typ)
	if !ok {
		return literal{}, malformed("literal that is no value of its column's type")
	}
	return literal{json: out}, nil
}

// compatible returns an error if a literal that says its type is of another one
// than its column: it would have to be converted.
func compatible(name string, typ Type) error {
	said, err := parsePrimitive(name)
	if err != nil {
		return err
	}
	wide := func(k Kind) Kind {
		switch k {
		case Int:
			return Long
		case Float:
			return Double
		}
		return k
	}
	if wide(said.Kind) != wide(typ.Kind) {
		return unsupported("literal of type %q for a column of another", name)
	}
	return nil
}

// spell returns the one spelling of a value; ok is false if it is none of the
// type. Values are of the types that Literal.to of Java takes, and never rounded
// to another one: a comparison with a number that no value of the column equals
// stays one.
func spell(text string, quoted bool, typ Type) (out string, ok bool) {
	switch typ.Kind {
	case Boolean:
		return text, !quoted && (text == "true" || text == "false")
	case Int, Long:
		n, err := strconv.ParseInt(text, 10, 64)
		return strconv.FormatInt(n, 10), !quoted && err == nil
	case Float, Double:
		return spellFloat(text, quoted, typ.Kind)
	case Decimal:
		if out, ok = spellDecimal(text); ok {
			out = `"` + out + `"`
		}
		return out, ok
	case Date, Time, Timestamp, TimestampTZ, TimestampNS, TimestampTZNS:
		return spellTime(text, quoted, typ.Kind)
	case String:
		return string(appendQuoted(nil, text)), quoted
	case UUID:
		return `"` + strings.ToLower(text) + `"`, quoted && isUUID(text)
	case Fixed, Binary:
		_, err := hex.DecodeString(text)
		fits := typ.Kind == Binary || len(text) == 2*typ.Length
		return `"` + strings.ToUpper(text) + `"`, quoted && err == nil && fits
	}
	return "", false
}

// spellFloat spells a floating-point number. Java compares columns of 32 bits
// with the nearest number of 32 bits; what has none near stays as it is.
func spellFloat(text string, quoted bool, kind Kind) (string, bool) {
	if quoted { // as Java writes what JSON cannot
		return `"` + text + `"`, text == "Infinity" || text == "-Infinity"
	}
	if c := text[len(text)-1]; c < '0' || c > '9' { // "inf", "0x1p-2" and so on
		return "", false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", false
	}
	if narrow := float32(v); kind == Float && !math.IsInf(float64(narrow), 0) && (narrow != 0 || v == 0) {
		return strconv.FormatFloat(float64(narrow), 'g', -1, 32), true
	}
	return strconv.FormatFloat(v, 'g', -1, 64), true
}

// maxDecimalDigits bounds the digits of a decimal, and its exponent. No column
// has more than 38.
const maxDecimalDigits = 128

// spellDecimal spells a decimal number: no exponent, no zeros that mean nothing.
func spellDecimal(text string) (string, bool) {
	rest, negative := strings.CutPrefix(text, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	mantissa, exp := rest, 0
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa = rest[:i]
		n, err := strconv.ParseInt(rest[i+1:], 10, 16)
		if err != nil || n > maxDecimalDigits || n < -maxDecimalDigits {
			return "", false
		}
		exp = int(n)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || len(digits) > maxDecimalDigits || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	point := len(whole) + exp // where the point stands in digits
	if point < 0 {
		digits, point = strings.Repeat("0", -point)+digits, 0
	}
	if point > len(digits) {
		digits += strings.Repeat("0", point-len(digits))
	}
	whole, fraction = strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	out := whole
	if whole == "" {
		out = "0"
	}
	if fraction != "" {
		out += "." + fraction
	}
	if negative && out != "0" {
		out = "-" + out
	}
	return out, true
}

// isUUID reports whether the text is a UUID.
func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (text[i] == '-') || !dash && !isHex(text[i]) {
			return false
		}
	}
	return true
}

// isHex reports whether c is a hexadecimal digit.
func isHex(c byte) bool { return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f' }
