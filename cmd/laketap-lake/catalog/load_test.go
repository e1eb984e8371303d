package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVending(t *testing.T) {
	vend := map[string]string{"s3.endpoint": "http://127.0.0.1:1/", "s3.access-key-id": "A"}
	tests := []struct {
		name string
		vend map[string]string
	}{{"keys", vend}, {"nothing", nil}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t, tt.vend)
			c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
			body := `{"name":"t","stage-create":%t,"schema":` + oneColumn + `}`
			at := "/v1/namespaces/n/tables"
			for name, got := range map[string]answer{
				"stage":  c.must("POST", at, fmt.Sprintf(body, true)),
				"create": c.must("POST", at, fmt.Sprintf(body, false)),
				"load":   c.must("GET", at+"/t", ""),
				"refs":   c.must("GET", at+"/t?snapshots=refs", ""),
			} {
				view := c.table(got)
				if diff := cmp.Diff(tt.vend, view.Config); diff != "" {
					t.Errorf("%s: config (-want +got):\n%s", name, diff)
				}
				if tt.vend == nil {
					if strings.Contains(string(got.raw), "storage-credentials") || strings.Contains(string(got.raw), `"config"`) {
						t.Errorf("%s: vends although told not to: %s", name, got.raw)
					}
					continue
				}
				if len(view.Credentials) != 1 || view.Credentials[0].Prefix != view.Metadata.Location || !cmp.Equal(view.Credentials[0].Config, tt.vend) {
					t.Errorf("%s: credentials %+v, want one for %s", name, view.Credentials, view.Metadata.Location)
				}
			}
			view := c.table(c.must("GET", at+"/t/credentials", ""))
			if want := len(tt.vend) > 0; (len(view.Credentials) == 1) != want {
				t.Errorf("credentials: got %+v", view.Credentials)
			}
		})
	}
}

func TestETag(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	created := c.must("POST", "/v1/namespaces/n/tables", `{"name":"t","schema":`+oneColumn+`}`).header.Get("ETag")
	at := "/v1/namespaces/n/tables/t"
	all := c.must("GET", at, "").header.Get("ETag")
	explicit := c.must("GET", at+"?snapshots=all", "").header.Get("ETag")
	refs := c.must("GET", at+"?snapshots=refs", "").header.Get("ETag")
	if created == "" || created != all || all != explicit {
		t.Errorf("create %s, load %s, load all %s: want one tag", created, all, explicit)
	}
	if refs == all {
		t.Errorf("both variants have tag %s", all)
	}
	for _, header := range []string{all, `"x", ` + all, "W/" + all} {
		got := c.call("GET", at, "", "If-None-Match", header)
		if got.status != 304 || len(got.raw) != 0 || got.header.Get("ETag") != all {
			t.Errorf("If-None-Match %s: got %d, tag %s, body %q", header, got.status, got.header.Get("ETag"), got.raw)
		}
	}
	if got := c.call("GET", at, "", "If-None-Match", refs).status; got != 200 {
		t.Errorf("the other variant's tag: got %d, want 200", got)
	}
	committed := c.must("POST", at, setProperty("a", "b")).header.Get("ETag")
	if got := c.call("GET", at, "", "If-None-Match", all).status; got != 200 {
		t.Errorf("tag of an old version: got %d, want 200", got)
	}
	if got := c.call("GET", at, "", "If-None-Match", committed).status; got != 304 {
		t.Errorf("tag of the commit: got %d, want 304", got)
	}
}

// The tag covers what is vended: addresses change over restarts.
func TestETagCoversVending(t *testing.T) {
	metadata := `{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://lake/x","last-sequence-number":0,` +
		`"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[` + oneColumn + `],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],` +
		`"last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}]}`
	tags := map[string]bool{}
	for _, vend := range []map[string]string{nil, {"s3.endpoint": "http://127.0.0.1:1/"}, {"s3.endpoint": "http://127.0.0.1:2/"}} {
		c := open(t, vend)
		c.files.objects["x/metadata/v1.metadata.json"] = []byte(metadata)
		c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
		c.must("POST", "/v1/namespaces/n/register", register("t", "s3://lake/x/metadata/v1.metadata.json"))
		tags[c.must("GET", "/v1/namespaces/n/tables/t", "").header.Get("ETag")] = true
	}
	if len(tags) != 3 {
		t.Errorf("three ways to vend have %d tags", len(tags))
	}
}

// What the catalog does not know, and numbers beyond 2^53, reach the client as
// they are in the file, in both variants.
func TestLoadKeepsUnknownFields(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	snapshot := func(id string) string {
		return `{"snapshot-id":` + id + `,"sequence-number":1,"timestamp-ms":1,"manifest-list":"s3://lake/x/m.avro","summary":{"operation":"append"},"future":{"n":9007199254740993}}`
	}
	file := `{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://lake/x","last-sequence-number":2,` +
		`"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[` + oneColumn + `],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],` +
		`"last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"properties":{"html":"<&>"},` +
		`"current-snapshot-id":9007199254740993,"refs":{"main":{"snapshot-id":9007199254740993,"type":"branch"},"old":{"snapshot-id":9007199254740995,"type":"tag"}},` +
		`"snapshots":[` + snapshot("9007199254740993") + "," + snapshot("9007199254740994") + "," + snapshot("9007199254740995") + `],"future-field":[1.50,"x"]}`
	c.files.objects["x/v.metadata.json"] = []byte(file + "\n")
	c.must("POST", "/v1/namespaces/n/register", register("t", "s3://lake/x/v.metadata.json"))
	if got := string(c.rawMetadata(c.must("GET", "/v1/namespaces/n/tables/t", ""))); got != file {
		t.Errorf("all: got\n%s\nwant\n%s", got, file)
	}
	got := string(c.rawMetadata(c.must("GET", "/v1/namespaces/n/tables/t?snapshots=refs", "")))
	for _, want := range []string{`"future-field":[1.50,"x"]`, snapshot("9007199254740993"), snapshot("9007199254740995")} {
		if !strings.Contains(got, want) {
			t.Errorf("refs: %s is not in %s", want, got)
		}
	}
	if strings.Contains(got, "9007199254740994") {
		t.Errorf("refs: a snapshot nobody names is still there: %s", got)
	}
}

func TestMissingMetadataFile(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	for key := range c.files.objects {
		delete(c.files.objects, key)
	}
	if got := c.call("GET", at, "").kind(); got != "404 NotFoundException" {
		t.Errorf("load: %s", got)
	}
	if got := c.call("POST", at, setProperty("a", "b")).kind(); got != "404 NotFoundException" {
		t.Errorf("commit: %s", got)
	}
	c.must("DELETE", at+"?purgeRequested=true", "")
}

func TestConfig(t *testing.T) {
	c := open(t, nil)
	var body struct {
		Defaults, Overrides map[string]string
		Endpoints           []string
	}
	if err := json.Unmarshal(c.must("GET", "/v1/config?warehouse=anything", "").raw, &body); err != nil {
		t.Fatal(err)
	}
	if body.Defaults == nil || body.Overrides == nil {
		t.Error("defaults and overrides must be objects")
	}
	// Every endpoint that is listed is served: a call gets another answer than
	// "no such endpoint".
	fill := strings.NewReplacer("{prefix}/", "", "{namespace}", "n", "{table}", "t", "{view}", "v")
	for _, endpoint := range body.Endpoints {
		method, path, _ := strings.Cut(endpoint, " ")
		got := c.call(method, fill.Replace(path), "{}")
		if got.status == 405 || strings.Contains(string(got.raw), "no such endpoint") {
			t.Errorf("%s: listed but answered %d", endpoint, got.status)
		}
	}
	if len(body.Endpoints) != 25 {
		t.Errorf("got %d endpoints, want 25", len(body.Endpoints))
	}
}
