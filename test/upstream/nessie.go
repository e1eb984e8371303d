package upstream

import (
	"testing"

	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/process"
)

// nessieJava is the oldest Java that Nessie 0.99 runs on.
const nessieJava = 21

// StartNessie starts Nessie over the store of a lake, as it comes: its clients
// get no keys but have their requests signed by the catalog, and its answer to
// /v1/config says where it is and how the store is reached. It forgets its
// tables when it ends.
func StartNessie(t testing.TB, l *lake.Lake) *Server {
	t.Helper()
	port, address := listen(t)
	warehouse := "s3://" + l.S3.Bucket + "/nessie"
	const s3 = "nessie.catalog.service.s3.default-options."
	args := small()
	for name, value := range map[string]string{
		"quarkus.http.host":          "127.0.0.1",
		"quarkus.http.port":          port,
		"quarkus.management.enabled": "false",
		"quarkus.otel.sdk.disabled":  "true",

		"nessie.version.store.type":               "IN_MEMORY",
		"nessie.catalog.default-warehouse":        "lake",
		"nessie.catalog.warehouses.lake.location": warehouse,
		s3 + "endpoint":                           l.S3.Endpoint + "/",
		s3 + "path-style-access":                  "true",
		s3 + "region":                             l.S3.Region,
		s3 + "access-key":                         "urn:nessie-secret:quarkus:store",
		"store.name":                              l.Keys.ID,
		"store.secret":                            l.Keys.Secret,
	} {
		args = append(args, "-D"+name+"="+value)
	}
	return start(t, &Server{URI: address + "/iceberg", Warehouse: warehouse, store: l}, process.Command{
		Path: process.Java(t, nessieJava),
		Args: append(args, "-jar", process.Installed(t, "nessie", "nessie", "nessie.jar")),
	})
}
