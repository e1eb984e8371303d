package catalog_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/laketap/laketap/tap"
)

// N22: no answer of before is given for one of now.
//
// R9: after a conflict the next load sees what the other writer did. The
// refusal passes word for word, nothing is learned from it, and nothing that
// was seen before answers in the upstream's place.
func TestLoadAfterConflictIsFresh(t *testing.T) {
	const conflict = `{"error":{"message":"branch main has changed","type":"CommitFailedException","code":409}}`
	before := table("s3://lake/wh/orders", keysJSON)
	after := strings.ReplaceAll(before, "3055729675574597004", "9007199254740993")
	f := setUp(t, reply(200, before, `ETag: "1"`), nil)
	etag := f.do("GET", loadPath, "").header.Get("ETag")

	f.upstream = reply(409, conflict)
	for _, path := range []string{loadPath, "/v1/wh/transactions/commit"} {
		if got := f.do("POST", path, `{"requirements":[],"updates":[],"table-changes":[]}`); got.status != 409 || string(got.body) != conflict {
			t.Errorf("%s: %d %s, want the upstream's 409", path, got.status, got.body)
		}
	}
	if known, ok := f.tables.At(orders()); !ok || known.Snapshot != 3055729675574597004 {
		t.Errorf("after a conflict the table is %+v", known)
	}

	f.upstream = reply(200, after, `ETag: "2"`)
	f.forgetCalls()
	got := f.do("GET", loadPath, "", "If-None-Match: "+etag)
	if got.status != 200 || !strings.Contains(string(got.body), "9007199254740993") || len(f.seen()) != 1 {
		t.Errorf("load after a conflict: %d %s after %d requests, want the new snapshot after one", got.status, got.body, len(f.seen()))
	}
	if known, _ := f.tables.At(orders()); known.Snapshot != 9007199254740993 {
		t.Errorf("table = %+v, want the new snapshot", known)
	}
}

// R10: pages are the client's to turn. Tokens go back and forth as they are,
// and a token that the upstream repeats is no reason to ask for more.
func TestPagesPassAsTheyAre(t *testing.T) {
	const page = `{"next-page-token":"same+/=","identifiers":[{"namespace":["sales"],"name":"orders"}]}`
	f := setUp(t, reply(200, page), nil)
	for _, target := range []string{
		"/v1/wh/namespaces/sales/tables?pageToken=", "/v1/wh/namespaces/sales/tables?pageToken=same%2B%2F%3D&pageSize=1",
		"/v1/wh/namespaces?pageToken=same+/=&parent=a%1Fb", "/v1/wh/namespaces/sales/views?pageSize=0",
	} {
		f.forgetCalls()
		got := f.do("GET", target, "")
		if got.status != 200 || string(got.body) != page {
			t.Errorf("%s: %d %s", target, got.status, got.body)
		}
		if calls := f.seen(); len(calls) != 1 || calls[0].target != "/iceberg"+target {
			t.Errorf("%s: upstream saw %v", target, calls)
		}
	}
}

// R14 B: a catalog that sends an endpoint and no keys gets no endpoint of ours
// put in its place. Engines drop their own keys when they are sent an
// endpoint, and would send requests that nobody signed.
func TestEndpointWithoutKeysPasses(t *testing.T) {
	for _, config := range []string{
		`"s3.endpoint":"http://minio:9000"`,
		`"s3.endpoint":"http://minio:9000","s3.access-key-id":"A"`,
		`"s3.endpoint":"http://minio:9000","s3.access-key-id":"","s3.secret-access-key":""`,
		`"s3.endpoint":"http://minio:9000","s3.session-token":"T"`,
	} {
		body := table("s3://lake/wh/orders", config)
		f := setUp(t, reply(200, body), nil)
		for _, header := range []string{"X-Iceberg-Access-Delegation: vended-credentials", "User-Agent: spark"} {
			if got := f.do("GET", loadPath, "", header); string(got.body) != body {
				t.Errorf("%s with %q: %s", config, header, got.body)
			}
		}
		if s := f.h.Upstreams()[0]; s.LastReason != "no_authority" || s.LastFix == "" {
			t.Errorf("%s: reason %q, fix %q", config, s.LastReason, s.LastFix)
		}
	}
}

// R14 D: keys that the store does not know are the catalog's to vend and the
// store's to refuse: they are sealed as they are, and no other keys are used.
func TestVendedKeysAreNotJudged(t *testing.T) {
	f := setUp(t, reply(200, table("s3://lake/wh/orders", `"s3.access-key-id":"NOBODY","s3.secret-access-key":"x"`)), nil)
	s := f.session(f.do("GET", loadPath, ""))
	keys, ok := s.KeysFor(orders())
	if !ok || keys.AccessKeyID != "NOBODY" || keys.SessionToken != "" {
		t.Errorf("the session reads with %q, want the keys that were vended", keys.AccessKeyID)
	}
}

// A view has metadata and a location too, and a table of its name may be
// known. It is no table: no key is vended for it and nothing is learned.
func TestViewsPass(t *testing.T) {
	body := table("s3://lake/wh/orders", keysJSON)
	f := setUp(t, reply(200, body, `ETag: "view"`), nil)
	const path = "/v1/wh/namespaces/sales/views/orders"
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		got := f.do(method, path, "", `If-None-Match: "view"`)
		if string(got.body) != body || got.header.Get("ETag") != `"view"` {
			t.Errorf("%s: %v %s", method, got.header, got.body)
		}
	}
	for _, call := range f.seen() {
		if call.header.Get("X-Iceberg-Access-Delegation") != "" || call.header.Get("If-None-Match") != `"view"` {
			t.Errorf("a request for a view went out with %v", call.header)
		}
	}
	if known, ok := f.tables.At(orders()); ok {
		t.Errorf("a view taught %+v", known)
	}
	if a := lastAccess(t, f.records, 1); a.Table.UUID != "" || a.Op != "loadView" {
		t.Errorf("access = %+v", a)
	}
}

// A table that was dropped and made anew under its name is another table: its
// keys, and what is recorded of it, are of the new identity.
func TestTableOfTheSameNameIsAnother(t *testing.T) {
	f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON)), nil)
	first := f.session(f.do("GET", loadPath, ""))
	const other = "11111111-03fe-4693-9a96-a0705ddf69c1"
	f.upstream = reply(200, strings.ReplaceAll(table("s3://lake/wh/orders-2", keysJSON), uuid, other))
	second := f.session(f.do("GET", loadPath, ""))
	if first.Table.UUID != uuid || second.Table.UUID != other || first.TableName != second.TableName {
		t.Errorf("sessions of %v and %v", first.Table, second.Table)
	}
	want := tap.Location{Origin: "aws", Bucket: "lake", Path: "wh/orders-2"}
	if len(second.Scope) == 0 || second.Scope[0] != want {
		t.Errorf("scope %+v, want %+v first", second.Scope, want)
	}
	for _, l := range second.Scope {
		if !strings.HasPrefix(l.Path+"/", want.Path+"/") {
			t.Errorf("scope of the new table has %+v of the old one", l)
		}
	}
}
