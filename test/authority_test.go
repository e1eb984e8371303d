package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/s3"
)

// A catalog that vends nothing, and Laketap with keys of its own for its
// warehouse: engines read and write by URI alone, which they could not before.
func TestEnginesUnderAuthority(t *testing.T) {
	g := startGuarded(t)
	py := engines.Start(t, engines.PyIceberg, g.server.Catalog)
	duck := engines.Start(t, engines.DuckDB, g.server.Catalog)
	for _, step := range []struct {
		engine *engines.Engine
		text   string
	}{
		{py, `catalog.create_table("r.both", schema=pa.schema([("id", pa.int64())])).append(pa.table({"id": [1, 2]}))`},
		{duck, `insert into lk.r.both values (3)`},
		{py, `table("r.both").delete("id = 1")`},
	} {
		if answer := step.engine.Do(engines.Step{Run: step.text}); answer.Error != "" {
			t.Fatalf("%s: %s\n%s", step.engine.Name, answer.Error, step.text)
		}
	}
	for _, engine := range []*engines.Engine{py, duck} {
		answer := engine.Do(engines.Step{Read: &engines.Read{Table: "r.both", Order: "id"}})
		if len(answer.Rows) != 2 || string(answer.Rows[0]) != "[2]" || string(answer.Rows[1]) != "[3]" {
			t.Errorf("%s reads %s %s, want 2 and 3", engine.Name, answer.Rows, answer.Error)
		}
	}
	for _, a := range g.server.Accesses(t) {
		if a.Tap == "storage" {
			checkAccess(t, a)
		}
	}
}

// Authority to read is none to write, unless a person said so.
func TestAuthorityToReadAlone(t *testing.T) {
	l := lake.Start(t, "--vend=none")
	config := laketap.InFrontOf(t, l)
	config.Storage.Authority, config.Storage.Roots = "catalog", []string{l.Warehouse}
	config.Storage.Origins[0].AccessKeyID = l.Keys.ID
	config.Storage.Origins[0].SecretFile = laketap.Secret(t, l.Keys.Secret)
	server := laketap.Start(t, config)
	table := catalog.Client{URI: server.Catalog}.Create(t, "r", "t", "")
	l.Put(t, table.Path()+"/data/x", "mine")
	before := l.Arrived(t)
	for _, r := range []s3.Request{
		{Method: http.MethodPut, Target: table.Path() + "/data/x", Text: "yours"},
		{Method: http.MethodDelete, Target: table.Path() + "/data/x"},
		{Method: http.MethodPost, Target: table.Path() + "/data/y?uploads="},
	} {
		got, err := table.Client().Do(t.Context(), r)
		if err != nil || got.Status != http.StatusForbidden || got.Code != "AccessDenied" {
			t.Errorf("%s %s: %v %v, want 403 AccessDenied", r.Method, r.Target, got, err)
		}
	}
	if n := l.Arrived(t) - before; n != 0 {
		t.Errorf("%d requests reached the store", n)
	}
	got, err := table.Client().Do(t.Context(), s3.Request{Target: table.Path() + "/data/x"})
	if err != nil || string(got.Body) != "mine" {
		t.Errorf("read: %v %q %v", got, got.Body, err)
	}
}

// Where the catalog's keys may only read, an engine's write is refused through
// Laketap by the store, as it is without.
func TestEnginesWithKeysToRead(t *testing.T) {
	l := lake.Start(t, "--vend=readonly")
	server := laketap.Start(t, laketap.InFrontOf(t, l))
	catalog.Client{URI: l.Catalog}.Create(t, "r", "t", "")
	text := `table("r.t").append(pa.table({"id": pa.array([1], pa.int64())}))`
	for name, uri := range map[string]string{"direct": l.Catalog, "through Laketap": server.Catalog} {
		answer := engines.Start(t, engines.PyIceberg, uri).Do(engines.Step{Run: text})
		if !strings.Contains(answer.Error, "ACCESS_DENIED") {
			t.Errorf("%s: a write with keys that may read says %q", name, answer.Error)
		}
	}
}

// Several catalogs behind one server, each under its name: that name is a part
// of the URI, and nothing else changes for an engine.
func TestTwoCatalogs(t *testing.T) {
	l := lake.Start(t)
	config := laketap.InFrontOf(t, l)
	config.Catalogs = []laketap.Catalog{{Name: "one", URL: l.Catalog}, {Name: "two", URL: l.Catalog}}
	server := laketap.Start(t, config)
	one := catalog.Client{URI: server.Catalog + "/one"}
	table := one.Create(t, "n", "t", "")
	if !strings.HasPrefix(table.Client().Endpoint, server.Storage) {
		t.Errorf("engines are sent to %s, not to the storage tap", table.Client().Endpoint)
	}
	py := engines.Start(t, engines.PyIceberg, server.Catalog+"/two")
	answer := py.Do(engines.Step{Run: `table("n.t").append(pa.table({"id": pa.array([7], pa.int64())}))
  answer = table("n.t").scan().to_arrow()`})
	if len(answer.Rows) != 1 || string(answer.Rows[0]) != "[7]" {
		t.Errorf("rows %s %s, want 7", answer.Rows, answer.Error)
	}
	for _, path := range []string{"/v1/config", "/three/v1/config"} {
		got, err := catalog.Client{URI: server.Catalog}.Do(t.Context(), http.MethodGet, path, "", nil)
		if err != nil || got.Status != http.StatusNotFound {
			t.Errorf("GET %s: %d %s %v, want 404: no catalog is named", path, got.Status, got.Body, err)
		}
	}
}
