package iceberg_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/laketap/laketap/lake/iceberg"
)

// A truth is false, unknown or true.
type truth int

const (
	no truth = iota
	unknown
	yes
)

// A said is an expression as a test holds it: what it means is told by eval, of
// which the code under test knows nothing.
type said struct {
	op     string
	column string
	values []any // int64, float64 or string
	kids   []*said
}

// A row has a value for each column, nil for null.
type row map[string]any

// columnIDs are the columns of rows. id is never null.
var columnIDs = map[string]int{"id": 1, "age": 2, "name": 3, "score": 8}

// compareValues orders values as Java does: NaN above all, -0 below 0.
func compareValues(a, b any) int {
	switch a := a.(type) {
	case int64:
		return int(min(max(a-b.(int64), -1), 1)) // all are small
	case string:
		return strings.Compare(a, b.(string))
	}
	x, y := a.(float64), b.(float64)
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return truthOf(math.IsNaN(x)) - truthOf(math.IsNaN(y))
	case x == y:
		return truthOf(math.Signbit(y)) - truthOf(math.Signbit(x))
	case x < y:
		return -1
	}
	return 1
}

func truthOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// eval tells what the expression is of a row: of three values, or as Java's
// Evaluator has it, to which null is less than any value and equal to none.
func (e *said) eval(r row, three bool) truth {
	switch e.op {
	case "true":
		return yes
	case "false":
		return no
	case "not":
		return yes - e.kids[0].eval(r, three)
	case "and":
		return min(e.kids[0].eval(r, three), e.kids[1].eval(r, three))
	case "or":
		return max(e.kids[0].eval(r, three), e.kids[1].eval(r, three))
	}
	if positive, is := strings.CutPrefix(e.op, "not-"); is { // and so not-eq is true of null to Java
		if positive == "null" || positive == "nan" {
			positive = "is-" + positive
		}
		return yes - (&said{op: positive, column: e.column, values: e.values}).eval(r, three)
	}
	v := r[e.column]
	f, isFloat := v.(float64)
	switch {
	case e.op == "is-null":
		return truth(2 * truthOf(v == nil))
	case e.op == "is-nan":
		return truth(2 * truthOf(isFloat && math.IsNaN(f)))
	case e.op == "in" && len(e.values) == 0:
		return no
	case v == nil && three:
		return unknown
	case v == nil:
		return truth(2 * truthOf(e.op == "lt" || e.op == "lt-eq"))
	}
	return truth(2 * truthOf(e.compare(v)))
}

// compare evaluates a comparison with a value that is there.
func (e *said) compare(v any) bool {
	switch e.op {
	case "in":
		return slices.ContainsFunc(e.values, func(x any) bool { return compareValues(v, x) == 0 })
	case "starts-with":
		return strings.HasPrefix(v.(string), e.values[0].(string))
	}
	c := compareValues(v, e.values[0])
	switch e.op {
	case "lt":
		return c < 0
	case "lt-eq":
		return c <= 0
	case "gt":
		return c > 0
	case "gt-eq":
		return c >= 0
	case "eq":
		return c == 0
	}
	panic(e.op)
}

// json writes the expression.
func (e *said) json() string {
	switch e.op {
	case "true", "false":
		return e.op
	case "not":
		return not(e.kids[0].json())
	case "and", "or":
		return both(e.op, e.kids[0].json(), e.kids[1].json())
	case "in", "not-in":
		values := make([]string, len(e.values))
		for i, v := range e.values {
			values[i] = jsonOf(v)
		}
		return in(e.op, e.column, values...)
	}
	if e.values == nil {
		return fmt.Sprintf(`{"type":%q,"term":%q}`, e.op, e.column)
	}
	return pred(e.op, e.column, jsonOf(e.values[0]))
}

func jsonOf(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.Quote(v.(string))
}

// heard reads what Condition.JSON wrote, with a parser that is not ours.
func heard(t testing.TB, b []byte) *said {
	t.Helper()
	if s := string(b); s == "true" || s == "false" {
		return &said{op: s}
	}
	var m struct {
		Type        string
		Left, Right json.RawMessage
		Child, Term *struct{ ID int }
		Value       any
		Values      []any
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	e := &said{op: m.Type}
	if m.Left != nil {
		e.kids = []*said{heard(t, m.Left), heard(t, m.Right)}
		return e
	}
	ref := m.Child
	if ref == nil {
		ref = m.Term
	}
	for name, id := range columnIDs {
		if id == ref.ID {
			e.column = name
		}
	}
	if m.Value != nil {
		m.Values = append(m.Values, m.Value)
	}
	for _, v := range m.Values {
		e.values = append(e.values, valueOf(t, e.column, v))
	}
	return e
}

// valueOf is a value of a column as JSON has it.
func valueOf(t testing.TB, column string, v any) any {
	n, isNumber := v.(json.Number)
	if !isNumber {
		return v
	}
	if column == "score" {
		f, err := strconv.ParseFloat(string(n), 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	i, err := n.Int64()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// drawValue draws one of few values of a column, so that they meet.
func drawValue(t *rapid.T, column string) any {
	switch column {
	case "name":
		return rapid.SampledFrom([]string{"", "a", "ab", "b"}).Draw(t, "text")
	case "score":
		return rapid.SampledFrom([]float64{-1.5, math.Copysign(0, -1), 0, 2}).Draw(t, "float")
	}
	return rapid.Int64Range(0, 3).Draw(t, "int")
}

// drawSaid draws an expression.
func drawSaid(t *rapid.T, depth int) *said {
	if depth > 0 && rapid.IntRange(0, 3).Draw(t, "inner") > 0 {
		e := &said{op: rapid.SampledFrom([]string{"and", "or", "not"}).Draw(t, "op")}
		for range 2 - truthOf(e.op == "not") {
			e.kids = append(e.kids, drawSaid(t, depth-1))
		}
		return e
	}
	if rapid.IntRange(0, 9).Draw(t, "constant") == 0 {
		return &said{op: rapid.SampledFrom([]string{"true", "false"}).Draw(t, "op")}
	}
	e := &said{column: rapid.SampledFrom([]string{"id", "age", "name", "score"}).Draw(t, "column")}
	all := []string{"lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "in", "not-in", "is-null", "not-null"}
	switch e.column {
	case "name":
		all = append(all, "starts-with", "not-starts-with")
	case "score":
		all = append(all, "is-nan", "not-nan")
	}
	e.op = rapid.SampledFrom(all).Draw(t, "op")
	values := 1
	switch {
	case strings.HasSuffix(e.op, "null") || strings.HasSuffix(e.op, "nan"):
		values = 0
	case strings.HasSuffix(e.op, "in"):
		values = rapid.IntRange(0, 4).Draw(t, "values")
	}
	for range values {
		e.values = append(e.values, drawValue(t, e.column))
	}
	return e
}

// drawRow draws a row: nulls but for id, and NaN.
func drawRow(t *rapid.T) row {
	r := row{}
	for _, column := range []string{"id", "age", "name", "score"} {
		r[column] = drawValue(t, column)
		if column != "id" && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			r[column] = nil
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "nan") == 0 {
		r["score"] = math.NaN()
	}
	return r
}

// rewritten draws another way to say the same.
func (e *said) rewritten(t *rapid.T) *said {
	out := &said{op: e.op, column: e.column, values: slices.Clone(e.values)}
	for _, kid := range e.kids {
		out.kids = append(out.kids, kid.rewritten(t))
	}
	slices.Reverse(out.values) // of a set
	if len(out.kids) == 2 && rapid.Bool().Draw(t, "swap") {
		slices.Reverse(out.kids)
	}
	if (e.op == "in" || e.op == "not-in") && len(e.values) > 0 {
		out.values = append(out.values, e.values[0])
	}
	switch rapid.IntRange(0, 6).Draw(t, "how") {
	case 6:
		out = out.besides(t)
	case 0:
		out = &said{op: "not", kids: []*said{{op: "not", kids: []*said{out}}}}
	case 1:
		out = &said{op: "and", kids: []*said{out, out}}
	case 2:
		out = &said{op: "or", kids: []*said{{op: "false"}, out}}
	}
	return out
}

// besides draws a bound that says nothing besides the expression, if that is a
// bound of a whole number or a text, and says it.
func (e *said) besides(t *rapid.T) *said {
	upper := strings.HasPrefix(e.op, "lt")
	if e.column == "score" || !upper && !strings.HasPrefix(e.op, "gt") {
		return e
	}
	away := 1 - 2*truthOf(upper) // where the rows are that the bound lets through
	join := rapid.SampledFrom([]string{"and", "or"}).Draw(t, "join")
	if join == "and" {
		away = -away
	}
	other := &said{op: rapid.SampledFrom([]string{e.op[:2], e.op[:2] + "-eq"}).Draw(t, "bound"), column: e.column}
	switch v := e.values[0].(type) {
	case int64:
		other.values = []any{v + int64(away)}
	case string:
		if away < 0 {
			return e // there may be none before it
		}
		other.values = []any{v + "\u00e9"}
	}
	return &said{op: join, kids: []*said{e, other}}
}

// condition is the normal form of an expression.
func condition(t testing.TB, e string) *iceberg.Condition {
	t.Helper()
	c, err := iceberg.ParseCondition([]byte(e), people(), iceberg.PredicateOptions{})
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	return c
}

// The normal form is of each row what the expression is, to who knows three
// values and to who knows two.
func TestNormalFormMeansTheSame(t *testing.T) {
	counts := map[truth]int{}
	rapid.Check(t, func(rt *rapid.T) {
		e := drawSaid(rt, 5)
		normal := heard(t, condition(t, e.json()).JSON())
		for range 8 {
			r := drawRow(rt)
			for _, three := range []bool{true, false} {
				want, got := e.eval(r, three), normal.eval(r, three)
				if got != want {
					rt.Fatalf("%s\nis %d of %v (three values: %v), its normal form %d:\n%s", e.json(), want, r, three, got, normal.json())
				}
				counts[want]++
			}
		}
	})
	if counts[no] < 50 || counts[unknown] < 10 || counts[yes] < 50 {
		t.Errorf("too few of a truth: %v", counts)
	}
}

// The same in another order, said twice or denied twice, is one predicate.
func TestNormalFormIsOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := drawSaid(rt, 5)
		other := e.rewritten(rt)
		a, b := condition(t, e.json()).Predicate(), condition(t, other.json()).Predicate()
		if a.Key != b.Key || a.Shape != b.Shape || !slices.Equal(a.Fields, b.Fields) {
			rt.Errorf("%s\nis %+v, but\n%s\nis %+v", e.json(), a, other.json(), b)
		}
	})
}
