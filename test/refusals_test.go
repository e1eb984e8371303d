package e2e_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/s3"
)

// A setting that makes no sense ends the start, by its name and with its fix.
func TestBadSettingsAreRefused(t *testing.T) {
	l := lake.Start(t)
	tests := []struct {
		name   string
		change func(*laketap.Config)
		want   []string
	}{
		{"two upstreams of a name", func(c *laketap.Config) { c.Catalogs = append(c.Catalogs, c.Catalogs[0]) }, []string{"catalogs", "lake"}},
		{"port in use", func(c *laketap.Config) { c.Storage.Listen = strings.TrimPrefix(l.Catalog, "http://") }, []string{"storage.listen"}},
		{"unknown key", func(c *laketap.Config) { c.Admin["lisen"] = "x" }, []string{"lisen", "listen"}},
		{"malformed cluster key", func(c *laketap.Config) {
			c.Cluster = map[string]any{"key_file": laketap.Secret(t, "no key")}
		}, []string{"cluster.key_file"}},
		{"secret that is not there", func(c *laketap.Config) {
			c.Keys = []laketap.Key{{ID: "app", SecretFile: "/nowhere/secret", Principal: "app", Scope: "all"}}
		}, []string{"keys", "secret_file", "/nowhere/secret"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := laketap.InFrontOf(t, l)
			tt.change(&config)
			p := process.Start(t, laketap.Command(t, laketap.Write(t, config)))
			if code := p.Wait(t); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			for _, word := range tt.want {
				if !strings.Contains(p.Tail(), word) {
					t.Errorf("the refusal does not name %q:\n%s", word, p.Tail())
				}
			}
		})
	}
}

// A lake of another version, a folder of somebody else, a lake in use: refused,
// and nothing in it is touched.
func TestBadLakesAreRefused(t *testing.T) {
	foreign := t.TempDir()
	write(t, filepath.Join(foreign, "thesis.txt"), "years of work")
	old := t.TempDir()
	write(t, filepath.Join(old, "version"), "99\n")
	write(t, filepath.Join(old, "catalog.db"), "of the future")
	tests := map[string]struct {
		dir  string
		want string
	}{
		"another version": {old, "99"},
		"not a lake":      {foreign, "not a lake"},
		"in use":          {lake.Start(t).Dir, "in use"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := process.Start(t, process.Command{Path: process.Binary(t, "laketap-lake"), Args: []string{tt.dir}})
			if code := p.Wait(t); code == 0 || !strings.Contains(p.Tail(), tt.want) {
				t.Errorf("exit code %d, want a refusal that says %q:\n%s", code, tt.want, p.Tail())
			}
		})
	}
	for file, want := range map[string]string{
		filepath.Join(foreign, "thesis.txt"): "years of work", filepath.Join(old, "catalog.db"): "of the future",
	} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s is now %q: %v", filepath.Base(file), got, err)
		}
	}
}

// A server with a lake of its own: one command, and the lake ends with its
// server, however that ends.
func TestServeLake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "own lake")
	config := laketap.InFrontOf(t, &lake.Lake{})
	address := config.Catalog["listen"].(string)
	command := process.Command{Path: process.Binary(t, "laketap"), Args: []string{
		"serve", "--lake", dir, "--data", config.Data, "--catalog-listen", address,
		"--storage-listen", config.Storage.Listen, "--admin-listen", config.Admin["listen"].(string),
	}}
	through := catalog.Client{URI: "http://" + address}
	serve := func() *process.Process {
		t.Helper()
		p := process.Start(t, command)
		p.Eventually(t, time.Minute, func() error {
			got, err := through.Do(t.Context(), http.MethodGet, "/v1/config", "", nil)
			if err == nil && got.Status != http.StatusOK {
				err = errors.New(string(got.Body))
			}
			return err
		})
		return p
	}
	p := serve()
	table := through.Create(t, "s", "t", "")
	target := table.Path() + "/data/x"
	put, err := table.Client().Do(t.Context(), s3.Request{Method: http.MethodPut, Target: target, Text: "mine"})
	if err != nil || put.Status != http.StatusOK {
		t.Fatalf("put: %v %v", put, err)
	}
	if !strings.HasPrefix(table.Client().Endpoint, "http://"+config.Storage.Listen) {
		t.Errorf("engines are sent to %s, not to the storage tap", table.Client().Endpoint)
	}
	p.Kill(t)
	eventuallyNothingRuns(t, dir)

	p = serve()
	got, err := table.Client().Do(t.Context(), s3.Request{Target: target})
	if err != nil || string(got.Body) != "mine" {
		t.Errorf("get with keys from before: %v %q %v", got, got.Body, err)
	}
	p.Signal(t, os.Interrupt)
	if code := p.Wait(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	nothingRuns(t, dir)
}

// A client that nobody has heard of is served as any other.
func TestUnknownEngine(t *testing.T) {
	l := lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	catalog.Client{URI: l.Catalog}.Create(t, "u", "t", "")
	got, err := catalog.Client{URI: server.Catalog}.Do(t.Context(), http.MethodGet, "/v1/namespaces/u/tables/t", "", http.Header{
		"User-Agent": {"novel/1"}, "X-Iceberg-Access-Delegation": nil,
	})
	if err != nil || got.Status != http.StatusOK || !strings.Contains(string(got.Body), server.Storage) {
		t.Fatalf("load: %d %s %v, want our endpoint in it", got.Status, got.Body, err)
	}
	if strings.Contains(string(got.Body), l.Keys.ID) || strings.Contains(string(got.Body), l.Keys.Secret) {
		t.Error("the catalog's keys reach the client")
	}
}

// An origin that is gone: an S3 error with a request id, and the same id in
// what the server recorded.
func TestUnreachableOrigin(t *testing.T) {
	l := lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	table := catalog.Client{URI: server.Catalog}.Create(t, "u", "t", "")
	l.Process.Close()
	got, err := table.Client().Do(t.Context(), s3.Request{Target: table.Path() + "/data/x"})
	if err != nil {
		t.Fatal(err)
	}
	var failure struct {
		Code      string
		RequestID string `xml:"RequestId"`
	}
	if err := xml.Unmarshal(got.Body, &failure); err != nil || got.Status < 500 || failure.Code == "" || failure.RequestID == "" {
		t.Fatalf("answer %v %s, want an S3 error: %v", got, got.Body, err)
	}
	server.Process.Eventually(t, 5*time.Second, func() error {
		for _, a := range server.Accesses(t) {
			if a.RequestID == failure.RequestID {
				return nil
			}
		}
		return fmt.Errorf("request id %s is not in the accesses", failure.RequestID)
	})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
