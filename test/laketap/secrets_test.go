package laketap

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/laketap/laketap/test/secrets"
)

// The search finds each kind of secret, so that it can fail.
func TestLeaksAreFound(t *testing.T) {
	const id = "LTAAAABBBBCCCCDDDDEEEE"
	const tlsKey = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg"
	key := []byte("0123456789abcdef0123456789abcdef")
	spelled := base64.StdEncoding.EncodeToString(key)
	c := Config{Data: t.TempDir(), Secrets: &secrets.Set{}, TLS: map[string]any{"key": Secret(t, "-----BEGIN PRIVATE KEY-----\n"+tlsKey+"\n-----END PRIVATE KEY-----")}, Keys: []Key{{ID: "k", SecretFile: Secret(t, "static-secret")}}}
	c.Storage.Origins = []Origin{{Name: "o", SecretFile: Secret(t, "origin-secret")}}
	if err := os.WriteFile(filepath.Join(c.Data, "cluster.key"), []byte("# keys\nAAAA "+spelled+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Secrets.Add("token of a client", "a-clients-token")
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("laketap secret " + id))
	vended := base64.RawURLEncoding.EncodeToString(mac.Sum(nil))[:40]
	for text, want := range map[string]string{
		"":                        "",
		"session " + id:           "",
		id + " " + vended:         "log has the secret of session " + id + " in it",
		"x" + spelled:             "log has the cluster key in it",
		`{"s":"static-secret"}`:   "log has the secret of key k in it",
		"sent with origin-secret": "log has the secret of origin o in it",
		"key " + tlsKey:           "log has the key of the certificate in it",
		"Bearer a-clients-token":  "log has the token of a client in it",
	} {
		got := leaks(map[string][]byte{"log": []byte(text)}, c)
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}
