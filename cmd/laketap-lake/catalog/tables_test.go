package catalog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"
)

func TestTableErrors(t *testing.T) {
	c := open(t, nil)
	c.newTable("n", "t")
	c.newTable("n", "taken")
	there := c.load("/v1/namespaces/n/tables/t").MetadataLocation
	tests := []struct{ name, method, path, body, want string }{
		{"create again", "POST", "/v1/namespaces/n/tables", `{"name":"t","schema":` + oneColumn + `}`, "409 AlreadyExistsException"},
		{"stage over a table", "POST", "/v1/namespaces/n/tables", `{"name":"t","stage-create":true,"schema":` + oneColumn + `}`, "409 AlreadyExistsException"},
		{"create nowhere", "POST", "/v1/namespaces/x/tables", `{"name":"t","schema":` + oneColumn + `}`, "404 NoSuchNamespaceException"},
		{"create without schema", "POST", "/v1/namespaces/n/tables", `{"name":"u"}`, "400 BadRequestException"},
		{"create without name", "POST", "/v1/namespaces/n/tables", `{"schema":` + oneColumn + `}`, "400 BadRequestException"},
		{"create of format 9", "POST", "/v1/namespaces/n/tables", `{"name":"u","schema":` + oneColumn + `,"properties":{"format-version":"9"}}`, "400 BadRequestException"},
		{"create on another store", "POST", "/v1/namespaces/n/tables", `{"name":"u","location":"gs://lake/u","schema":` + oneColumn + `}`, "400 BadRequestException"},
		{"create in another bucket", "POST", "/v1/namespaces/n/tables", `{"name":"u","location":"s3://other/u","schema":` + oneColumn + `}`, "400 BadRequestException"},
		{"create above the bucket", "POST", "/v1/namespaces/n/tables", `{"name":"u","location":"s3://lake/a/../../u","schema":` + oneColumn + `}`, "400 BadRequestException"},
		{"create over the bucket", "POST", "/v1/namespaces/n/tables", `{"name":"u","location":"s3://lake/","schema":` + oneColumn + `}`, "400 BadRequestException"},
		{"create with metadata elsewhere", "POST", "/v1/namespaces/n/tables", `{"name":"u","schema":` + oneColumn + `,"properties":{"write.metadata.path":"s3://other/m"}}`, "400 BadRequestException"},
		{"load missing", "GET", "/v1/namespaces/n/tables/u", "", "404 NoSuchTableException"},
		{"load some snapshots", "GET", "/v1/namespaces/n/tables/t?snapshots=some", "", "400 BadRequestException"},
		{"drop missing", "DELETE", "/v1/namespaces/n/tables/u", "", "404 NoSuchTableException"},
		{"credentials of missing", "GET", "/v1/namespaces/n/tables/u/credentials", "", "404 NoSuchTableException"},
		{"metrics of missing", "POST", "/v1/namespaces/n/tables/u/metrics", "{}", "404 NoSuchTableException"},
		{"metrics of nonsense", "POST", "/v1/namespaces/n/tables/t/metrics", "x", "400 BadRequestException"},
		{"rename missing", "POST", "/v1/tables/rename", rename("n.u", "n.v"), "404 NoSuchTableException"},
		{"rename into nowhere", "POST", "/v1/tables/rename", rename("n.t", "x.t"), "404 NoSuchNamespaceException"},
		{"rename over a table", "POST", "/v1/tables/rename", rename("n.t", "n.taken"), "409 AlreadyExistsException"},
		{"rename to nothing", "POST", "/v1/tables/rename", `{"source":{"namespace":["n"],"name":"t"}}`, "400 BadRequestException"},
		{"register over a table", "POST", "/v1/namespaces/n/register", register("t", there), "409 AlreadyExistsException"},
		{"register nowhere", "POST", "/v1/namespaces/x/register", register("u", there), "404 NoSuchNamespaceException"},
		{"register what is not there", "POST", "/v1/namespaces/n/register", register("u", "s3://lake/none.json"), "404 NotFoundException"},
		{"register from another store", "POST", "/v1/namespaces/n/register", register("u", "file:///etc/passwd"), "400 BadRequestException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.call(tt.method, tt.path, tt.body).kind(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func rename(from, to string) string {
	id := func(dotted string) string {
		ns, name, _ := strings.Cut(dotted, ".")
		return fmt.Sprintf(`{"namespace":[%q],"name":%q}`, ns, name)
	}
	return `{"source":` + id(from) + `,"destination":` + id(to) + `}`
}

func register(name, location string) string {
	return fmt.Sprintf(`{"name":%q,"metadata-location":%q}`, name, location)
}

func TestCreateTable(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	body := `{"name":"t","schema":{"type":"struct","fields":[{"id":5,"name":"id","type":"long","required":true},{"id":9,"name":"kind","type":"string","required":false}]},` +
		`"partition-spec":{"spec-id":0,"fields":[{"source-id":9,"field-id":1000,"name":"kind","transform":"identity"}]},` +
		`"write-order":{"order-id":1,"fields":[{"source-id":5,"transform":"identity","direction":"asc","null-order":"nulls-first"}]},"properties":{"format-version":"%d","owner":"me"}}`
	for _, format := range []int{1, 2, 3} {
		name := fmt.Sprintf("t%d", format)
		made := c.must("POST", "/v1/namespaces/n/tables", strings.Replace(fmt.Sprintf(body, format), `"t"`, `"`+name+`"`, 1))
		view := c.table(made)
		m := view.Metadata
		if m.FormatVersion != format || m.Properties["owner"] != "me" || m.Properties["format-version"] != "" {
			t.Errorf("format %d: got format %d, properties %v", format, m.FormatVersion, m.Properties)
		}
		if got := m.Schemas[0].Fields; got[0].ID != 1 || got[1].ID != 2 {
			t.Errorf("format %d: field ids are not fresh: %v", format, got)
		}
		if !strings.HasPrefix(m.Location, "s3://lake/warehouse/n/"+name+"-") {
			t.Errorf("format %d: location %s", format, m.Location)
		}
		if want := m.Location + "/metadata/00000-"; !strings.HasPrefix(view.MetadataLocation, want) {
			t.Errorf("format %d: metadata location %s, want %s…", format, view.MetadataLocation, want)
		}
		key := strings.TrimPrefix(view.MetadataLocation, "s3://lake/")
		stored, err := c.files.Read(t.Context(), key)
		if err != nil {
			t.Fatalf("format %d: %v", format, err)
		}
		var file, served struct {
			UUID string `json:"table-uuid"`
		}
		if err := errors.Join(json.Unmarshal(stored, &file), json.Unmarshal(c.rawMetadata(made), &served)); err != nil {
			t.Fatal(err)
		}
		if file.UUID == "" || file.UUID != served.UUID {
			t.Errorf("format %d: stored table %s, served %s", format, file.UUID, served.UUID)
		}
	}
}

// rawMetadata is the metadata in an answer, byte for byte.
func (c *client) rawMetadata(a answer) json.RawMessage {
	c.t.Helper()
	var body struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(a.raw, &body); err != nil {
		c.t.Fatal(err)
	}
	return body.Metadata
}

func TestStagedTable(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	staged := c.table(c.must("POST", "/v1/namespaces/n/tables", `{"name":"t","stage-create":true,"schema":`+oneColumn+`}`))
	if staged.MetadataLocation != "" || staged.Metadata.UUID == "" {
		t.Errorf("staged: metadata location %q, uuid %q", staged.MetadataLocation, staged.Metadata.UUID)
	}
	if n := c.files.count(""); n != 0 {
		t.Errorf("staging wrote %d files", n)
	}
	if got := c.call("GET", "/v1/namespaces/n/tables/t", "").kind(); got != "404 NoSuchTableException" {
		t.Errorf("staged table is visible: %s", got)
	}
	// The order is DuckDB's: the current schema comes last.
	commit := fmt.Sprintf(`{"requirements":[{"type":"assert-create"}],"updates":[
		{"action":"assign-uuid","uuid":%q},{"action":"upgrade-format-version","format-version":2},
		{"action":"add-schema","schema":%s},{"action":"add-spec","spec":{"spec-id":0,"fields":[]}},{"action":"set-default-spec","spec-id":-1},
		{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}},{"action":"set-default-sort-order","sort-order-id":-1},
		{"action":"set-location","location":%q},{"action":"set-properties","updates":{"a":"b"}},{"action":"set-current-schema","schema-id":-1}]}`,
		staged.Metadata.UUID, oneColumn, staged.Metadata.Location)
	c.must("POST", "/v1/namespaces/n/tables/t", commit)
	got := c.load("/v1/namespaces/n/tables/t").Metadata
	if got.UUID != staged.Metadata.UUID || got.Location != staged.Metadata.Location || got.Properties["a"] != "b" || len(got.Schemas) != 1 {
		t.Errorf("committed %+v, staged %+v", got, staged.Metadata)
	}
	if got := c.call("POST", "/v1/namespaces/n/tables/t", commit).kind(); got != "409 CommitFailedException" {
		t.Errorf("create by commit again: %s", got)
	}
}

func TestDropAndCreateAgain(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	first := c.load(at).Metadata
	c.must("DELETE", at+"?purgeRequested=false", "")
	if n := c.files.count("warehouse/"); n != 1 {
		t.Errorf("drop without purge left %d files, want 1", n)
	}
	c.newTable("n", "t")
	second := c.load(at).Metadata
	if first.UUID == second.UUID || first.Location == second.Location {
		t.Errorf("second table has uuid %s and location %s of the first", second.UUID, second.Location)
	}
	c.must("DELETE", at+"?purgeRequested=True", "")
	if n := c.files.count(strings.TrimPrefix(second.Location, "s3://lake/")); n != 0 {
		t.Errorf("drop with purge left %d files", n)
	}
	if n := c.files.count("warehouse/"); n != 1 {
		t.Errorf("purge touched the first table: %d files, want 1", n)
	}
}

// A purge must not take files that another table uses: the same folder, one
// inside, or one around it.
func TestPurgeSparesOtherTables(t *testing.T) {
	for name, other := range map[string]string{"same": "s3://lake/x/t", "inside": "s3://lake/x/t/sub", "around": "s3a://lake/x"} {
		t.Run(name, func(t *testing.T) {
			c := open(t, nil)
			c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
			for table, location := range map[string]string{"t": "s3://lake/x/t", "o": other} {
				c.must("POST", "/v1/namespaces/n/tables", fmt.Sprintf(`{"name":%q,"location":%q,"schema":%s}`, table, location, oneColumn))
			}
			c.must("DELETE", "/v1/namespaces/n/tables/t?purgeRequested=true", "")
			c.load("/v1/namespaces/n/tables/o")
		})
	}
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	for table, location := range map[string]string{"t": "s3://lake/x/t", "t2": "s3://lake/x/t2"} {
		c.must("POST", "/v1/namespaces/n/tables", fmt.Sprintf(`{"name":%q,"location":%q,"schema":%s}`, table, location, oneColumn))
	}
	c.must("DELETE", "/v1/namespaces/n/tables/t?purgeRequested=true", "")
	if t2, gone := c.files.count("x/t2/"), c.files.count("x/t/"); t2 != 1 || gone != 0 {
		t.Errorf("purge of t left %d files of t and %d of t2, want 0 and 1", gone, t2)
	}
}

func TestRenameTable(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	c.must("POST", "/v1/namespaces", `{"namespace":["m"]}`)
	before := c.load(at)
	c.must("POST", "/v1/tables/rename", rename("n.t", "m.u"))
	after := c.load("/v1/namespaces/m/tables/u")
	if before.MetadataLocation != after.MetadataLocation {
		t.Errorf("rename moved %s to %s", before.MetadataLocation, after.MetadataLocation)
	}
	if got := c.call("HEAD", at, "").status; got != 404 {
		t.Errorf("old name: got %d, want 404", got)
	}
	c.must("DELETE", "/v1/namespaces/n", "")
	c.must("POST", "/v1/namespaces/m/tables/u", setProperty("a", "b"))
}

func TestRegisterTable(t *testing.T) {
	c := open(t, map[string]string{"k": "v"})
	at := c.newTable("n", "t")
	before := c.load(at)
	c.must("DELETE", at, "")
	made := c.must("POST", "/v1/namespaces/n/register", register("again", before.MetadataLocation))
	if made.header.Get("ETag") == "" || c.table(made).Config["k"] != "v" {
		t.Errorf("register vends nothing or has no ETag: %s", made.raw)
	}
	after := c.load("/v1/namespaces/n/tables/again")
	if after.Metadata.UUID != before.Metadata.UUID || after.MetadataLocation != before.MetadataLocation {
		t.Errorf("registered %s at %s, want %s at %s", after.Metadata.UUID, after.MetadataLocation, before.Metadata.UUID, before.MetadataLocation)
	}
	c.must("POST", "/v1/namespaces/n/tables/again", setProperty("a", "b"))
	c.must("POST", "/v1/namespaces/n/register", `{"name":"again","overwrite":true,"metadata-location":"`+before.MetadataLocation+`"}`)
	if got := c.load("/v1/namespaces/n/tables/again"); got.MetadataLocation != before.MetadataLocation {
		t.Errorf("overwrite: at %s, want %s", got.MetadataLocation, before.MetadataLocation)
	}
	c.files.objects["bad.metadata.json"] = []byte(`{"format-version":2}`)
	if got := c.call("POST", "/v1/namespaces/n/register", register("bad", "s3://lake/bad.metadata.json")).kind(); got != "400 BadRequestException" {
		t.Errorf("bad file: %s", got)
	}
}

// Names are data: whatever a client can escape, it can use.
func TestOddNames(t *testing.T) {
	c := open(t, nil)
	names := []string{"with space", "a/b", "a//b", "a.b", "..", ".", "q?x=1", "100%", "plus+plus", "ümlaut", "tab\tle", "semi;colon", strings.Repeat("l", 300)}
	for _, ns := range names {
		levels, err := json.Marshal([]string{"top", ns})
		if err != nil {
			t.Fatal(err)
		}
		c.must("POST", "/v1/namespaces", `{"namespace":`+string(levels)+`}`)
		space := "/v1/namespaces/top%1F" + url.QueryEscape(ns)
		for _, name := range names {
			body, err := json.Marshal(map[string]any{"name": name, "schema": json.RawMessage(oneColumn)})
			if err != nil {
				t.Fatal(err)
			}
			view := c.table(c.must("POST", space+"/tables", string(body)))
			if key := strings.TrimPrefix(view.MetadataLocation, "s3://lake/"); path.Clean(key) != key || len(key) > 900 {
				t.Errorf("namespace %q, table %q: odd key %q", ns, name, key)
			}
			// PyIceberg writes %20 and Java writes a plus for a space.
			c.load(space + "/tables/" + url.QueryEscape(name))
			c.load(space + "/tables/" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20"))
		}
	}
}

func TestListTables(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	if got := string(c.must("GET", "/v1/namespaces/n/tables", "").raw); !strings.HasPrefix(got, `{"identifiers":[]`) {
		t.Errorf("empty list: %s", got)
	}
	c.newTable("n", "b")
	c.newTable("n", "a")
	c.newTable("m", "c")
	got := string(c.must("GET", "/v1/namespaces/n/tables", "").raw)
	if want := `{"identifiers":[{"namespace":["n"],"name":"a"},{"namespace":["n"],"name":"b"}],"next-page-token":null}` + "\n"; got != want {
		t.Errorf("list: got %s, want %s", got, want)
	}
}

func TestMetricsAreTaken(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	if got := c.must("POST", at+"/metrics", `{"report-type":"scan-report","table-name":"n.t"}`).status; got != 204 {
		t.Errorf("got %d, want 204", got)
	}
}
