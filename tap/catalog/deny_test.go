package catalog_test

import (
	"strings"
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap/catalog"
)

// denying is a deny list of one entry, "kind subject".
type denying string

func (d denying) Denied(principal, _ string, table laketap.TableID, name string) bool {
	switch string(d) {
	case "principal " + principal, "table " + table.UUID, "table " + table.Catalog + "." + name:
		return true
	}
	return false
}

// Who is denied, or whose table is, gets no keys: not a session's and not the
// upstream's. Whatever vends no keys goes on.
func TestDenyListVendsNoKeys(t *testing.T) {
	const load, vend = "/v1/wh/namespaces/ns/tables/t", "/v1/wh/namespaces/ns/tables/t/credentials"
	tests := []struct {
		entry, method, target string
		refused, asked        bool // by us; whether the upstream was asked
	}{
		{"", "GET", load, false, true},
		{"principal prod:alice", "GET", load, true, false},
		{"principal prod:alice", "GET", vend, true, false},
		{"principal prod:alice", "POST", "/v1/wh/namespaces/ns/tables", true, false},
		{"principal prod:alice", "POST", load + "/plan", true, false},
		{"principal prod:alice", "GET", "/v1/wh/namespaces", false, true},
		{"principal prod:bob", "GET", load, false, true},
		{"table prod.ns.t", "GET", load, true, false},
		{"table prod.ns.t", "GET", vend, true, false},
		{"table prod.ns.t2", "GET", load, false, true},
		// Only the upstream's answer tells the UUID.
		{"table " + uuid, "GET", load, true, true},
		{"table " + uuid, "GET", vend, true, true},
		{"table 00000000-03fe-4693-9a96-a0705ddf69c1", "GET", load, false, true},
		// What was done is done, and its client must hear so.
		{"table " + uuid, "POST", "/v1/wh/namespaces/ns/register", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.entry+" "+tt.method+" "+tt.target, func(t *testing.T) {
			body := strings.TrimSuffix(table("s3://lake/wh/t", keysJSON), "}") +
				`,"storage-credentials":[{"prefix":"s3://lake/wh/t","config":{` + keysJSON + `}}]}`
			f := setUp(t, reply(200, body, `ETag: "up"`), func(o *catalog.Options) { o.Deny = denying(tt.entry) })
			got := f.do(tt.method, tt.target, `{"name":"t"}`, "Authorization: Bearer "+jwt(`{"sub":"alice"}`))
			if asked := len(f.seen()) > 0; asked != tt.asked {
				t.Errorf("upstream asked: %v, want %v", asked, tt.asked)
			}
			a := lastAccess(t, f.records, 1)
			if !tt.refused {
				if got.status != 200 || a.Status != 200 {
					t.Errorf("got %d %s", got.status, got.body)
				}
				return
			}
			var e struct {
				Error struct {
					Type string
					Code int
				}
			}
			unmarshal(t, got.body, &e)
			if got.status != 403 || e.Error.Type != "ForbiddenException" || e.Error.Code != 403 {
				t.Errorf("got %d %s", got.status, got.body)
			}
			if strings.Contains(string(got.body), "access-key") || got.header.Get("ETag") != "" {
				t.Errorf("refused with keys or a tag: %v %s", got.header, got.body)
			}
			if a.Status != 403 || a.Err == "" || a.Principal != "" {
				t.Errorf("recorded as %d %q by %q", a.Status, a.Err, a.Principal)
			}
		})
	}
}
