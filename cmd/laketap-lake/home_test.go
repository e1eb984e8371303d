package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func openTestHome(t *testing.T, dir string) *home {
	t.Helper()
	h, err := openHome(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.close() })
	return h
}

func TestHome(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	h := openTestHome(t, dir)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info, err)
	}
	if _, err := openHome(t.Context(), dir, 0); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("opened twice: %v", err)
	}
	// Who waits gets it as soon as it is free.
	waiting := make(chan error)
	go func() {
		h, err := openHome(t.Context(), dir, time.Minute)
		if err == nil {
			err = h.close()
		}
		waiting <- err
	}()
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("waited for it: %v", err)
	}
	openTestHome(t, dir)
}

func TestKeysAreKept(t *testing.T) {
	h := openTestHome(t, t.TempDir())
	first, err := h.loadKeys()
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.loadKeys()
	if err != nil || first != second {
		t.Errorf("keys changed: %v", err)
	}
	form := regexp.MustCompile(`^[A-Z0-9]{20}$`)
	for _, k := range []key{first.Owner, first.Reader} {
		if !form.MatchString(k.ID) || len(k.Secret) != 40 || strings.ContainsAny(k.Secret, "+/=") {
			t.Errorf("key id %q with a secret of %d characters", k.ID, len(k.Secret))
		}
	}
	if other := newKey("LAKE"); other == newKey("LAKE") {
		t.Error("two keys are one")
	}
}

func TestPorts(t *testing.T) {
	h := openTestHome(t, t.TempDir())
	if got := h.lastPorts(); got != (ports{}) {
		t.Errorf("new folder: %+v", got)
	}
	want := ports{Catalog: 1, S3: 2}
	if err := h.savePorts(want); err != nil {
		t.Fatal(err)
	}
	if got := h.lastPorts(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := os.WriteFile(h.path(portsName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := h.lastPorts(); got != (ports{}) {
		t.Errorf("damaged file: %+v", got)
	}
}

func TestBind(t *testing.T) {
	held, err := bind(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	taken := portOf(held)
	if _, err := bind(t.Context(), taken, 0); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("wanted port that is taken: %v", err)
	}
	moved, err := bind(t.Context(), 0, taken)
	if err != nil {
		t.Fatalf("last port is taken: %v", err)
	}
	if portOf(moved) == taken {
		t.Errorf("two listeners on port %d", taken)
	}
	again := portOf(moved)
	if err := moved.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := pickPort(t.Context(), 0, again); err != nil || got != again {
		t.Errorf("last port is free: got %d, %v, want %d", got, err, again)
	}
}

func TestAnnounce(t *testing.T) {
	h := openTestHome(t, t.TempDir())
	if err := h.retract(); err != nil {
		t.Errorf("retract what is not there: %v", err)
	}
	if err := h.announce(lakeFile{Version: 1, PID: 7}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(h.path(lakeName))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"version", "pid", "catalog", "s3", "keys", "reader", "warehouse"} {
		if _, ok := got[field]; !ok {
			t.Errorf("lake.json has no %s", field)
		}
	}
	if err := h.retract(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() != lockName && entry.Name() != versionName {
			t.Errorf("left behind: %s", entry.Name())
		}
	}
}

func TestReplaceFails(t *testing.T) {
	if err := replace(filepath.Join(t.TempDir(), "none", "file"), nil); err == nil {
		t.Error("wrote into a folder that is not there")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "taken", "by"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replace(filepath.Join(dir, "taken"), []byte("x")); err == nil {
		t.Error("replaced a folder")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A folder is a lake's if it has a version, or nothing but what the first
// moments of a first start leave. Somebody else's is left as it was found.
func TestLooksForeign(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  bool
	}{
		{"empty", nil, false},
		{"a lake", []string{versionName, lockName, keysName, databaseName}, false},
		{"a lake with notes in it", []string{versionName, "NOTES"}, false},
		{"killed before its version", []string{lockName}, false},
		{"killed while it saved its version", []string{lockName, ".new-123"}, false},
		{"another program's", []string{"thesis.tex"}, true},
		{"another program's, with a lock", []string{lockName, "mailbox"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range tt.files {
				text := "x"
				if name == versionName {
					text = layout + "\n"
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := looksForeign(dir)
			if err != nil || got != tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
			h, err := openHome(t.Context(), dir, 0)
			if (err != nil) != tt.want {
				t.Fatalf("open: %v", err)
			}
			if err == nil {
				_ = h.close()
				return
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(tt.files) {
				t.Errorf("touched the folder: %v, %v", entries, err)
			}
		})
	}
	if _, err := looksForeign(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("looked into a folder that is not there")
	}
}
