// Package oracletest holds the tests and benchmarks of package parquet against
// other people's readers, arrow-go and parquet-go, and writes the files that
// they share. It owns no code that runs in the product, which cannot import it.
package oracletest
