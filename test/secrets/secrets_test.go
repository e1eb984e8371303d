package secrets

import (
	"slices"
	"strings"
	"testing"
)

// Secrets are found however they are spelled, and words are not taken for any.
func TestIn(t *testing.T) {
	var s Set
	s.Add("word", "short")
	if got := s.In("log", []byte("a short line")); len(got) != 0 {
		t.Errorf("an empty set found %q", got)
	}
	s.Add("key", "s3cr/t+key=")
	for text, found := range map[string]bool{
		"nothing of it":               false,
		"s3cr/t+key":                  false, // not all of it
		`{"key":"s3cr/t+key="}`:       true,
		"?key=s3cr%2Ft%2Bkey%3D":      true,
		"/s3cr%2Ft+key=/":             true,
		"Basic czNjci90K2tleT0=":      true,
		strings.Repeat("s3cr/t+k", 9): false,
	} {
		want := []string{"log has the key in it"}
		if got := s.In("log", []byte(text)); found != slices.Equal(got, want) || !found && len(got) > 0 {
			t.Errorf("%q: found %q", text, got)
		}
	}
}

func TestSealed(t *testing.T) {
	for text, want := range map[string]int{
		strings.Repeat("Az-_9", 39):                        0,
		strings.Repeat("Az-_9", 40):                        1,
		`"` + strings.Repeat("Az-_9", 50) + `" and others`: 1,
		strings.Repeat("a sentence of many words ", 20):    0,
	} {
		if got := Sealed("log", []byte(text)); len(got) != want {
			t.Errorf("%.20q…: found %q", text, got)
		}
	}
}
