// Package secrets searches what programs wrote for what they must keep to
// themselves.
package secrets

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"sync"
)

// least is the length below which a secret of a test is taken for a word.
const least = 8

// sealed is how a session token looks that Laketap vends, and nothing else that
// is meant to be read.
var sealed = regexp.MustCompile(`[A-Za-z0-9_-]{200,}`)

// A Set is secrets that are in use, each with what it is. It is safe for
// concurrent use; the zero value is empty.
type Set struct {
	mu     sync.Mutex
	values map[string]string // what it is, by value
}

// Add adds a secret; one that could be a word is left out.
func (s *Set) Add(what, value string) {
	if len(value) < least {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]string{}
	}
	s.values[value] = what
}

// In tells which secrets are in a text, as they are or as URLs, JSON or basic
// authentication spell them.
func (s *Set) In(place string, text []byte) (found []string) {
	s.mu.Lock()
	values := maps.Clone(s.values)
	s.mu.Unlock()
	for _, value := range slices.Sorted(maps.Keys(values)) {
		for _, spelled := range []string{value, url.QueryEscape(value), url.PathEscape(value), base64.StdEncoding.EncodeToString([]byte(value))} {
			if bytes.Contains(text, []byte(spelled)) {
				found = append(found, place+" has the "+values[value]+" in it")
				break
			}
		}
	}
	return found
}

// Sealed tells of texts that look like a session token.
func Sealed(place string, text []byte) (found []string) {
	for _, token := range sealed.FindAll(text, -1) {
		found = append(found, fmt.Sprintf("%s has what looks like a session token in it: %.20s…", place, token))
	}
	return found
}
