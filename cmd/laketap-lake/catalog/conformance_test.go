package catalog_test

import (
	"net/http"
	"testing"

	icebergcatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/catalogtest"
	"github.com/apache/iceberg-go/catalog/rest"
)

// The suite of iceberg-go, through its REST client: a second reading of the
// protocol than ours.
func TestConformance(t *testing.T) {
	catalogtest.RunCatalogTests(t, catalogtest.Config{
		SupportsNamespaceProperties: true,
		NewCatalog: func(t *testing.T) icebergcatalog.Catalog {
			c := open(t, nil)
			transport := &http.Transport{}
			t.Cleanup(transport.CloseIdleConnections)
			remote, err := rest.NewCatalog(t.Context(), "lake", c.url, rest.WithCustomTransport(transport))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := remote.Close(); err != nil {
					t.Error(err)
				}
			})
			return remote
		},
	})
}
