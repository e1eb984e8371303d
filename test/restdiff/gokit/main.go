// Command gokit runs iceberg-go's conformance tests on the catalog whose URI is
// its only argument. It is a program and not a test, for it is no failure of
// ours what a catalog cannot do: what counts is whether it can do the same
// through Laketap.
package main

import (
	"context"
	"flag"
	"os"
	"regexp"
	"testing"

	icebergcatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/catalogtest"
	"github.com/apache/iceberg-go/catalog/rest"
)

func main() {
	uri := os.Args[1]
	// The rest of the arguments are those of any test program.
	os.Args = append(os.Args[:1], os.Args[2:]...)
	tests := []testing.InternalTest{{Name: "TestCatalog", F: func(t *testing.T) { run(t, uri) }}}
	testing.Init()
	flag.Parse()
	testing.Main(regexp.MatchString, tests, nil, nil)
}

// run runs the suite; every test gets a client of its own.
func run(t *testing.T, uri string) {
	t.Helper()
	catalogtest.RunCatalogTests(t, catalogtest.Config{
		SupportsNamespaceProperties: true,
		NewCatalog: func(t *testing.T) icebergcatalog.Catalog {
			t.Helper()
			client, err := rest.NewCatalog(context.WithoutCancel(t.Context()), "kit", uri)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() })
			return client
		},
	})
}
