package iceberg_test

import (
	"testing"

	"github.com/laketap/laketap/lake/iceberg"
)

// Spellings of one value give one text, and what is no value of the type none.
// Field case P18.
func TestLiterals(t *testing.T) {
	for _, tt := range []struct {
		column, want string // want "": an error
		spellings    []string
	}{
		{"id", "5", []string{"5"}},
		{"id", "0", []string{"0", "-0"}},
		{"id", "-9223372036854775808", []string{"-9223372036854775808"}},
		{"id", "", []string{"9223372036854775808", "5.0", "5e0", `"5"`, "true", "null", "[5]", `{"type":"literal"}`}},
		{"ok", "true", []string{"true"}},
		{"ok", "", []string{`"true"`, "1"}},
		{"score", "1.5", []string{"1.5", "1.50", "15e-1", "0.15E1"}},
		{"score", "5", []string{"5", "5.0", "5e0"}},
		{"score", "-0", []string{"-0", "-0.0"}},
		{"score", "1e+300", []string{"1e300"}},
		{"score", `"-Infinity"`, []string{`"-Infinity"`}},
		{"score", "", []string{"1e400", `"NaN"`, `"1.5"`, `"inf"`, "true"}},
		{"ratio", "0.1", []string{"0.1", "0.10000000149011612"}},
		{"ratio", "1e+300", []string{"1e300"}}, // no infinity: that would be another question
		{"ratio", "1e-300", []string{"1e-300"}},
		{"price", `"14.2"`, []string{`"14.20"`, `"14.2"`, "14.2", "14.20", `"1.42E1"`, "142e-1", `"+14.2"`, `"014.2"`}},
		{"price", `"0"`, []string{`"0"`, `"-0.00"`, "0", `"0E+5"`}},
		{"price", `"-1200"`, []string{"-1200", `"-1.2E3"`, `"-1200.00"`}},
		{"price", `"0.005"`, []string{`"0.005"`, "5e-3", `".005"`}}, // not rounded to the scale
		{"price", "", []string{`""`, `"."`, `"1.2.3"`, `"1e999"`, `"0x10"`, `"1_000"`, `"٣"`, `"--1"`, `"1e"`, "true"}},
		{"born", `"2022-03-01"`, []string{`"2022-03-01"`, "19052"}},
		{"born", `"1969-12-31"`, []string{`"1969-12-31"`, "-1"}},
		{"born", "100000000", []string{"100000000"}},
		{"born", "", []string{`"2022-3-1"`, `"2022-02-30"`, `"2022-03-01T00:00:00"`, "1.5", `""`}},
		{"at", `"10:15:30.5"`, []string{`"10:15:30.500000"`, "36930500000", `"10:15:30.5"`}},
		{"at", `"10:15:00"`, []string{`"10:15"`, "36900000000"}},
		{"at", "-1", []string{"-1"}},
		{"at", "", []string{`"10:15:30.0000001"`, `"25:00:00"`, `"10"`}},
		{"made", `"2007-12-03T10:15:30.123456"`, []string{`"2007-12-03T10:15:30.123456"`, "1196676930123456", `"2007-12-03T10:15:30.123456000"`}},
		{"made", `"2007-12-03T10:15:00"`, []string{`"2007-12-03T10:15"`, `"2007-12-03T10:15:00.000"`}},
		{"made", "9223372036854775807", []string{"9223372036854775807"}},
		{"made", "", []string{`"2007-12-03T10:15:30Z"`, `"2007-12-03T10:15:30.1234567"`, `"2007-12-03"`, `"2007-12-03T10:15:30.1234560000"`}},
		{"seen", `"2007-12-03T10:15:30+00:00"`, []string{`"2007-12-03T10:15:30+00:00"`, `"2007-12-03T10:15:30Z"`, `"2007-12-03T12:15:30+02:00"`, "1196676930000000"}},
		{"seen", "", []string{`"2007-12-03T10:15:30"`}},
		{"ns", `"2007-12-03T10:15:30.123456789"`, []string{`"2007-12-03T10:15:30.123456789"`}},
		{"ns", `"2007-12-03T10:15:30"`, []string{"1196676930000000"}}, // a number is one of microseconds
		{"ns", "", []string{"9223372036854775807", `"9999-12-03T10:15:30"`}},
		{"nstz", `"2007-12-03T10:15:30.000000001+00:00"`, []string{`"2007-12-03T10:15:30.000000001Z"`}},
		{"key", `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, []string{`"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, `"F79C3E09-677C-4BBD-A479-3F349CB785E7"`}},
		{"key", "", []string{`"f79c3e09677c4bbda4793f349cb785e7"`, `"f79c3e09-677c-4bbd-a479-3f349cb785eg"`, `"f79c3e096-77c-4bbd-a479-3f349cb785e7"`}},
		{"raw", `"01FF"`, []string{`"01ff"`, `"01FF"`}},
		{"raw", "", []string{`"1ff"`, `"zz"`, "1"}},
		{"hash", `"01FF"`, []string{`"01ff"`}},
		{"hash", "", []string{`"01ff00"`, `"01"`}},
		{"name", `"(2-digit-int)"`, []string{`"(2-digit-int)"`}},
		{"name", "", []string{"5", "true"}},
		{"where", "", []string{`"x"`, "1"}},
	} {
		for _, s := range tt.spellings {
			p, err := iceberg.ParsePredicate([]byte(pred("gt", tt.column, s)), people(), iceberg.PredicateOptions{})
			switch {
			case tt.want == "" && err == nil:
				t.Errorf("%s > %s: got %q, want an error", tt.column, s, p.Key)
			case tt.want != "" && (err != nil || p.Key[len(p.Key)-len(tt.want):] != tt.want):
				t.Errorf("%s > %s: got %q, %v, want %s", tt.column, s, p.Key, err, tt.want)
			}
		}
	}
}

// The filter of a ScanReport has descriptions where literals were. Field case
// P18.
func TestSanitized(t *testing.T) {
	for _, tt := range []struct{ in, key string }{
		{pred("lt", "age", `"(2-digit-int)"`), "#2 < (2-digit-int)"},
		{pred("lt", "score", `"(1-digit-float)"`), "#8 < (1-digit-float)"},
		{pred("eq", "name", `"(hash-1a2b3c4d)"`), "#3 = (hash-1a2b3c4d)"},
		{pred("eq", "born", `"(date)"`), "#4 = (date)"},
		{pred("eq", "born", `"(date-today)"`), "#4 = (date-today)"},
		{pred("gt", "born", `"(date-7-days-ago)"`), "#4 > (date-7-days-ago)"},
		{pred("gt", "seen", `"(timestamp-12-hours-from-now)"`), "#5 > (timestamp-12-hours-from-now)"},
		{pred("gt", "seen", `"(timestamp-about-now)"`), "#5 > (timestamp-about-now)"},
		{pred("gt", "at", `"(time)"`), "#7 > (time)"},
		{pred("eq", "price", `"(hash-00000000)"`), "#11 = (hash-00000000)"},
		// Two that look alike may be two values.
		{in("in", "age", `"(1-digit-int)"`, `"(1-digit-int)"`), "#2 in ((1-digit-int), (1-digit-int))"},
		{both("or", pred("lt", "age", `"(1-digit-int)"`), pred("lt", "age", `"(1-digit-int)"`)), "(#2 < (1-digit-int) or #2 < (1-digit-int))"},
		{pred("eq", "name", `"(2-digit-INT32)"`), "#3 = (2-digit-INT32)"},
		// No description; engines that sanitize nothing send values.
		{pred("eq", "name", `"(hash-1a2b3c4)"`), `#3 = "(hash-1a2b3c4)"`},
		{pred("eq", "name", `"(date-later)"`), `#3 = "(date-later)"`},
		{pred("eq", "name", `"(2-digit-)"`), `#3 = "(2-digit-)"`},
		{pred("eq", "name", `"()"`), `#3 = "()"`},
		{pred("eq", "age", "5"), "#2 = 5"},
	} {
		c, err := iceberg.ParseCondition([]byte(tt.in), people(), iceberg.PredicateOptions{Sanitized: true})
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if got := c.Predicate().Key; got != tt.key {
			t.Errorf("%s: got %q, want %q", tt.in, got, tt.key)
		}
		if known := tt.key[len(tt.key)-1] != ')'; c.Known() != known {
			t.Errorf("%s: known is %v", tt.in, c.Known())
		}
	}
}
