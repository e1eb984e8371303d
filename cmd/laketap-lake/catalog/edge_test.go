package catalog_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/cmd/laketap-lake/catalog"
)

// Any page size and any token that a client can write are answered, those
// beyond the end and beyond what an int holds included.
func TestPageBounds(t *testing.T) {
	c := open(t, nil)
	for _, name := range []string{"a", "b", "c"} {
		c.must("POST", "/v1/namespaces", fmt.Sprintf(`{"namespace":[%q]}`, name))
	}
	for _, tt := range []struct {
		query, want string
	}{
		{"", `[["a"],["b"],["c"]] null`},
		{"?pageSize=1", `[["a"],["b"],["c"]] null`}, // without a token: a client that cannot follow pages
		{"?pageToken=&pageSize=2", `[["a"],["b"]] "2"`},
		{"?pageToken=2&pageSize=2", `[["c"]] null`},
		{"?pageToken=1", `[["b"],["c"]] null`},
		{"?pageToken=3&pageSize=1", `[] null`},
		{"?pageToken=99", `[] null`},
		{"?pageToken=1&pageSize=" + strconv.Itoa(math.MaxInt), `[["b"],["c"]] null`},
		{"?pageToken=" + strconv.Itoa(math.MaxInt) + "&pageSize=" + strconv.Itoa(math.MaxInt), `[] null`},
	} {
		var body struct {
			Namespaces json.RawMessage `json:"namespaces"`
			Next       json.RawMessage `json:"next-page-token"`
		}
		a := c.must("GET", "/v1/namespaces"+tt.query, "")
		if err := json.Unmarshal(a.raw, &body); err != nil {
			t.Fatal(err)
		}
		if got := string(body.Namespaces) + " " + string(body.Next); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.query, got, tt.want)
		}
	}
	for _, query := range []string{"?pageToken=-1", "?pageToken=&pageSize=-1", "?pageToken=1.5", "?pageToken=99999999999999999999"} {
		if got := c.call("GET", "/v1/namespaces"+query, "").kind(); got != "400 BadRequestException" {
			t.Errorf("%s: got %s, want 400", query, got)
		}
	}
}

// Two tables of one transaction stay two, whatever their names are: joined
// with the separator of levels, these would be one.
func TestTransactionOnNamesWithSeparators(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["a","b"]}`)
	c.must("POST", "/v1/namespaces/a/tables", `{"name":"b\u001fc","schema":`+oneColumn+`}`)
	c.must("POST", "/v1/namespaces/a%1Fb/tables", `{"name":"c","schema":`+oneColumn+`}`)
	outer, inner := "/v1/namespaces/a/tables/b%1Fc", "/v1/namespaces/a%1Fb/tables/c"
	before := [2]string{c.load(outer).Metadata.UUID, c.load(inner).Metadata.UUID}
	change := func(namespace, name, value string) string {
		return fmt.Sprintf(`{"identifier":{"namespace":%s,"name":"%s"},"requirements":[],"updates":[{"action":"set-properties","updates":{"who":%q}}]}`, namespace, name, value)
	}
	c.must("POST", "/v1/transactions/commit", `{"table-changes":[`+
		change(`["a"]`, `b\u001fc`, "outer")+","+change(`["a","b"]`, "c", "inner")+`]}`)
	for i, at := range []string{outer, inner} {
		got := c.load(at).Metadata
		if want := []string{"outer", "inner"}[i]; got.Properties["who"] != want || got.UUID != before[i] {
			t.Errorf("%s: got table %s with %v, want table %s with who=%s", at, got.UUID, got.Properties, before[i], want)
		}
	}
}

// A namespace is not inside another whose name it only begins with.
func TestNamespacesWithOneBeginning(t *testing.T) {
	c := open(t, nil)
	for _, levels := range []string{`["a"]`, `["ab","x"]`, `["a%","y"]`, `["a_","z"]`} {
		c.must("POST", "/v1/namespaces", `{"namespace":`+levels+`}`)
	}
	got, _ := listed(t, c.must("GET", "/v1/namespaces?parent=a", ""))
	if len(got) != 0 {
		t.Errorf("children of a: %v, want none", got)
	}
	c.must("DELETE", "/v1/namespaces/a", "") // it has no children
	got, _ = listed(t, c.must("GET", "/v1/namespaces?parent=a%25", ""))
	if len(got) != 1 || !strings.HasSuffix(got[0], "y") {
		t.Errorf("children of a%%: %v, want its own", got)
	}
}

// A body that has no end is refused, not read to its end.
func TestBodyIsBounded(t *testing.T) {
	c := open(t, nil)
	const limit = 64 << 20
	got := c.call("POST", "/v1/namespaces", `{"namespace":["`+strings.Repeat("a", limit)+`"]}`)
	if got.kind() != "400 BadRequestException" || !strings.Contains(string(got.raw), "larger than") {
		t.Errorf("got %s", got.kind())
	}
}

// The database outlives the program: what was answered is there again, and a
// file of a newer program is left alone.
func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	files := &memory{objects: map[string][]byte{}}
	options := catalog.Options{Database: path, Bucket: "lake"}
	serve := func(method, target, body string) int {
		t.Helper()
		tables, err := catalog.Open(t.Context(), files, options)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := tables.Close(); err != nil {
				t.Error(err)
			}
		}()
		return ask(t, tables, method, target, body).Code
	}
	steps := []struct {
		method, target, body string
		want                 int
	}{
		{http.MethodPost, "/v1/namespaces", `{"namespace":["n"]}`, 200},
		{http.MethodPost, "/v1/namespaces/n/tables", `{"name":"t","schema":` + oneColumn + `}`, 200},
		{http.MethodPost, "/v1/namespaces/n/tables/t", setProperty("a", "b"), 200},
		{http.MethodGet, "/v1/namespaces/n/tables/t", "", 200},
		{http.MethodPost, "/v1/namespaces", `{"namespace":["n"]}`, 409},
	}
	for _, s := range steps { // each in a catalog of its own
		if got := serve(s.method, s.target, s.body); got != s.want {
			t.Errorf("%s %s: got %d, want %d", s.method, s.target, got, s.want)
		}
	}
	options.Database = filepath.Join(t.TempDir(), "none", "catalog.db")
	if _, err := catalog.Open(t.Context(), files, options); err == nil || !strings.Contains(err.Error(), options.Database) {
		t.Errorf("in a folder that is not there: got %v, want the path named", err)
	}
}

// Properties of a namespace change one by one, and the answer says what became
// of each.
func TestNamespaceProperties(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"],"properties":{"keep":"1","change":"2","drop":"3"}}`)
	for _, tt := range []struct{ body, want string }{
		{`{"updates":{"change":"4","new":"5"},"removals":["drop","never"]}`, `{"updated":["change","new"],"removed":["drop"],"missing":["never"]}`},
		{`{"removals":["drop"]}`, `{"updated":[],"removed":[],"missing":["drop"]}`},
		{`{}`, `{"updated":[],"removed":[],"missing":[]}`},
	} {
		if got := strings.TrimSpace(string(c.must("POST", "/v1/namespaces/n/properties", tt.body).raw)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.body, got, tt.want)
		}
	}
	var got struct{ Properties map[string]string }
	if err := json.Unmarshal(c.must("GET", "/v1/namespaces/n", "").raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"keep": "1", "change": "4", "new": "5"}, got.Properties); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
