package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/laketap/laketap/internal/sigv4"
)

// signedGet asks the storage tap for an object with a static key.
func signedGet(t *testing.T, url, id, secret string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if err := sigv4.Sign(req, sigv4.Credentials{AccessKeyID: id, SecretAccessKey: secret}, sigv4.Payload{Mode: sigv4.Unsigned}, "us-east-1", time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// auditing is a configuration with a static key and a record.
func auditing(t *testing.T, store, file string, required bool) *Config {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("very-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := quiet(t, store, store)
	cfg.Storage.Origins[0].AccessKeyID, cfg.Storage.Origins[0].SecretFile = "origin", secret
	cfg.Keys = []KeyConfig{{ID: "app", SecretFile: secret, Principal: "bob", Scope: "all"}}
	cfg.Audit = AuditConfig{File: file, Required: required}
	return cfg
}

func TestAuditFile(t *testing.T) {
	store := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer store.Close()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	reload := make(chan os.Signal)
	s := startWith(t, auditing(t, store.URL, file, true), serveOptions{Log: slog.New(slog.DiscardHandler), Reload: reload})
	if got := signedGet(t, s.at.Storage+"/lake/first", "app", "very-secret"); got != http.StatusOK {
		t.Fatalf("status %d, want 200", got)
	}
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	reload <- syscall.SIGHUP
	within(t, func() error { _, err := os.Stat(file); return err })
	signedGet(t, s.at.Storage+"/lake/second", "app", "very-secret")
	if err := s.end(); err != nil {
		t.Error(err)
	}
	for name, key := range map[string]string{file + ".1": "first", file: "second"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"event":"intent"`, `"event":"access"`, `"principal":"bob"`, `"session":"app"`, `"key":"` + key + `"`} {
			// The line after the first answer may be written before or after the rename.
			if !strings.Contains(string(text), want) && want != `"event":"access"` {
				t.Errorf("%s has no %s:\n%s", name, want, text)
			}
		}
		if strings.Contains(string(text), "very-secret") || strings.Contains(string(text), "Signature") {
			t.Errorf("%s holds a secret:\n%s", name, text)
		}
	}
}

func TestAuditOnAFullDisk(t *testing.T) {
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	defer store.Close()
	for _, c := range []struct {
		required bool
		status   int
		ready    int
	}{{true, http.StatusServiceUnavailable, http.StatusServiceUnavailable}, {false, http.StatusOK, http.StatusOK}} {
		s := start(t, auditing(t, store.URL, "/dev/full", c.required))
		if got := signedGet(t, s.at.Storage+"/lake/x", "app", "very-secret"); got != c.status {
			t.Errorf("required %v: status %d, want %d", c.required, got, c.status)
		}
		within(t, func() error {
			status, body := fetch(t, s.at.Admin+"/readyz")
			if status != c.ready || !strings.Contains(body, `"kind":"audit"`) || !strings.Contains(body, "no space left on device") {
				return fmt.Errorf("required %v: readyz answers %d, want %d: %s", c.required, status, c.ready, body)
			}
			return nil
		})
		if err := s.end(); err != nil {
			t.Error(err)
		}
	}
}

func TestAuditFileMustOpen(t *testing.T) {
	store := httptest.NewServer(http.NotFoundHandler())
	defer store.Close()
	missing := filepath.Join(t.TempDir(), "none", "audit.jsonl")
	err := serve(t.Context(), auditing(t, store.URL, missing, true), serveOptions{Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "audit.file: open "+missing) || !strings.Contains(err.Error(), "give this user the right") {
		t.Errorf("error %v, want one that names setting, file and fix", err)
	}
	// Engines come first where nobody said otherwise.
	s := start(t, auditing(t, store.URL, missing, false))
	if err := s.end(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for file, want := range map[string]string{missing: `^fail +audit +`, "/dev/full": `^ok +audit +`, filepath.Join(t.TempDir(), "new"): `^ok +audit +`} {
		out, _ := examine(t, []string{"LAKETAP_AUDIT_FILE=" + file}, "--catalog", store.URL)
		says(t, out, want)
	}
}
