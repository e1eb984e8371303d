package main

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestClusterKeyIsMadeOnce(t *testing.T) {
	cfg := NewConfig()
	cfg.Data = filepath.Join(t.TempDir(), "new", "data")
	first, made, err := openKeyring(cfg)
	if err != nil || !made {
		t.Fatalf("made %v, %v", made, err)
	}
	again, made, err := openKeyring(cfg)
	if err != nil || made {
		t.Fatalf("made %v again, %v", made, err)
	}
	if !bytes.Equal(first.Text(), again.Text()) {
		t.Error("the second start has another key")
	}
	entries, err := os.ReadDir(cfg.Data)
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %v, %v, want the key alone", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
}

func TestReadSecret(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bytes.Repeat([]byte("s"), size), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ name, path, want string }{
		{"private", write("private", 9, 0o600), ""},
		{"read-only for all, as orchestrators mount it", write("mounted", 9, 0o444), ""},
		{"readable by others", write("open", 9, 0o644), "can be read by others (mode 0644); run: chmod 600"},
		{"readable by the group", write("group", 9, 0o640), "can be read by others"},
		{"large", write("large", maxSecret+1, 0o600), "is no file of keys"},
		{"a directory", dir, "is no file of keys"},
		{"missing", filepath.Join(dir, "none"), "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readSecret("keys[a].secret_file", c.path)
			switch {
			case c.want == "" && (err != nil || got != "sssssssss"):
				t.Errorf("got %q, %v", got, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "keys[a].secret_file: ")):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestEveryEngineHasItsLines(t *testing.T) {
	files, err := fs.Glob(connectFiles, "connect/*.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(files))
	for _, f := range files {
		got = append(got, strings.TrimSuffix(filepath.Base(f), ".tmpl"))
	}
	want := strings.Split(engines, ",")
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("engines and files (-engines +files):\n%s", diff)
	}
}

func TestVersionOf(t *testing.T) {
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "devel"},
		{built("v1.2.3"), "v1.2.3"},
		{built("(devel)"), "devel"},
		{built("", commit), "devel-0123456789ab"},
		{built("(devel)", commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "devel-0123456789ab+"},
	} {
		if got := versionOf(c.info); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1<<20 - 1: "1.0 MiB", 1<<30 - 1: "1.0 GiB", 1023 << 10: "1023.0 KiB", 5 << 20: "5.0 MiB", 3 << 40: "3.0 TiB", 1 << 60: "1024.0 PiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("bytesText(%d) = %q, want %q", n, got, want)
		}
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{0: "now", 90 * time.Second: "1m30s ago", 72 * time.Hour: "3 days ago"} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("ago(%v) = %q, want %q", d, got, want)
		}
	}
	if got := ago(now, time.Time{}); got != "never" {
		t.Errorf("got %q, want never", got)
	}
}

func TestLines(t *testing.T) {
	var logged bytes.Buffer
	w := &lines{log: slog.New(slog.NewTextHandler(&logged, nil))}
	if got := w.last(); got != "it said nothing" {
		t.Errorf("got %q", got)
	}
	for _, part := range []string{"a\nb", "b\n", "c\nd\ne\nf\n", "unfinished"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("Write: %d, %v", n, err)
		}
	}
	if got, want := w.last(), "bb\nc\nd\ne\nf\nunfinished"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !strings.Contains(logged.String(), "line=bb") {
		t.Errorf("logged %s", logged.String())
	}
	// A child that never ends a line does not fill our memory.
	if _, err := w.Write(bytes.Repeat([]byte("x"), 3*maxSecret)); err != nil {
		t.Fatal(err)
	}
	if len(w.rest) > maxSecret {
		t.Errorf("keeps %d bytes of an unfinished line", len(w.rest))
	}
}

func TestAdminBase(t *testing.T) {
	for flag, want := range map[string]string{
		"127.0.0.1:9292": "http://127.0.0.1:9292", ":9292": "http://127.0.0.1:9292", "https://a.example.com/": "https://a.example.com",
	} {
		if got := (&adminFlags{Admin: flag}).base(); got != want {
			t.Errorf("%s: got %q, want %q", flag, got, want)
		}
	}
}

func TestListenOnRefusals(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1:0":     "is no address of this machine",
		"no.such.invalid": "storage.listen: ",
	} {
		l, err := listenOn(context.Background(), "storage.listen", address)
		if err == nil {
			_ = l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
	}
}

func TestEscapePrefix(t *testing.T) {
	for prefix, want := range map[string]string{"main": "main", "a/b": "a/b", "main|wh": "main%7Cwh", "a b": "a%20b"} {
		if got := escapePrefix(prefix); got != want {
			t.Errorf("%q: got %q, want %q", prefix, got, want)
		}
	}
}

// Of two nodes that start on one data directory at one time, both end up with
// the key of one.
func TestClusterKeyIsMadeByOne(t *testing.T) {
	cfg := NewConfig()
	cfg.Data = t.TempDir()
	texts := make([]string, 8)
	var makers atomic.Int32
	var wg sync.WaitGroup
	for i := range texts {
		wg.Go(func() {
			ring, made, err := openKeyring(cfg)
			if err != nil {
				t.Error(err)
				return
			}
			if made {
				makers.Add(1)
			}
			texts[i] = string(ring.Text())
		})
	}
	wg.Wait()
	for _, text := range texts {
		if text != texts[0] {
			t.Fatal("nodes have different keys")
		}
	}
	// Each says in its log whether it made the key; only one may.
	if n := makers.Load(); n != 1 {
		t.Errorf("%d nodes say that they made the key, want 1", n)
	}
}
