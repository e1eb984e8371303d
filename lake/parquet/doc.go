// Package parquet owns the map of a Parquet file: which byte belongs to what.
// From the footer alone it tells, for every row group and column, where the
// chunk, its dictionary page, its page index and its Bloom filter lie, and how
// many rows, values and bytes they hold.
//
// It implements of the Apache Parquet format (parquet.thrift and the documents
// beside it, of August 2026, before 2.14):
//
//   - "File format": the magic numbers, the footer and its length;
//   - FileMetaData, SchemaElement, RowGroup, ColumnChunk and ColumnMetaData,
//     with the fields that place or size something; SizeStatistics,
//     GeospatialStatistics, PageEncodingStats and whatever a later version
//     adds are passed over;
//   - Statistics and ColumnOrder, decoded only when asked for;
//   - "Nested types" of LogicalTypes.md, rules for backward compatibility
//     included, as far as name mapping needs the logical path of a column;
//   - of "Modular encryption" only how to recognise it;
//
// and of Apache Thrift the compact protocol (thrift-compact-protocol.md).
//
// It refuses to do I/O of its own, to decode pages, page indexes or Bloom
// filters, and to guess: a footer that contradicts itself, points outside the
// file or is encrypted is an error, and a byte that the footer does not
// explain is [Unknown]. Memory and time are bounded by the length of the
// footer and by [Options], whatever its bytes claim.
package parquet
