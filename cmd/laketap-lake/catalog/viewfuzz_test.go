package catalog_test

import (
	"encoding/json"
	"testing"
)

// FuzzView feeds creations and changes of a view as clients could write them:
// no panic, no server error, and what was created can be loaded and changed.
func FuzzView(f *testing.F) {
	for _, seed := range []struct{ create, updates string }{
		{newView("v", "select 1"), `[{"action":"add-view-version","view-version":` + version(2, "select 2") + `},{"action":"set-current-view-version","view-version-id":-1}]`},
		{newView("v", "select 1"), `[{"action":"add-schema"}]`},
		{newView("v", "select 1"), `[{"action":"add-view-version"}]`},
		{newView("v", "select 1"), `[{"action":"set-current-view-version"},{"action":"set-location"},{"action":"assign-uuid"}]`},
		{newView("v", "select 1"), `[{"action":"set-properties","updates":{"version.history.num-entries":"0"}},{"action":"remove-properties","removals":["k"]}]`},
		{newView("v", "select 1"), `[{"action":"add-schema","schema":` + oneColumn + `,"last-column-id":9}]`},
		{`{"name":"v","schema":{},"view-version":{}}`, `[]`},
		{`{"name":"v","schema":` + oneColumn + `,"view-version":{"representations":[{}]},"properties":{"format-version":"9"}}`, `null`},
	} {
		f.Add(seed.create, seed.updates)
	}
	handler := direct(f)
	f.Fuzz(func(t *testing.T, create, updates string) {
		if !json.Valid([]byte(updates)) {
			t.Skip()
		}
		ask(t, handler, "POST", "/v1/namespaces", `{"namespace":["n"]}`)
		made := ask(t, handler, "POST", "/v1/namespaces/n/views", create)
		if made.Code >= 500 {
			t.Errorf("create: %d %s", made.Code, made.Body)
		}
		if made.Code != 200 {
			made = ask(t, handler, "POST", "/v1/namespaces/n/views", newView("v", "select 1"))
		}
		if got := ask(t, handler, "POST", "/v1/namespaces/n/views/v", `{"requirements":[],"updates":`+updates+`}`); got.Code >= 500 {
			t.Errorf("change: %d %s", got.Code, got.Body)
		}
		if got := ask(t, handler, "GET", "/v1/namespaces/n/views/v", ""); got.Code >= 500 {
			t.Errorf("load after %d: %d %s", made.Code, got.Code, got.Body)
		}
		if got := ask(t, handler, "POST", "/v1/namespaces/n/views/v", `{"updates":[{"action":"set-properties","updates":{"next":"1"}}]}`); got.Code >= 500 {
			t.Errorf("next change: %d %s", got.Code, got.Body)
		}
		ask(t, handler, "DELETE", "/v1/namespaces/n/views/v", "")
	})
}
