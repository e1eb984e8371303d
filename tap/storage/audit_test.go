package storage_test

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap/storage"
)

// An auditor notes what it is told, and refuses while full.
type auditor struct {
	mu    sync.Mutex
	full  bool
	begun []laketap.Access
}

func (a *auditor) Begin(access laketap.Access) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.full {
		return errors.New("no space left on device")
	}
	a.begun = append(a.begun, access)
	return nil
}

// audited is every kind of request that touches objects, and what it names.
func audited() []struct {
	call
	object string
	also   []string
} {
	type request = struct {
		call
		object string
		also   []string
	}
	return []request{
		{call{method: "GET", target: "/lake/wh/t/a", header: http.Header{"Range": {"bytes=0-1"}}}, "wh/t/a", nil},
		{call{method: "HEAD", target: "/lake/wh/t/a"}, "wh/t/a", nil},
		{call{method: "PUT", target: "/lake/wh/t/new", body: "data"}, "wh/t/new", nil},
		{call{method: "PUT", target: "/lake/wh/t/copy", header: copyFrom("/lake/wh/t/a")}, "wh/t/copy", []string{"wh/t/a"}},
		{call{method: "POST", target: "/lake?delete", body: deleteDoc("wh/t/x", "wh/t/y"), header: http.Header{"Content-Md5": {"x"}}}, "", []string{"wh/t/x", "wh/t/y"}},
		{call{method: "DELETE", target: "/lake/wh/t/a"}, "wh/t/a", nil},
		{call{method: "GET", target: "/lake?list-type=2&prefix=wh/t/"}, "", nil},
	}
}

func TestEveryObjectIsAuditedBeforeItIsTouched(t *testing.T) {
	a := &auditor{}
	f := start(t, func(o *storage.Options) { o.Audit = a })
	f.origin.put("lake/wh/t/a", "data")
	for _, r := range audited() {
		r.keys = f.session(upstream)
		var before int
		f.origin.intercept(func(http.ResponseWriter, *http.Request) bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			before = len(a.begun)
			return false
		})
		n := len(a.begun)
		f.do(r.call)
		recorded := f.access()
		if len(a.begun) != n+1 || before != n+1 {
			t.Errorf("%s %s: %d lines when it reached the origin and %d in the end, want one", r.method, r.target, before-n, len(a.begun)-n)
			continue
		}
		got := a.begun[n]
		also := make([]string, 0, len(got.Also))
		for _, name := range got.Also {
			also = append(also, name.Key)
		}
		if diff := cmp.Diff(append([]string{r.object}, r.also...), append([]string{got.Object.Key}, also...)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", r.method, r.target, diff)
		}
		// But for what came of it, the line before says what the line after does.
		recorded.Status, recorded.Latency, recorded.BytesIn, recorded.BytesOut, recorded.Served, recorded.Err = 0, 0, 0, 0, 0, ""
		recorded.ETag, recorded.Size = "", 0
		if diff := cmp.Diff(recorded, got); diff != "" {
			t.Errorf("%s %s (-recorded +begun):\n%s", r.method, r.target, diff)
		}
	}
}

func TestNoRecordNoAccess(t *testing.T) {
	a := &auditor{full: true}
	f := start(t, func(o *storage.Options) { o.Audit = a })
	f.origin.put("lake/wh/t/a", "data")
	for _, r := range audited() {
		r.keys = f.session(upstream)
		got := f.do(r.call)
		if got.status != http.StatusServiceUnavailable || r.method != "HEAD" && got.code() != "ServiceUnavailable" {
			t.Errorf("%s %s: %d %s, want 503 ServiceUnavailable", r.method, r.target, got.status, got.code())
		}
		if rec := f.access(); rec.Status != http.StatusServiceUnavailable || rec.Served != laketap.FromTap || rec.Err == "" {
			t.Errorf("%s %s recorded as %+v", r.method, r.target, rec)
		}
	}
	f.wantNothingSent(t)
	if _, there := f.origin.object("lake/wh/t/a"); !there {
		t.Error("the object was deleted unrecorded")
	}
	a.mu.Lock()
	a.full = false
	a.mu.Unlock()
	if got := f.do(call{method: "GET", target: "/lake/wh/t/a", keys: f.session(upstream)}); got.status != http.StatusOK {
		t.Errorf("when it can be written again: %d, want 200", got.status)
	}
}
