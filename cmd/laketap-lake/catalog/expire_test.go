package catalog_test

import (
	"fmt"
	"strconv"
	"testing"
)

// A table that asks for it keeps as many metadata files as its log names, one
// that does not keeps all of them, and a file that is another table's stays.
func TestDeleteAfterCommit(t *testing.T) {
	for name, one := range map[string]struct {
		properties string
		want       int
	}{
		"asked for":      {`{"write.metadata.delete-after-commit.enabled":"true","write.metadata.previous-versions-max":"2"}`, 3},
		"not asked for":  {`{"write.metadata.previous-versions-max":"2"}`, 7},
		"a long log":     {`{"write.metadata.delete-after-commit.enabled":"true"}`, 7},
		"no, in letters": {`{"write.metadata.delete-after-commit.enabled":"false","write.metadata.previous-versions-max":"2"}`, 7},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, nil)
			path := c.newTable("n", "t")
			c.must("POST", path, `{"updates":[{"action":"set-properties","updates":`+one.properties+`}]}`)
			for i := range 5 {
				c.must("POST", path, setProperty("n", strconv.Itoa(i)))
			}
			if got := c.files.count("warehouse/n/t-"); got != one.want {
				t.Errorf("%d metadata files, want %d", got, one.want)
			}
			if got := c.load(path).Metadata.Properties["n"]; got != "4" {
				t.Errorf("the table is at %s, want 4", got)
			}
		})
	}
}

func TestDeleteAfterCommitSparesOtherTables(t *testing.T) {
	c := open(t, nil)
	path := c.newTable("n", "t")
	first := c.load(path).MetadataLocation
	c.must("POST", "/v1/namespaces/n/register", fmt.Sprintf(`{"name":"other","metadata-location":%q}`, first))
	c.must("POST", path, `{"updates":[{"action":"set-properties","updates":{"write.metadata.delete-after-commit.enabled":"true","write.metadata.previous-versions-max":"1"}}]}`)
	for i := range 3 {
		c.must("POST", path, setProperty("n", strconv.Itoa(i)))
	}
	if got := c.load("/v1/namespaces/n/tables/other").MetadataLocation; got != first {
		t.Errorf("the other table is at %s, want %s", got, first)
	}
}
