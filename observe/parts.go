package observe

import (
	"path"
	"slices"
	"strings"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
)

// split says what the bytes of a file were that were written to an engine: the
// first n of a range. What it returns sums up to n, whatever the file is and
// whatever its layout claims.
func split(asked laketap.Extent, n int64, f *namedFile, layout *parquet.Layout) []laketap.PartBytes {
	if n <= 0 {
		return nil
	}
	got := laketap.Extent{Off: asked.Off, Len: min(n, max(asked.Len, 0))}
	var parts []laketap.PartBytes
	switch {
	case layout != nil:
		parts = splitLayout(got, layout)
	case f.part == laketap.DeletionVectorPart:
		parts = splitVectors(got, f.vectors)
	default:
		whole := laketap.Extent{Len: max(f.file.Object.Size, got.Off+got.Len)}
		parts = appendPart(nil, got, laketap.Part{Kind: f.part, RowGroup: -1, Extent: whole})
	}
	return complete(parts, asked.Off, n)
}

// appendPart adds as much of a part as lies in a range, if any does.
func appendPart(parts []laketap.PartBytes, got laketap.Extent, p laketap.Part) []laketap.PartBytes {
	from, to := max(got.Off, p.Extent.Off), min(got.Off+got.Len, p.Extent.Off+p.Extent.Len)
	if to <= from {
		return parts
	}
	return append(parts, laketap.PartBytes{Part: p, Bytes: to - from, First: from == p.Extent.Off})
}

// splitLayout splits a range of a Parquet file by its map.
func splitLayout(got laketap.Extent, layout *parquet.Layout) []laketap.PartBytes {
	var parts []laketap.PartBytes
	for p := range layout.Parts(got) {
		part := laketap.Part{Kind: kindOf(p.Kind), RowGroup: p.RowGroup, Field: max(p.Field, 0), Extent: p.Extent}
		if p.Kind == parquet.ColumnChunk {
			// The dictionary is a part of its own.
			if d := layout.Chunk(p.RowGroup, p.Column).Dictionary; d.Len > 0 {
				end := part.Extent.Off + part.Extent.Len
				part.Extent = laketap.Extent{Off: d.Off + d.Len, Len: end - d.Off - d.Len}
			}
		}
		parts = appendPart(parts, got, part)
	}
	return parts
}

// kindOf names a part of a Parquet file.
func kindOf(k parquet.Kind) laketap.PartKind {
	switch k {
	case parquet.Magic, parquet.Footer:
		return laketap.FooterPart
	case parquet.ColumnChunk:
		return laketap.ColumnChunkPart
	case parquet.Dictionary:
		return laketap.DictionaryPart
	case parquet.ColumnIndex:
		return laketap.ColumnIndexPart
	case parquet.OffsetIndex:
		return laketap.OffsetIndexPart
	case parquet.BloomFilter:
		return laketap.BloomFilterPart
	}
	return laketap.UnknownPart
}

// splitVectors splits a range of a Puffin file into its deletion vectors and
// what lies around them.
func splitVectors(got laketap.Extent, vectors []laketap.Extent) []laketap.PartBytes {
	var parts []laketap.PartBytes
	off, end := got.Off, got.Off+got.Len
	around := func(to int64) {
		gap := laketap.Extent{Off: off, Len: to - off}
		parts = appendPart(parts, gap, laketap.Part{Kind: laketap.DeleteFilePart, RowGroup: -1, Extent: gap})
	}
	for _, v := range vectors {
		if v.Off < off && v.Off+v.Len <= off || v.Off >= end {
			continue
		}
		from := max(off, v.Off)
		around(from)
		rest := laketap.Extent{Off: from, Len: end - from}
		parts = appendPart(parts, rest, laketap.Part{Kind: laketap.DeletionVectorPart, RowGroup: -1, Extent: v})
		off = max(off, min(end, v.Off+v.Len))
	}
	around(end)
	return parts
}

// complete adds what is missing up to n bytes as unknown, and takes off what
// is too much, so that nothing that is wrong in a file makes bytes of none.
func complete(parts []laketap.PartBytes, off, n int64) []laketap.PartBytes {
	var sum int64
	for i := range parts {
		parts[i].Bytes = min(parts[i].Bytes, n-sum)
		sum += parts[i].Bytes
	}
	parts = slices.DeleteFunc(parts, func(p laketap.PartBytes) bool { return p.Bytes <= 0 })
	if sum < n {
		rest := laketap.Extent{Off: off + sum, Len: n - sum}
		parts = append(parts, laketap.PartBytes{Part: laketap.Part{Kind: laketap.UnknownPart, RowGroup: -1, Extent: rest}, Bytes: rest.Len})
	}
	return parts
}

// guess says by its name what an object of no known table is, or one whose
// manifest has not been seen.
func guess(name laketap.ObjectName, size int64) namedFile {
	f := namedFile{file: laketap.File{Object: laketap.Object{ObjectName: name, Size: size}, Rows: -1}}
	switch base := path.Base(name.Key); {
	case strings.HasSuffix(base, ".metadata.json"), strings.HasSuffix(base, ".metadata.json.gz"), strings.HasSuffix(base, ".gz.metadata.json"):
		f.part = laketap.TableMetadataPart
	case strings.HasSuffix(base, ".avro") && strings.HasPrefix(base, "snap-"):
		f.part = laketap.ManifestListPart
	case strings.HasSuffix(base, ".avro") && strings.Contains(name.Key, "/metadata/"):
		f.part = laketap.ManifestPart
	case strings.HasSuffix(base, ".stats"):
		f.part = laketap.StatisticsPart
	case strings.HasSuffix(base, ".parquet"):
		f.part, f.file.Format = laketap.DataPart, parquetFormat.String()
	case strings.HasSuffix(base, ".orc"):
		f.part, f.file.Format = laketap.DataPart, orcFormat.String()
	}
	if f.part != laketap.DataPart {
		f.file.Content = contentOf(f.part)
	}
	return f
}
