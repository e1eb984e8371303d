package upstream_test

import (
	"testing"

	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/upstream"
)

// Each catalog keeps a table in the lake's store, and hands out what it is
// said to: the catalog tests rest on these differences.
func TestCatalogs(t *testing.T) {
	store := lake.Start(t)
	for name, one := range map[string]struct {
		start func(testing.TB, *lake.Lake) *upstream.Server
		vends bool // keys of the store
	}{
		"fixture":              {upstream.Fixture{}.Start, false},
		"fixture with vending": {upstream.Fixture{Vend: true}.Start, true},
		"nessie":               {upstream.StartNessie, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := one.start(t, store)
			defer server.Process.Close() // one JVM at a time
			table := server.Client(server.URI).Create(t, "n", "t", "")
			if vends := table.Keys().Secret != ""; vends != one.vends {
				t.Errorf("the table comes with keys: %v, want %v:\n%s", vends, one.vends, table.Raw)
			}
		})
	}
}
