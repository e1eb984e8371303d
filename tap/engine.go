package tap

import (
	"strings"

	"github.com/laketap/laketap"
)

// A client is one way in which a program names itself in a header.
type client struct {
	name string
	// prefix begins the header, in lower case; what follows, up to a space, a
	// parenthesis or a semicolon, is the version.
	prefix string
	// within, if set, must occur somewhere in the header, in lower case.
	within string
	// version, if set, is the text in front of the version instead of prefix.
	version string
	// foreign says that the version there is a library's and not the client's:
	// Polars tells that of its Rust crate, Daft that of an SDK.
	foreign bool
}

// atCatalog knows clients by the User-Agent of their catalog requests. The
// first row that fits wins.
var atCatalog = []client{
	{name: "duckdb", prefix: "duckdb/v"},
	{name: "duckdb", prefix: "duckdb/"},
	{name: "pyiceberg", prefix: "pyiceberg/"},
	{name: "clickhouse", prefix: "clickhouse/"},
	{name: "clickhouse", prefix: "clickhouse "},
	{name: "starrocks", prefix: "starrocks-iceberg-connector/"},
	{name: "iceberg-rust", prefix: "iceberg-rs/"},
	{name: "iceberg-go", prefix: "goiceberg/"},
	{name: "trino", prefix: "trino/"},
	{name: "spark", prefix: "spark/"},
	{name: "flink", prefix: "flink/"},
}

// atStorage knows engines by the User-Agent of their S3 requests. They win over
// the engine of the session: keys travel between the programs of one process
// (PyIceberg lends its to Polars), a User-Agent does not.
var atStorage = []client{
	// Iceberg's S3FileIO tells the engine where it runs in the driver;
	// executors mostly tell only the Iceberg version and fall to the session.
	{name: "spark", prefix: "s3fileio/{", within: "engine-name=spark", version: "engine-version="},
	{name: "flink", prefix: "s3fileio/{", within: "engine-name=flink", version: "engine-version="},
	{name: "kafka-connect", prefix: "s3fileio/{", within: "engine-name=kafka-connect", version: "engine-version="},
	{name: "trino", prefix: "aws-sdk-java/", within: "app/trino", version: "app/trino/"},
	{name: "duckdb", prefix: "duckdb/v"},
	{name: "duckdb", prefix: "duckdb/"},
	{name: "polars", prefix: "polars/", foreign: true},
	{name: "clickhouse", prefix: "clickhouse/"},
	{name: "clickhouse", prefix: "clickhouse "},
	{name: "starrocks", prefix: "starrocks", version: "starrocks/"},
	{name: "iceberg-rust", prefix: "iceberg-rs/"},
	{name: "boto3", prefix: "boto3/"},
	{name: "aws-cli", prefix: "aws-cli/"},
}

// sdks are libraries that many programs share: they name a client only where
// no session does.
var sdks = []client{
	{name: "s3fileio", prefix: "s3fileio/{", version: "iceberg-version=apache iceberg "},
	{name: "botocore", prefix: "botocore/"},
	{name: "aws-sdk-java", prefix: "aws-sdk-java/"},
	{name: "aws-sdk-cpp", prefix: "aws-sdk-cpp/"},
	{name: "aws-sdk-rust", prefix: "aws-sdk-rust/"},
	{name: "aws-sdk-go", prefix: "aws-sdk-go-v2/"},
	{name: "aws-sdk-go", prefix: "aws-sdk-go/"},
	{name: "aws-sdk-js", prefix: "aws-sdk-js/"},
	{name: "minio-go", prefix: "minio (", version: "minio-go/v"},
	{name: "object_store", prefix: "object_store/"},
	{name: "opendal", prefix: "opendal/"},
}

// borrowed tells programs apart that reach the catalog through PyIceberg: at
// the store each has an HTTP library of its own.
var borrowed = []client{
	{name: "polars", prefix: "polars/", foreign: true},
	{name: "daft", prefix: "aws-sdk-rust/", foreign: true},
	{name: "daft", prefix: "daft/"},
}

// EngineAtCatalog names the client of a catalog request by its User-Agent and
// X-Client-Version headers. Daft, Polars and DataFusion reach the catalog
// through PyIceberg and are only told apart at the store.
//
// Spark, Flink and Trino share Iceberg's Java client, which names only itself
// and its Java. Trino has asked for Java 23 and later since 2025, Spark and
// Flink run on 21 and earlier; the store tells more. X-Client-Version is the
// version of Iceberg, not of the engine, so none is given.
func EngineAtCatalog(userAgent, clientVersion string) laketap.Engine {
	if e, ok := find(atCatalog, userAgent); ok {
		return e
	}
	version := strings.ToLower(clientVersion)
	switch {
	case strings.HasPrefix(version, "apache iceberg ") && javaOf(userAgent) >= 23:
		return laketap.Engine{Name: "trino"}
	case strings.HasPrefix(version, "apache iceberg "):
		return laketap.Engine{Name: "spark"}
	case strings.HasPrefix(version, "pyiceberg "):
		return laketap.Engine{Name: "pyiceberg", Version: version[len("pyiceberg "):]}
	case strings.HasPrefix(strings.ToLower(userAgent), "apache-httpclient/") && javaOf(userAgent) >= 23:
		return laketap.Engine{Name: "trino"}
	}
	return laketap.Engine{}
}

// EngineAtStorage names the client of an S3 request by its User-Agent and the
// engine that its session was vended to (zero: a static key).
func EngineAtStorage(userAgent string, session laketap.Engine) laketap.Engine {
	if session.Name == "pyiceberg" {
		if e, ok := find(borrowed, userAgent); ok {
			return e
		}
		if userAgent == "" { // the S3 library of DataFusion names nobody
			return laketap.Engine{Name: "datafusion"}
		}
	}
	if e, ok := find(atStorage, userAgent); ok {
		if e.Version == "" && e.Name == session.Name {
			return session
		}
		return e
	}
	if session.Name != "" {
		return session
	}
	e, _ := find(sdks, userAgent)
	return e
}

// find returns what the first fitting row makes of a header.
func find(rows []client, header string) (laketap.Engine, bool) {
	lower := strings.ToLower(header)
	for _, c := range rows {
		if strings.HasPrefix(lower, c.prefix) && strings.Contains(lower, c.within) {
			return laketap.Engine{Name: c.name, Version: c.versionIn(lower)}, true
		}
	}
	return laketap.Engine{}, false
}

// versionIn reads the version out of a header in lower case.
func (c client) versionIn(lower string) string {
	if c.foreign {
		return ""
	}
	at := len(c.prefix)
	if c.version != "" {
		i := strings.Index(lower, c.version)
		if i < 0 {
			return ""
		}
		at = i + len(c.version)
	}
	rest := lower[at:]
	if end := strings.IndexAny(rest, " (;,}"); end >= 0 {
		rest = rest[:end]
	}
	if len(rest) > 32 || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return "" // a version begins with a digit; anything else is no version
	}
	return rest
}

// javaOf returns the Java release in "… (Java/25.0.1)", 0 if there is none.
func javaOf(userAgent string) int {
	_, rest, ok := strings.Cut(userAgent, "(Java/")
	if !ok {
		return 0
	}
	release := 0
	for _, c := range rest {
		if c < '0' || c > '9' || release > 1000 {
			break
		}
		release = release*10 + int(c-'0')
	}
	return release
}
