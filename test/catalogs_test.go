package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/upstream"
	"github.com/laketap/laketap/test/workload"
)

// Engines on catalogs of other makers. What they are answered through Laketap,
// where they know the URI alone, is what they are answered without; there they
// have to be told where the store is, for none of these catalogs says so.

// Iceberg's reference catalog, which hands out its own keys and nothing else, or
// nothing at all: then Laketap has authority for its warehouse.
func TestEnginesOnFixture(t *testing.T) {
	text := readCatalogs(t)
	bare := upstream.Fixture{Vend: true}.Start(t, lake.Start(t))
	direct := runStarted(t, text, bare, startAs(t, withoutSpark(ownSettings(bare, bare.URI))))
	bare.Process.Close()

	t.Run("vending", func(t *testing.T) {
		behind := upstream.Fixture{Vend: true}.Start(t, lake.Start(t))
		server := laketap.Start(t, behind.InFrontOf(t))
		compare(t, direct, runOn(t, text, behind, server.Catalog, engines.DuckDB, engines.PyIceberg))
		checkBehind(t, behind, server)
	})
	t.Run("under authority", func(t *testing.T) {
		behind := upstream.Fixture{}.Start(t, lake.Start(t))
		server := laketap.Start(t, underAuthority(t, behind))
		compare(t, direct, runOn(t, text, behind, server.Catalog, engines.DuckDB, engines.PyIceberg))
		checkBehind(t, behind, server)
	})
}

// checkBehind checks that nobody but the catalog itself went around the storage
// tap, whose accesses say whose they are, and that no trace is left.
func checkBehind(t *testing.T, behind *upstream.Server, server *laketap.Server) {
	t.Helper()
	accesses := server.Accesses(t)
	checkArrived(t, behind.Store(), accesses)
	for _, a := range accesses {
		checkAccess(t, a)
	}
	checkLeavesNothing(t, behind.Store(), server, accesses)
	behind.Process.Close() // one JVM at a time
}

// underAuthority returns the configuration of a Laketap that reads and writes
// what the catalog says yes to, with the store's keys.
func underAuthority(t *testing.T, s *upstream.Server) laketap.Config {
	t.Helper()
	config := s.InFrontOf(t)
	config.Storage.Authority, config.Storage.Roots, config.Storage.Write = "catalog", []string{s.Warehouse}, true
	config.Storage.Origins[0].AccessKeyID = s.Store().Keys.ID
	config.Storage.Origins[0].SecretFile = laketap.Secret(t, s.Store().Keys.Secret)
	return config
}

// readCatalogs reads the text for the engines that need no JVM.
func readCatalogs(t *testing.T) []workload.Paragraph {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(process.Root(t), "test", "testdata", "catalogs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	paragraphs, err := workload.ParseFor(string(text), []string{engines.DuckDB, engines.PyIceberg})
	if err != nil {
		t.Fatalf("catalogs.txt: %v", err)
	}
	return paragraphs
}

func withoutSpark(settings map[string]string) map[string]string {
	delete(settings, engines.Spark)
	return settings
}

// compare compares the answers of two runs.
func compare(t *testing.T, direct, through []workload.Entry) {
	t.Helper()
	if diff := cmp.Diff(direct, through); diff != "" {
		t.Errorf("answers (-direct +through Laketap):\n%s", diff)
	}
}

// ownSettings are how the engines are connected to a catalog without Laketap, if
// it does not say all they need: with the store's address and keys.
func ownSettings(s *upstream.Server, uri string) map[string]string {
	store, keys := s.Store().S3, s.Store().Keys
	properties := map[string]string{
		"s3.endpoint": store.Endpoint, "s3.path-style-access": "true",
		"s3.region": store.Region, "client.region": store.Region,
		"s3.access-key-id": keys.ID, "s3.secret-access-key": keys.Secret,
	}
	python, _ := json.Marshal(properties) // a map of strings is the same in Python
	return map[string]string{
		engines.Spark: sparkOn(uri, properties),
		engines.DuckDB: fmt.Sprintf(`CREATE SECRET (TYPE s3, KEY_ID '%s', SECRET '%s', REGION '%s', ENDPOINT '%s', URL_STYLE 'path', USE_SSL false);
			ATTACH '' AS lk (TYPE iceberg, ENDPOINT '%s', AUTHORIZATION_TYPE 'none', ACCESS_DELEGATION_MODE 'none')`,
			keys.ID, keys.Secret, store.Region, strings.TrimPrefix(store.Endpoint, "http://"), uri),
		engines.PyIceberg: fmt.Sprintf("from pyiceberg.catalog import load_catalog\ncatalog = load_catalog('lk', type='rest', uri='%s', **%s)", uri, python),
	}
}

// sparkOn is the command that starts Spark with a catalog and its properties.
func sparkOn(uri string, properties map[string]string) string {
	const catalog = "spark.sql.catalog.lk"
	var command strings.Builder
	command.WriteString("spark-sql --conf spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
	fmt.Fprintf(&command, " --conf %s=org.apache.iceberg.spark.SparkCatalog --conf %[1]s.type=rest --conf %[1]s.uri=%s --conf %[1]s.cache-enabled=false", catalog, uri)
	for name, value := range properties {
		fmt.Fprintf(&command, " --conf %s.%s=%s", catalog, name, value)
	}
	return command.String()
}

// startAs starts the engines that there are settings for.
func startAs(t *testing.T, settings map[string]string) map[string]*engines.Engine {
	t.Helper()
	on := map[string]*engines.Engine{}
	for _, c := range engines.Clients() {
		if text, ok := settings[c.Name]; ok {
			on[c.Name] = c.Start(t, text, "CATALOG=lk")
		}
	}
	return on
}

// runOn runs the text on engines that know a catalog by a URI alone.
func runOn(t *testing.T, text []workload.Paragraph, on *upstream.Server, uri string, names ...string) []workload.Entry {
	t.Helper()
	started := map[string]*engines.Engine{}
	for _, name := range names {
		started[name] = engines.Start(t, name, uri)
	}
	return runStarted(t, text, on, started)
}

// runStarted runs the text on engines and ends them.
func runStarted(t *testing.T, text []workload.Paragraph, on *upstream.Server, started map[string]*engines.Engine) []workload.Entry {
	t.Helper()
	entries := workload.Run(t, text, started, func(table string, n int) (int64, error) {
		return snapshotOf(t.Context(), on, table, n)
	})
	for _, engine := range started {
		engine.Close()
	}
	return entries
}

// snapshotOf returns the id of the nth snapshot of a table, counted from 1.
func snapshotOf(ctx context.Context, on *upstream.Server, table string, n int) (int64, error) {
	namespace, name, _ := strings.Cut(table, ".")
	answer, err := on.Client(on.URI).Do(ctx, http.MethodGet, "/v1/"+on.Prefix+"namespaces/"+url.PathEscape(namespace)+"/tables/"+url.PathEscape(name), "", nil)
	if err != nil {
		return 0, err
	}
	var loaded struct {
		Metadata struct {
			Snapshots []struct {
				ID int64 `json:"snapshot-id"`
			} `json:"snapshots"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(answer.Body, &loaded); err != nil {
		return 0, fmt.Errorf("read table %s: %w", table, err)
	}
	if n < 1 || n > len(loaded.Metadata.Snapshots) {
		return 0, fmt.Errorf("table %s has %d snapshots, not %d", table, len(loaded.Metadata.Snapshots), n)
	}
	return loaded.Metadata.Snapshots[n-1].ID, nil
}
