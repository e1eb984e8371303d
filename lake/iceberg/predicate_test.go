package iceberg_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
)

// people is a schema with a column of each type that has literals, and things
// inside one another.
func people() *iceberg.Schema {
	typ := func(k iceberg.Kind) iceberg.Type { return iceberg.Type{Kind: k} }
	field := func(id int, name string, t iceberg.Type) iceberg.Field {
		return iceberg.Field{ID: id, Name: name, Type: t}
	}
	point := iceberg.Type{Kind: iceberg.Struct, Fields: []iceberg.Field{
		{ID: 31, Name: "x", Required: true, Type: typ(iceberg.Double)}, field(32, "y", typ(iceberg.Double)),
	}}
	must := iceberg.Type{Kind: iceberg.Struct, Fields: []iceberg.Field{{ID: 34, Name: "z", Required: true, Type: typ(iceberg.Int)}}}
	return &iceberg.Schema{Fields: []iceberg.Field{
		{ID: 1, Name: "id", Required: true, Type: typ(iceberg.Long)},
		field(2, "age", typ(iceberg.Int)), field(3, "name", typ(iceberg.String)), field(4, "born", typ(iceberg.Date)),
		field(5, "seen", typ(iceberg.TimestampTZ)), field(6, "made", typ(iceberg.Timestamp)), field(7, "at", typ(iceberg.Time)),
		field(8, "score", typ(iceberg.Double)), field(9, "ratio", typ(iceberg.Float)), field(10, "ok", typ(iceberg.Boolean)),
		field(11, "price", iceberg.Type{Kind: iceberg.Decimal, Precision: 9, Scale: 2}), field(12, "key", typ(iceberg.UUID)),
		field(13, "raw", typ(iceberg.Binary)), field(14, "hash", iceberg.Type{Kind: iceberg.Fixed, Length: 2}),
		field(15, "ns", typ(iceberg.TimestampNS)), field(16, "nstz", typ(iceberg.TimestampTZNS)),
		field(20, "Case", typ(iceberg.Int)), field(21, "case", typ(iceberg.Int)), field(22, "a.b", typ(iceberg.Int)),
		field(30, "where", point),
		{ID: 33, Name: "must", Required: true, Type: must},
		field(40, "tags", iceberg.Type{Kind: iceberg.List, Fields: []iceberg.Field{{ID: 41, Name: "element", Required: true, Type: iceberg.Type{
			Kind: iceberg.Struct, Fields: []iceberg.Field{{ID: 42, Name: "word", Required: true, Type: typ(iceberg.String)}},
		}}}}),
	}}
}

// pred is a predicate in the older spelling, which engines send.
func pred(op, term, value string) string {
	return fmt.Sprintf(`{"type":%q,"term":%q,"value":%s}`, op, term, value)
}

// both is two expressions as operands of a third.
func both(op, left, right string) string {
	return fmt.Sprintf(`{"type":%q,"left":%s,"right":%s}`, op, left, right)
}

func not(child string) string { return `{"type":"not","child":` + child + `}` }

func isNull(term string) string { return fmt.Sprintf(`{"type":"is-null","term":%q}`, term) }

func in(op, term string, values ...string) string {
	return fmt.Sprintf(`{"type":%q,"term":%q,"values":[%s]}`, op, term, strings.Join(values, ","))
}

func TestPredicate(t *testing.T) {
	tests := []struct {
		name, in string
		want     laketap.Predicate
	}{
		{"true", "true", laketap.Predicate{}},
		{"false", "false", laketap.Predicate{Key: "false", Shape: "false"}},
		{"comparison", pred("lt", "age", "5"), laketap.Predicate{Key: "#2 < 5", Shape: "#2 < ?", Fields: []int{2}}},
		{
			"sorted, flat, each once",
			both("and", both("and", pred("gt", "score", "1.5"), pred("eq", "name", `"x"`)), both("and", pred("eq", "name", `"x"`), pred("gt-eq", "id", "7"))),
			laketap.Predicate{Key: `(#1 >= 7 and #3 = "x" and #8 > 1.5)`, Shape: "(#1 >= ? and #3 = ? and #8 > ?)", Fields: []int{1, 3, 8}},
		},
		{
			"or of values is a set",
			both("or", pred("eq", "age", "3"), both("or", in("in", "age", "2", "1", "2"), pred("eq", "age", "1"))),
			laketap.Predicate{Key: "#2 in (1, 2, 3)", Shape: "#2 in (?)", Fields: []int{2}},
		},
		{
			"and of no values is a set",
			both("and", pred("not-eq", "age", "3"), in("not-in", "age", "2")),
			laketap.Predicate{Key: "#2 not in (2, 3)", Shape: "#2 not in (?)", Fields: []int{2}},
		},
		{
			"shape does not depend on literals",
			both("or", both("and", pred("eq", "age", "9"), pred("gt", "score", "1")), both("and", pred("eq", "age", "1"), pred("lt", "score", "1"))),
			laketap.Predicate{
				Key:    "((#2 = 1 and #8 < 1) or (#2 = 9 and #8 > 1))",
				Shape:  "((#2 = ? and #8 < ?) or (#2 = ? and #8 > ?))",
				Fields: []int{2, 8},
			},
		},
		{
			"negation",
			not(both("and", pred("lt", "age", "5"), not(isNull("name")))),
			laketap.Predicate{Key: "(#2 >= 5 or #3 is null)", Shape: "(#2 >= ? or #3 is null)", Fields: []int{2, 3}},
		},
		{"what is required is never null", both("and", `{"type":"not-null","term":"id"}`, pred("eq", "id", "5")), laketap.Predicate{Key: "#1 = 5", Shape: "#1 = ?", Fields: []int{1}}},
		{"required in what is optional", isNull("where.x"), laketap.Predicate{Key: "#31 is null", Shape: "#31 is null", Fields: []int{31}}},
		{"required in what is required", isNull("must.z"), laketap.Predicate{Key: "false", Shape: "false"}},
		{"required in a list", isNull("tags.word"), laketap.Predicate{Key: "#42 is null", Shape: "#42 is null", Fields: []int{42}}},
		{"no value at all", in("in", "age"), laketap.Predicate{Key: "false", Shape: "false"}},
		{"any value", both("and", in("not-in", "age"), "true"), laketap.Predicate{}},
		{"number that no int is", pred("lt", "age", "1099511627776"), laketap.Predicate{Key: "#2 < 1099511627776", Shape: "#2 < ?", Fields: []int{2}}},
		{
			"transform",
			`{"type":"eq","term":{"type":"transform","transform":"BUCKET[16]","term":"name"},"value":3}`,
			laketap.Predicate{Key: "bucket[16](#3) = 3", Shape: "bucket[16](#3) = ?", Fields: []int{3}},
		},
		{
			"day is a date",
			`{"type":"eq","term":{"type":"transform","transform":"day","term":{"type":"reference","term":"seen"}},"value":19000}`,
			laketap.Predicate{Key: `day(#5) = "2022-01-08"`, Shape: "day(#5) = ?", Fields: []int{5}},
		},
		{
			"identity is the field",
			`{"type":"eq","term":{"type":"transform","transform":"identity","term":"age"},"value":3}`,
			laketap.Predicate{Key: "#2 = 3", Shape: "#2 = ?", Fields: []int{2}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := iceberg.ParsePredicate([]byte(tt.in), people(), iceberg.PredicateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// One condition in the spellings of the grammar of August 2026 and of the one
// before it, of Java, PyIceberg and iceberg-go.
func TestSpellings(t *testing.T) {
	ref := `{"type":"reference","name":"age"}`
	for want, spellings := range map[string][]string{
		"#2 < 5": {
			pred("lt", "age", "5"),
			pred("LT", "age", ` 5 `),
			`{"value":5,"term":{"type":"reference","term":"age"},"type":"lt"}`,
			`{"type":"lt","left":` + ref + `,"right":5}`,
			`{"type":"gt","left":5,"right":` + ref + `}`,
			`{"type":"lt","left":{"type":"reference","id":2},"right":{"type":"literal","value":5,"data-type":"int"}}`,
			`{"type":"lt","term":"age","value":{"type":"literal","value":5}}`,
			not(pred("gt_eq", "age", "5")),
			not(not(pred("lt", "age", "5"))),
			both("and", pred("lt", "age", "5"), `{"type":"literal","value":true}`),
			both("or", `{"type":"false"}`, pred("lt", "age", "5")),
		},
		"#2 in (1, 2)": {
			in("in", "age", "2", "1"),
			`{"type":"in","child":` + ref + `,"values":[1,2,1]}`,
			`{"type":"in","child":` + ref + `,"values":{"type":"literals","values":[2,1],"data-type":"long"}}`,
			`{"type":"in","child":` + ref + `,"values":[{"type":"literal","value":1},2]}`,
			both("or", pred("eq", "age", "2"), pred("eq", "age", "1")),
			not(in("not-in", "age", "2", "1")),
		},
		"#2 = 1": {in("in", "age", "1", "1"), pred("eq", "age", "1"), not(pred("not-eq", "age", "1"))},
		"#2 is not null": {
			`{"type":"not-null","term":"age"}`, `{"type":"not-null","child":` + ref + `}`, not(isNull("age")),
		},
		"#8 is not nan": {`{"type":"not-nan","term":"score"}`, not(`{"type":"is-nan","term":"score"}`)},
		`#3 not starts with "a"`: {
			pred("not-starts-with", "name", `"a"`), not(pred("starts-with", "name", `"\u0061"`)),
		},
		"hour(#5) = 4": {
			`{"type":"eq","term":{"type":"transform","transform":"hour","term":"seen"},"value":4}`,
			`{"type":"eq","left":{"type":"apply","function":"hour","arguments":[{"type":"reference","id":5}]},"right":4}`,
		},
		`#3 = "\"\\\u000aé"`: {pred("eq", "name", `"\"\\\n\u00e9"`)},
	} {
		for _, s := range spellings {
			p, err := iceberg.ParsePredicate([]byte(s), people(), iceberg.PredicateOptions{})
			if err != nil || p.Key != want {
				t.Errorf("%s: got %q, %v, want %q", s, p.Key, err, want)
			}
		}
	}
}

// Of the bounds on one side of a term one is left, where all agree on the order
// of values. Field case P11.
func TestBoundsOfOneSide(t *testing.T) {
	for _, tt := range []struct{ column, op, a, b, and, or string }{
		{"age", "lt", "5", "10", "#2 < 5", "#2 < 10"},
		{"age", "gt-eq", "-5", "3000000000", "#2 >= 3000000000", "#2 >= -5"},
		{"score", "gt", "9.5", "10", "#8 > 10", "#8 > 9.5"},
		{"score", "gt", "9.5", `"Infinity"`, `#8 > "Infinity"`, "#8 > 9.5"},
		{"score", "gt", "-0.0", "0.0", "(#8 > -0 and #8 > 0)", "(#8 > -0 or #8 > 0)"},
		{"price", "lt", `"9.5"`, `"10"`, `#11 < "9.5"`, `#11 < "10"`},
		{"born", "lt", `"2022-03-01"`, `"0999-01-01"`, `#4 < "0999-01-01"`, `#4 < "2022-03-01"`},
		{"born", "lt", `"2022-03-01"`, "100000000", `#4 < "2022-03-01"`, "#4 < 100000000"},
		{"at", "gt", `"10:15"`, `"09:15:30.5"`, `#7 > "10:15:00"`, `#7 > "09:15:30.5"`},
		{"seen", "gt", `"2022-03-01T00:00:00Z"`, `"2022-03-01T00:30:00+01:00"`, `#5 > "2022-03-01T00:00:00+00:00"`, `#5 > "2022-02-28T23:30:00+00:00"`},
		{"name", "lt", `"b"`, `"a\u0001"`, `#3 < "a\u0001"`, `#3 < "b"`},
		{"name", "lt", `"\uffff"`, `"\ud83d\ude00"`, "#3 < \"\uffff\"", "#3 < \"\U0001f600\""}, // by code points, not as UTF-16
		{"raw", "gt", `"7f"`, `"80"`, `#13 > "80"`, `#13 > "7F"`},
		{
			"key", "lt", `"00000000-0000-0000-0000-000000000000"`, `"80000000-0000-0000-0000-000000000000"`,
			`(#12 < "00000000-0000-0000-0000-000000000000" and #12 < "80000000-0000-0000-0000-000000000000")`,
			`(#12 < "00000000-0000-0000-0000-000000000000" or #12 < "80000000-0000-0000-0000-000000000000")`,
		},
	} {
		for op, want := range map[string]string{"and": tt.and, "or": tt.or} {
			e := both(op, pred(tt.op, tt.column, tt.a), pred(tt.op, tt.column, tt.b))
			p, err := iceberg.ParsePredicate([]byte(e), people(), iceberg.PredicateOptions{})
			if err != nil || p.Key != want {
				t.Errorf("%s: got %q, %v, want %q", e, p.Key, err, want)
			}
		}
	}
	for want, e := range map[string]string{
		"#2 < 5":               both("and", pred("lt", "age", "5"), pred("lt-eq", "age", "5")),
		"#2 <= 5":              both("or", pred("lt", "age", "5"), pred("lt-eq", "age", "5")),
		"(#2 < 5 and #2 > 1)":  both("and", both("and", pred("gt", "age", "1"), pred("lt", "age", "9")), pred("lt", "age", "5")),
		"(#2 < 5 and #20 < 9)": both("and", pred("lt", "age", "5"), pred("lt", "Case", "9")),
	} {
		p, err := iceberg.ParsePredicate([]byte(e), people(), iceberg.PredicateOptions{})
		if err != nil || p.Key != want {
			t.Errorf("%s: got %q, %v, want %q", e, p.Key, err, want)
		}
	}
}

// Names are those of the schema that is given. Field case P17.
func TestPredicateNames(t *testing.T) {
	for _, tt := range []struct {
		name string
		fold bool
		want string // "": not found, or not one
	}{
		{"age", false, "#2"},
		{"AGE", false, ""},
		{"AGE", true, "#2"},
		{"Case", false, "#20"},
		{"case", false, "#21"},
		{"case", true, ""},
		{"a.b", false, "#22"},
		{"where.x", false, "#31"},
		{"WHERE.X", true, "#31"},
		{"x", false, ""},
		{"tags.element.word", false, "#42"},
		{"tags.word", false, "#42"},
		{"where", false, "#30"},
		{"", false, ""},
	} {
		p, err := iceberg.ParsePredicate([]byte(isNull(tt.name)), people(), iceberg.PredicateOptions{CaseInsensitive: tt.fold})
		if tt.want == "" {
			if !errors.Is(err, iceberg.ErrMalformed) {
				t.Errorf("%q, fold %v: got %q, %v, want an error", tt.name, tt.fold, p.Key, err)
			}
			continue
		}
		if err != nil || p.Key != tt.want+" is null" {
			t.Errorf("%q, fold %v: got %q, %v, want %s", tt.name, tt.fold, p.Key, err, tt.want)
		}
	}
}

func TestPredicateErrors(t *testing.T) {
	deep := strings.Repeat(`{"type":"not","child":`, 200) + "true" + strings.Repeat("}", 200)
	long := strings.TrimSuffix(strings.Repeat("1,", 50_000), ",")
	var wide func(n int) string
	wide = func(n int) string {
		if n == 1 {
			return pred("eq", "age", "1")
		}
		return both("or", wide(n/2), wide(n-n/2))
	}
	for _, tt := range []struct {
		name, in string
		want     error
	}{
		{"nothing", "", iceberg.ErrMalformed},
		{"null", "null", iceberg.ErrMalformed},
		{"text", `"true"`, iceberg.ErrMalformed},
		{"more", "true true", iceberg.ErrMalformed},
		{"no type", `{"term":"age","value":5}`, iceberg.ErrMalformed},
		{"unknown type", pred("like", "name", `"x"`), iceberg.ErrUnsupported},
		{"unknown member", `{"type":"eq","term":"age","value":5,"collate":"de"}`, iceberg.ErrUnsupported},
		{"member of another type", `{"type":"is-null","term":"age","value":5}`, iceberg.ErrUnsupported},
		{"member twice", `{"type":"eq","term":"age","value":5,"value":6}`, iceberg.ErrMalformed},
		{"no operand", `{"type":"and","left":true}`, iceberg.ErrMalformed},
		{"no child", `{"type":"not"}`, iceberg.ErrMalformed},
		{"no term", `{"type":"is-null"}`, iceberg.ErrMalformed},
		{"two terms", `{"type":"is-null","term":"age","child":{"type":"reference","name":"age"}}`, iceberg.ErrMalformed},
		{"no value", `{"type":"eq","term":"age"}`, iceberg.ErrMalformed},
		{"no values", `{"type":"in","term":"age"}`, iceberg.ErrMalformed},
		{"null value", pred("eq", "age", "null"), iceberg.ErrMalformed},
		{"no field", pred("eq", "shoe", "5"), iceberg.ErrMalformed},
		{"no id", `{"type":"is-null","child":{"type":"reference","id":99}}`, iceberg.ErrMalformed},
		{"id of 64 bits", `{"type":"is-null","child":{"type":"reference","id":4294967298}}`, iceberg.ErrMalformed},
		{"name and id", `{"type":"is-null","child":{"type":"reference","id":2,"name":"age"}}`, iceberg.ErrMalformed},
		{"two fields", both("lt", `{"type":"reference","id":2}`, `{"type":"reference","id":1}`), iceberg.ErrUnsupported},
		{"two literals", both("lt", "1", "2"), iceberg.ErrUnsupported},
		{"start on the right", both("starts-with", `"a"`, `{"type":"reference","name":"name"}`), iceberg.ErrUnsupported},
		{"start of a number", pred("starts-with", "age", "1"), iceberg.ErrMalformed},
		{"NaN of a number without", `{"type":"is-nan","term":"age"}`, iceberg.ErrMalformed},
		{"literal of another type", pred("eq", "age", `"5"`), iceberg.ErrMalformed},
		{"literal that says another type", pred("eq", "age", `{"type":"literal","value":5,"data-type":"date"}`), iceberg.ErrUnsupported},
		{"literal that says no type", pred("eq", "age", `{"type":"literal","value":5,"data-type":"shoe"}`), iceberg.ErrUnsupported},
		{"literal of a struct", pred("eq", "where", `{"type":"literal","value":{}}`), iceberg.ErrMalformed},
		{"unknown transform", `{"type":"eq","term":{"type":"transform","transform":"zorder","term":"age"},"value":1}`, iceberg.ErrUnsupported},
		{"transform of another type", `{"type":"eq","term":{"type":"transform","transform":"day","term":"age"},"value":1}`, iceberg.ErrMalformed},
		{"transform of a transform", `{"type":"is-null","term":{"type":"transform","transform":"void","term":{"type":"transform","transform":"void","term":"age"}}}`, iceberg.ErrUnsupported},
		{"function of two", `{"type":"is-null","child":{"type":"apply","function":"day","arguments":[{"type":"reference","id":5},{"type":"reference","id":5}]}}`, iceberg.ErrUnsupported},
		{"function of a catalog", `{"type":"is-null","child":{"type":"apply","function":{"identifier":{}},"arguments":[{"type":"reference","id":5}]}}`, iceberg.ErrUnsupported},
		{"deep", deep, iceberg.ErrMalformed},
		{"long list", in("in", "age", long), iceberg.ErrLimit},
		{"many parts", wide(5000), iceberg.ErrLimit},
		{"many bytes", strings.Repeat(" ", 300_000) + "true", iceberg.ErrLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := iceberg.PredicateOptions{}
			if tt.name == "many parts" {
				opts.MaxBytes = 1 << 20
			}
			p, err := iceberg.ParsePredicate([]byte(tt.in), people(), opts)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %q, %v, want %v", p.Key, err, tt.want)
			}
		})
	}
}

// Errors go to logs, literals do not.
func TestErrorsTellNoLiterals(t *testing.T) {
	for _, in := range []string{
		pred("eq", "age", `"hunter2"`), pred("eq", "born", `"hunter2"`), in("in", "key", `"hunter2"`), pred("eq", "price", `"hunter2"`),
		pred("eq", "hash", `"hunter2"`), pred("starts-with", "age", `"hunter2"`),
	} {
		_, err := iceberg.ParsePredicate([]byte(in), people(), iceberg.PredicateOptions{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// What is kept of a predicate is short, and still tells two apart.
func TestLongPredicate(t *testing.T) {
	texts := map[string]bool{}
	for n := range 3 {
		values := make([]string, 3000)
		for i := range values {
			values[i] = fmt.Sprintf(`"é%d"`, i)
		}
		values[2999] = fmt.Sprintf(`"é%d"`, 9999999+n)
		p, err := iceberg.ParsePredicate([]byte(in("in", "name", values...)), people(), iceberg.PredicateOptions{})
		if err != nil || len(p.Key) > 4096 || p.Shape != "#3 in (?)" || strings.ToValidUTF8(p.Key, "") != p.Key {
			t.Errorf("%d bytes, shape %q, %v", len(p.Key), p.Shape, err)
		}
		texts[p.Key] = true
	}
	if len(texts) != 3 {
		t.Errorf("%d keys of 3 predicates", len(texts))
	}
}
