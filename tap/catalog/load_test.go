package catalog_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/catalog"
)

func TestLoadLeadsToTheStorageTap(t *testing.T) {
	body := table("s3://lake/wh/orders", keysJSON+`,"keep":"me","s3.remote-signing-enabled":"true","s3.signer.uri":"http://up"`)
	f := setUp(t, reply(200, body), nil)
	got := f.do("GET", loadPath+"?snapshots=all", "", "User-Agent: duckdb/v1.5.5(linux_amd64)", "Authorization: Bearer secret")
	if got.status != 200 {
		t.Fatalf("status %d, body %s", got.status, got.body)
	}
	config := got.config(t)
	host := strings.TrimPrefix(f.tap.URL, "http://")
	host = host[:strings.LastIndexByte(host, ':')]
	want := map[string]string{
		"keep": "me", "s3.endpoint": "http://" + host + ":9191/", "s3.path-style-access": "true",
		"client.region": "us-east-1", "s3.region": "us-east-1",
		"s3.access-key-id": config["s3.access-key-id"], "s3.secret-access-key": config["s3.secret-access-key"],
		"s3.session-token":                 config["s3.session-token"],
		"s3.analytics-accelerator.enabled": "false", "s3.remote-signing-enabled": "false",
	}
	if diff := cmp.Diff(want, config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	var rest struct {
		Credentials []struct {
			Prefix string            `json:"prefix"`
			Config map[string]string `json:"config"`
		} `json:"storage-credentials"`
	}
	if err := json.Unmarshal(got.body, &rest); err != nil {
		t.Fatal(err)
	}
	if len(rest.Credentials) != 1 || rest.Credentials[0].Prefix != "s3://lake/wh/orders" {
		t.Fatalf("storage-credentials = %v, want exactly one for the location", rest.Credentials)
	}
	delete(want, "keep")
	if diff := cmp.Diff(want, rest.Credentials[0].Config); diff != "" {
		t.Errorf("storage credential (-want +got):\n%s", diff)
	}
	if secret, ok := f.keys.Secret(config["s3.access-key-id"]); !ok || secret != config["s3.secret-access-key"] {
		t.Error("the secret is not the cluster's for that key id")
	}
	session := f.session(got)
	wantSession := tap.Session{
		AccessKeyID: config["s3.access-key-id"], Catalog: "prod",
		Table:     laketap.TableID{Catalog: "prod", Prefix: "wh", UUID: uuid},
		TableName: "sales.orders", Engine: laketap.Engine{Name: "duckdb", Version: "1.5.5"},
		Principal: session.Principal, Origin: "aws",
		Scope:    []tap.Location{{Origin: "aws", Bucket: "lake", Path: "wh/orders"}, {Origin: "aws", Bucket: "lake", Path: "wh/orders/metadata"}},
		Upstream: []tap.Vended{{Keys: sigv4.Credentials{AccessKeyID: "ASIAUP", SecretAccessKey: "upsecret", SessionToken: "uptoken"}}},
		Write:    true, Issued: start,
	}
	if diff := cmp.Diff(wantSession, session); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	for _, untouched := range []string{`"unknown":{"n":18446744073709551615.000}`, `"later":[1, 2]`, `"current-snapshot-id":3055729675574597004`} {
		if !strings.Contains(string(got.body), untouched) {
			t.Errorf("body lost %s", untouched)
		}
	}
	call := f.seen()[0]
	if call.target != "/iceberg"+loadPath+"?snapshots=all" {
		t.Errorf("upstream got %s", call.target)
	}
	if h := call.header.Get("X-Iceberg-Access-Delegation"); h != "vended-credentials" {
		t.Errorf("delegation header = %q", h)
	}
	// The table is known before the answer is here.
	known, ok := f.tables.At(laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "wh/orders/data/x.parquet"})
	if !ok || known.Name != "sales.orders" || known.Snapshot != 3055729675574597004 || known.Schema != 3 {
		t.Errorf("table known as %+v, %v", known, ok)
	}
	a := lastAccess(t, f.records, 1)
	if a.Op != "loadTable" || a.Status != 200 || a.Engine.Name != "duckdb" || a.Table.UUID != uuid ||
		a.TableName != "sales.orders" || a.Catalog != "prod" || a.BytesOut != int64(len(got.body)) ||
		a.RequestID != got.header.Get("X-Laketap-Request-Id") || a.Principal == "" || a.Tap != laketap.CatalogTap {
		t.Errorf("access = %+v", a)
	}
	seen := await(t, f.records, func(r *records) (laketap.TableSeen, bool) {
		if len(r.tables) == 0 {
			return laketap.TableSeen{}, false
		}
		return r.tables[0], true
	})
	if !json.Valid(seen.Metadata) || seen.Location != "s3://lake/wh/orders" || seen.MetadataLocation != "s3://lake/wh/orders/metadata/00001.json" {
		t.Errorf("table seen = %+v", seen)
	}
}

// What is not ours to lead passes as if we were not there.
func TestLoadPassesByteForByte(t *testing.T) {
	catalogMode := func(o *catalog.Options) {
		o.Authority = catalog.Authority{Mode: catalog.ModeCatalog, Roots: []string{"s3://lake/wh"}}
	}
	tests := []struct {
		name, body, reason string
		change             func(*catalog.Options)
	}{
		{"vends nothing", table("s3://lake/wh/orders", `"a":"b"`), "no_authority", nil},
		{"endpoint without keys", table("s3://lake/wh/orders", `"s3.endpoint":"http://minio:9000"`), "no_authority", nil},
		{"signs for its clients", table("s3://lake/wh/orders", `"s3.remote-signing-enabled":"true","s3.signer.uri":"http://up","s3.signer.endpoint":"v1/main/sign"`), "remote_signing", nil},
		{"could sign and vends nothing", table("s3://lake/wh/orders", `"s3.remote-signing-enabled":"false"`), "remote_signing", nil},
		{"signs, by the keys of the specification", table("s3://lake/wh/orders", `"signer.uri":"http://up"`), "remote_signing", nil},
		{"gs", table("gs://lake/wh/orders", keysJSON), "not_s3", nil},
		{"abfss", table("abfss://lake@x.dfs.core.windows.net/t", keysJSON), "not_s3", catalogMode},
		{"foreign bucket", table("s3://elsewhere/t", keysJSON), "foreign_bucket", nil},
		{"foreign endpoint", table("s3://lake/t", keysJSON+`,"s3.endpoint":"http://elsewhere:9000"`), "foreign_bucket", nil},
		{"outside of the roots", table("s3://lake/wh2/orders", ``), "outside_roots", catalogMode},
		{"write path outside of the roots", strings.Replace(table("s3://lake/wh/orders", ``), `"properties":{}`, `"properties":{"write.data.path":"s3://other/data"}`, 1), "outside_roots", catalogMode},
		{"climbing location", table("s3://lake/wh/../orders", keysJSON), "climbing_location", catalogMode},
		{"encoded climbing location", table("s3://lake/wh/%252e%252e/orders", keysJSON), "climbing_location", catalogMode},
		{"foreign credential", strings.Replace(table("s3://lake/wh/orders", keysJSON), `"later"`, `"storage-credentials":[{"prefix":"gs://x","config":{}}],"later"`, 1), "foreign_credentials", nil},
		{"metadata elsewhere", strings.Replace(table("s3://lake/wh/orders", keysJSON), `"metadata-location":"s3://lake`, `"metadata-location":"s3://minio-only`, 1), "several_origins", nil},
		{"two configs", strings.Replace(table("s3://lake/wh/orders", keysJSON), `"later"`, `"config":{},"later"`, 1), "not_a_table", catalogMode},
		{"two locations", strings.Replace(table("s3://lake/wh/orders", keysJSON), `"unknown"`, `"location":"s3://lake/wh/x","unknown"`, 1), "not_a_table", catalogMode},
		{"not JSON", `{"metadata":{"location":"s3://lake/wh/t"},}`, "not_a_table", catalogMode},
		{"no metadata", `{"config":{}}`, "not_a_table", catalogMode},
		{"empty", ``, "not_a_table", catalogMode},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t, reply(200, tt.body, `ETag: "up"`), tt.change)
			got := f.do("GET", loadPath, "", `If-None-Match: "other"`)
			if got.status != 200 || string(got.body) != tt.body {
				t.Errorf("got %d %s\nwant the upstream's own %s", got.status, got.body, tt.body)
			}
			if etag := got.header.Get("ETag"); etag != `"up"` {
				t.Errorf("ETag = %s, want the upstream's", etag)
			}
			status := f.h.Upstreams()[0]
			if status.Passed != 1 || status.Edited != 0 || status.LastReason != tt.reason || status.LastFix == "" || status.LastTable != "sales.orders" {
				t.Errorf("status = %+v, want one passed for %s", status, tt.reason)
			}
			// What the client got is what it would have got without our header.
			calls := f.seen()
			last := calls[len(calls)-1].header
			if len(calls) != 2 || last.Get("X-Iceberg-Access-Delegation") != "" || last.Get("If-None-Match") != `"other"` {
				t.Errorf("%d calls, the last with %v", len(calls), last)
			}
			f.do("GET", loadPath, "")
			if n := len(f.seen()); n != 3 {
				t.Errorf("the second load took %d requests, want 1", n-2)
			}
			f.pass(time.Hour)
			f.do("GET", loadPath, "")
			if n := len(f.seen()); n != 5 {
				t.Errorf("an hour later the load took %d requests, want 2", n-3)
			}
		})
	}
}

func TestLoadWithAuthorityOfTheCatalog(t *testing.T) {
	for _, write := range []bool{false, true} {
		f := setUp(t, reply(200, table("s3a://lake/wh/orders/", `"client.refresh-credentials-endpoint":"v1/x/credentials"`)), func(o *catalog.Options) {
			o.Authority = catalog.Authority{Mode: catalog.ModeCatalog, Roots: []string{"s3://lake/wh/"}, Write: write}
			o.Advertise = "https://taps.example.com:9191"
			o.Region = "eu-central-1"
		})
		got := f.do("GET", loadPath, "")
		session, config := f.session(got), got.config(t)
		if session.Write != write || len(session.Upstream) != 0 || !session.Expires.Equal(start.Add(12*time.Hour)) {
			t.Errorf("session = %+v", session)
		}
		if config["s3.endpoint"] != "https://taps.example.com:9191/" || config["s3.region"] != "eu-central-1" || config["client.region"] != "eu-central-1" {
			t.Errorf("config = %v", config)
		}
		for _, key := range []string{"client.refresh-credentials-endpoint", "s3.session-token-expires-at-ms"} {
			if v, has := config[key]; has {
				t.Errorf("%s = %s, but there is nothing to renew", key, v)
			}
		}
		if !strings.Contains(string(got.body), `"prefix":"s3a://lake/wh/orders/"`) {
			t.Errorf("the prefix is not the location as the metadata spells it: %s", got.body)
		}
	}
}

// Keys, expiry and further properties of storage-credentials.
func TestLoadWithStorageCredentials(t *testing.T) {
	const credentials = `"storage-credentials":[` +
		`{"prefix":"s3","config":{"s3.access-key-id":"ROOT","s3.secret-access-key":"r"}},` +
		`{"prefix":"s3://lake/wh/orders","config":{"s3.access-key-id":"DEEP","s3.secret-access-key":"d","s3.session-token-expires-at-ms":"1796130000000","keep":"1","client.refresh-credentials-endpoint":"UP/v1/wh/c"}},` +
		`{"prefix":"s3://lake/else","config":{"s3.access-key-id":"SIDE","s3.secret-access-key":"s","s3.session-token-expires-at-ms":"1796133600000"}}],"later"`
	f := setUp(t, nil, nil)
	f.upstream = reply(200, strings.ReplaceAll(strings.Replace(table("s3://lake/wh/orders", ``), `"later"`, credentials, 1), "UP/", f.up.URL+"/iceberg/"))
	got := f.do("GET", "/prod"+loadPath, "")
	session := f.session(got)
	ids := make([]string, 0, len(session.Upstream))
	for _, v := range session.Upstream {
		ids = append(ids, v.Prefix+" "+v.Keys.AccessKeyID)
	}
	if diff := cmp.Diff([]string{" ROOT", "s3://lake/wh/orders DEEP", "s3://lake/else SIDE"}, ids); diff != "" {
		t.Errorf("upstream keys (-want +got):\n%s", diff)
	}
	if !session.Expires.Equal(time.UnixMilli(1796130000000)) {
		t.Errorf("expires %v, want the first end", session.Expires)
	}
	if keys, _ := session.KeysFor(laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "wh/orders/x"}); keys.AccessKeyID != "DEEP" {
		t.Errorf("keys for a file of the table are %s", keys.AccessKeyID)
	}
	var body struct {
		Credentials []struct{ Config map[string]string } `json:"storage-credentials"`
	}
	if err := json.Unmarshal(got.body, &body); err != nil {
		t.Fatal(err)
	}
	config := body.Credentials[0].Config
	if len(body.Credentials) != 1 || config["keep"] != "1" || config["s3.access-key-id"] != session.AccessKeyID ||
		config["client.refresh-credentials-endpoint"] != f.tap.URL+"/prod/v1/wh/c" {
		t.Errorf("storage-credentials = %v", body.Credentials)
	}
	for _, secret := range []string{"ROOT", "DEEP", "SIDE"} {
		if strings.Contains(string(got.body), secret) {
			t.Errorf("the upstream's key %s reached the client", secret)
		}
	}
}

// R14 A and E: a load that fails for our header alone is repeated without it.
func TestDelegation(t *testing.T) {
	const refusal = `{"error":{"message":"no STS here","type":"BadRequestException","code":400}}`
	plain := table("s3://lake/wh/orders", `"a":"b"`)
	picky := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Iceberg-Access-Delegation") != "" {
				send(w, status, refusal)
				return
			}
			send(w, 200, plain)
		}
	}
	t.Run("refused for the catalog", func(t *testing.T) { // R14 A
		f := setUp(t, picky(400), nil)
		for range 3 {
			if got := f.do("GET", loadPath, ""); got.status != 200 || string(got.body) != plain {
				t.Errorf("got %d %s", got.status, got.body)
			}
			f.do("GET", loadPath+"2", "")
		}
		if n := len(f.seen()); n != 7 {
			t.Errorf("6 loads took %d requests, want 7: the refusal is remembered", n)
		}
		if s := f.h.Upstreams()[0]; s.DelegationRefused.IsZero() {
			t.Error("the refusal is not in the status")
		}
	})
	t.Run("refused for one table", func(t *testing.T) { // R14 E
		f := setUp(t, picky(403), nil)
		for range 2 {
			if got := f.do("GET", loadPath, ""); string(got.body) != plain {
				t.Errorf("got %s", got.body)
			}
		}
		if n := len(f.seen()); n != 3 {
			t.Errorf("2 loads took %d requests, want 3", n)
		}
		f.do("GET", loadPath+"2", "")
		if n := len(f.seen()); n != 5 {
			t.Errorf("another table took %d requests, want 2: it may be vended", n-3)
		}
	})
	t.Run("the client's own header stays", func(t *testing.T) {
		f := setUp(t, picky(400), nil)
		got := f.do("GET", loadPath, "", "X-Iceberg-Access-Delegation: remote-signing")
		if got.status != 400 || string(got.body) != refusal {
			t.Errorf("got %d %s", got.status, got.body)
		}
		if calls := f.seen(); len(calls) != 1 || calls[0].header.Get("X-Iceberg-Access-Delegation") != "remote-signing" {
			t.Errorf("upstream saw %v", calls)
		}
	})
	t.Run("authority of the catalog needs no header", func(t *testing.T) {
		f := setUp(t, picky(400), func(o *catalog.Options) {
			o.Authority = catalog.Authority{Mode: catalog.ModeCatalog, Roots: []string{"s3://lake/wh"}}
		})
		if s := f.session(f.do("GET", loadPath, "")); len(s.Upstream) != 0 {
			t.Errorf("session = %+v", s)
		}
	})
	t.Run("trouble is not remembered", func(t *testing.T) {
		f := setUp(t, picky(500), nil)
		for range 2 {
			if got := f.do("GET", loadPath, ""); string(got.body) != plain {
				t.Errorf("got %s", got.body)
			}
			f.pass(2 * 5 * time.Minute)
		}
		if n := len(f.seen()); n != 4 {
			t.Errorf("2 loads took %d requests, want 4", n)
		}
	})
	t.Run("another caller may be vended", func(t *testing.T) {
		f := setUp(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer alice" {
				send(w, 200, table("s3://lake/wh/orders", keysJSON))
				return
			}
			send(w, 200, plain)
		}, nil)
		f.do("GET", loadPath, "", "Authorization: Bearer bob")
		f.session(f.do("GET", loadPath, "", "Authorization: Bearer alice"))
		if h := f.seen()[2].header.Get("X-Iceberg-Access-Delegation"); h == "" {
			t.Error("alice's load did not ask for keys")
		}
	})
	t.Run("no table is no refusal", func(t *testing.T) {
		f := setUp(t, reply(404, refusal), nil)
		if got := f.do("GET", loadPath, ""); got.status != 404 || len(f.seen()) != 1 {
			t.Errorf("got %d after %d requests", got.status, len(f.seen()))
		}
	})
	t.Run("refused with and without", func(t *testing.T) {
		f := setUp(t, reply(403, refusal), nil)
		if got := f.do("GET", loadPath, ""); got.status != 403 || string(got.body) != refusal || len(f.seen()) != 2 {
			t.Errorf("got %d after %d requests", got.status, len(f.seen()))
		}
	})
	t.Run("keys without a token", func(t *testing.T) { // R14 C
		f := setUp(t, reply(200, table("s3://lake/wh/orders", `"s3.access-key-id":"AK","s3.secret-access-key":"SK"`)), nil)
		s := f.session(f.do("GET", loadPath, ""))
		if len(s.Upstream) != 1 || s.Upstream[0].Keys.SessionToken != "" || s.Upstream[0].Keys.AccessKeyID != "AK" {
			t.Errorf("session = %+v", s)
		}
	})
}

// The same keys in both places, as most catalogs vend them, travel once.
func TestKeysInBothPlaces(t *testing.T) {
	both := strings.Replace(table("s3://lake/wh/orders", keysJSON), `"later"`, `"storage-credentials":[{"prefix":"s3://lake/x","config":{"s3.access-key-id":"X","s3.secret-access-key":"x"}},{"prefix":"s3://lake/wh/orders","config":{`+keysJSON+`}}],"later"`, 1)
	f := setUp(t, reply(200, both), nil)
	s := f.session(f.do("GET", loadPath, ""))
	if len(s.Upstream) != 2 || s.Upstream[0].Prefix != "s3://lake/wh/orders" || s.Upstream[0].Keys.AccessKeyID != "ASIAUP" || s.Upstream[1].Prefix != "s3://lake/x" {
		t.Errorf("upstream keys = %v", s.Upstream)
	}
}

func TestLongUpstreamToken(t *testing.T) {
	token := strings.Repeat("tok/+=ab", 512) // 4 KiB
	f := setUp(t, reply(200, table("s3://lake/wh/orders", `"s3.access-key-id":"AK","s3.secret-access-key":"SK","s3.session-token":"`+token+`"`)), nil)
	if s := f.session(f.do("GET", loadPath, "")); s.Upstream[0].Keys.SessionToken != token {
		t.Error("the session lost the upstream's token")
	}
}

// A metadata file or a write path that lies around the table must not widen
// the session to the table's neighbours.
func TestScopeIsNotWidened(t *testing.T) {
	for _, tt := range []struct{ name, old, with string }{
		{"metadata file beside the table", `/wh/orders/metadata/00001.json`, `/wh/00001.json`},
		{"metadata file in the bucket's root", `/wh/orders/metadata/00001.json`, `/00001.json`},
		{"write path is the warehouse", `"properties":{}`, `"properties":{"write.data.path":"s3://lake/wh","write.metadata.path":"s3://lake"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t, reply(200, strings.Replace(table("s3://lake/wh/orders", keysJSON), tt.old, tt.with, 1)), nil)
			s := f.session(f.do("GET", loadPath, ""))
			for _, l := range s.Scope {
				if l.Path != "wh/orders" && l.Path != "wh/orders/metadata" {
					t.Errorf("scope holds %v", l)
				}
			}
		})
	}
}

// R13: no name of a table is a pattern.
func TestEveryTableNameIsPlain(t *testing.T) {
	for _, name := range []string{"*", "t?", "t1*", "*.*", "${aws:username}", "[a-z]"} {
		f := setUp(t, reply(200, table("s3://lake/wh/foo/"+name, keysJSON)), nil)
		s := f.session(f.do("GET", loadPath, ""))
		if s.Scope[0].Path != "wh/foo/"+name {
			t.Errorf("scope of %q = %v", name, s.Scope)
		}
		if s.Covers(laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: "wh/foo/t1/x"}, nil) {
			t.Errorf("the session for %q covers another table", name)
		}
	}
}

func TestRowsOfEngines(t *testing.T) {
	tests := []struct {
		name, userAgent string
		extra           map[string]string
	}{
		{"unknown", "curl/8", nil},
		{"clickhouse", "ClickHouse/26.9.2.1", nil}, // the slash at the end is for it, and for everyone
		{"starrocks", "StarRocks-Iceberg-Connector/3.5", map[string]string{"aws.s3.endpoint": "http://lake.test:9191/", "aws.s3.enable_path_style_access": "true"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON+`,"aws.s3.endpoint":"http://around"`)), func(o *catalog.Options) { o.Advertise = "http://lake.test:9191/" })
			config := f.do("GET", loadPath, "", "User-Agent: "+tt.userAgent).config(t)
			got := map[string]string{}
			for key, value := range config {
				if strings.HasPrefix(key, "aws.") {
					got[key] = value
				}
			}
			if len(got) != len(tt.extra) || len(got) > 0 && !cmp.Equal(got, tt.extra) {
				t.Errorf("extra = %v, want %v", got, tt.extra)
			}
			if !strings.HasSuffix(config["s3.endpoint"], ":9191/") {
				t.Errorf("endpoint = %s, want a slash at its end", config["s3.endpoint"])
			}
		})
	}
}
