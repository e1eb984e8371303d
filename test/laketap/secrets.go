package laketap

import (
	"bytes"
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
)

// vendedID is how an access key id looks that the server vends.
var vendedID = regexp.MustCompile(`LT[A-Z2-7]{20}`)

// searchSecrets fails the test if anything that the server wrote has a secret
// in it: log, admin API, metrics, data directory, audit file.
func (s *Server) searchSecrets(t testing.TB, c Config) {
	t.Helper()
	for _, leak := range leaks(s.written(t, c), c) {
		t.Error(leak)
	}
}

// leaks tells which of the secrets of a configuration are in what was written.
func leaks(written map[string][]byte, c Config) (found []string) {
	secrets := map[string]string{} // value → what it is
	for _, o := range c.Storage.Origins {
		note(secrets, "secret of origin "+o.Name, o.SecretFile)
	}
	for _, k := range c.Keys {
		note(secrets, "secret of key "+k.ID, k.SecretFile)
	}
	for _, key := range clusterKeys(c) {
		secrets[base64.StdEncoding.EncodeToString(key)] = "cluster key"
		for _, text := range written {
			for _, id := range vendedID.FindAll(text, -1) {
				mac := hmac.New(sha256.New, key)
				mac.Write(append([]byte("laketap secret "), id...))
				secrets[base64.RawURLEncoding.EncodeToString(mac.Sum(nil))[:40]] = "secret of session " + string(id)
			}
		}
	}
	for place, text := range written {
		for secret, what := range secrets {
			if bytes.Contains(text, []byte(secret)) {
				found = append(found, place+" has the "+what+" in it")
			}
		}
	}
	return found
}

// written returns everything that the server wrote and tells, by place.
func (s *Server) written(t testing.TB, c Config) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"log": []byte(s.Process.Output(t))}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, path := range []string{"/api/v1/status", "/api/v1/accesses?limit=10000", "/api/v1/engines", "/api/v1/tables", "/api/v1/denials", "/metrics"} {
		if _, body, err := s.ask(ctx, path); err == nil { // it may have ended
			all[path] = body
		}
	}
	if file, ok := c.Audit["file"].(string); ok {
		all[file], _ = os.ReadFile(file) // it may not be there
	}
	_ = filepath.WalkDir(c.Data, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "cluster.key" {
			all[path], _ = os.ReadFile(path) // it may be gone
		}
		return nil
	})
	return all
}

// note adds the secret in a file, if there is one.
func note(secrets map[string]string, what, file string) {
	text, err := os.ReadFile(file)
	if secret := strings.TrimSpace(string(text)); err == nil && len(secret) >= 8 { // shorter ones are words
		secrets[secret] = what
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
