package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamespaceErrors(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["there"],"properties":{"a":"1"}}`)
	c.must("POST", "/v1/namespaces", `{"namespace":["outer","inner"]}`)
	c.newTable("full", "t")
	tests := []struct{ name, method, path, body, want string }{
		{"create again", "POST", "/v1/namespaces", `{"namespace":["there"]}`, "409 AlreadyExistsException"},
		{"create without levels", "POST", "/v1/namespaces", `{"namespace":[]}`, "400 BadRequestException"},
		{"create with an empty level", "POST", "/v1/namespaces", `{"namespace":["a",""]}`, "400 BadRequestException"},
		{"create with a separator", "POST", "/v1/namespaces", `{"namespace":["a\u001fb"]}`, "400 BadRequestException"},
		{"create with a zero byte", "POST", "/v1/namespaces", `{"namespace":["a\u0000b"]}`, "400 BadRequestException"},
		{"load with a zero byte", "GET", "/v1/namespaces/a%00", "", "400 BadRequestException"},
		{"create from nonsense", "POST", "/v1/namespaces", `{"namespace":`, "400 BadRequestException"},
		{"create from another type", "POST", "/v1/namespaces", `{"namespace":"a"}`, "400 BadRequestException"},
		{"load missing", "GET", "/v1/namespaces/none", "", "404 NoSuchNamespaceException"},
		{"load with a bad escape", "GET", "/v1/namespaces/a%1F", "", "400 BadRequestException"},
		{"drop missing", "DELETE", "/v1/namespaces/none", "", "404 NoSuchNamespaceException"},
		{"drop with tables", "DELETE", "/v1/namespaces/full", "", "409 NamespaceNotEmptyException"},
		{"drop with children", "DELETE", "/v1/namespaces/outer", "", "409 NamespaceNotEmptyException"},
		{"list under missing", "GET", "/v1/namespaces?parent=none", "", "404 NoSuchNamespaceException"},
		{"properties of missing", "POST", "/v1/namespaces/none/properties", `{"updates":{"a":"b"}}`, "404 NoSuchNamespaceException"},
		{"update and remove one property", "POST", "/v1/namespaces/there/properties", `{"removals":["a"],"updates":{"a":"b"}}`, "422 UnprocessableEntityException"},
		{"tables of missing", "GET", "/v1/namespaces/none/tables", "", "404 NoSuchNamespaceException"},
		{"no such endpoint", "GET", "/v1/namespaces/there/functions", "", "404 NotFoundException"},
		{"no such method", "PUT", "/v1/namespaces/there", "", "405 BadRequestException"},
		{"bad page token", "GET", "/v1/namespaces?pageToken=x", "", "400 BadRequestException"},
		{"bad page size", "GET", "/v1/namespaces?pageToken=&pageSize=0", "", "400 BadRequestException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.call(tt.method, tt.path, tt.body).kind(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNamespaceLife(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["a"],"properties":{"x":"1","y":"2"}}`)
	if got := c.must("HEAD", "/v1/namespaces/a", "").status; got != 204 {
		t.Errorf("exists: got %d, want 204", got)
	}
	if got := c.call("HEAD", "/v1/namespaces/b", ""); got.status != 404 || len(got.raw) != 0 {
		t.Errorf("missing: got %d with body %q, want 404 without", got.status, got.raw)
	}
	got := string(c.must("POST", "/v1/namespaces/a/properties", `{"removals":["y","z"],"updates":{"x":"3","w":"4"}}`).raw)
	if want := `{"updated":["w","x"],"removed":["y"],"missing":["z"]}` + "\n"; got != want {
		t.Errorf("update: got %s, want %s", got, want)
	}
	got = string(c.must("GET", "/v1/namespaces/a", "").raw)
	if want := `{"namespace":["a"],"properties":{"w":"4","x":"3"}}` + "\n"; got != want {
		t.Errorf("load: got %s, want %s", got, want)
	}
	c.must("DELETE", "/v1/namespaces/a", "")
	if got := c.call("GET", "/v1/namespaces/a", "").kind(); got != "404 NoSuchNamespaceException" {
		t.Errorf("after drop: %s", got)
	}
}

// listed reads the namespaces of a listing, levels joined by a bar.
func listed(t *testing.T, a answer) ([]string, string) {
	t.Helper()
	var body struct {
		Namespaces [][]string `json:"namespaces"`
		Next       string     `json:"next-page-token"`
	}
	if err := json.Unmarshal(a.raw, &body); err != nil {
		t.Fatal(err)
	}
	if body.Namespaces == nil {
		t.Errorf("a listing has no list: %s", a.raw)
	}
	out := make([]string, 0, len(body.Namespaces))
	for _, levels := range body.Namespaces {
		out = append(out, strings.Join(levels, "|"))
	}
	return out, body.Next
}

func TestNestedNamespaces(t *testing.T) {
	c := open(t, nil)
	for _, body := range []string{`["a","b","c"]`, `["a","d.e"]`, `["a b"]`, `["a%1F"]`, `["ab","x"]`} {
		c.must("POST", "/v1/namespaces", `{"namespace":`+body+`}`)
	}
	tests := []struct {
		query string
		want  []string
	}{
		{"", []string{"a", "a b", "a%1F", "ab"}},
		{"?parent=a", []string{"a|b", "a|d.e"}},
		{"?parent=a%1Fb", []string{"a|b|c"}},
		{"?parent=a%1Fb%1Fc", []string{}},
		{"?parent=ab", []string{"ab|x"}},
	}
	for _, tt := range tests {
		got, _ := listed(t, c.must("GET", "/v1/namespaces"+tt.query, ""))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("list %q (-want +got):\n%s", tt.query, diff)
		}
	}
}

func TestPages(t *testing.T) {
	c := open(t, nil)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		c.must("POST", "/v1/namespaces", `{"namespace":["`+name+`"]}`)
	}
	var got []string
	token, pages := "", 0
	for {
		page, next := listed(t, c.must("GET", "/v1/namespaces?pageSize=2&pageToken="+token, ""))
		got = append(got, strings.Join(page, ","))
		if pages++; next == "" || pages > 5 {
			break
		}
		token = next
	}
	if diff := cmp.Diff([]string{"a,b", "c,d", "e"}, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	all, next := listed(t, c.must("GET", "/v1/namespaces?pageSize=2", ""))
	if len(all) != 5 || next != "" {
		t.Errorf("without a token: got %d of 5, next %q", len(all), next)
	}
}
