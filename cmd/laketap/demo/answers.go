package demo

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// floatTolerance is how far two computed averages or ratios may lie apart,
// relative to the larger: engines add floating-point numbers in their own
// order, so the last digits differ between two runs of even one engine.
const floatTolerance = 1e-9

// maxNumber bounds the spelling of a number, which no honest engine exceeds.
const maxNumber = 64

// A question is asked of every engine. Its order is total, so that answers can
// be compared row by row.
type question struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Columns []column `json:"columns"`
	SQL     []string `json:"sql"`
}

// A column of an answer. Its kind says when two cells are equal:
//
//   - text: the same characters
//   - int, decimal: the same number, however many zeros it ends in
//   - float: the same number within floatTolerance
//   - date: the same day, with or without a time of midnight
//
// SQL's null equals null and nothing else.
type column struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// An answer is what one engine said to one question.
type answer struct {
	rows    [][]*string
	seconds float64
	failure string // why there are no rows; "" if there are
}

// differs returns where got is not what want is, or nil.
func differs(columns []column, want, got [][]*string) error {
	// Row by row, since the questions are ordered: another order is another
	// answer.
	if len(want) != len(got) {
		return fmt.Errorf("%d rows, not %d", len(got), len(want))
	}
	for i := range want {
		if len(want[i]) != len(columns) || len(got[i]) != len(columns) {
			return fmt.Errorf("row %d: %d columns, not %d", i+1, len(got[i]), len(columns))
		}
		for j, c := range columns {
			switch same, err := c.same(want[i][j], got[i][j]); {
			case err != nil:
				return fmt.Errorf("row %d, %s: %w", i+1, c.Name, err)
			case !same:
				return fmt.Errorf("row %d, %s: %s, not %s", i+1, c.Name, spell(got[i][j]), spell(want[i][j]))
			}
		}
	}
	return nil
}

// same reports whether two cells of a column are equal.
func (c column) same(a, b *string) (bool, error) {
	// An engine that reads nulls as zeros or empty texts must not pass.
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	switch c.Kind {
	case "text":
		return *a == *b, nil
	case "int", "decimal":
		return sameBy(*a, *b, exact, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
	case "float":
		return sameBy(*a, *b, parseFloat, near)
	case "date":
		return sameBy(*a, *b, day, time.Time.Equal)
	}
	return false, fmt.Errorf("columns of kind %q are unknown", c.Kind)
}

// sameBy compares two cells by what they spell. A cell that spells nothing of
// its kind is an error and not a difference: the engine's script is wrong then.
func sameBy[T any](a, b string, parse func(string) (T, error), same func(T, T) bool) (bool, error) {
	x, err := parse(a)
	if err != nil {
		return false, err
	}
	y, err := parse(b)
	if err != nil {
		return false, err
	}
	return same(x, y), nil
}

// exact reads a decimal number, which may have an exponent: Python spells the
// zero of a wide decimal 0E-6.
func exact(s string) (*big.Rat, error) {
	mantissa, exponent, has := strings.Cut(strings.ToUpper(s), "E")
	n, err := strconv.Atoi(exponent)
	// SetString also knows fractions and other bases, and would compute any
	// exponent: neither is a number that an engine prints.
	plain := mantissa != "" && strings.Trim(mantissa, "+-.0123456789") == "" && len(s) <= maxNumber
	if !plain || has && (err != nil || n < -maxNumber || n > maxNumber) {
		return nil, fmt.Errorf("%.*q is not a number", maxNumber, s)
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fmt.Errorf("%q is not a number", s)
	}
	return r, nil
}

// parseFloat reads a floating-point number; inf and nan are some, too.
func parseFloat(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%.*q is not a number", maxNumber, s)
	}
	return f, nil
}

// near reports whether two numbers are equal within floatTolerance, relative to
// the larger. Around zero that is no tolerance at all, as it should be.
func near(x, y float64) bool {
	// Also what has no difference: two infinities of one sign.
	if x == y || math.IsNaN(x) && math.IsNaN(y) {
		return true
	}
	return math.Abs(x-y) <= floatTolerance*max(math.Abs(x), math.Abs(y)) && !math.IsInf(x-y, 0)
}

// day reads a date; engines without one of their own print its midnight.
func day(s string) (time.Time, error) {
	date, clock := s[:min(len(s), 10)], s[min(len(s), 10):]
	t, err := time.Parse(time.DateOnly, date)
	if err != nil || clock != "" && strings.Trim(clock[1:], ":.0") != "" {
		return time.Time{}, fmt.Errorf("%.*q is not a date", maxNumber, s)
	}
	return t, nil
}

// spell writes a cell for people; a null is no text of four letters to them.
func spell(cell *string) string {
	if cell == nil {
		return "null"
	}
	return *cell
}
