// Package catalog is a small Iceberg REST client for tests: it asks like an
// engine and shows the answer as it came.
package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/s3"
)

// A Client asks one catalog.
type Client struct {
	URI string
	// Prefix stands in front of what Create and Load ask for, as the catalog's
	// config says: "main/" for a branch of Nessie. Empty is none.
	Prefix string
}

// An Answer is what the catalog said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request; a body is sent as JSON.
func (c Client) Do(ctx context.Context, method, path, body string, header http.Header) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URI+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("User-Agent", "PyIceberg/0.12.0")
	req.Header.Set("X-Iceberg-Access-Delegation", "vended-credentials")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, header)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return Answer{}, fmt.Errorf("ask catalog: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("read catalog's answer: %w", err)
	}
	return Answer{resp.StatusCode, resp.Header, text}, nil
}

// A Table is a table as the catalog hands it out.
type Table struct {
	Config   map[string]string
	Location string // s3://bucket/path
	Raw      []byte
}

// Path returns the location as a path of the store: "/bucket/path".
func (t Table) Path() string { return strings.TrimPrefix(t.Location, "s3:/") }

// Keys returns the keys that came with the table.
func (t Table) Keys() s3.Keys {
	return s3.Keys{
		ID:     t.Config["s3.access-key-id"],
		Secret: t.Config["s3.secret-access-key"],
		Token:  t.Config["s3.session-token"],
	}
}

// Client returns a client of the store as an engine would make it.
func (t Table) Client() *s3.Client {
	return &s3.Client{
		Endpoint: strings.TrimSuffix(t.Config["s3.endpoint"], "/"),
		Region:   t.Config["client.region"],
		Keys:     t.Keys(),
	}
}

// Create makes a table of one column, and its namespace if need be. An empty
// location leaves the choice to the catalog.
func (c Client) Create(t testing.TB, namespace, name, location string) Table {
	t.Helper()
	quoted := func(s string) string {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	made, err := c.Do(t.Context(), http.MethodPost, "/v1/"+c.Prefix+"namespaces", `{"namespace":[`+quoted(namespace)+`],"properties":{}}`, nil)
	if err != nil || made.Status != http.StatusOK && made.Status != http.StatusConflict {
		t.Fatalf("create namespace: %d %s %v", made.Status, made.Body, err)
	}
	at := ""
	if location != "" {
		at = `,"location":` + quoted(location)
	}
	made, err = c.Do(t.Context(), http.MethodPost, "/v1/"+c.Prefix+"namespaces/"+url.PathEscape(namespace)+"/tables", `{"name":`+quoted(name)+at+
		`,"stage-create":false,"schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}}`, nil)
	if err != nil || made.Status != http.StatusOK {
		t.Fatalf("create table: %d %s %v", made.Status, made.Body, err)
	}
	return c.Load(t, namespace, name)
}

// Load loads a table.
func (c Client) Load(t testing.TB, namespace, name string) Table {
	t.Helper()
	got, err := c.Do(t.Context(), http.MethodGet, "/v1/"+c.Prefix+"namespaces/"+url.PathEscape(namespace)+"/tables/"+url.PathEscape(name), "", nil)
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("load table: %d %s %v", got.Status, got.Body, err)
	}
	var loaded struct {
		Config   map[string]string `json:"config"`
		Metadata struct {
			Location string `json:"location"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(got.Body, &loaded); err != nil {
		t.Fatalf("load table: %v", err)
	}
	return Table{loaded.Config, loaded.Metadata.Location, got.Body}
}
