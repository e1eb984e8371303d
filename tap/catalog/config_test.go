package catalog_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap/catalog"
)

const metricsLine = "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics"

// R12, N20: what /v1/config says of itself leads to us, and nothing is listed
// that is not there.
func TestConfig(t *testing.T) {
	catalogMode := func(o *catalog.Options) {
		o.Authority = catalog.Authority{Mode: catalog.ModeCatalog, Roots: []string{"s3://minio-only"}}
	}
	tests := []struct {
		name, body, want string // UP and OURS stand for the two addresses
		change           func(*catalog.Options)
	}{
		{"nothing to edit", ` { "defaults" : {"a":"b"} , "x":1e999 } `, ` { "defaults" : {"a":"b"} , "x":1e999 } `, nil},
		{"uri", `{"defaults":{"uri":"UP","a":"1"},"overrides":{ "prefix":"wh" , "uri":"http://elsewhere" }}`, `{"defaults":{"a":"1"},"overrides":{ "prefix":"wh" }}`, nil},
		{"token endpoint of the upstream", `{"overrides":{"oauth2-server-uri":"UP/v1/oauth/tokens"}}`, `{"overrides":{"oauth2-server-uri":"OURS/v1/oauth/tokens"}}`, nil},
		{"token endpoint of somebody else", `{"overrides":{"oauth2-server-uri":"https://login.example.com/t"}}`, `{"overrides":{"oauth2-server-uri":"https://login.example.com/t"}}`, nil},
		{"token endpoint that only begins alike", `{"overrides":{"oauth2-server-uri":"UP2/v1"}}`, `{"overrides":{"oauth2-server-uri":"UP2/v1"}}`, nil},
		{"relative token endpoint", `{"overrides":{"oauth2-server-uri":"v1/oauth/tokens"}}`, `{"overrides":{"oauth2-server-uri":"v1/oauth/tokens"}}`, nil},
		{"no endpoints: the defaults apply", `{"overrides":{}}`, `{"overrides":{}}`, nil},
		{"endpoints without reports", `{"endpoints":[ "GET /v1/{prefix}/namespaces" ]}`, `{"endpoints":[ "GET /v1/{prefix}/namespaces" ,"` + metricsLine + `"]}`, nil},
		{"endpoints with reports", `{"endpoints":["` + metricsLine + `"]}`, `{"endpoints":["` + metricsLine + `"]}`, nil},
		{"empty endpoints", `{"endpoints":[]}`, `{"endpoints":["` + metricsLine + `"]}`, nil},
		{"endpoints are null", `{"endpoints":null}`, `{"endpoints":null}`, nil},
		{
			"signing stays while nothing is vended", `{"overrides":{"s3.remote-signing-enabled":"true","s3.signer.uri":"UP"}}`,
			`{"overrides":{"s3.remote-signing-enabled":"true","s3.signer.uri":"UP"}}`, nil,
		},
		{
			"signing goes where the catalog has authority", `{"overrides":{"s3.remote-signing-enabled":"true","s3.signer.uri":"UP","signer.uri":"x","keep":"1"}}`,
			`{"overrides":{"keep":"1"}}`, catalogMode,
		},
		{
			"storage of ours", `{"defaults":{"s3.endpoint":"http://minio:9000","s3.access-key-id":"a","s3.region":"x"},"overrides":{"s3.secret-access-key":"b","client.region":"x"}}`,
			`{"defaults":{"s3.region":"x"},"overrides":{"client.region":"x"}}`, catalogMode,
		},
		{
			"storage of somebody else", `{"defaults":{"s3.endpoint":"http://other:9000","s3.access-key-id":"a"}}`,
			`{"defaults":{"s3.endpoint":"http://other:9000","s3.access-key-id":"a"}}`, catalogMode,
		},
		{"escaped and repeated names", `{"overrides":{"ur\u0069":"UP","uri":"x","a":"1"}}`, `{"overrides":{"a":"1"}}`, nil},
		{"sections that are no objects", `{"overrides":null,"defaults":[]}`, `{"overrides":null,"defaults":[]}`, nil},
		{"not JSON", `{"overrides":{"uri":"x"}`, `{"overrides":{"uri":"x"}`, nil},
		{"no object", `[1]`, `[1]`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, base := range []string{"", "/prod"} {
				f := setUp(t, nil, tt.change)
				f.upstream = reply(200, strings.ReplaceAll(tt.body, "UP", f.up.URL+"/iceberg"), `ETag: "1"`)
				got := f.do("GET", base+"/v1/config?warehouse=w%2Fx", "")
				want := strings.NewReplacer("UP", f.up.URL+"/iceberg", "OURS", f.tap.URL+base).Replace(tt.want)
				if diff := cmp.Diff(want, string(got.body)); diff != "" {
					t.Errorf("body (-want +got):\n%s", diff)
				}
				if kept := got.header.Get("ETag") != ""; kept != (tt.body == tt.want) {
					t.Errorf("ETag = %q", got.header.Get("ETag"))
				}
				if a := lastAccess(t, f.records, 1); a.Op != "getConfig" || a.Principal != "anonymous" {
					t.Errorf("access = %+v", a)
				}
			}
		})
	}
}

// Signing goes from /v1/config once the upstream has shown that it vends, and
// as long as every table can be led.
func TestConfigAfterVending(t *testing.T) {
	const config = `{"overrides":{"s3.remote-signing-enabled":"true"}}`
	body := table("s3://lake/wh/orders", keysJSON)
	f := setUp(t, nil, nil)
	f.upstream = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/config") {
			send(w, 200, config)
			return
		}
		send(w, 200, body)
	}
	f.do("GET", loadPath, "")
	if got := f.do("GET", "/v1/config", ""); string(got.body) != `{"overrides":{}}` {
		t.Errorf("after vending: %s", got.body)
	}
	body = table("gs://x", "")
	f.do("GET", loadPath, "")
	if got := f.do("GET", "/v1/config", ""); string(got.body) != config {
		t.Errorf("after a table that passed: %s", got.body)
	}
}

// The endpoint that /v1/config names counts where a table names none.
func TestConfigNamesTheStore(t *testing.T) {
	f := setUp(t, nil, nil)
	f.upstream = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/config") {
			send(w, 200, `{"defaults":{"s3.endpoint":"http://minio:9000/"},"overrides":{"namespace-separator":"%2E"}}`)
			return
		}
		send(w, 200, table("s3://lake/wh/orders", keysJSON))
	}
	f.do("GET", "/v1/config", "")
	if s := f.session(f.do("GET", "/v1/wh/namespaces/a.b/tables/t", "")); s.Origin != "minio" || s.TableName != "a.b.t" {
		t.Errorf("session = %+v", s)
	}
}

func TestReports(t *testing.T) {
	const path, body = loadPath + "/metrics", `{"report-type":"scan-report","table-name":"x"}`
	config := func(list string) string { return `{"endpoints":[` + list + `]}` }
	tests := []struct {
		name, config string // "": the tap never saw one
		status       int    // the upstream's
		want, calls  int
		principal    string
	}{
		{"upstream has it", config(`"` + metricsLine + `"`), 204, 204, 1, "anonymous"},
		{"upstream has it and refuses", config(`"` + metricsLine + `"`), 403, 403, 1, ""},
		{"upstream lacks it", config(`"GET /v1/config"`), 204, 204, 0, ""},
		{"upstream says nothing and has it", `{}`, 204, 204, 1, "anonymous"},
		{"unknown and missing", "", 404, 204, 1, ""},
		{"unknown and not allowed", "", 405, 204, 1, ""},
		{"unknown and unauthorised", "", 401, 401, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t, nil, nil)
			f.upstream = func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					send(w, 200, tt.config)
					return
				}
				w.WriteHeader(tt.status)
			}
			if tt.config != "" {
				f.do("GET", "/v1/config", "")
				f.forgetCalls()
			}
			got := f.do("POST", path, body, "User-Agent: Apache-HttpClient/5.6 (Java/17.0.1)", "X-Client-Version: Apache Iceberg 1.12.0")
			if got.status != tt.want || len(f.seen()) != tt.calls {
				t.Errorf("got %d %s after %d requests, want %d after %d", got.status, got.body, len(f.seen()), tt.want, tt.calls)
			}
			report := await(t, f.records, func(r *records) (laketap.Report, bool) {
				if len(r.reports) == 0 {
					return laketap.Report{}, false
				}
				return r.reports[0], true
			})
			want := laketap.Report{
				At: start, Kind: "scan-report", Engine: laketap.Engine{Name: "spark"}, Principal: tt.principal,
				Catalog: "prod", TableName: "sales.orders", Body: []byte(body),
			}
			if diff := cmp.Diff(want, report); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("too large or no JSON", func(t *testing.T) {
		f := setUp(t, reply(204, ``), nil)
		f.do("POST", path, strings.Repeat(" ", 2<<20)+body)
		f.do("POST", path, "{")
		lastAccess(t, f.records, 2)
		f.records.mu.Lock()
		defer f.records.mu.Unlock()
		if len(f.records.reports) != 0 {
			t.Errorf("reports = %v", f.records.reports)
		}
	})
}
