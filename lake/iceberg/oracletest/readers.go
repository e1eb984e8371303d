package oracletest

import (
	"context"

	peer "github.com/apache/iceberg-go"

	"github.com/laketap/laketap/lake/iceberg"
)

// Ours returns what our list reader would say of a manifest.
func Ours(m peer.ManifestFile) *iceberg.Manifest {
	first := int64(iceberg.None)
	if id := m.FirstRowID(); id != nil {
		first = *id
	}
	return &iceberg.Manifest{
		Path: m.FilePath(), Length: m.Length(), SpecID: int(m.PartitionSpecID()),
		Deletes:        m.ManifestContent() == peer.ManifestContentDeletes,
		SequenceNumber: m.SequenceNum(), MinSequenceNumber: m.MinSequenceNum(), SnapshotID: m.SnapshotID(),
		AddedFiles: int64(m.AddedDataFiles()), ExistingFiles: int64(m.ExistingDataFiles()), DeletedFiles: int64(m.DeletedDataFiles()),
		AddedRows: m.AddedRows(), ExistingRows: m.ExistingRows(), DeletedRows: m.DeletedRows(),
		FirstRowID: first,
	}
}

// A Reader reads all entries of a manifest and returns how many there are.
type Reader struct {
	Name string
	Read func(s *Sample) (int, error)
}

// Full are readers that decode all there is: ours, and iceberg-go.
func Full() [2]Reader {
	return [2]Reader{
		{"laketap", func(s *Sample) (int, error) { return readOurs(s, iceberg.WantAll) }},
		{"iceberg-go", func(s *Sample) (int, error) {
			n := 0
			for _, err := range s.Manifest.Entries(s.Files.FS(), false) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}},
	}
}

// Projected are readers that leave out statistics: ours, and iceberg-go.
func Projected() [2]Reader {
	return [2]Reader{
		{"laketap", func(s *Sample) (int, error) {
			return readOurs(s, iceberg.WantPartition|iceberg.WantSplits|iceberg.WantEqualityIDs)
		}},
		{"iceberg-go", func(s *Sample) (int, error) {
			n := 0
			for _, err := range peer.EntriesWithProjection(s.Files.FS(), s.Manifest, false, peer.ManifestEntryProjection{}) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}},
	}
}

// readOurs reads with our reader.
func readOurs(s *Sample, want iceberg.Want) (int, error) {
	n := 0
	for _, err := range iceberg.ReadManifest(context.Background(), Ours(s.Manifest), nil, s.Files, iceberg.Options{Want: want}) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
