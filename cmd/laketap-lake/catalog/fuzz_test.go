package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/laketap/laketap/cmd/laketap-lake/catalog"
)

// direct is a catalog without a network between, for fuzzing: a panic in it
// ends the test.
func direct(f *testing.F) http.Handler {
	f.Helper()
	tables, err := catalog.Open(context.Background(), &memory{objects: map[string][]byte{}}, catalog.Options{
		Database: filepath.Join(f.TempDir(), "catalog.db"),
		Bucket:   "lake",
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := tables.Close(); err != nil {
			f.Error(err)
		}
	})
	return tables
}

// ask sends one request to a handler.
func ask(t *testing.T, handler http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	target, err := url.Parse(path)
	if err != nil {
		t.Skip()
	}
	req := (&http.Request{Method: method, URL: target, Header: http.Header{}}).WithContext(t.Context())
	req.Body = http.NoBody
	if body != "" {
		req = httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
		req.URL = target
	}
	got := httptest.NewRecorder()
	handler.ServeHTTP(got, req)
	return got
}

// FuzzCommit feeds updates as clients could write them: no panic, no server
// error, and the table can still be loaded.
func FuzzCommit(f *testing.F) {
	for _, seed := range []string{
		`[]`, `null`, `{}`, `[{"action":"set-properties","updates":{"a":"b"}}]`, `[{"action":"add-schema","schema":` + oneColumn + `},{"action":"set-current-schema","schema-id":-1}]`,
		`[{"action":"add-snapshot","snapshot":{"snapshot-id":1,"sequence-number":1,"timestamp-ms":4102444800000,"manifest-list":"x"}}]`,
		`[{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":-1}]`, `[{"action":"remove-snapshots","snapshot-ids":[1]}]`,
		`[{"action":"add-spec","spec":{"fields":[{"source-id":9,"name":"x","transform":"bucket[0]"}]}}]`, `[{"action":"set-location","location":"s3://lake/../x"}]`,
		`[{"action":"upgrade-format-version","format-version":3},{"action":"add-snapshot","snapshot":{"snapshot-id":1,"sequence-number":1,"timestamp-ms":4102444800000,"manifest-list":"x","first-row-id":0,"added-rows":1}}]`,
	} {
		f.Add(seed)
	}
	handler := direct(f)
	n := 0
	f.Fuzz(func(t *testing.T, updates string) {
		if !json.Valid([]byte(updates)) {
			t.Skip()
		}
		n++
		ask(t, handler, "POST", "/v1/namespaces", `{"namespace":["n"]}`)
		if got := ask(t, handler, "POST", "/v1/namespaces/n/tables", fmt.Sprintf(`{"name":"t%d","schema":%s}`, n, oneColumn)); got.Code != 200 {
			t.Fatalf("create: %d %s", got.Code, got.Body)
		}
		at := fmt.Sprintf("/v1/namespaces/n/tables/t%d", n)
		if got := ask(t, handler, "POST", at, `{"requirements":[],"updates":`+updates+`}`); got.Code >= 500 {
			t.Errorf("commit: %d %s", got.Code, got.Body)
		}
		if got := ask(t, handler, "GET", at+"?snapshots=refs", ""); got.Code != 200 {
			t.Errorf("load: %d %s", got.Code, got.Body)
		}
		// What was written must be a base for the next commit. It may be refused:
		// after a snapshot from the future the present is out of order.
		if got := ask(t, handler, "POST", at, `{"updates":[{"action":"set-properties","updates":{"next":"1"}}]}`); got.Code >= 500 {
			t.Errorf("next commit: %d %s", got.Code, got.Body)
		}
		ask(t, handler, "DELETE", at+"?purgeRequested=true", "")
	})
}

// FuzzCreate feeds bodies of a table's creation.
func FuzzCreate(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"name":"t","schema":` + oneColumn + `}`, `{"name":"t","schema":{"type":"struct","fields":[]}}`,
		`{"name":"t","schema":` + oneColumn + `,"partition-spec":{"spec-id":0,"fields":[{"source-id":7,"name":"p","transform":"day"}]}}`,
		`{"name":"t","schema":` + oneColumn + `,"write-order":{"order-id":1,"fields":[{"source-id":8,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}}`,
		`{"name":"t","schema":{"type":"struct","fields":[{"id":1,"name":"l","required":false,"type":{"type":"list","element-id":2,"element":"int","element-required":true}}]},"properties":{"format-version":"3"}}`,
	} {
		f.Add(seed)
	}
	handler := direct(f)
	f.Fuzz(func(t *testing.T, body string) {
		ask(t, handler, "POST", "/v1/namespaces", `{"namespace":["n"]}`)
		got := ask(t, handler, "POST", "/v1/namespaces/n/tables", body)
		if got.Code >= 500 {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		var view tableView
		if err := json.Unmarshal(got.Body.Bytes(), &view); got.Code == 200 && err != nil {
			t.Errorf("unreadable answer: %v", err)
		}
		var made struct{ Name string }
		if json.Unmarshal([]byte(body), &made) == nil {
			ask(t, handler, "DELETE", "/v1/namespaces/n/tables/"+url.QueryEscape(made.Name), "")
		}
	})
}

// FuzzPath sends any path: an answer in the protocol's form, never a panic.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"namespaces/a%1Fb/tables/t%2Fx", "namespaces/%", "namespaces//tables", "namespaces/a/tables/..", "config", "namespaces/%1F", "//", "namespaces/a/tables/%00", "namespaces?parent=%1F&pageToken=9"} {
		f.Add(seed)
	}
	handler := direct(f)
	f.Fuzz(func(t *testing.T, path string) {
		got := ask(t, handler, "GET", "/v1/"+path, "")
		if got.Code >= 500 || !json.Valid(got.Body.Bytes()) {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	})
}
