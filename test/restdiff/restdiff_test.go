package restdiff_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/restdiff"
	"github.com/laketap/laketap/test/upstream"
)

// repeats is how often a difference must be seen, the first time included.
const repeats = 3

func TestMain(m *testing.M) {
	whole := flag.Bool("whole", false, "every catalog, not only the quick ones")
	flag.Parse()
	all = *whole
	code := m.Run()
	if tally.Catalogs > 0 {
		fmt.Println(tally.String())
	}
	os.Exit(code)
}

// What TestMain and the test hand each other.
var (
	all   bool
	tally restdiff.Tally
)

// A catalog is one to test: how it is reached directly, and the Laketap for it.
type catalog struct {
	name  string
	whole bool // only where every catalog is tested
	start func(testing.TB) (restdiff.Target, laketap.Config)
}

func catalogs() []catalog {
	return []catalog{
		{name: "lake", start: localLake},
		{name: "fixture-vending", start: behind(upstream.Fixture{Vend: true}.Start, endpoint)},
		{name: "fixture", whole: true, start: behind(upstream.Fixture{}.Start, endpointAndKeys)},
		{name: "nessie", whole: true, start: behind(upstream.StartNessie, nil)},
	}
}

// client is what every client is told beside the URI.
func client(more map[string]string) map[string]string {
	properties := map[string]string{"io-impl": "org.apache.iceberg.aws.s3.S3FileIO"}
	maps.Copy(properties, more)
	return properties
}

func localLake(t testing.TB) (restdiff.Target, laketap.Config) {
	t.Helper()
	l := lake.Start(t)
	return restdiff.Target{URI: l.Catalog, Properties: client(nil), Locations: l.Warehouse + "/kit"}, laketap.InFrontOf(t, l)
}

// behind returns how to start a catalog over the store of a lake.
func behind(start func(testing.TB, *lake.Lake) *upstream.Server, keys func(*lake.Lake) map[string]string) func(testing.TB) (restdiff.Target, laketap.Config) {
	return func(t testing.TB) (restdiff.Target, laketap.Config) {
		t.Helper()
		l := lake.Start(t)
		s := start(t, l)
		more := map[string]string{"client.region": l.S3.Region}
		if keys != nil {
			maps.Copy(more, keys(l))
		}
		return restdiff.Target{URI: s.URI, Properties: client(more), Locations: s.Warehouse + "/kit"}, s.InFrontOf(t)
	}
}

// endpoint is for the client of a catalog that does not say where its store is.
func endpoint(l *lake.Lake) map[string]string {
	return map[string]string{"s3.endpoint": l.S3.Endpoint, "s3.path-style-access": "true"}
}

// endpointAndKeys is for the client of a catalog that vends no keys either.
func endpointAndKeys(l *lake.Lake) map[string]string {
	more := endpoint(l)
	more["s3.access-key-id"], more["s3.secret-access-key"] = l.Keys.ID, l.Keys.Secret
	return more
}

// The same catalog, directly and through Laketap, is told by its tests to be
// the same catalog.
func TestSameVerdicts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(process.Root(t), "test", "restdiff", "exceptions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	exceptions, err := restdiff.ParseExceptions(string(text))
	if err != nil {
		t.Fatalf("exceptions.txt: %v", err)
	}
	kit := restdiff.Build(t)
	for _, one := range catalogs() {
		if one.whole && !all {
			continue // make restdiff has them
		}
		t.Run(one.name, func(t *testing.T) { compare(t, kit, one, exceptions) })
	}
}

func compare(t *testing.T, kit restdiff.Kit, one catalog, exceptions restdiff.Exceptions) {
	t.Helper()
	began := time.Now()
	direct, through := runs(t, kit, one, nil)
	standing := restdiff.Differ(direct, through)
	for again := 1; again < repeats && len(standing) > 0; again++ {
		t.Logf("%s: again: %v", one.name, standing)
		direct, through := runs(t, kit, one, standing)
		standing = restdiff.Standing(standing, direct, through)
	}
	tally.Add(one.name, direct, through, standing, exceptions)
	t.Logf("%s: %d of %d passed directly (%d failed, %d skipped), %d through Laketap; %d differ; %v", one.name,
		direct.Count(restdiff.Passed), len(direct), direct.Count(restdiff.Failed), direct.Count(restdiff.Skipped),
		through.Count(restdiff.Passed), len(standing), time.Since(began).Round(time.Second))
	for _, test := range standing {
		reason, known := exceptions[one.name+" "+test]
		if !known {
			t.Errorf("%s: %s: %s directly, %s through Laketap", one.name, test, direct[test], through[test])
			continue
		}
		t.Logf("%s: %s: %s directly, %s through Laketap, for: %s", one.name, test, direct[test], through[test], reason)
	}
	for _, key := range tally.Stale {
		t.Logf("exceptions.txt: %s no longer differs", key)
	}
}

// runs runs the kits, or some of their tests, directly and through Laketap. Each
// run has a catalog to itself: what one leaves behind is no matter of another's.
func runs(t *testing.T, kit restdiff.Kit, one catalog, only []string) (direct, through restdiff.Verdicts) {
	t.Helper()
	t.Run("direct", func(t *testing.T) {
		target, _ := one.start(t)
		direct = kit.Run(t, target, only)
	})
	t.Run("through", func(t *testing.T) {
		target, config := one.start(t)
		server := laketap.Start(t, config)
		target.URI = server.Catalog
		through = kit.Run(t, target, only)
		// A client that finds a way around would find no difference.
		if n := len(server.Accesses(t)); n < len(through) {
			t.Errorf("%s: Laketap saw %d requests of %d tests", one.name, n, len(through))
		}
	})
	if direct == nil || through == nil {
		t.FailNow() // a run broke off, and has said why
	}
	return direct, through
}
