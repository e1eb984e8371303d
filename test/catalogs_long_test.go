//go:build long

package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/upstream"
	"github.com/laketap/laketap/test/workload"
)

// The whole workload on Iceberg's reference catalog, which hands out its keys.
func TestLongFixture(t *testing.T) {
	text := slices.DeleteFunc(readWorkload(t, "workload.txt"), func(p workload.Paragraph) bool {
		return strings.Contains(p.Text, "a+b %2F ü") // its Jetty refuses escaped percent signs in a path
	})
	bare := upstream.Fixture{Vend: true}.Start(t, lake.Start(t))
	direct := runStarted(t, text, bare, startAs(t, ownSettings(bare, bare.URI)))
	bare.Process.Close()

	behind := upstream.Fixture{Vend: true}.Start(t, lake.Start(t))
	server := laketap.Start(t, behind.InFrontOf(t))
	compare(t, direct, runOn(t, text, behind, server.Catalog, engines.All()...))
	checkBehind(t, behind, server)
}

// Nessie as it comes, which signs for clients that can have that and gives keys
// to nobody. It passes untouched, for engines that have keys of their own; with
// authority, they need none.
func TestLongNessie(t *testing.T) {
	text := slices.DeleteFunc(readCatalogs(t), func(p workload.Paragraph) bool {
		return slices.ContainsFunc(nessieLacks, func(word string) bool { return strings.Contains(p.Text, word) })
	})
	bare := upstream.StartNessie(t, lake.Start(t))
	direct := runStarted(t, text, bare, startAs(t, withoutSpark(ownSettings(bare, bare.URI))))
	bare.Process.Close()

	t.Run("untouched", func(t *testing.T) {
		behind := upstream.StartNessie(t, lake.Start(t))
		server := laketap.Start(t, behind.InFrontOf(t))
		compare(t, direct, runStarted(t, text, behind, startAs(t, withoutSpark(ownSettings(behind, server.Catalog)))))
		checkUntouched(t, server)
		checkLeavesNothing(t, behind.Store(), server, nil)
		behind.Process.Close()
	})
	t.Run("under authority", func(t *testing.T) {
		behind := upstream.StartNessie(t, lake.Start(t))
		server := laketap.Start(t, underAuthority(t, behind))
		compare(t, direct, runOn(t, text, behind, server.Catalog, engines.DuckDB, engines.PyIceberg))
		checkBehind(t, behind, server)
	})
}

// nessieLacks are words of paragraphs that Nessie 0.99 cannot do, with or
// without Laketap: it answers 500 to PyIceberg's change of a schema, on which
// the next line rests, and tells of a table's newest snapshot alone.
var nessieLacks = []string{"update_schema", "'new'", "{snapshot"}

// checkUntouched checks that engines reached the catalog through Laketap, and
// the store without.
func checkUntouched(t *testing.T, s *laketap.Server) {
	t.Helper()
	byEngine := map[string]int{}
	for _, a := range s.Accesses(t) {
		byEngine[a.Engine]++
		if a.Tap == "storage" {
			t.Errorf("access %d at the storage tap, which nobody was led to: %+v", a.Seq, a)
		}
	}
	for _, name := range []string{engines.DuckDB, engines.PyIceberg} {
		if byEngine[name] == 0 {
			t.Errorf("no access of %s; all are %v", name, byEngine)
		}
	}
	if said, _ := laketap.Doctor(t, s); !strings.Contains(said, "vends no keys") {
		t.Errorf("doctor does not say that the catalog vends no keys:\n%s", said)
	}
}
