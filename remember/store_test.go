package remember_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/remember"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var since = time.Date(2026, 12, 1, 12, 0, 0, 123000, time.UTC)

func TestSQLite(t *testing.T) {
	o := remember.Options{File: filepath.Join(t.TempDir(), "new folder #1", "memory.db")}
	conform(t, o)
	info, err := os.Stat(o.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("memory has mode %v (%v), want 0600", info.Mode(), err)
	}
}

func TestPostgres(t *testing.T) {
	p := newPostgres(t)
	p.start(t)
	conform(t, p.options())
}

// conform is what any database has to do.
func conform(t *testing.T, o remember.Options) {
	t.Helper()
	ctx := t.Context()
	stores := openTogether(t, o)
	s := stores[0]
	if got, err := s.Denials(ctx); err != nil || len(got) != 0 {
		t.Fatalf("a new memory has denials %v (%v)", got, err)
	}
	want := []laketap.Denial{
		{Kind: laketap.DenyKey, Subject: "LTAAAAB", Since: since},
		{Kind: laketap.DenyPrincipal, Subject: `prod:o'brien"; --`, Since: since, By: "ops", Reason: "left; ünïcode"},
		{Kind: laketap.DenyTable, Subject: "prod.ns.t", Since: since.Add(time.Hour), By: "ops"},
	}
	for _, d := range []laketap.Denial{want[2], want[0], {Kind: want[1].Kind, Subject: want[1].Subject, Since: since}, want[1]} {
		if err := s.Deny(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	for i, other := range stores {
		got, err := other.Denials(ctx)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("store %d reads (%v) (-want +got):\n%s", i, err, diff)
		}
	}
	for range 2 { // the second time there is nothing to lift
		if err := stores[1].Allow(ctx, want[1].Kind, want[1].Subject); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Allow(ctx, laketap.DenyTable, "LTAAAAB"); err != nil { // of another kind
		t.Fatal(err)
	}
	again, err := remember.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	got, err := again.Denials(ctx)
	if diff := cmp.Diff([]laketap.Denial{want[0], want[2]}, got); err != nil || diff != "" {
		t.Errorf("opened again it has (%v) (-want +got):\n%s", err, diff)
	}
}

// openTogether opens a memory that is not there yet several times at once, as
// nodes that start together do.
func openTogether(t *testing.T, o remember.Options) []*remember.Store {
	t.Helper()
	stores, errs := make([]*remember.Store, 3), make([]error, 3)
	var wg sync.WaitGroup
	for i := range stores {
		wg.Go(func() { stores[i], errs[i] = remember.Open(t.Context(), o) })
	}
	wg.Wait()
	for i, s := range stores {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		t.Cleanup(func() { _ = s.Close() })
	}
	return stores
}

// The password is in nothing that could be logged.
func TestPasswordIsNotTold(t *testing.T) {
	for _, text := range []string{
		"postgres://u:s3cr3t@127.0.0.1:1/db?connect_timeout=1",
		"postgres://u:s3cr3t@127.0.0.1:99999/db",
		"postgres://u:s3cr3t%zz@h/db", "host=h password=s3cr3t", "mysql://u:s3cr3t@h/db",
	} {
		o := remember.Options{URL: text}
		_, err := remember.Open(t.Context(), o)
		if err == nil {
			t.Fatalf("%s opened", text)
		}
		if told := fmt.Sprint(err, o.Check(), o.Name()); strings.Contains(told, "s3cr3t") {
			t.Errorf("%s is told as %s", text, told)
		}
	}
}

// A file that is no database is told and not replaced.
func TestDamagedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.db")
	text := strings.Repeat("no database ", 500)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := remember.Open(t.Context(), remember.Options{File: file}); err == nil {
		t.Error("it opened")
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("it is changed (%v)", err)
	}
}
