// Package iceberg owns what the metadata of an Iceberg table means: its
// schemas, partition specs, snapshots and refs, and which data and delete files
// each snapshot has.
//
// It implements of the Apache Iceberg table specification, versions 1 to 3:
//
//   - "Schemas and Data Types", version 3's types and default values (kept as
//     JSON) included, and "Column Projection" as far as the name mapping goes;
//   - "Partitioning": transforms, specs and their evolution; "Sorting";
//   - "Manifests", "Manifest Entry Fields" and all of data_file, with
//     "Sequence Number Inheritance" and "First Row ID Inheritance";
//   - "Snapshots", "Manifest Lists" and, in version 1, snapshots without one;
//   - "Table Metadata", "Table Statistics", "Partition Statistics", "Snapshot
//     References", "Encryption Keys" as far as to see that there are some;
//   - "Scan Planning" and the REST catalog's "Expression" as far as predicates go:
//     [ParsePredicate] binds one to field ids and gives it its normal form;
//   - "Delete Formats" as far as manifests describe delete files and deletion
//     vectors;
//   - Appendix A (Avro, "Field IDs") and C (JSON serialization).
//
// It refuses to do I/O of its own: files are opened through an [Opener] given
// from outside. It refuses to guess: what is missing or contradicts itself is
// an error where meaning would be lost, and members it does not know are passed
// over. It does not read data, delete, Puffin or encrypted files, and writes
// nothing. Memory and time are bounded by the bytes read and by [Options],
// whatever they claim.
package iceberg
