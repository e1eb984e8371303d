package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// newView is a creation body: a view of one column, in one dialect.
func newView(name, sql string) string {
	return fmt.Sprintf(`{"name":%q,"schema":%s,"properties":{"k":"v"},"view-version":%s}`, name, oneColumn, version(1, sql))
}

// version is a version of a view.
func version(id int, sql string) string {
	return fmt.Sprintf(`{"version-id":%d,"schema-id":0,"timestamp-ms":1,"summary":{"engine-name":"test"},"default-namespace":["n"],`+
		`"representations":[{"type":"sql","sql":%q,"dialect":"spark"}]}`, id, sql)
}

// addVersion is a change that makes another version the current one.
func addVersion(uuid, sql string) string {
	return fmt.Sprintf(`{"requirements":[{"type":"assert-view-uuid","uuid":%q}],"updates":[`+
		`{"action":"add-view-version","view-version":%s},{"action":"set-current-view-version","view-version-id":-1}]}`, uuid, version(2, sql))
}

// viewView is what tests look at in a view.
type viewView struct {
	MetadataLocation string `json:"metadata-location"`
	Metadata         struct {
		UUID     string            `json:"view-uuid"`
		Location string            `json:"location"`
		Current  int               `json:"current-version-id"`
		Props    map[string]string `json:"properties"`
		Versions []struct {
			Representations []struct{ SQL, Dialect string } `json:"representations"`
		} `json:"versions"`
	} `json:"metadata"`
	Config map[string]string `json:"config"`
}

func (c *client) view(a answer) viewView {
	c.t.Helper()
	var v viewView
	if err := json.Unmarshal(a.raw, &v); err != nil {
		c.t.Fatalf("%v in %s", err, a.raw)
	}
	return v
}

func TestViewLife(t *testing.T) {
	c := open(t, map[string]string{"s3.secret-access-key": "secret"})
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	made := c.view(c.must("POST", "/v1/namespaces/n/views", newView("v", "select 1")))
	if made.Metadata.UUID == "" || made.Metadata.Props["k"] != "v" || !strings.HasPrefix(made.Metadata.Location, "s3://lake/warehouse/n/v-") {
		t.Errorf("created as %+v", made)
	}
	loaded := c.must("GET", "/v1/namespaces/n/views/v", "")
	if got := c.view(loaded); got.MetadataLocation != made.MetadataLocation || got.Metadata.UUID != made.Metadata.UUID {
		t.Errorf("loaded %+v, created %+v", got, made)
	}
	if strings.Contains(string(loaded.raw), "secret") {
		t.Error("a view comes with keys: it has no data")
	}
	c.must("HEAD", "/v1/namespaces/n/views/v", "")

	next := c.view(c.must("POST", "/v1/namespaces/n/views/v", addVersion(made.Metadata.UUID, "select 2")))
	if next.Metadata.Current != 2 || len(next.Metadata.Versions) != 2 || next.MetadataLocation == made.MetadataLocation {
		t.Errorf("replaced as %+v", next)
	}
	if got := c.files.count("warehouse/n/v-"); got != 2 {
		t.Errorf("%d metadata files, want one a version", got)
	}

	c.must("POST", "/v1/views/rename", `{"source":{"namespace":["n"],"name":"v"},"destination":{"namespace":["n"],"name":"w"}}`)
	if got := string(c.must("GET", "/v1/namespaces/n/views", "").raw); !strings.Contains(got, `[{"namespace":["n"],"name":"w"}]`) {
		t.Errorf("views after the rename: %s", got)
	}
	if got := string(c.must("GET", "/v1/namespaces/n/tables", "").raw); !strings.Contains(got, `"identifiers":[]`) {
		t.Errorf("a view is listed as a table: %s", got)
	}
	if got := c.call("DELETE", "/v1/namespaces/n", "").kind(); got != "409 NamespaceNotEmptyException" {
		t.Errorf("drop of the view's namespace: %s", got)
	}
	c.must("DELETE", "/v1/namespaces/n/views/w", "")
	registered := c.view(c.must("POST", "/v1/namespaces/n/register-view", fmt.Sprintf(`{"name":"again","metadata-location":%q}`, next.MetadataLocation)))
	if registered.Metadata.UUID != made.Metadata.UUID || registered.Metadata.Current != 2 {
		t.Errorf("registered as %+v", registered)
	}
}

// A change that changes nothing makes no file, and one of another view is a
// conflict.
func TestViewChanges(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	made := c.view(c.must("POST", "/v1/namespaces/n/views", newView("v", "select 1")))
	same := c.view(c.must("POST", "/v1/namespaces/n/views/v", `{"requirements":[],"updates":[]}`))
	if same.MetadataLocation != made.MetadataLocation {
		t.Errorf("no change went to %s", same.MetadataLocation)
	}
	const other = "00000000-0000-0000-0000-000000000001"
	if got := c.call("POST", "/v1/namespaces/n/views/v", addVersion(other, "select 2")).kind(); got != "409 CommitFailedException" {
		t.Errorf("change of another view: %s", got)
	}
	if got := c.files.count("warehouse/n/v-"); got != 1 {
		t.Errorf("%d metadata files, want 1", got)
	}
}

func TestViewErrors(t *testing.T) {
	c := open(t, nil)
	c.newTable("n", "table")
	c.must("POST", "/v1/namespaces/n/views", newView("view", "select 1"))
	twice := strings.Replace(newView("new", "select 1"), `"dialect":"spark"}]`, `"dialect":"spark"},{"type":"sql","sql":"select 2","dialect":"Spark"}]`, 1)
	rename := func(from, to string) string {
		return fmt.Sprintf(`{"source":{"namespace":["n"],"name":%q},"destination":{"namespace":["n"],"name":%q}}`, from, to)
	}
	for _, one := range []struct{ name, method, path, body, want string }{
		{"missing", "GET", "/v1/namespaces/n/views/none", "", "404 NoSuchViewException"},
		{"missing namespace", "GET", "/v1/namespaces/none/views", "", "404 NoSuchNamespaceException"},
		{"create in missing namespace", "POST", "/v1/namespaces/none/views", newView("v", "select 1"), "404 NoSuchNamespaceException"},
		{"table as view", "GET", "/v1/namespaces/n/views/table", "", "404 NoSuchViewException"},
		{"view as table", "GET", "/v1/namespaces/n/tables/view", "", "404 NoSuchTableException"},
		{"drop of table as view", "DELETE", "/v1/namespaces/n/views/table", "", "404 NoSuchViewException"},
		{"drop of view as table", "DELETE", "/v1/namespaces/n/tables/view", "", "404 NoSuchTableException"},
		{"name of a view", "POST", "/v1/namespaces/n/views", newView("view", "select 1"), "409 AlreadyExistsException"},
		{"name of a table", "POST", "/v1/namespaces/n/views", newView("table", "select 1"), "409 AlreadyExistsException"},
		{"table with a view's name", "POST", "/v1/namespaces/n/tables", `{"name":"view","schema":` + oneColumn + `}`, "409 AlreadyExistsException"},
		{"commit to a view", "POST", "/v1/namespaces/n/tables/view", setProperty("a", "b"), "409 AlreadyExistsException"},
		{"rename to a table", "POST", "/v1/views/rename", rename("view", "table"), "409 AlreadyExistsException"},
		{"rename a table to a view", "POST", "/v1/tables/rename", rename("table", "view"), "409 AlreadyExistsException"},
		{"rename of a table as view", "POST", "/v1/views/rename", rename("table", "x"), "404 NoSuchViewException"},
		{"one dialect twice", "POST", "/v1/namespaces/n/views", twice, "400 IllegalArgumentException"},
		{"no version", "POST", "/v1/namespaces/n/views", `{"name":"x","schema":` + oneColumn + `}`, "400 BadRequestException"},
		{"unknown change", "POST", "/v1/namespaces/n/views/view", `{"updates":[{"action":"none"}]}`, "400 BadRequestException"},
		{"elsewhere", "POST", "/v1/namespaces/n/views", strings.Replace(newView("x", "s"), `"name"`, `"location":"s3://other/x","name"`, 1), "400 BadRequestException"},
		{"register nothing", "POST", "/v1/namespaces/n/register-view", `{"name":"x","metadata-location":"s3://lake/none.json"}`, "404 NotFoundException"},
	} {
		t.Run(one.name, func(t *testing.T) {
			if got := c.call(one.method, one.path, one.body).kind(); got != one.want {
				t.Errorf("%s %s: %s, want %s", one.method, one.path, got, one.want)
			}
		})
	}
}

// Packed metadata is for the file alone: clients get it as it is.
func TestPackedMetadata(t *testing.T) {
	c := open(t, nil)
	path := c.newTable("n", "t")
	c.must("POST", path, setProperty("write.metadata.compression-codec", "gzip"))
	packed := c.load(path)
	if !strings.HasSuffix(packed.MetadataLocation, ".gz.metadata.json") {
		t.Errorf("metadata is at %s", packed.MetadataLocation)
	}
	data, err := c.files.Read(t.Context(), strings.TrimPrefix(packed.MetadataLocation, "s3://lake/"))
	if err != nil || len(data) < 2 || data[0] != 0x1f || data[1] != 0x8b {
		t.Fatalf("the file is not packed: %v %.20q", err, data)
	}
	c.must("POST", path, setProperty("more", "yes"))
	if got := c.load(path).Metadata.Properties["more"]; got != "yes" {
		t.Errorf("property after a commit on a packed file: %q", got)
	}
	c.must("POST", "/v1/namespaces/n/register", fmt.Sprintf(`{"name":"again","metadata-location":%q}`, packed.MetadataLocation))
	if got := c.load("/v1/namespaces/n/tables/again").Metadata.UUID; got != packed.Metadata.UUID {
		t.Errorf("registered as %s, want %s", got, packed.Metadata.UUID)
	}
}

func TestBrokenPackedMetadata(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	c.files.objects["bad.json"] = []byte{0x1f, 0x8b, 1, 2, 3}
	if got := c.call("POST", "/v1/namespaces/n/register", `{"name":"t","metadata-location":"s3://lake/bad.json"}`).kind(); got != "400 BadRequestException" {
		t.Errorf("register of a broken file: %s", got)
	}
}
