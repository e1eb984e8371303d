package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/workload"
)

// The first promise: with Laketap, a query returns what it returns without.
// The same text runs on two lakes, once directly and once through Laketap;
// engines differ by the catalog's URI alone. The run through Laketap is then
// looked at from both sides: what reached the store is what the tap recorded.
func TestSameAnswer(t *testing.T) {
	text := readWorkload(t, "workload.txt")

	bare := lake.Start(t)
	direct := runWorkload(t, text, bare, bare.Catalog)

	behind := lake.Start(t)
	server := laketap.Start(t, laketap.InFrontOf(t, behind))
	through := runWorkload(t, text, behind, server.Catalog)

	for _, name := range engines.All() {
		differBySettingAlone(t, name, bare.Catalog, server.Catalog)
	}
	if diff := cmp.Diff(direct, through); diff != "" {
		t.Errorf("answers (-direct +through Laketap):\n%s", diff)
	}
	checkCoverage(t, behind, server)
	checkLeavesNothing(t, behind, server, server.Accesses(t))
}

// The same promise with the cache on: engines read what others wrote and read
// before them, from memory and disk, and the answers stay what they were.
func TestSameAnswerFromCache(t *testing.T) {
	text := readWorkload(t, "workload.txt")

	bare := lake.Start(t)
	direct := runWorkload(t, text, bare, bare.Catalog)

	behind := lake.Start(t)
	config := laketap.InFrontOf(t, behind)
	config.Mode = "accelerate"
	server := laketap.Start(t, config)
	through := runWorkload(t, text, behind, server.Catalog)

	if diff := cmp.Diff(direct, through); diff != "" {
		t.Errorf("answers (-direct +through Laketap's cache):\n%s", diff)
	}
	from := map[string]int64{}
	for _, a := range server.Accesses(t) {
		if a.Tap == "storage" && a.Status/100 == 2 {
			from[a.Served] += a.BytesOut
		}
	}
	t.Logf("bytes served: %v", from)
	if from["memory"]+from["disk"] == 0 {
		t.Error("nothing was reused")
	}
}

// differBySettingAlone checks that an engine is started the same way for both
// URIs, but for the URI: command, arguments and environment.
func differBySettingAlone(t *testing.T, name, direct, through string) {
	t.Helper()
	want, got := engines.Command(t, name, direct), engines.Command(t, name, through)
	differing := 0
	for i, setting := range want.Env {
		if setting != got.Env[i] {
			differing++
		}
		if setting != got.Env[i] && (setting != "CATALOG_URI="+direct || got.Env[i] != "CATALOG_URI="+through) {
			t.Errorf("%s: environment differs: %q and %q", name, setting, got.Env[i])
		}
	}
	want.Env, got.Env = want.Env[:len(got.Env)], want.Env
	if diff := cmp.Diff(want, got); diff != "" || differing != 1 {
		t.Errorf("%s: %d settings differ, want the URI alone:\n%s", name, differing, diff)
	}
}

// runWorkload runs the text on all engines, which know the lake by a URI.
func runWorkload(t *testing.T, text []workload.Paragraph, l *lake.Lake, uri string) []workload.Entry {
	t.Helper()
	began := time.Now()
	on := map[string]*engines.Engine{}
	for _, name := range engines.All() {
		on[name] = engines.Start(t, name, uri)
	}
	entries := workload.Run(t, text, on, func(table string, n int) (int64, error) {
		return l.Snapshot(t.Context(), table, n)
	})
	for _, engine := range on {
		engine.Close() // both runs at once would be two JVMs
	}
	t.Logf("%d answers from %s in %v", len(entries), uri, time.Since(began).Round(time.Second))
	return entries
}

func readWorkload(t *testing.T, name string) []workload.Paragraph {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(process.Root(t), "test", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	paragraphs, err := workload.Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return paragraphs
}
