package remember_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/remember"
)

var table = laketap.TableID{Catalog: "prod", UUID: "u-1"}

// denied asks a list about somebody who reads a table.
func denied(d *remember.DenyList) bool { return d.Denied("prod:alice", "LTAAAAB", table, "ns.t") }

// nodeOf is a node of its own on a memory.
func nodeOf(t *testing.T, memory remember.Options) *remember.DenyList {
	t.Helper()
	d := remember.OpenDenyList(remember.DenyOptions{
		Memory: memory, File: filepath.Join(t.TempDir(), "denials.json"), Every: 10 * time.Millisecond,
	})
	run(t, d)
	return d
}

// run runs a list until the test ends.
func run(t *testing.T, d *remember.DenyList) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// eventually waits for something that another goroutine brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func TestWhatIsDenied(t *testing.T) {
	tests := []struct {
		kind, subject string
		want          bool
	}{
		{laketap.DenyPrincipal, "prod:alice", true},
		{laketap.DenyPrincipal, "prod:alic", false},
		{laketap.DenyPrincipal, "LTAAAAB", false},
		{laketap.DenyKey, "LTAAAAB", true},
		{laketap.DenyKey, "LTAAAAC", false},
		{laketap.DenyTable, "u-1", true},
		{laketap.DenyTable, "prod.ns.t", true},
		{laketap.DenyTable, "ns.t", false},
		{laketap.DenyTable, "prod.ns.t2", false},
	}
	for _, tt := range tests {
		d := nodeOf(t, remember.Options{File: filepath.Join(t.TempDir(), "memory.db")})
		if err := d.Deny(t.Context(), laketap.Denial{Kind: tt.kind, Subject: tt.subject, Since: since}); err != nil {
			t.Fatal(err)
		}
		if got := denied(d); got != tt.want {
			t.Errorf("with %s %s denied: got %v, want %v", tt.kind, tt.subject, got, tt.want)
		}
		if !d.Allow(t.Context(), tt.kind, tt.subject) || denied(d) {
			t.Errorf("%s %s is not lifted", tt.kind, tt.subject)
		}
		if d.Allow(t.Context(), tt.kind, tt.subject) {
			t.Error("lifted twice")
		}
	}
	// What a request does not have is no subject.
	d := nodeOf(t, remember.Options{File: filepath.Join(t.TempDir(), "memory.db")})
	for _, bad := range []laketap.Denial{{Kind: laketap.DenyKey}, {Kind: "x", Subject: "y"}, {Kind: laketap.DenyKey, Subject: "a\nb"}, {Kind: laketap.DenyKey, Subject: "\xff"}} {
		if err := d.Deny(t.Context(), bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// A second node hears of it through either database.
func TestOtherNodesHear(t *testing.T) {
	p := newPostgres(t)
	p.start(t)
	for name, memory := range map[string]remember.Options{
		"sqlite": {File: filepath.Join(t.TempDir(), "memory.db")}, "postgres": p.options(),
	} {
		a, b := nodeOf(t, memory), nodeOf(t, memory)
		if err := a.Deny(t.Context(), laketap.Denial{Kind: laketap.DenyKey, Subject: "LTAAAAB", Since: since, Reason: "lost laptop"}); err != nil {
			t.Fatal(err)
		}
		if !denied(a) {
			t.Errorf("%s: does not hold where it was said", name)
		}
		eventually(t, name+": the other node hears", func() bool { return denied(b) })
		if got := b.Denials(); len(got) != 1 || got[0].Reason != "lost laptop" {
			t.Errorf("%s: the other node lists %+v", name, got)
		}
		b.Allow(t.Context(), laketap.DenyKey, "LTAAAAB")
		eventually(t, name+": lifted everywhere", func() bool { return !denied(a) })
	}
}

// Without the memory a denial holds here, survives a restart, and reaches the
// memory when that is back.
func TestMemoryHeals(t *testing.T) {
	p := newPostgres(t)
	file := filepath.Join(t.TempDir(), "denials.json")
	o := remember.DenyOptions{Memory: p.options(), File: file, Every: 10 * time.Millisecond}
	d := remember.OpenDenyList(o)
	if err := d.Deny(t.Context(), laketap.Denial{Kind: laketap.DenyKey, Subject: "LTAAAAB", Since: since}); err != nil {
		t.Fatal(err)
	}
	if !denied(d) || d.Problem() == "" {
		t.Errorf("without memory: denied %v, problem %q", denied(d), d.Problem())
	}
	d = remember.OpenDenyList(o) // a restart
	if !denied(d) {
		t.Error("forgotten at a restart")
	}
	run(t, d)
	p.start(t)
	eventually(t, "the memory is well", func() bool { return d.Problem() == "" })
	other := nodeOf(t, p.options())
	eventually(t, "the other node hears", func() bool { return denied(other) })
	p.stop(t)
	eventually(t, "trouble is told", func() bool { return d.Problem() != "" })
	if !denied(d) {
		t.Error("forgotten when the memory went")
	}
	p.start(t)
	eventually(t, "healed", func() bool { return d.Problem() == "" && other.Problem() == "" })
	d.Allow(t.Context(), laketap.DenyKey, "LTAAAAB")
	eventually(t, "lifted", func() bool { return !denied(other) })
}

func TestDamagedDenyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "denials.json")
	if err := os.WriteFile(file, []byte(`{"denials": [{"kind":`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := remember.OpenDenyList(remember.DenyOptions{Memory: remember.Options{File: filepath.Join(t.TempDir(), "memory.db")}, File: file})
	if d.Problem() == "" {
		t.Error("nobody is told")
	}
	d.Sync(t.Context())
	if got := d.Problem(); got != "" {
		t.Errorf("the memory does not heal it: %s", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Run(ended); err != nil {
		t.Error(err)
	}
}
