package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/fault"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
)

// A bench is Laketap, behind which a catalog fails on demand.
type bench struct {
	*testing.T
	faulty *fault.Catalog
	client catalog.Client // through Laketap
}

func newBench(t *testing.T) *bench {
	t.Helper()
	l := lake.Start(t)
	b := &bench{T: t, faulty: fault.InFrontOf(t, l.Catalog)}
	config := laketap.InFrontOf(t, l)
	config.Catalogs[0].URL = b.faulty.URI
	b.client = catalog.Client{URI: laketap.Start(t, config).Catalog}
	b.client.Create(t, "f", "raw", "")
	return b
}

// N9 and R2: whatever becomes of a commit, its client is told no more than is
// known, and it was sent on once.
func TestFailedCommits(t *testing.T) {
	b := newBench(t)
	for _, kind := range fault.Kinds() {
		b.statusOf(kind)
	}
}

// statusOf checks what a commit is told: that its outcome is unknown, where it
// is, and else what the catalog itself said.
func (b *bench) statusOf(kind fault.Kind) {
	b.Helper()
	b.faulty.Arm(kind, "/tables/raw")
	got, err := b.client.Do(b.Context(), http.MethodPost, "/v1/namespaces/f/tables/raw",
		`{"requirements":[],"updates":[{"action":"set-properties","updates":{"k":"v"}}]}`, nil)
	switch {
	case b.faulty.Failed() != 1:
		b.Errorf("%s: the commit was sent on %d times", kind.Name, b.faulty.Failed())
	case kind.Status != 0 && (err != nil || got.Status != kind.Status):
		b.Errorf("%s: a commit is told %d %s, %v; want %d", kind.Name, got.Status, got.Body, err, kind.Status)
	case kind.Status == 0 && err == nil && (got.Status == 409 || got.Status == 503 || got.Status/100 == 4):
		b.Errorf("%s: a commit of unknown outcome is told %d", kind.Name, got.Status)
	}
}

// N9 for transactions over several tables: a client is told that the outcome is
// unknown where it is, and all of it was done or nothing. DuckDB is not asked
// here: after a reset behind the commit it was seen to delete files that the
// commit names, told CommitStateUnknownException through Laketap and, directly,
// after a retry of its own that met 409.
func TestFailedTransactions(t *testing.T) {
	b := newBench(t)
	b.client.Create(t, "f", "two", "")
	change := func(table string, n int) string {
		return fmt.Sprintf(`{"identifier":{"namespace":["f"],"name":%q},"requirements":[],"updates":[{"action":"set-properties","updates":{"n%d":"done"}}]}`, table, n)
	}
	for n, kind := range fault.Kinds() {
		if strings.Contains(kind.Name, "body") || strings.Contains(kind.Name, "length") {
			continue // a transaction's answer has no body
		}
		b.faulty.Arm(kind, "/transactions/commit")
		got, err := b.client.Do(t.Context(), http.MethodPost, "/v1/transactions/commit", `{"table-changes":[`+change("raw", n)+","+change("two", n)+`]}`, nil)
		if err != nil || got.Status != kind.Status || b.faulty.Failed() != 1 {
			t.Errorf("%s: told %d, %v after %d failures; want %d", kind.Name, got.Status, err, b.faulty.Failed(), kind.Status)
		}
		for _, table := range []string{"raw", "two"} {
			if done := strings.Contains(string(b.client.Load(t, "f", table).Raw), fmt.Sprintf(`"n%d"`, n)); done != kind.Applied {
				t.Errorf("%s: done to %s: %v", kind.Name, table, done)
			}
		}
	}
}
