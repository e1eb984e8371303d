package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// tell runs a client command against a server.
func tell(t *testing.T, s *running, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&app{ctx: t.Context(), stdout: &out, stderr: &errs}, append(args, "--admin", s.at.Admin))
	return code, out.String(), errs.String()
}

func TestDenyAndAllow(t *testing.T) {
	s := start(t, quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1"))
	steps := []struct {
		args    string
		code    int
		out, is string // is: on standard error
	}{
		{"deny", 0, "", "nothing is denied"},
		{"deny --principal prod:alice --reason gone --by ops", 0, "denied principal prod:alice", ""},
		{"deny --table prod.ns.t", 0, "denied table prod.ns.t", ""},
		{"deny", 0, "prod:alice", ""},
		{"deny", 0, "gone", ""},
		{"allow --table prod.ns.t", 0, "allowed table prod.ns.t", ""},
		{"allow --table prod.ns.t", 1, "", "no such denial"},
		{"allow", 1, "", "name what to allow"},
		{"deny --reason x", 1, "", "--reason is of nothing"},
		{"deny --key a --table b", 2, "", "can't be used together"},
	}
	for _, tt := range steps {
		code, out, errs := tell(t, s, strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.is) {
			t.Errorf("laketap %s: got %d %q %q, want %d %q %q", tt.args, code, out, errs, tt.code, tt.out, tt.is)
		}
	}
}

// Without its memory a server serves, says so, and keeps who is denied.
func TestServeWithoutMemory(t *testing.T) {
	cfg := quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1")
	cfg.Memory.URL = "postgres://laketap:s3cr3t@127.0.0.1:1/laketap"
	log := &syncBuffer{}
	for range 2 { // the second is a restart
		s := startLogged(t, cfg, slog.New(slog.NewTextHandler(log, nil)))
		code, out, errs := tell(t, s, "deny", "--key", "LTAAAAB")
		if code != 0 || !strings.Contains(out, "denied key LTAAAAB") || !strings.Contains(errs, "on this node only") {
			t.Errorf("got %d %q %q", code, out, errs)
		}
		_, status := fetch(t, s.at.Admin+"/api/v1/status")
		if !strings.Contains(status, `"memory"`) {
			t.Errorf("status has no warning: %s", status)
		}
		if _, out, _ := tell(t, s, "deny"); !strings.Contains(out, "LTAAAAB") {
			t.Errorf("denials are %q", out)
		}
		if told := status + errs + log.String(); strings.Contains(told, "s3cr3t") {
			t.Error("the password is told")
		}
		if err := s.end(); err != nil {
			t.Fatal(err)
		}
	}
}
