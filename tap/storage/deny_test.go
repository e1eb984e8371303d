package storage_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// denying is a deny list of one entry, "kind subject".
type denying struct{ entry atomic.Value }

func (d *denying) Denied(principal, key string, table laketap.TableID, name string) bool {
	switch d.entry.Load() {
	case "principal " + principal, "key " + key, "table " + table.UUID, "table " + table.Catalog + "." + name:
		return true
	}
	return false
}

// A session is stopped at its next request by who holds it, by its key, by its
// table and by the table whose file it is; whatever else is denied lets it go.
func TestDenyListStopsASession(t *testing.T) {
	list := &denying{}
	list.entry.Store("")
	f := start(t, func(o *storage.Options) { o.Deny, o.Anonymous = list, true })
	other := tap.Table{
		ID: laketap.TableID{Catalog: "prod", UUID: "uuid-o"}, Name: "db.o", Location: tap.Location{Origin: "main", Bucket: "lake", Path: "wh/o"},
	}
	f.tables.Put(other)
	f.origin.put("lake/wh/t/x", "ours")
	f.origin.put("lake/wh/o/x", "theirs")
	own := f.session(nil)
	wide := f.session(func(s *tap.Session) { upstream(s); s.Scope[0].Path = "wh" })
	get := func(key string) call { return call{method: "GET", target: "/lake/wh/" + key} }
	tests := []struct {
		entry string
		call  call
		keys  sigv4.Credentials
		want  bool // is let in
	}{
		{"", get("t/x"), own, true},
		{"principal alice", get("t/x"), own, false},
		{"principal bob", get("t/x"), own, true},
		{"key " + own.AccessKeyID, get("t/x"), own, false},
		{"key " + own.AccessKeyID, get("t/x"), wide, true},
		{"key reader", get("t/x"), sigv4.Credentials{AccessKeyID: "reader", SecretAccessKey: "reader-secret"}, false},
		{"principal reader", get("t/x"), sigv4.Credentials{AccessKeyID: "reader", SecretAccessKey: "reader-secret"}, false},
		{"table uuid-t", get("t/x"), own, false},
		{"table prod.db.t", get("t/x"), own, false},
		{"table other.db.t", get("t/x"), own, true},
		{"table uuid-o", get("t/x"), own, true},
		{"table uuid-o", get("o/x"), wide, false},
		{"table prod.db.o", get("o/x"), wide, false},
		{"table uuid-o", call{method: "GET", target: "/lake?list-type=2&prefix=wh/o/"}, wide, false},
		{"table uuid-o", call{method: "PUT", target: "/lake/wh/t/copy", header: copyFrom("/lake/wh/o/x")}, wide, false},
		{"table uuid-o", call{method: "POST", target: "/lake?delete", body: deleteDoc("wh/t/gone", "wh/o/x")}, wide, false},
		{"table uuid-o", call{method: "PUT", target: "/lake/wh/o/y", body: "new"}, sigv4.Credentials{AccessKeyID: admin.ID, SecretAccessKey: admin.Secret}, false},
	}
	for _, tt := range tests {
		list.entry.Store(tt.entry)
		tt.call.keys = tt.keys
		f.origin.seen()
		got := f.do(tt.call)
		name := tt.entry + ": " + tt.call.method + " " + tt.call.target
		if tt.want {
			if got.status != 200 {
				t.Errorf("%s: got %d %s, want 200", name, got.status, got.body)
			}
			f.access()
			continue
		}
		if got.status != 403 || got.code() != "AccessDenied" {
			t.Errorf("%s: got %d %s, want 403 AccessDenied", name, got.status, got.body)
		}
		f.wantNothingSent(t)
		if a := f.access(); a.Status != 403 || !strings.Contains(a.Err, "deny list") {
			t.Errorf("%s: recorded as %d %q", name, a.Status, a.Err)
		}
	}
}
