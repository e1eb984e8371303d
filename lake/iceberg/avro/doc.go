// Package avro owns reading Avro object container files by the schema they were
// written with: what the caller wants is decoded in place, the rest is passed
// over without being built.
//
// It implements of the Apache Avro specification (1.12): "Schema Declaration"
// (primitive and complex types, names and namespaces, aliases and defaults
// passed over), "Binary encoding" of data, and "Object Container Files" with
// the codecs null, deflate, snappy with its checksum, and zstandard.
//
// It refuses to resolve schemas, to guess at an unknown codec, and to trust a
// length: nothing is allocated for bytes that have not come, schemas and data
// are bounded in size and depth by [Limits], and the work on a block is bounded
// by its bytes, whatever its counts claim.
package avro
