package main

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/laketap/laketap/admin"
)

// The cluster keys are read again on SIGHUP. A file that is damaged or gone is
// not taken, nor made anew, and status tells of it until it is mended.
func TestClusterKeyReload(t *testing.T) {
	reload := make(chan os.Signal)
	var log syncBuffer
	cfg := quiet(t, "http://127.0.0.1:9", "http://127.0.0.1:9")
	s := startWith(t, cfg, serveOptions{Log: slog.New(slog.NewTextHandler(&log, nil)), Reload: reload})
	file := filepath.Join(cfg.Data, "cluster.key")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	problem := func() string {
		var told admin.Status
		if err := (&adminFlags{Admin: s.at.Admin}).ask(t.Context(), "/api/v1/status", nil, &told); err != nil {
			t.Fatal(err)
		}
		for _, w := range told.Warnings {
			if w.Kind == "cluster_key" {
				return w.Reason
			}
		}
		return ""
	}
	for _, step := range []struct {
		name, text string // text "" removes the file
		problem    string
	}{
		{"damaged", "AAAA not base64\n", "line 1: key AAAA is not 32 bytes"},
		{"mended", string(old), ""},
		{"gone", "", "no such file"},
		{"added", string(old) + "BBBB " + strings.Repeat("A", 43) + "=\n", ""},
	} {
		err := os.WriteFile(file, []byte(step.text), 0o600)
		if step.text == "" {
			err = os.Remove(file)
		}
		if err != nil {
			t.Fatal(err)
		}
		reload <- syscall.SIGHUP
		within(t, func() error {
			if got := problem(); step.problem == "" && got != "" || !strings.Contains(got, step.problem) {
				return errors.New(step.name + ": status tells: " + got)
			}
			return nil
		})
		if _, err := os.Stat(file); (err == nil) != (step.text != "") {
			t.Errorf("%s: the file was made anew, or removed: %v", step.name, err)
		}
	}
	if n := strings.Count(log.String(), "took new cluster keys"); n != 1 {
		t.Errorf("the log tells %d times of new keys, want once:\n%s", n, log.String())
	}
	if resp, _ := get(t, http.DefaultClient, s.at.Admin+"/healthz"); resp.status != http.StatusOK {
		t.Errorf("healthz: %d", resp.status)
	}
}
