package catalog

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
)

func FuzzRewriteConfig(f *testing.F) {
	for _, seed := range []string{
		`{"defaults":{"uri":"http://up","a":"1"},"overrides":{"prefix":"wh","uri":"x"},"endpoints":["GET /v1/config"],"n":18446744073709551615}`,
		`{"overrides":{"s3.signer.uri":"x","s3.endpoint":"y","oauth2-server-uri":"http://up/v1/t"},"endpoints":[]}`,
		`{"defaults":null,"overrides":[],"endpoints":{}}`, `{"overrides":{},"overrides":{"uri":"x"}}`, `{"endpoints":[1,"a",]}`, `{`, ``,
	} {
		f.Add([]byte(seed), true, true)
	}
	f.Fuzz(func(t *testing.T, body []byte, signs, stores bool) {
		top, ok := parseObject(body)
		if !ok {
			return
		}
		u := upstream{}
		u.listen(top)
		e := configEdit{base: "http://up", ours: "http://tap/prod", signing: signs, storage: stores}
		got := editConfig(top, e)
		if !json.Valid(got) {
			t.Fatalf("made %q", got)
		}
		untouched(t, body, got, func(name string) bool { return name == "defaults" || name == "overrides" || name == "endpoints" })
		after, _ := parseObject(got)
		for _, section := range []string{"defaults", "overrides"} {
			before, ok := top.object(section)
			if !ok {
				continue
			}
			now, ok := after.object(section)
			if !ok {
				t.Fatalf("%s is gone", section)
			}
			if _, times := now.get("uri"); times > 0 {
				t.Errorf("a uri is left in %s", section)
			}
			untouched(t, before.raw, now.raw, func(name string) bool {
				return name == "uri" || name == "oauth2-server-uri" || leadsAround(name) || name == refreshKey
			})
		}
		if again := editConfig(after, e); !bytes.Equal(again, got) {
			t.Errorf("a second edit changes %q to %q", got, again)
		}
	})
}

func FuzzRewriteTable(f *testing.F) {
	const keys = `"s3.access-key-id":"A","s3.secret-access-key":"B"`
	for _, seed := range []string{
		`{"metadata-location":"s3://lake/t/metadata/1.json","metadata":{"location":"s3://lake/t","table-uuid":"u","current-snapshot-id":9007199254740993,"x":[1.0]},"config":{` + keys + `,"k":"v"},"z":18446744073709551615}`,
		` { "metadata" : { "location" : "s3a://lake/a b/" } , "storage-credentials" : [ {"prefix":"s3","config":{` + keys + `}} ] , "config" : null } `,
		`{"metadata":{"location":"s3://lake/t","properties":{"write.data.path":"s3://lake/t2"}},"storage-credentials":[{"prefix":"s3://lake/t","config":{` + keys + `,"s3.session-token-expires-at-ms":"1"}},{"prefix":"gs://x","config":{}}]}`,
		`{"metadata":{"location":"s3://lake/../t"},"config":{` + keys + `}}`, `{"metadata":{"location":"gs://lake/t"}}`, `{"metadata":{"location":"s3://lake/t"},"config":{},"config":{}}`,
		`{"metadata":{}}`, `{"metadata":1}`, `[]`, `{`,
	} {
		f.Add([]byte(seed), "duckdb")
		f.Add([]byte(seed), "starrocks")
	}
	f.Fuzz(func(t *testing.T, body []byte, engine string) {
		h := &Handler{opts: Options{Now: func() time.Time { return time.Unix(1e9, 0) }, Origins: []tap.Origin{{Name: "o"}}}}
		l, ok := readLoaded(body)
		if !ok {
			return
		}
		if !json.Valid(body) {
			t.Fatal("text that is not JSON was read")
		}
		g, why := h.judge(l, "")
		if why != "" {
			if _, known := reasons[why]; !known {
				t.Errorf("reason %q has no words", why)
			}
			return
		}
		var r row
		for _, one := range rows {
			if one.engine == engine {
				r = one
			}
		}
		got := bytes.Join(leadTable(l, g, storageConfig("http://tap/", "r", sigv4.Credentials{AccessKeyID: "LT", SecretAccessKey: "S", SessionToken: "T"}, r)), nil)
		if !json.Valid(got) {
			t.Fatalf("made %q", got)
		}
		untouched(t, body, got, func(name string) bool { return name == "config" || name == "storage-credentials" })
		after, ok := readLoaded(got)
		if !ok || !bytes.Equal(after.metadata, l.metadata) || len(after.credentials) != 1 || after.credentials[0].prefix != after.location {
			t.Fatalf("made %q", got)
		}
		for _, config := range []object{after.config, after.credentials[0].config} {
			if id, _ := config.text("s3.access-key-id"); id != "LT" {
				t.Errorf("a key that is not ours is left: %q", got)
			}
			for _, m := range config.members {
				if strings.HasPrefix(m.name, "s3.signer") || strings.HasPrefix(m.name, "s3.access-grants.") {
					t.Errorf("%s is left", m.name)
				}
			}
		}
		untouched(t, l.config.raw, after.config.raw, func(name string) bool {
			return leadsAround(name) || name == refreshKey || name == "io-impl" || strings.HasPrefix(name, "aws.s3.")
		})
		if g.scope[0].Path != strings.Trim(g.scope[0].Path, "/") || strings.Contains("/"+g.scope[0].Path+"/", "/../") {
			t.Errorf("scope %v", g.scope)
		}
	})
}

func FuzzRoute(f *testing.F) {
	for _, seed := range []string{"/v1/config", "/v1/wh/namespaces/a%1Fb/tables/t", "/v1/a/b/namespaces/x/tables/y/plan/z", "/v1/namespaces/namespaces/tables/tables/tables", "/v1/%zz/tables/rename", "//", "/v1//namespaces//tables/"} {
		f.Add("GET", seed)
		f.Add("POST", seed)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		r := parseRoute(method, path)
		if r.op == "" {
			t.Errorf("%s %s has no operation", method, path)
		}
		if r.tables != "" && !strings.HasPrefix(path, strings.TrimSuffix(r.tables, "/tables")) {
			t.Errorf("%s is not above %s", r.tables, path)
		}
		if name := dotted(r.namespace, r.table, ""); strings.Contains(name, levels) && !strings.Contains(r.table, levels) {
			t.Errorf("name %q", name)
		}
	})
}

func FuzzTags(f *testing.F) {
	keys, err := tap.NewKeyring(bytes.NewReader(make([]byte, 64)))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{`"a"`, `W/"a,b", "c"`, `*`, `"lt-AAAA"`, `"`, `,,`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		c := translate(map[string][]string{"If-None-Match": {value}}, keys, "p", "v", time.Unix(0, 0))
		for _, etag := range c.upstream {
			if strings.HasPrefix(etag, `"lt-`) {
				t.Errorf("%s goes upstream", etag)
			}
		}
		splitTags(value)
	})
}

func FuzzSubject(f *testing.F) {
	for _, seed := range []string{"a.b.c", "e30.eyJzdWIiOiJ4In0.s", "..", "", "e30.eyJzdWIiOiJ4IiwiaXNzIjoieSJ9.s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if who := subjectOf(token); strings.ContainsAny(who, "\x00\n\r") || len(who) > 200 {
			t.Errorf("subject %q", who)
		}
	})
}

func TestRoutes(t *testing.T) {
	tests := []struct {
		method, path string
		want         route
	}{
		{"GET", "/v1/config", route{op: "getConfig"}},
		{"POST", "/v1/config", route{op: "unknown"}},
		{"POST", "/v1/oauth/tokens", route{op: "getToken"}},
		{"GET", "/v1/namespaces", route{op: "listNamespaces"}},
		{"GET", "/v1/wh/namespaces", route{op: "listNamespaces", prefix: "wh"}},
		{"POST", "/v1/wh/namespaces", route{op: "createNamespace", prefix: "wh"}},
		{"HEAD", "/v1/wh/namespaces/n", route{op: "namespaceExists", prefix: "wh", namespace: "n", tables: "/v1/wh/namespaces/n/tables"}},
		{"GET", "/v1/wh/namespaces/n", route{op: "loadNamespaceMetadata", prefix: "wh", namespace: "n", tables: "/v1/wh/namespaces/n/tables"}},
		{"DELETE", "/v1/wh/namespaces/n", route{op: "dropNamespace", prefix: "wh", namespace: "n", tables: "/v1/wh/namespaces/n/tables"}},
		{"POST", "/v1/wh/namespaces/n/properties", route{op: "updateProperties", prefix: "wh", namespace: "n", tables: "/v1/wh/namespaces/n/tables"}},
		{"GET", "/v1/wh/namespaces/n/tables", route{op: "listTables", prefix: "wh", namespace: "n", tables: "/v1/wh/namespaces/n/tables"}},
		{"POST", "/v1/wh/namespaces/n/tables", route{op: "createTable", prefix: "wh", namespace: "n", tables: "/v1/wh/namespaces/n/tables"}},
		{"POST", "/v1/wh/namespaces/n/register", route{op: "registerTable", prefix: "wh", namespace: "n", tables: "/v1/wh/namespaces/n/tables"}},
		{"GET", "/v1/a/b/namespaces/n%1Fm/tables/t%2Fx", route{op: "loadTable", prefix: "a/b", namespace: "n\x1fm", table: "t/x", tables: "/v1/a/b/namespaces/n%1Fm/tables"}},
		{"GET", "/v1/wh/namespaces/my+ns/tables/a%2Bb", route{op: "loadTable", prefix: "wh", namespace: "my ns", table: "a+b", tables: "/v1/wh/namespaces/my+ns/tables"}},
		{"GET", "/v1/wh/namespaces/my%20ns/tables/t", route{op: "loadTable", prefix: "wh", namespace: "my ns", table: "t", tables: "/v1/wh/namespaces/my%20ns/tables"}},
		{"GET", "/v1/wh/namespaces/%zz/tables/t", route{op: "loadTable", prefix: "wh", namespace: "%zz", table: "t", tables: "/v1/wh/namespaces/%zz/tables"}},
		{"GET", "/v1/namespaces/namespaces/tables/tables", route{op: "loadTable", namespace: "namespaces", table: "tables", tables: "/v1/namespaces/namespaces/tables"}},
		{"POST", "/v1/wh/namespaces/n/tables/t", route{op: "updateTable", prefix: "wh", namespace: "n", table: "t", tables: "/v1/wh/namespaces/n/tables"}},
		{"HEAD", "/v1/wh/namespaces/n/tables/t", route{op: "tableExists", prefix: "wh", namespace: "n", table: "t", tables: "/v1/wh/namespaces/n/tables"}},
		{"DELETE", "/v1/wh/namespaces/n/tables/t", route{op: "dropTable", prefix: "wh", namespace: "n", table: "t", tables: "/v1/wh/namespaces/n/tables"}},
		{"GET", "/v1/wh/namespaces/n/tables/t/credentials", route{op: "loadCredentials", prefix: "wh", namespace: "n", table: "t", tables: "/v1/wh/namespaces/n/tables"}},
		{"POST", "/v1/wh/namespaces/n/tables/t/metrics", route{op: "reportMetrics", prefix: "wh", namespace: "n", table: "t", tables: "/v1/wh/namespaces/n/tables"}},
		{"GET", "/v1/wh/namespaces/n/tables/t/plan/p", route{op: "fetchPlanningResult", prefix: "wh", namespace: "n", table: "t", plan: "p", tables: "/v1/wh/namespaces/n/tables"}},
		{"GET", "/v1/wh/namespaces/n/views/v", route{op: "loadView", prefix: "wh", namespace: "n", tables: "/v1/wh/namespaces/n/tables"}},
		{"POST", "/v1/wh/tables/rename", route{op: "renameTable", prefix: "wh"}},
		{"POST", "/v1/tables/rename", route{op: "renameTable"}},
		{"POST", "/v1/wh/transactions/commit", route{op: "commitTransaction", prefix: "wh"}},
		{"GET", "/v1/wh/namespaces/n/tables/t/odd", route{op: "unknown"}},
		{"GET", "/v1/wh/namespaces//tables/t", route{op: "unknown"}},
		{"GET", "/v2/config", route{op: "unknown"}},
		{"GET", "", route{op: "unknown"}},
	}
	for _, tt := range tests {
		if got := parseRoute(tt.method, tt.path); got != tt.want {
			t.Errorf("%s %s: %+v, want %+v", tt.method, tt.path, got, tt.want)
		}
	}
}

func TestDotted(t *testing.T) {
	for _, tt := range []struct{ namespace, separator, want string }{
		{"a\x1fb", "", "a.b.t"}, {"a\x1fb", ".", "a.b.t"}, {"a.b", ".", "a.b.t"}, {"a/b", "/", "a.b.t"}, {"", "", "t"},
	} {
		if got := dotted(tt.namespace, "t", tt.separator); got != tt.want {
			t.Errorf("dotted(%q, %q) = %s, want %s", tt.namespace, tt.separator, got, tt.want)
		}
	}
}

func TestBounds(t *testing.T) {
	c := newClients()
	for i := range clientsMax + 10 {
		c.put(strings.Repeat("x", i%7)+string(rune(i+1000)), "c")
	}
	if len(c.byKey) != clientsMax || len(c.order) != clientsMax {
		t.Errorf("%d clients in %d places, want %d", len(c.byKey), len(c.order), clientsMax)
	}
	u := upstream{memo: map[string]time.Time{}}
	for i := range memoMax + 10 {
		u.remember(string(rune(i+1000)), time.Unix(100, 0), time.Unix(0, 0))
	}
	if len(u.memo) > memoMax || !u.remembers(string(rune(memoMax+1009)), time.Unix(1, 0)) {
		t.Errorf("%d refusals are remembered, want at most %d and the last", len(u.memo), memoMax)
	}
	l := newLessons()
	for range lessonsMax {
		if !l.add(lesson{body: []byte("x")}) {
			t.Fatal("a lesson found no room")
		}
	}
	if l.add(lesson{}) || l.bytes.Load() != lessonsMax {
		t.Error("more lessons than there is room for")
	}
	big := newLessons()
	if big.add(lesson{body: make([]byte, lessonBytesMax+1)}) || big.bytes.Load() != 0 {
		t.Error("a lesson larger than the room for all")
	}
}
