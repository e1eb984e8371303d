package s3diff

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func TestParse(t *testing.T) {
	got := parse([]byte("RUN  A_b\n\x1b[32mPASS\x1b[0m A_b\n\x1b[31mFAIL\x1b[0m C_d: expected 200: got 403\nPASS two words\nRAN: 2 FAIL: 1\n"))
	if want := map[string]Verdict{"A_b": "PASS", "C_d": "FAIL"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestExceptions(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"# why\niam: A\n\nhead: B\n": {"A": "iam", "B": "head"},
		"iam: A\niam: A\n":           nil,
		"A\n":                        nil,
	} {
		file := filepath.Join(t.TempDir(), "exceptions")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Exceptions(file)
		if (err != nil) != (want == nil) || !maps.Equal(got, want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
}
