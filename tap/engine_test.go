package tap_test

import (
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

func TestEngineAtCatalog(t *testing.T) {
	tests := []struct {
		name, userAgent, clientVersion string
		want                           laketap.Engine
	}{
		{"nothing", "", "", laketap.Engine{}},
		{"browser", "Mozilla/5.0 (X11; Linux x86_64)", "", laketap.Engine{}},
		{"spark", "Apache-HttpClient/5.6 (Java/17.0.17)", "Apache Iceberg 1.12.0 (commit 1234567)", laketap.Engine{Name: "spark"}},
		{"spark on java 21", "Apache-HttpClient/5.6 (Java/21.0.2)", "Apache Iceberg 1.11.0 (commit 1234567)", laketap.Engine{Name: "spark"}},
		{"spark with an agent of its own", "my-job", "Apache Iceberg 1.11.0", laketap.Engine{Name: "spark"}},
		{"trino", "Apache-HttpClient/5.5 (Java/25.0.1)", "Apache Iceberg 1.9.1 (commit 1234567)", laketap.Engine{Name: "trino"}},
		{"trino without the version header", "Apache-HttpClient/5.5 (Java/25.0.1)", "", laketap.Engine{Name: "trino"}},
		{"some java client", "Apache-HttpClient/5.5 (Java/17.0.1)", "", laketap.Engine{}},
		{"duckdb", "duckdb/v1.5.5(linux_amd64) python/3.11 abcdef", "", laketap.Engine{Name: "duckdb", Version: "1.5.5"}},
		{"duckdb without v", "duckdb/1.5.5", "", laketap.Engine{Name: "duckdb", Version: "1.5.5"}},
		{"pyiceberg", "PyIceberg/0.12.0", "PyIceberg 0.12.0", laketap.Engine{Name: "pyiceberg", Version: "0.12.0"}},
		{"pyiceberg by version header", "python-requests/2.32", "PyIceberg 0.12.0", laketap.Engine{Name: "pyiceberg", Version: "0.12.0"}},
		{"clickhouse", "ClickHouse/26.9.2.1", "", laketap.Engine{Name: "clickhouse", Version: "26.9.2.1"}},
		{"starrocks", "StarRocks-Iceberg-Connector/3.5.2", "Apache Iceberg 1.10.0", laketap.Engine{Name: "starrocks", Version: "3.5.2"}},
		{"iceberg-rust", "iceberg-rs/0.10.1", "0.14.1", laketap.Engine{Name: "iceberg-rust", Version: "0.10.1"}},
		{"iceberg-go", "GoIceberg/0.7.0", "0.14.1", laketap.Engine{Name: "iceberg-go", Version: "0.7.0"}},
		{"flink told by the user", "Flink/2.0", "Apache Iceberg 1.11.0", laketap.Engine{Name: "flink", Version: "2.0"}},
		{"spark told by the user", "Spark/4.1.4", "Apache Iceberg 1.11.0", laketap.Engine{Name: "spark", Version: "4.1.4"}},
		{"trino told by the user", "Trino/476", "", laketap.Engine{Name: "trino", Version: "476"}},
		{"no version", "duckdb/vnext", "", laketap.Engine{Name: "duckdb"}},
		{"java that is no number", "Apache-HttpClient/5.5 (Java/99999999999999999999)", "Apache Iceberg 1.9", laketap.Engine{Name: "trino"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tap.EngineAtCatalog(tt.userAgent, tt.clientVersion); got != tt.want {
				t.Errorf("EngineAtCatalog(%q, %q) = %v, want %v", tt.userAgent, tt.clientVersion, got, tt.want)
			}
		})
	}
}

func TestEngineAtStorage(t *testing.T) {
	var (
		none      laketap.Engine
		spark     = laketap.Engine{Name: "spark"}
		trino     = laketap.Engine{Name: "trino"}
		pyiceberg = laketap.Engine{Name: "pyiceberg", Version: "0.12.0"}
		duckdb    = laketap.Engine{Name: "duckdb", Version: "1.5.5"}
		ch        = laketap.Engine{Name: "clickhouse", Version: "26.9.2.1"}
		rocks     = laketap.Engine{Name: "starrocks", Version: "3.5.2"}
		icego     = laketap.Engine{Name: "iceberg-go", Version: "0.7.0"}
		icers     = laketap.Engine{Name: "iceberg-rust", Version: "0.10.1"}
	)
	const cpp = "aws-sdk-cpp/1.11.800 ua/2.1 api/S3 os/Linux#6.18 lang/c++#C++11"
	const rust = "aws-sdk-rust/1.3.14 ua/2.1 api/s3/1.120.0 os/linux lang/rust/1.92"
	tests := []struct {
		name, userAgent string
		session, want   laketap.Engine
	}{
		{"nothing", "", none, none},
		{"nothing but a session", "", duckdb, duckdb},
		{"spark driver", "s3fileio/{iceberg-version=Apache Iceberg 1.12.0 (commit 1), engine-name=spark, engine-version=4.1.4} aws-sdk-java/2.51.3", spark, laketap.Engine{Name: "spark", Version: "4.1.4"}},
		{"spark executor", "s3fileio/{iceberg-version=Apache Iceberg 1.12.0 (commit 1)} aws-sdk-java/2.51.3", spark, spark},
		{"flink", "s3fileio/{engine-name=flink,engine-version=2.0.1}", spark, laketap.Engine{Name: "flink", Version: "2.0.1"}},
		{"kafka connect", "s3fileio/{engine-name=kafka-connect,engine-version=4.0}", spark, laketap.Engine{Name: "kafka-connect", Version: "4.0"}},
		{"java iceberg with a static key", "s3fileio/{iceberg-version=Apache Iceberg 1.12.0 (commit 1)} aws-sdk-java/2.51.3", none, laketap.Engine{Name: "s3fileio", Version: "1.12.0"}},
		{"trino", "aws-sdk-java/2.31.51 md/io#sync os/Linux app/Trino", trino, trino},
		{"trino with a static key", "aws-sdk-java/2.31.51 md/io#sync os/Linux app/Trino", none, trino},
		{"duckdb", "duckdb/v1.5.5(linux_amd64) python", duckdb, duckdb},
		{"duckdb with a static key", "duckdb/v1.5.5(linux_amd64) python", none, duckdb},
		{"pyiceberg", cpp, pyiceberg, pyiceberg},
		{"daft", rust, pyiceberg, laketap.Engine{Name: "daft"}},
		{"polars", "polars/0.55", pyiceberg, laketap.Engine{Name: "polars"}},
		{"polars with a static key", "polars/0.55", none, laketap.Engine{Name: "polars"}},
		{"datafusion", "", pyiceberg, laketap.Engine{Name: "datafusion"}},
		{"clickhouse", "ClickHouse 26.9.2.1", ch, ch},
		{"clickhouse with a static key", "ClickHouse/26.9.2.1", none, ch},
		{"starrocks backend", cpp, rocks, rocks},
		{"iceberg-go", "aws-sdk-go-v2/1.48.0 ua/2.1 os/linux lang/go#1.26.8", icego, icego},
		{"iceberg-rust", "opendal/0.55", icers, icers},
		{"boto3", "Boto3/1.43.117 md/Botocore#1.43.117 ua/2.1 os/linux#6.18", none, laketap.Engine{Name: "boto3", Version: "1.43.117"}},
		{"boto3 with keys of another engine", "Boto3/1.43.117 md/Botocore#1.43.117", duckdb, laketap.Engine{Name: "boto3", Version: "1.43.117"}},
		{"botocore", "Botocore/1.43.117 ua/2.1", none, laketap.Engine{Name: "botocore", Version: "1.43.117"}},
		{"aws cli", "aws-cli/2.9.19 Python/3.11.2 Linux/6.18", none, laketap.Engine{Name: "aws-cli", Version: "2.9.19"}},
		{"java", "aws-sdk-java/2.31.51 md/io#sync", none, laketap.Engine{Name: "aws-sdk-java", Version: "2.31.51"}},
		{"cpp", cpp, none, laketap.Engine{Name: "aws-sdk-cpp", Version: "1.11.800"}},
		{"rust", rust, none, laketap.Engine{Name: "aws-sdk-rust", Version: "1.3.14"}},
		{"go v2", "aws-sdk-go-v2/1.48.0 ua/2.1", none, laketap.Engine{Name: "aws-sdk-go", Version: "1.48.0"}},
		{"go v1", "aws-sdk-go/1.55.0 (go1.26)", none, laketap.Engine{Name: "aws-sdk-go", Version: "1.55.0"}},
		{"js", "aws-sdk-js/3.900.0", none, laketap.Engine{Name: "aws-sdk-js", Version: "3.900.0"}},
		{"minio", "MinIO (linux; amd64) minio-go/v7.4.1", none, laketap.Engine{Name: "minio-go", Version: "7.4.1"}},
		{"object_store", "object_store/0.13.0", none, laketap.Engine{Name: "object_store", Version: "0.13.0"}},
		{"opendal", "opendal/0.55.0", none, laketap.Engine{Name: "opendal", Version: "0.55.0"}},
		{"curl", "curl/8.5", none, none},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tap.EngineAtStorage(tt.userAgent, tt.session); got != tt.want {
				t.Errorf("EngineAtStorage(%q, %v) = %v, want %v", tt.userAgent, tt.session, got, tt.want)
			}
		})
	}
}
