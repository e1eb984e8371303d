package main

import (
	"os/exec"
	"testing"
)

func TestSQLQuote(t *testing.T) {
	for in, want := range map[string]string{"": "''", "lake": "'lake'", "it's": "'it''s'", `a"b`: `'a"b'`, "''": "''''''"} {
		if got := sqlQuote(in); got != want {
			t.Errorf("sqlQuote(%q) = %s, want %s", in, got, want)
		}
	}
}

// The judge of shell quoting is a shell.
func TestShellQuote(t *testing.T) {
	for _, in := range []string{"", "lake", "s3://lake/wh", "a b", "it's", `a"b`, "$HOME", "`id`", `back\slash`, "a;b", "'", "new\nline", "*"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+shellQuote(in)).Output()
		if err != nil || string(out) != in {
			t.Errorf("a shell reads shellQuote(%q) = %s as %q, %v", in, shellQuote(in), out, err)
		}
	}
	if got := shellQuote("s3://lake/wh"); got != "s3://lake/wh" {
		t.Errorf("a plain name is quoted: %s", got)
	}
}
