// Package oracletest holds lake/iceberg against iceberg-go, and measures the
// two side by side. It owns no code of the product: its module exists so that
// the library stays out of the product's go.mod.
package oracletest
