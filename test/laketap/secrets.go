package laketap

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/test/secrets"
)

// vendedID is how an access key id looks that the server vends.
var vendedID = regexp.MustCompile(`LT[A-Z2-7]{20}`)

// Know adds a secret that nothing that the server writes may have in it: the
// token of a client, or what a catalog vended.
func (s *Server) Know(what, value string) { s.config.Secrets.Add(what, value) }

// searchSecrets fails the test if anything that the server wrote has a secret
// in it: log, admin API, metrics, data directory, audit file, what its commands
// printed.
func (s *Server) searchSecrets(t testing.TB) {
	t.Helper()
	for _, leak := range leaks(s.written(t), s.config) {
		t.Error(leak)
	}
}

// leaks tells which of the secrets of a configuration are in what was written.
func leaks(written map[string][]byte, c Config) (found []string) {
	for _, o := range c.Storage.Origins {
		note(c.Secrets, "secret of origin "+o.Name, o.SecretFile)
	}
	for _, k := range c.Keys {
		note(c.Secrets, "secret of key "+k.ID, k.SecretFile)
	}
	if file, ok := c.TLS["key"].(string); ok {
		noteLines(c.Secrets, "key of the certificate", file)
	}
	for _, key := range clusterKeys(c) {
		c.Secrets.Add("cluster key", base64.StdEncoding.EncodeToString(key))
		for _, text := range written {
			for _, id := range vendedID.FindAll(text, -1) {
				mac := hmac.New(sha256.New, key)
				mac.Write(append([]byte("laketap secret "), id...))
				c.Secrets.Add("secret of session "+string(id), base64.RawURLEncoding.EncodeToString(mac.Sum(nil))[:40])
			}
		}
	}
	for place, text := range written {
		found = append(found, c.Secrets.In(place, text)...)
		if !strings.HasPrefix(place, filepath.Join(c.Data, "cache")) { // other people's bytes
			found = append(found, secrets.Sealed(place, text)...)
		}
	}
	return found
}

// written returns everything that the server wrote and tells, by place.
func (s *Server) written(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"log": []byte(s.Process.Output(t)), "log of before": s.before, "commands": s.said}
	for _, path := range append(s.paths(), "/metrics", "/healthz", "/readyz") {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		if _, body, err := s.ask(ctx, path); err == nil { // it may have ended
			all[path] = body
		}
		cancel()
	}
	if file, ok := s.config.Audit["file"].(string); ok {
		rotated, _ := filepath.Glob(file + "*")
		for _, file := range rotated {
			all[file], _ = os.ReadFile(file) // it may be gone
		}
	}
	_ = filepath.WalkDir(s.config.Data, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "cluster.key" {
			all[path], _ = os.ReadFile(path) // it may be gone
		}
		return nil
	})
	return all
}

// described is a path of the admin API that is read, as its description has it.
var described = regexp.MustCompile(`(?m)^  (/[^ {}]+):\n    get:`)

// paths returns what there is to read of the admin API.
func (s *Server) paths() (all []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, text, err := s.ask(ctx, "/api/v1/openapi.yaml")
	if err != nil {
		return nil // it has ended
	}
	for _, found := range described.FindAllSubmatch(text, -1) {
		if path := string(found[1]); !strings.HasSuffix(path, "/events") { // which never end
			all = append(all, path)
		}
	}
	return append(all, "/api/v1/accesses?limit=10000")
}

// note adds the secret in a file, if there is one.
func note(set *secrets.Set, what, file string) {
	if text, err := os.ReadFile(file); err == nil {
		set.Add(what, strings.TrimSpace(string(text)))
	}
}

// noteLines adds each line of a file that is long enough to be known again.
func noteLines(set *secrets.Set, what, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); len(line) >= 40 && !strings.HasPrefix(line, "-") {
			set.Add(what, line)
		}
	}
}

// clusterKeys reads the keys that the server seals with.
func clusterKeys(c Config) (keys [][]byte) {
	file := filepath.Join(c.Data, "cluster.key")
	if named, ok := c.Cluster["key_file"].(string); ok {
		file = named
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil // a server that did not start
	}
	for line := range strings.Lines(string(text)) {
		if _, encoded, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(line, "#") {
			if key, err := base64.StdEncoding.DecodeString(encoded); err == nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
