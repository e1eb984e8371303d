// Package oracletest holds lake/iceberg against iceberg-go, and measures the
// two side by side. It owns no code of the product: its module exists so that
// the library stays out of the product's go.mod.
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
//     and shows the entries that we read; see TestEngines of lake/iceberg.
//   - A spec with several partition fields that become an Avro fixed: iceberg-go
//     calls each of them "fixed" and cannot write it. PyIceberg declares such a
//     type once for each field that has it, which the Avro specification
//     forbids; as long as the declarations agree, nothing is unclear, and both
//     are read.
package oracletest
