// Package authz is a small catalog, and a store, that give each of two
// principals its own: its tokens, its tables, its credentials. It keeps a list
// of what it was asked for, and refuses to be mistaken: a token or a key is good
// for whom it was made out to and no longer than it says. It checks no
// signatures; other stores of these tests do.
package authz

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bucket is where all tables are.
const Bucket = "authz"

// A Server is the catalog and its store.
type Server struct {
	URI   string // of the catalog
	Store string // its endpoint

	mu      sync.Mutex
	n       int                 // makes names unique
	life    time.Duration       // of the keys made from now on
	rights  map[string][]string // principal → its tables
	tokens  map[string]string   // bearer or refresh token → principal
	keys    map[string]key      // by access key id
	objects map[string]string   // "table/path" → content
	denied  map[string]bool     // "principal/table" that the store refuses
	signs   bool                // instead of vending
	tags    []string            // what If-None-Match came to the catalog
}

// A key opens the tables of its principal until it ends.
type key struct {
	of, token string
	ends      time.Time
}

// Start starts a catalog where alice has the tables hers and shared, and bob
// has his and shared. Keys live for an hour.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		life:    time.Hour,
		rights:  map[string][]string{"alice": {"hers", "shared"}, "bob": {"his", "shared"}},
		tokens:  map[string]string{},
		keys:    map[string]key{},
		objects: map[string]string{},
		denied:  map[string]bool{},
	}
	catalog, store := httptest.NewServer(http.HandlerFunc(s.catalog)), httptest.NewServer(http.HandlerFunc(s.store))
	t.Cleanup(catalog.Close)
	t.Cleanup(store.Close)
	s.URI, s.Store = catalog.URL, store.URL
	return s
}

// Life sets how long keys live that are vended from now on.
func (s *Server) Life(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life = d
}

// Deny has the store refuse a principal what the catalog allows it.
func (s *Server) Deny(who, table string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied[who+"/"+table] = true
}

// Sign has the catalog sign its clients' requests from now on, as Nessie does
// unless told otherwise, and vend nothing.
func (s *Server) Sign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signs = true
}

// Put stores an object of a table.
func (s *Server) Put(table, path, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[table+"/"+path] = content
}

// Tags returns the If-None-Match headers that the catalog got, and forgets them.
func (s *Server) Tags() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	tags := s.tags
	s.tags = nil
	return tags
}

// next returns a name that was not there before. The caller holds the lock.
func (s *Server) next(kind string) string {
	s.n++
	return fmt.Sprintf("%s-%d", kind, s.n)
}

// store answers reads of objects.
func (s *Server) store(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	id, _, _ := strings.Cut(rest, "/")
	path, _ := strings.CutPrefix(r.URL.Path, "/"+Bucket+"/")
	table, _, _ := strings.Cut(path, "/")
	k, known := s.keys[id]
	content, stored := s.objects[path]
	switch {
	case !known || r.Header.Get("X-Amz-Security-Token") != k.token:
		fault(w, http.StatusForbidden, "InvalidAccessKeyId")
	case !time.Now().Before(k.ends):
		fault(w, http.StatusBadRequest, "ExpiredToken")
	case !slices.Contains(s.rights[k.of], table), s.denied[k.of+"/"+table]:
		fault(w, http.StatusForbidden, "AccessDenied")
	case !stored:
		fault(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	}
}

func fault(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>made for a test</Message></Error>", code)
}
