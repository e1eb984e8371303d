package main

import (
	"strconv"
	"strings"
	"text/template"
)

// quoting spells a text in the languages that connect prints.
var quoting = template.FuncMap{"sql": sqlQuote, "shell": shellQuote, "quote": strconv.Quote}

// sqlQuote spells a string literal of standard SQL, where a quote is doubled.
func sqlQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// shellQuote spells one word of a POSIX shell. Plain names stay as they are,
// since people read them.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
