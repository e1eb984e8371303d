package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

// command runs laketap in this process and returns what it wrote and its exit
// code.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&app{ctx: t.Context(), stdout: &out, stderr: &errs, environ: nil}, args)
	return out.String(), errs.String(), code
}

// Scripts tell a command line that makes no sense (2) from a failure (1).
func TestExitCodes(t *testing.T) {
	t.Chdir(t.TempDir()) // no laketap.yml, no data
	for _, c := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // in it; "" is nothing at all
	}{
		{"help", []string{"--help"}, 0, "Usage: laketap <command>", ""},
		{"help of a command", []string{"accesses", "--help"}, 0, "laketap accesses --follow", ""},
		{"version", []string{"version"}, 0, "laketap ", ""},
		{"no command", nil, 2, "", "expected one of"},
		{"unknown command", []string{"server"}, 2, "", "laketap --help lists commands"},
		{"unknown flag", []string{"serve", "--catalogs=x"}, 2, "", "unknown flag --catalogs"},
		{"unknown engine", []string{"connect", "excel"}, 2, "", "must be one of"},
		{"no engine", []string{"connect"}, 2, "", "expected \"<engine>\""},
		{"not a number", []string{"accesses", "-n", "many"}, 2, "", "--limit"},
		{"a failure", []string{"status", "--admin", "127.0.0.1:1"}, 1, "", "laketap: no server answers at 127.0.0.1:1"},
		{"nothing to serve", []string{"serve"}, 1, "", "laketap: catalogs: is empty"},
		{"a failure told already", []string{"doctor", "--mode", "turbo"}, 1, "fail  config", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := command(t, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for got, want := range map[string]string{"stdout\n" + stdout: c.stdout, "stderr\n" + stderr: c.stderr} {
				_, text, _ := strings.Cut(got, "\n")
				if !strings.Contains(text, want) || want == "" && text != "" {
					t.Errorf("want %q in %s", want, got)
				}
			}
		})
	}
}

// Several mistakes are told at once, below one another.
func TestProblemsAreIndented(t *testing.T) {
	t.Chdir(t.TempDir())
	_, stderr, code := command(t, "serve", "--catalog", "u:80", "--mode", "turbo")
	want := "laketap: catalogs[main].url: \"u:80\" is not an http or https URL, such as https://host:port\n" +
		"         mode: \"turbo\" is not known; use observe, advise, accelerate, maintain\n"
	if stderr != want || code != 1 {
		t.Errorf("exit code %d, got\n%swant\n%s", code, stderr, want)
	}
}

// The log has the level and the form that were asked for.
func TestNewLogger(t *testing.T) {
	for _, c := range []struct {
		level string
		want  []string
	}{
		{"debug", []string{"DEBUG", "INFO", "WARN", "ERROR"}},
		{"info", []string{"INFO", "WARN", "ERROR"}},
		{"warn", []string{"WARN", "ERROR"}},
		{"error", []string{"ERROR"}},
	} {
		var buf bytes.Buffer
		log := newLogger(&buf, LogConfig{Level: c.level, Format: "json"})
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			log.Log(t.Context(), level, "something happened", "tap", "catalog")
		}
		var got []string
		for line := range strings.Lines(buf.String()) {
			var entry struct{ Level, Msg, Tap string }
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Fatal(err)
			}
			if entry.Msg != "something happened" || entry.Tap != "catalog" {
				t.Errorf("got %+v", entry)
			}
			got = append(got, entry.Level)
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("level %s: got %v, want %v", c.level, got, c.want)
		}
	}
	var text bytes.Buffer
	newLogger(&text, LogConfig{Level: "info", Format: "text"}).Info("ready", "admin", "http://a")
	if !strings.HasSuffix(text.String(), "level=INFO msg=ready admin=http://a\n") {
		t.Errorf("as text: got %s", text.String())
	}
}
