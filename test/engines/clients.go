package engines

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Engines that only [Connect] starts.
const (
	Trino      = "trino"
	ClickHouse = "clickhouse"
	Polars     = "polars"
	Daft       = "daft"
	DataFusion = "datafusion"
	Fsspec     = "fsspec" // PyIceberg whose files are read by s3fs instead of Arrow
)

// A Client is an engine that is connected by what `laketap connect` prints.
type Client struct {
	Name    string
	Connect []string // the arguments of `laketap connect`
	script  string   // "": as the name
	env     []string

	// AtStore are the names that its requests may have at the store, its own
	// first, which one of its reads must have; AtCatalog is its name there.
	// Whatever resolves tables by PyIceberg is PyIceberg at the catalog, and
	// at the store while it reads manifests.
	AtStore   []string
	AtCatalog string
}

// Clients returns all engines that Laketap prints settings for, in the order
// in which they write: later ones need what earlier ones make.
func Clients() []Client {
	return []Client{
		{Name: PyIceberg, Connect: []string{"pyiceberg"}, AtStore: []string{PyIceberg}, AtCatalog: PyIceberg},
		{Name: Spark, Connect: []string{"spark"}, AtStore: []string{Spark}, AtCatalog: Spark},
		{Name: Trino, Connect: []string{"trino"}, AtStore: []string{Trino}, AtCatalog: Trino},
		{Name: DuckDB, Connect: []string{"duckdb"}, AtStore: []string{DuckDB}, AtCatalog: DuckDB},
		{
			Name: Fsspec, Connect: []string{"pyiceberg"}, script: PyIceberg, AtStore: []string{PyIceberg}, AtCatalog: PyIceberg,
			env: []string{"PYICEBERG_CATALOG__LAKE__PY_IO_IMPL=pyiceberg.io.fsspec.FsspecFileIO"},
		},
		{Name: Polars, Connect: []string{"polars"}, AtStore: []string{Polars, PyIceberg}, AtCatalog: PyIceberg},
		{Name: Daft, Connect: []string{"daft"}, AtStore: []string{Daft, PyIceberg}, AtCatalog: PyIceberg},
		{Name: DataFusion, Connect: []string{"datafusion"}, AtStore: []string{DataFusion, PyIceberg}, AtCatalog: PyIceberg},
		// It wants a warehouse even of a catalog that has only one.
		{Name: ClickHouse, Connect: []string{"clickhouse", "--warehouse", "lake"}, AtStore: []string{ClickHouse}, AtCatalog: ClickHouse},
	}
}

// Names returns the names of clients.
func Names(clients []Client) []string {
	names := make([]string, 0, len(clients))
	for _, c := range clients {
		names = append(names, c.Name)
	}
	return names
}

// Start starts the engine with what `laketap connect` printed, and waits until
// it is ready; it ends with the test. Settings beside these are the
// environment's, and those of the test alone.
func (c Client) Start(t testing.TB, printed string, env ...string) *Engine {
	t.Helper()
	file := filepath.Join(t.TempDir(), "connect.txt")
	if err := os.WriteFile(file, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	script := c.script
	if script == "" {
		script = c.Name
	}
	return start(t, c.Name, command(t, script, slices.Concat([]string{"CONNECT=" + file, "CATALOG=lake"}, c.env, env)...))
}
