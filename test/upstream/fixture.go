package upstream

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/process"
)

// A Fixture says how Iceberg's reference catalog is to behave.
type Fixture struct {
	// Vend hands out the catalog's own keys with each table, whether or not the
	// client asks for them. Without it a loaded table has no config at all.
	Vend bool
}

// Start starts the reference catalog over the store of a lake. It keeps its
// names in a SQLite file, so that a test may start it again.
func (f Fixture) Start(t testing.TB, l *lake.Lake) *Server {
	t.Helper()
	port, uri := listen(t)
	warehouse := "s3://" + l.S3.Bucket + "/fixture"
	// The fixture reads its properties from the environment: CATALOG_A__B_C is
	// the property a-b.c.
	properties := map[string]string{
		"rest.port":            port,
		"uri":                  "jdbc:sqlite:" + filepath.Join(t.TempDir(), "catalog.db"),
		"jdbc.user":            "user",
		"jdbc.password":        "password",
		"warehouse":            warehouse,
		"io-impl":              "org.apache.iceberg.aws.s3.S3FileIO",
		"s3.endpoint":          l.S3.Endpoint,
		"s3.path-style-access": "true",
		"s3.access-key-id":     l.Keys.ID,
		"s3.secret-access-key": l.Keys.Secret,
		"client.region":        l.S3.Region,
	}
	if f.Vend {
		properties["include-credentials"] = "true"
	}
	return start(t, &Server{URI: uri, Warehouse: warehouse, store: l}, process.Command{
		Path: process.Java(t, 17),
		Args: append(small(), "-cp", filepath.Join(process.Installed(t, "fixture", "jars", "fixture"), "*"),
			"org.apache.iceberg.rest.RESTCatalogServer"),
		Env: environment(properties),
	})
}

// environment spells properties as variables of the environment.
func environment(properties map[string]string) []string {
	spell := strings.NewReplacer("-", "__", ".", "_")
	env := make([]string, 0, len(properties))
	for name, value := range properties {
		env = append(env, "CATALOG_"+strings.ToUpper(spell.Replace(name))+"="+value)
	}
	return env
}

// small are the flags of a JVM that starts quickly and stays small.
func small() []string {
	return []string{"-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}
}
