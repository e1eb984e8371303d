package admin_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/admin"
)

func TestReadyz(t *testing.T) {
	broken := errors.New("connection refused")
	for _, c := range []struct {
		name     string
		up       error
		store    error
		draining bool
		code     int
		want     admin.Readiness
	}{
		{name: "ready", code: 200, want: admin.Readiness{Ready: true, Reasons: []admin.Reason{}}},
		{name: "upstream away", up: broken, code: 503, want: admin.Readiness{
			Reasons: []admin.Reason{{Kind: "upstream", Name: "prod", Reason: "connection refused"}},
		}},
		{name: "both away", up: broken, store: broken, code: 503, want: admin.Readiness{
			Reasons: []admin.Reason{
				{Kind: "upstream", Name: "prod", Reason: "connection refused"},
				{Kind: "origin", Name: "aws", Reason: "connection refused"},
			},
		}},
		{name: "draining", up: broken, draining: true, code: 503, want: admin.Readiness{
			Reasons: []admin.Reason{{Kind: "server", Reason: "is shutting down"}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := deps()
			d.Probes[0].Check = func(context.Context) error { return c.up }
			d.Probes[1].Check = func(context.Context) error { return c.store }
			d.Draining = func() bool { return c.draining }
			c.want.Warnings = d.Warnings() // which make nothing unready
			h := admin.New(d)
			w := get(t, h, "/readyz")
			if w.Code != c.code {
				t.Errorf("got %d, want %d", w.Code, c.code)
			}
			if diff := cmp.Diff(c.want, decode[admin.Readiness](t, w)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if w := get(t, h, "/healthz"); w.Code != 200 {
				t.Errorf("healthz: got %d, want 200: the process lives", w.Code)
			}
		})
	}
}

// However often it is asked, what lies behind is probed once in five seconds.
func TestReadyzCannotHammer(t *testing.T) {
	now := at
	var probed atomic.Int64
	d, _ := deps()
	d.Now = func() time.Time { return now }
	d.Probes = []admin.Probe{{Kind: "origin", Name: "aws", Check: func(context.Context) error { probed.Add(1); return nil }}}
	h := admin.New(d)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://localhost/readyz", nil)
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	wg.Wait()
	get(t, h, "/api/v1/status")
	if got := probed.Load(); got != 1 {
		t.Errorf("probed %d times, want once", got)
	}
	now = now.Add(6 * time.Second)
	get(t, h, "/readyz")
	if got := probed.Load(); got != 2 {
		t.Errorf("probed %d times after a while, want twice", got)
	}
}

// A probe that hangs is given up, and a client that leaves does not spoil the
// result for the others.
func TestProbesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := deps()
		d.Probes = []admin.Probe{{Kind: "origin", Name: "aws", Check: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}}
		h := admin.New(d)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/readyz", nil))
		want := []admin.Reason{{Kind: "origin", Name: "aws", Reason: context.DeadlineExceeded.Error()}}
		if diff := cmp.Diff(want, decode[admin.Readiness](t, w).Reasons); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestStatus(t *testing.T) {
	d, _ := deps()
	got := decode[admin.Status](t, get(t, admin.New(d), "/api/v1/status"))
	want := status()
	want.Reasons = []admin.Reason{{Kind: "upstream", Name: "prod", Reason: "connection refused"}}
	want.Warnings = d.Warnings()
	want.Upstreams[0].Reason = "connection refused"
	want.Origins[0].Ready = true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
