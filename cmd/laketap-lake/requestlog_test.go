package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestAccessKey(t *testing.T) {
	tests := []struct{ name, authorization, query, want string }{
		{"header", "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00", "", "AKID"},
		{"query", "", "X-Amz-Algorithm=x&X-Amz-Credential=AKID%2F20260101%2Fus-east-1%2Fs3%2Faws4_request", "AKID"},
		{"none", "", "list-type=2", ""},
		{"bearer", "Bearer None", "", ""},
		{"broken query", "", "%zz=1", ""},
		{"cut header", "AWS4-HMAC-SHA256 Credential=", "", ""},
	}
	for _, tt := range tests {
		if got := accessKey(tt.authorization, tt.query); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestRedact(t *testing.T) {
	tests := [][2]string{
		{"", ""},
		{"list-type=2&prefix=a%20b", "list-type=2&prefix=a%20b"},
		{"x-id=GetObject&X-Amz-Signature=abc&X-Amz-Date=d", "x-id=GetObject&X-Amz-Signature=redacted&X-Amz-Date=d"},
		{"X-Amz-Security-Token=t%3D&X-Amz-Signature=", "X-Amz-Security-Token=redacted&X-Amz-Signature=redacted"},
	}
	for _, tt := range tests {
		if got := redact(tt[0]); got != tt[1] {
			t.Errorf("%q: got %q, want %q", tt[0], got, tt[1])
		}
	}
}

// FuzzRequestLine gives the log anything a client may send: no panic, and no
// signature gets through.
func FuzzRequestLine(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=AKID/x", "a=b")
	f.Add("Credential=/", "X-Amz-Credential=%2F&X-Amz-Signature=0123456789abcdef")
	f.Add("", "X-Amz-Signature=0123456789abcdef&X-Amz-Signature=0123456789abcdef")
	f.Fuzz(func(t *testing.T, authorization, query string) {
		if id := accessKey(authorization, query); strings.Contains(id, "/") {
			t.Errorf("key id %q", id)
		}
		for part := range strings.SplitSeq(redact(query), "&") {
			if value, ok := strings.CutPrefix(part, "X-Amz-Signature="); ok && value != "redacted" {
				t.Errorf("signature in %q", part)
			}
		}
	})
}

// The catalog's line is there before the client has the answer.
func TestWrap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	handler := log.wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		w.WriteHeader(http.StatusTeapot)
		if got := lines(t, path); len(got) != 1 {
			t.Errorf("%d lines before the body", len(got))
		}
		_, _ = w.Write([]byte("hello"))
	}))
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/a%1Fb?x=y", strings.NewReader("abc"))
	req.Header.Set("User-Agent", "me")
	handler.ServeHTTP(httptest.NewRecorder(), req)
	if err := log.close(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, path)[0]
	if got.Kind != "catalog" || got.Method != http.MethodPost || got.Path != "/v1/a%1Fb" || got.Query != "x=y" || got.Status != 418 || got.Bytes != 5 || got.Received != 3 || got.UserAgent != "me" {
		t.Errorf("line: %+v", got)
	}
}

func TestNoLog(t *testing.T) {
	log, err := openLog("")
	if err != nil {
		t.Fatal(err)
	}
	inner := http.NewServeMux()
	if got := log.wrap(inner); got != http.Handler(inner) {
		t.Error("a log of nothing wraps")
	}
	if err := log.close(); err != nil {
		t.Error(err)
	}
}
