package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/laketap/laketap/cmd/laketap-lake/catalog"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// memory is an object store for tests.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	refuse  error // of the next Write
}

func (m *memory) Read(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

func (m *memory) Write(_ context.Context, key string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuse; err != nil {
		m.refuse = nil
		return err
	}
	m.objects[key] = bytes.Clone(data)
	return nil
}

func (m *memory) Remove(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.objects {
		if name == key || strings.HasPrefix(name, key+"/") {
			delete(m.objects, name)
		}
	}
	return nil
}

// count is how many objects lie under a prefix.
func (m *memory) count(prefix string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for name := range m.objects {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

// client talks to a catalog under test.
type client struct {
	t     *testing.T
	url   string
	files *memory
}

// open serves a new catalog over HTTP.
func open(t *testing.T, vend map[string]string) *client {
	t.Helper()
	files := &memory{objects: map[string][]byte{}}
	tables, err := catalog.Open(t.Context(), files, catalog.Options{
		Database:  filepath.Join(t.TempDir(), "catalog db?#%.sqlite"),
		Bucket:    "lake",
		Warehouse: "warehouse",
		Vend:      vend,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(tables)
	t.Cleanup(func() {
		server.Client().CloseIdleConnections()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := tables.Close(); err != nil {
			t.Error(err)
		}
	})
	return &client{t: t, url: server.URL, files: files}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	raw    []byte
}

// send makes one request; the path is taken as it stands.
func (c *client) send(method, path, body string, headers ...string) (answer, error) {
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, raw}, err
}

// call is send that must reach the server.
func (c *client) call(method, path, body string, headers ...string) answer {
	c.t.Helper()
	got, err := c.send(method, path, body, headers...)
	if err != nil {
		c.t.Fatal(err)
	}
	return got
}

// must is call that must succeed.
func (c *client) must(method, path, body string) answer {
	c.t.Helper()
	got := c.call(method, path, body)
	if got.status >= 400 {
		c.t.Fatalf("%s %s: %d %s", method, path, got.status, got.raw)
	}
	return got
}

// kind is the error type of an answer, with its status.
func (a answer) kind() string {
	var body struct {
		Error struct {
			Type    string
			Message string
			Code    int
		}
	}
	if err := json.Unmarshal(a.raw, &body); err != nil {
		return fmt.Sprintf("%d, no error body: %q", a.status, a.raw)
	}
	if body.Error.Code != a.status || body.Error.Message == "" {
		return fmt.Sprintf("%d, error body disagrees or says nothing: %s", a.status, a.raw)
	}
	return fmt.Sprintf("%d %s", a.status, body.Error.Type)
}

// tableView is what tests look at in a table.
type tableView struct {
	MetadataLocation string `json:"metadata-location"`
	Metadata         struct {
		FormatVersion int               `json:"format-version"`
		UUID          string            `json:"table-uuid"`
		Location      string            `json:"location"`
		Properties    map[string]string `json:"properties"`
		CurrentSchema int               `json:"current-schema-id"`
		Current       *int64            `json:"current-snapshot-id"`
		LastSequence  int64             `json:"last-sequence-number"`
		DefaultSpec   int               `json:"default-spec-id"`
		Schemas       []struct {
			ID     int `json:"schema-id"`
			Fields []struct {
				ID   int    `json:"id"`
				Name string `json:"name"`
			} `json:"fields"`
		} `json:"schemas"`
		Snapshots []struct {
			ID int64 `json:"snapshot-id"`
		} `json:"snapshots"`
		Refs map[string]struct {
			ID int64 `json:"snapshot-id"`
		} `json:"refs"`
		Log []struct {
			File string `json:"metadata-file"`
		} `json:"metadata-log"`
	} `json:"metadata"`
	Config      map[string]string `json:"config"`
	Credentials []struct {
		Prefix string            `json:"prefix"`
		Config map[string]string `json:"config"`
	} `json:"storage-credentials"`
}

// table reads an answer as a table.
func (c *client) table(a answer) tableView {
	c.t.Helper()
	var view tableView
	if err := json.Unmarshal(a.raw, &view); err != nil {
		c.t.Fatalf("%v in %s", err, a.raw)
	}
	return view
}

// load reads a table that must exist.
func (c *client) load(path string) tableView {
	c.t.Helper()
	return c.table(c.must("GET", path, ""))
}

// oneColumn is the schema tests use where the schema does not matter.
const oneColumn = `{"type":"struct","schema-id":0,"fields":[{"id":7,"name":"id","type":"long","required":false}]}`

// newTable creates namespace ns and a table in it and returns its path.
func (c *client) newTable(ns, name string) string {
	c.t.Helper()
	c.call("POST", "/v1/namespaces", fmt.Sprintf(`{"namespace":[%q]}`, ns))
	c.must("POST", "/v1/namespaces/"+ns+"/tables", fmt.Sprintf(`{"name":%q,"schema":%s}`, name, oneColumn))
	return "/v1/namespaces/" + ns + "/tables/" + name
}

// setProperty is a commit body that sets one property.
func setProperty(key, value string) string {
	return fmt.Sprintf(`{"requirements":[],"updates":[{"action":"set-properties","updates":{%q:%q}}]}`, key, value)
}
