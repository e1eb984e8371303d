package catalog_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/catalog"
)

const createPath = "/v1/wh/namespaces/sales%1Feu/tables"

func orders() laketap.ObjectName {
	return laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "wh/orders/data/1.parquet"}
}

func TestCreateLeadsToTheStorageTap(t *testing.T) {
	for _, tt := range []struct{ path, op string }{{createPath, "createTable"}, {"/v1/wh/namespaces/sales%1Feu/register", "registerTable"}} {
		t.Run(tt.op, func(t *testing.T) {
			f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON), `ETag: "c"`), nil)
			got := f.do("POST", tt.path, `{"name":"my orders","schema":{}}`)
			s := f.session(got)
			if s.TableName != "sales.eu.my orders" || s.Table != (laketap.TableID{Catalog: "prod", Prefix: "wh", UUID: uuid}) {
				t.Errorf("session = %+v", s)
			}
			if etag := got.header.Get("ETag"); etag == "" || etag == `"c"` {
				t.Errorf("ETag = %s, want ours", etag)
			}
			if _, has := f.seen()[0].header["X-Iceberg-Access-Delegation"]; has || len(f.seen()) != 1 {
				t.Errorf("a create took %v", f.seen())
			}
			if known, ok := f.tables.At(orders()); !ok || known.Name != "sales.eu.my orders" {
				t.Errorf("table known as %+v", known)
			}
			if a := lastAccess(t, f.records, 1); a.Op != tt.op || a.TableName != "sales.eu.my orders" || a.Table.UUID != uuid {
				t.Errorf("access = %+v", a)
			}
		})
	}
}

func TestCreateWithoutKeys(t *testing.T) {
	const list = `{"endpoints":["GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"]}`
	const vended = `{"storage-credentials":[{"prefix":"s3://lake/wh/orders","config":{"s3.access-key-id":"LATER","s3.secret-access-key":"x"}}]}`
	plain := table("s3://lake/wh/orders", `"a":"b"`)
	upstream := func(config, credentials string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/config"):
				send(w, 200, config)
			case r.Method == http.MethodPost:
				send(w, 200, plain, `ETag: "c"`)
			case credentials == "":
				send(w, 404, `{}`)
			default:
				send(w, 200, credentials)
			}
		}
	}
	t.Run("upstream has an endpoint for keys", func(t *testing.T) {
		f := setUp(t, upstream(list, vended), nil)
		f.do("GET", "/v1/config", "")
		f.forgetCalls()
		s := f.session(f.do("POST", createPath, `{"name":"my orders/x"}`, "Authorization: Bearer me", "Content-Type: application/json"))
		if len(s.Upstream) != 1 || s.Upstream[0].Keys.AccessKeyID != "LATER" {
			t.Errorf("session = %+v", s)
		}
		asked := f.seen()[1]
		if asked.method != "GET" || asked.target != "/iceberg/v1/wh/namespaces/sales%1Feu/tables/my%20orders%2Fx/credentials" ||
			asked.header.Get("Authorization") != "Bearer me" || asked.header.Get("Content-Type") != "" {
			t.Errorf("asked %+v", asked)
		}
	})
	for _, tt := range []struct {
		name, config, credentials, body string
		calls                           int
	}{
		{"upstream has no endpoint for keys", `{}`, vended, `{"name":"t"}`, 1},
		{"and then no keys", list, `{"storage-credentials":[]}`, `{"name":"t"}`, 2},
		{"and then an error", list, "", `{"name":"t"}`, 2},
		{"and then garbage", list, "garbage", `{"name":"t"}`, 2},
		{"a staged create has no table to ask for", list, vended, `{"name":"t","stage-create":true}`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t, upstream(tt.config, tt.credentials), nil)
			f.do("GET", "/v1/config", "")
			f.forgetCalls()
			got := f.do("POST", createPath, tt.body)
			if string(got.body) != plain || got.header.Get("ETag") != `"c"` || len(f.seen()) != tt.calls {
				t.Errorf("got %s after %d requests, want the upstream's own after %d", got.body, len(f.seen()), tt.calls)
			}
			known := await(t, f.records, func(*records) (tap.Table, bool) { return f.tables.At(orders()) })
			if known.Name != "sales.eu.t" {
				t.Errorf("table known as %+v", known)
			}
		})
	}
}

func TestStagedCreate(t *testing.T) {
	body := strings.Replace(table("s3://lake/wh/orders", keysJSON), `"metadata-location":"s3://lake/wh/orders/metadata/00001.json"`, `"metadata-location":null`, 1)
	f := setUp(t, reply(200, body), nil)
	s := f.session(f.do("POST", createPath, `{"name":"t","stage-create":true}`))
	if len(s.Scope) != 1 || s.Scope[0].Path != "wh/orders" {
		t.Errorf("scope = %v", s.Scope)
	}
}

func TestCredentials(t *testing.T) {
	const vended = `{ "storage-credentials" : [{"prefix":"s3://lake/wh/orders","config":{"s3.access-key-id":"NEW","s3.secret-access-key":"x","s3.session-token":"y","s3.session-token-expires-at-ms":"1796130000000"}}],"odd":1.0 }`
	loads := 200
	answer, body := vended, table("s3a://lake/wh/orders", `"s3.access-key-id":"OLD","s3.secret-access-key":"x"`)
	f := setUp(t, nil, nil)
	f.upstream = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/credentials") {
			send(w, 200, answer, `ETag: "k"`)
			return
		}
		send(w, loads, body)
	}
	got := f.do("GET", "/prod"+loadPath+"/credentials?planId=1", "", "Authorization: Bearer me")
	config := credentialConfig(t, got)
	s, err := f.keys.Open(config["s3.access-key-id"], config["s3.session-token"])
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Upstream) != 1 || s.Upstream[0].Keys.AccessKeyID != "NEW" || s.Expires.UnixMilli() != 1796130000000 || s.TableName != "sales.orders" {
		t.Errorf("session = %+v", s)
	}
	if config["s3.session-token-expires-at-ms"] != "1796130000000" || !strings.HasSuffix(config["s3.endpoint"], ":9191/") {
		t.Errorf("config = %v", config)
	}
	text := string(got.body)
	if !strings.Contains(text, `"prefix":"s3a://lake/wh/orders"`) || !strings.HasSuffix(text, `,"odd":1.0 }`) || got.header.Get("ETag") != "" {
		t.Errorf("got %v %s", got.header, text)
	}
	if calls := f.seen(); len(calls) != 2 || calls[1].target != "/iceberg"+loadPath+"?snapshots=refs" || calls[1].header.Get("Authorization") != "Bearer me" {
		t.Errorf("calls = %+v", calls)
	}
	a := lastAccess(t, f.records, 1)
	if a.Op != "loadCredentials" || a.Table.UUID != uuid {
		t.Errorf("access = %+v", a)
	}

	t.Run("a table that is not ours", func(t *testing.T) {
		body = table("gs://lake/wh/orders", "")
		if got := f.do("GET", loadPath+"/credentials", ""); string(got.body) != vended || got.header.Get("ETag") != `"k"` {
			t.Errorf("got %v %s", got.header, got.body)
		}
	})
	t.Run("no keys", func(t *testing.T) {
		body, answer = table("s3://lake/wh/orders", ""), `{"storage-credentials":[]}`
		if got := f.do("GET", loadPath+"/credentials", ""); string(got.body) != answer {
			t.Errorf("got %s", got.body)
		}
	})
	t.Run("garbage", func(t *testing.T) {
		for _, answer = range []string{``, `[]`, `{"storage-credentials":1}`, `{"storage-credentials":[{}]}`, `{"storage-credentials":[],"storage-credentials":[]}`} {
			if got := f.do("GET", loadPath+"/credentials", ""); got.status != 200 || string(got.body) != answer {
				t.Errorf("got %d %s", got.status, got.body)
			}
		}
	})
	t.Run("the table cannot be looked up", func(t *testing.T) {
		// Keys of the upstream's would not work at the storage tap.
		answer, loads = vended, 500
		if got := f.do("GET", loadPath+"/credentials", ""); got.status != 503 || strings.Contains(string(got.body), "NEW") {
			t.Errorf("got %d %s", got.status, got.body)
		}
	})
}

func credentialConfig(t *testing.T, a answer) map[string]string {
	t.Helper()
	var body struct {
		Credentials []struct{ Config map[string]string } `json:"storage-credentials"`
	}
	unmarshal(t, a.body, &body)
	if len(body.Credentials) != 1 {
		t.Fatalf("storage-credentials in %s", a.body)
	}
	return body.Credentials[0].Config
}

func TestPlanCredentials(t *testing.T) {
	const keys = `"storage-credentials":[{"prefix":"s3://lake/wh/orders","config":{"s3.access-key-id":"PLAN","s3.secret-access-key":"x"}}]`
	plan := `{"status":"completed","plan-id":"p1","file-scan-tasks":[],` + keys + `}`
	f := setUp(t, nil, nil)
	f.upstream = func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/plan") {
			send(w, 200, plan)
			return
		}
		send(w, 200, table("s3://lake/wh/orders", ""))
	}
	for _, tt := range []struct{ method, path, op, plan string }{
		{"POST", loadPath + "/plan", "planTableScan", "p1"},
		{"GET", loadPath + "/plan/p%2F2", "fetchPlanningResult", "p1"},
	} {
		config := credentialConfig(t, f.do(tt.method, tt.path, ""))
		s, err := f.keys.Open(config["s3.access-key-id"], config["s3.session-token"])
		if err != nil || s.Plan != tt.plan || s.Upstream[0].Keys.AccessKeyID != "PLAN" {
			t.Errorf("%s: session = %+v, %v", tt.op, s, err)
		}
		if calls := f.seen(); calls[len(calls)-1].target != "/iceberg"+loadPath+"?snapshots=refs" {
			t.Errorf("%s: looked up %s", tt.op, calls[len(calls)-1].target)
		}
	}
	plan = `{"status":"completed","plan-id":"p1","file-scan-tasks":[]}`
	f.forgetCalls()
	if got := f.do("POST", loadPath+"/plan", "{}"); string(got.body) != plan || len(f.seen()) != 1 {
		t.Errorf("a plan without keys: %s after %d requests", got.body, len(f.seen()))
	}
}

func TestCommitsTeach(t *testing.T) {
	f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON)), nil)
	f.do("GET", loadPath, "")
	body := strings.ReplaceAll(table("s3://lake/wh/orders", ``), "3055729675574597004", "9007199254740993")
	f.upstream = reply(200, body, `ETag: "after"`)
	got := f.do("POST", loadPath, `{"requirements":[],"updates":[]}`, "Accept-Encoding: gzip")
	if string(got.body) != body || got.header.Get("ETag") != `"after"` {
		t.Errorf("a commit's answer changed: %s", got.body)
	}
	await(t, f.records, func(*records) (bool, bool) {
		known, ok := f.tables.At(orders())
		return ok, ok && known.Snapshot == 9007199254740993
	})
	a := lastAccess(t, f.records, 2)
	if a.Op != "updateTable" || a.Table.UUID != uuid || a.TableName != "sales.orders" {
		t.Errorf("access = %+v", a)
	}
}

func TestTransactionsTeach(t *testing.T) {
	f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON)), nil)
	f.do("GET", loadPath, "")
	f.upstream = reply(204, "")
	change := `{"table-changes":[{"identifier":{"namespace":["sales"],"name":"orders"},"requirements":[],"updates":[` +
		`{"action":"add-snapshot","snapshot":{"snapshot-id":1}},{"action":"set-snapshot-ref","ref-name":"other","snapshot-id":1},` +
		`{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":9007199254740993}]},{"identifier":{"namespace":[],"name":"x"},"updates":7},1]}`
	f.do("POST", "/v1/wh/transactions/commit", change)
	await(t, f.records, func(*records) (bool, bool) {
		known, ok := f.tables.At(orders())
		return ok, ok && known.Snapshot == 9007199254740993
	})
	if a := lastAccess(t, f.records, 2); a.Op != "commitTransaction" || a.Status != 204 {
		t.Errorf("access = %+v", a)
	}
}

func TestDroppedAndRenamedTablesAreForgotten(t *testing.T) {
	const rename = `{"source":{"namespace":["sales"],"name":"orders"},"destination":{"namespace":["sales","eu"],"name":"old"}}`
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		gone                     bool
	}{
		{"drop", "DELETE", loadPath + "?purgeRequested=true", "", 204, true},
		{"drop that failed", "DELETE", loadPath, "", 409, false},
		{"unregister", "POST", loadPath + "/unregister", "{}", 200, true},
		{"rename", "POST", "/v1/wh/tables/rename", rename, 204, true},
		{"rename that failed", "POST", "/v1/wh/tables/rename", rename, 404, false},
		{"rename of another table", "POST", "/v1/wh/tables/rename", strings.Replace(rename, "orders", "others", 1), 204, false},
		{"rename with another prefix", "POST", "/v1/w2/tables/rename", rename, 204, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON)), nil)
			f.do("GET", loadPath, "")
			f.upstream = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tt.status) }
			f.do(tt.method, tt.path, tt.body)
			if _, known := f.tables.At(orders()); known == tt.gone {
				t.Errorf("known afterwards: %v", known)
			}
		})
	}
}

// Tables of answers that passed are learned as well, where they lie in a store
// of ours, and told of everywhere.
func TestPassingAnswersTeach(t *testing.T) {
	for location, ours := range map[string]bool{"s3://lake/wh/orders": true, "gs://lake/wh/orders": false} {
		f := setUp(t, reply(200, table(location, "")), nil)
		f.do("GET", loadPath, "")
		seen := await(t, f.records, func(r *records) (laketap.TableSeen, bool) {
			if len(r.tables) == 0 {
				return laketap.TableSeen{}, false
			}
			return r.tables[0], true
		})
		if seen.Location != location || seen.Name != "sales.orders" || seen.ID.UUID != uuid {
			t.Errorf("seen = %+v", seen)
		}
		if _, known := f.tables.At(orders()); known != ours {
			t.Errorf("%s known: %v", location, known)
		}
		// A request that has only the name finds the table.
		f.upstream = reply(204, "")
		f.do("HEAD", loadPath, "")
		if a := lastAccess(t, f.records, 2); a.Op != "tableExists" || a.Table.UUID != uuid {
			t.Errorf("access = %+v", a)
		}
	}
}

func TestNessieBranches(t *testing.T) {
	f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON)), nil)
	for prefix, want := range map[string]laketap.TableID{
		"main|warehouse":    {Catalog: "prod", Prefix: "main|warehouse", Ref: "main", UUID: uuid},
		"main%7Cwarehouse":  {Catalog: "prod", Prefix: "main|warehouse", Ref: "main", UUID: uuid},
		"main":              {Catalog: "prod", Prefix: "main", UUID: uuid},
		"catalogs/one":      {Catalog: "prod", Prefix: "catalogs/one", UUID: uuid},
		"arn%3Aaws%2Fx%2Fy": {Catalog: "prod", Prefix: "arn:aws/x/y", UUID: uuid},
	} {
		if s := f.session(f.do("GET", "/v1/"+prefix+"/namespaces/n/tables/t", "")); s.Table != want {
			t.Errorf("%s: %+v, want %+v", prefix, s.Table, want)
		}
	}
	if s := f.session(f.do("GET", "/v1/namespaces/n/tables/t", "")); s.Table.Prefix != "" || s.TableName != "n.t" {
		t.Errorf("without prefix: %+v", s)
	}
}

// Many at once, for the race detector.
func TestManyAtOnce(t *testing.T) {
	f := setUp(t, nil, func(o *catalog.Options) { o.Advertise = "http://taps:9191" })
	f.upstream = func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/config"):
			send(w, 200, `{"overrides":{"uri":"x","s3.endpoint":"http://minio:9000"},"endpoints":[]}`)
		case strings.HasSuffix(r.URL.Path, "/tokens"):
			send(w, 200, `{"access_token":"t"}`)
		case strings.Contains(r.URL.Path, "gs"):
			send(w, 200, table("gs://x/y", ""))
		default:
			send(w, 200, table("s3://lake/wh/orders", keysJSON), `ETag: "1"`)
		}
	}
	done := make(chan []byte)
	for range 8 {
		go func() {
			var last []byte
			for range 10 {
				f.do("GET", "/v1/config", "")
				f.do("POST", "/v1/oauth/tokens", "client_id=a")
				f.do("GET", "/v1/wh/namespaces/gs/tables/t", "", "Authorization: Bearer t")
				f.do("POST", loadPath, `{}`)
				f.do("POST", loadPath+"/metrics", `{}`)
				f.h.Upstreams()
				last = f.do("GET", loadPath, "", "Authorization: Bearer t").body
			}
			done <- last
		}()
	}
	for range 8 {
		if body := <-done; !strings.Contains(string(body), `"s3.endpoint":"http://taps:9191/"`) {
			t.Errorf("got %s", body)
		}
	}
	f.records.mu.Lock()
	defer f.records.mu.Unlock()
	ids := map[string]bool{}
	for _, a := range f.records.accesses {
		ids[a.RequestID] = true
	}
	if diff := cmp.Diff(len(f.records.accesses), len(ids)); diff != "" {
		t.Errorf("request ids are not unique: %s", diff)
	}
}
