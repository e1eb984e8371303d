package iceberg

import "github.com/laketap/laketap/lake/iceberg/internal/jsonscan"

// A Statistics is a Puffin file of statistics about a snapshot.
type Statistics struct {
	Snapshot   int64
	Path       string
	Size       int64
	FooterSize int64
	Encrypted  bool // it has key metadata
	Blobs      []Blob
}

// A Blob is what a statistics file holds, as the table's metadata tells it.
type Blob struct {
	Type           string
	Snapshot       int64
	SequenceNumber int64
	Fields         []int
	Properties     map[string]string
}

// parseStatistics parses a statistics file.
func parseStatistics(s *jsonscan.Scanner) Statistics {
	var st Statistics
	var m members
	s.Object(func(name string) {
		if s.Null() {
			return
		}
		switch m.see(name); name {
		case "snapshot-id":
			st.Snapshot = s.Int64()
		case "statistics-path":
			st.Path = s.String()
		case "file-size-in-bytes":
			st.Size = s.Int64()
		case "file-footer-size-in-bytes":
			st.FooterSize = s.Int64()
		case "key-metadata":
			st.Encrypted = true
			s.Skip()
		case "blob-metadata":
			s.Array(func(int) { st.Blobs = append(st.Blobs, parseBlob(s)) })
		default:
			s.Skip()
		}
	})
	m.need(s, "statistics", "snapshot-id", "statistics-path", "file-size-in-bytes",
		"file-footer-size-in-bytes", "blob-metadata")
	if s.Err() == nil && (st.Size < 0 || st.FooterSize < 0 || st.FooterSize > st.Size) {
		s.Failf("statistics file of %d bytes with a footer of %d", st.Size, st.FooterSize)
	}
	return st
}

// parseBlob parses what is said of a blob.
func parseBlob(s *jsonscan.Scanner) Blob {
	var b Blob
	var m members
	s.Object(func(name string) {
		if s.Null() {
			return
		}
		switch m.see(name); name {
		case "type":
			b.Type = s.String()
		case "snapshot-id":
			b.Snapshot = s.Int64()
		case "sequence-number":
			b.SequenceNumber = s.Int64()
		case "fields":
			b.Fields = parseInts(s)
		case "properties":
			b.Properties = parseStrings(s)
		default:
			s.Skip()
		}
	})
	m.need(s, "blob", "type", "snapshot-id", "sequence-number", "fields")
	return b
}

// A PartitionStatistics is a file of statistics by partition.
type PartitionStatistics struct {
	Snapshot int64
	Path     string
	Size     int64
}

// parsePartitionStatistics parses a file of statistics by partition.
func parsePartitionStatistics(s *jsonscan.Scanner) PartitionStatistics {
	var ps PartitionStatistics
	var m members
	s.Object(func(name string) {
		switch m.see(name); name {
		case "snapshot-id":
			ps.Snapshot = s.Int64()
		case "statistics-path":
			ps.Path = s.String()
		case "file-size-in-bytes":
			ps.Size = s.Int64()
		default:
			s.Skip()
		}
	})
	m.need(s, "partition statistics", "snapshot-id", "statistics-path", "file-size-in-bytes")
	if s.Err() == nil && ps.Size < 0 {
		s.Failf("partition statistics file of %d bytes", ps.Size)
	}
	return ps
}

// An EncryptionKey is a key as the table keeps it: itself encrypted. Its
// material is of no use here and is passed over.
type EncryptionKey struct {
	ID          string
	EncryptedBy string // key of the catalog or table that it is encrypted with
}

// parseEncryptionKey parses a key.
func parseEncryptionKey(s *jsonscan.Scanner) EncryptionKey {
	var k EncryptionKey
	var m members
	s.Object(func(name string) {
		if s.Null() {
			return
		}
		switch m.see(name); name {
		case "key-id":
			k.ID = s.String()
		case "encrypted-by-id":
			k.EncryptedBy = s.String()
		default:
			s.Skip()
		}
	})
	m.need(s, "encryption key", "key-id")
	return k
}
