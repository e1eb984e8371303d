package iceberg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/iceberg"
)

// FuzzPredicate holds the parser to errors of ours or to a normal form that is
// its own.
func FuzzPredicate(f *testing.F) {
	for _, seed := range []string{
		"true",
		both("and", both("or", pred("lt", "age", "5"), not(isNull("where.x"))), in("not-in", "name", `"a"`, `"b"`)),
		both("or", pred("starts-with", "name", `"é\u0000"`), `{"type":"is-nan","term":"ratio"}`),
		pred("gt", "seen", `"2007-12-03T10:15:30.123456+00:00"`),
		pred("gt", "ns", `"2007-12-03T10:15:30.123456789"`),
		pred("gt", "at", `"10:15:30.1"`),
		pred("gt", "born", "-719529"),
		pred("gt", "price", `"-1.20E-3"`),
		pred("gt", "ratio", "1e39"),
		pred("eq", "key", `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`),
		pred("eq", "raw", `"01ff"`),
		pred("eq", "hash", `"01ff"`),
		pred("eq", "ok", "true"),
		in("in", "age", `"(1-digit-int)"`, `"(1-digit-int)"`, "5"),
		`{"type":"eq","left":{"type":"apply","function":"day","arguments":[{"type":"reference","id":5}]},"right":"2022-03-01"}`,
		`{"type":"in","child":{"type":"reference","name":"id"},"values":{"type":"literals","values":[2,1],"data-type":"long"}}`,
		`{"type":"lt","left":5,"right":{"type":"reference","id":2}}`,
		`{"type":"eq","term":{"type":"transform","transform":"bucket[16]","term":"name"},"value":3}`,
	} {
		f.Add([]byte(seed), false, true)
		f.Add([]byte(seed), true, false)
	}
	schema := people()
	f.Fuzz(func(t *testing.T, b []byte, fold, sanitized bool) {
		opts := iceberg.PredicateOptions{CaseInsensitive: fold, Sanitized: sanitized}
		c, err := iceberg.ParseCondition(b, schema, opts)
		if err != nil {
			if !isOurs(err) {
				t.Error(err)
			}
			return
		}
		p := c.Predicate()
		if len(p.Key) > 4096 || len(p.Shape) > 4096 || !slices.IsSorted(p.Fields) || strings.ToValidUTF8(p.Key, "") != p.Key {
			t.Errorf("predicate %+v", p)
		}
		again, err := iceberg.ParseCondition(c.JSON(), schema, opts)
		if err != nil {
			t.Fatalf("%s from %s: %v", c.JSON(), b, err)
		}
		if diff := cmp.Diff(p, again.Predicate()); diff != "" || string(again.JSON()) != string(c.JSON()) || again.Known() != c.Known() {
			t.Errorf("%s is not its own normal form, which is %s: %s", c.JSON(), again.JSON(), diff)
		}
	})
}
