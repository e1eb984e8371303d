// Package oracletest holds lake/iceberg against iceberg-go, and measures the
// two side by side. It owns no code of the product: its module exists so that
// the library stays out of the product's go.mod.
//
// The tables in testdata are written by Spark, Trino, PyIceberg, Daft, DuckDB
// and ClickHouse; what none of them writes (equality deletes, default values),
// by the Java library. Of what Iceberg has, that leaves to generated files:
// partitions by fixed, encrypted manifests, types of version 3 in partitions.
//
// Where the two differ, the Java library was asked, which the specification
// was written after:
//
//   - Version 1 metadata with a list of schemas or specs but no current id:
//     iceberg-go takes the old schema or spec. Java's TableMetadataParser
//     requires the id ("required when the schema array is present"), and so do
//     we; see TestTheirFiles.
//   - Manifests of version 2 whose header lacks "content", as ClickHouse writes
//     them: iceberg-go refuses them. Spark reads them by what their list says,
//     and shows the entries that we read; see TestEngines of lake/iceberg. Once
//     the word is added for iceberg-go, the two are equal, partitions included.
//   - Partition values of type fixed, as the Java library 1.12 writes them: a
//     length comes before them that the schema in the same file does not say.
//     Neither of the two reads such a manifest, nor should it, whatever Java's
//     own reader forgives; see TestJavaFixed of lake/iceberg.
//   - A spec with several partition fields that become an Avro fixed: iceberg-go
//     calls each of them "fixed" and cannot write it. PyIceberg declares such a
//     type once for each field that has it, which the Avro specification
//     forbids; as long as the declarations agree, nothing is unclear, and both
//     are read.
package oracletest
