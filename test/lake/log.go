package lake

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// A Request is one that reached the lake, as its log has it.
type Request struct {
	Kind      string `json:"kind"` // s3 or catalog
	Method    string `json:"method"`
	Path      string `json:"path"` // as received, escaped
	Query     string `json:"query"`
	Range     string `json:"range"`
	UserAgent string `json:"user_agent"`
	AccessKey string `json:"access_key"`
	Status    int    `json:"status"`
	Bytes     int64  `json:"bytes"`
}

// Requests returns what reached the lake until now.
func (l *Lake) Requests(t testing.TB) []Request {
	t.Helper()
	text, err := os.ReadFile(l.log)
	if err != nil {
		t.Fatal(err)
	}
	var all []Request
	for line := range bytes.Lines(text) {
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("read lake's log: %v", err)
		}
		all = append(all, r)
	}
	return all
}

// Arrived returns how many requests have reached the lake's store until now.
func (l *Lake) Arrived(t testing.TB) int {
	t.Helper()
	n := 0
	for _, r := range l.Requests(t) {
		if r.Kind == "s3" {
			n++
		}
	}
	return n
}
