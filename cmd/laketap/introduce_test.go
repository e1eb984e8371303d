package main

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// place writes a file that only its owner may read and returns its name.
func place(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadCA(t *testing.T) {
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	good := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	for _, c := range []struct{ name, file, want string }{
		{"one", place(t, "ca.pem", good), ""},
		{"a chain with text around", place(t, "ca.pem", "# ours\n"+good+"\n"+good), ""},
		{"a key for a certificate", place(t, "ca.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), "holds no PEM certificate"},
		{"empty", place(t, "ca.pem", ""), "holds no PEM certificate"},
		{"missing", filepath.Join(t.TempDir(), "ca.pem"), "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			roots, err := readCA("catalogs[prod]", c.file)
			switch {
			case c.want == "" && (err != nil || roots == nil):
				t.Errorf("got %v, %v", roots, err)
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "catalogs[prod].ca: ") || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q of the setting", err, c.want)
			}
		})
	}
	if roots, err := readCA("catalogs[prod]", ""); roots != nil || err != nil {
		t.Errorf("without a file: got %v, %v; want the system's roots", roots, err)
	}
}

func TestUpstreamsOf(t *testing.T) {
	got, err := upstreamsOf([]UpstreamConfig{{Name: "a", URL: "https://a.example.com/iceberg"}, {Name: "b", URL: "http://b"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Name != "a" || got[0].URL.Path != "/iceberg" || got[0].RootCAs != nil || got[1].URL.Host != "b" {
		t.Errorf("got %+v", got)
	}
	for want, u := range map[string]UpstreamConfig{
		"catalogs[a].url: ": {Name: "a", URL: "http://a:b"},
		"catalogs[a].ca: ":  {Name: "a", URL: "http://a", CA: "none.pem"},
		"catalogs[0].ca: ":  {URL: "http://a", CA: "none.pem"},
	} {
		if _, err := upstreamsOf([]UpstreamConfig{u}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s…", err, want)
		}
	}
}

// An origin's secret comes from its file, trimmed as editors leave it, and is
// never part of an error.
func TestS3Origins(t *testing.T) {
	got, err := s3Origins([]OriginConfig{
		{Name: "aws", Region: "eu-west-1"},
		{Name: "m", Endpoint: "http://m:9000", PathStyle: true, CA: "ca.pem", AccessKeyID: "id", SecretFile: place(t, "secret", "  s3cr3t\n")},
	}, nil)
	if err != nil || len(got) != 2 {
		t.Fatalf("got %v, %v", got, err)
	}
	if o := got[0]; o.Name != "aws" || o.Region != "eu-west-1" || o.AccessKeyID != "" || o.SecretAccessKey != "" {
		t.Errorf("got %+v", o)
	}
	if o := got[1]; o.Endpoint != "http://m:9000" || !o.PathStyle || o.CA != "ca.pem" || o.AccessKeyID != "id" || o.SecretAccessKey != "s3cr3t" {
		t.Errorf("got origin %s of %s", o.Name, o.Endpoint)
	}
	open := place(t, "open", "top secret")
	if err := os.Chmod(open, 0o644); err != nil { //nolint:gosec // what is refused
		t.Fatal(err)
	}
	_, err = s3Origins([]OriginConfig{{Name: "m", AccessKeyID: "id", SecretFile: open}}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "storage.origins[m].secret_file: ") || strings.Contains(err.Error(), "top secret") {
		t.Errorf("got %v", err)
	}
}

func TestStaticKeys(t *testing.T) {
	origins := []tap.Origin{{Name: "m", Buckets: []string{"lake"}}, {Name: "aws"}}
	secret := place(t, "secret", "s\n")
	got, err := staticKeys([]KeyConfig{
		{ID: "reader", SecretFile: secret, Principal: "alice", Prefixes: []string{"s3://lake/a", "s3a://other/b/"}},
		{ID: "admin", SecretFile: secret, Principal: "ops", Scope: "all", Write: true},
	}, origins)
	if err != nil {
		t.Fatal(err)
	}
	want := []storage.StaticKey{
		{ID: "reader", Secret: "s", Principal: "alice", ReadOnly: true, Prefixes: []tap.Location{{Origin: "m", Bucket: "lake", Path: "a"}, {Origin: "aws", Bucket: "other", Path: "b"}}},
		{ID: "admin", Secret: "s", Principal: "ops", All: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// All that is wrong with static keys is told at once, each with its key.
func TestStaticKeysRefused(t *testing.T) {
	origins := []tap.Origin{{Name: "m", Buckets: []string{"lake"}}}
	secret := place(t, "secret", "s")
	_, err := staticKeys([]KeyConfig{
		{ID: "a", SecretFile: place(t, "empty", "\n"), Scope: "all"},
		{ID: "b", SecretFile: "none.secret", Scope: "all"},
		{ID: "c", SecretFile: secret, Prefixes: []string{"s3://lake/x", "s3://other/x"}},
	}, origins)
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, want := range []string{
		"keys[a].secret_file: ", "keys[b].secret_file: stat none.secret", "keys[c].prefixes: the bucket of s3://other/x belongs to no origin",
	} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("got %q, want %q in line %d", lines, want, i+1)
		}
	}
	if len(lines) != 3 {
		t.Errorf("got %d problems, want 3", len(lines))
	}
}

// A prefix belongs to the origin of its bucket; where one origin takes all
// others, that is it.
func TestPlaceOf(t *testing.T) {
	origins := []tap.Origin{{Name: "m", Buckets: []string{"lake"}}, {Name: "rest"}}
	for _, c := range []struct {
		uri  string
		want tap.Location
		err  string
	}{
		{"s3://lake", tap.Location{Origin: "m", Bucket: "lake"}, ""},
		{"s3://lake/a/b", tap.Location{Origin: "m", Bucket: "lake", Path: "a/b"}, ""},
		{"s3n://elsewhere/a", tap.Location{Origin: "rest", Bucket: "elsewhere", Path: "a"}, ""},
		{"s3://lake/a/../b", tap.Location{}, "is no place in a store"},
	} {
		got, err := placeOf(origins, c.uri)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %+v, %v; want %+v, %q", c.uri, got, err, c.want, c.err)
		}
	}
	if _, err := placeOf(origins[:1], "s3://elsewhere"); err == nil || !strings.Contains(err.Error(), "name it under storage.origins") {
		t.Errorf("got %v, want to be told what to do", err)
	}
}
