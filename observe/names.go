package observe

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
)

// liveNames are the files that one manifest, manifest list or table metadata
// names. They do not change; the snapshot does, as newer ones take them over.
type liveNames struct {
	files    []liveFile
	vectors  []liveVector
	snapshot atomic.Int64 // the newest that names them; 0: none
}

// A liveFile is a file that something names.
type liveFile struct {
	hash      uint64
	size      int64  // bytes; -1: not stated
	rows      int64  // -1: not stated
	partition string // as in laketap.File
	part      laketap.PartKind
	format    fileFormat
}

// A liveVector is where a deletion vector lies in a Puffin file.
type liveVector struct {
	hash   uint64
	extent laketap.Extent
}

// A livePlace is where a file is named.
type livePlace struct {
	names *liveNames
	at    int
}

func (p livePlace) file() *liveFile { return &p.names.files[p.at] }

// A fileFormat is how a data or delete file is written.
type fileFormat uint8

const (
	noFormat fileFormat = iota
	parquetFormat
	orcFormat
	avroFormat
	puffinFormat
)

var formatNames = [...]string{"", "parquet", "orc", "avro", "puffin"}

// String returns the word that the API has.
func (f fileFormat) String() string { return formatNames[f] }

// formatOf returns the format that a manifest states.
func formatOf(f iceberg.Format) fileFormat {
	return fileFormat(max(0, slices.Index(formatNames[:], strings.ToLower(string(f)))))
}

// partOf says what the bytes of a data or delete file are, as long as there is
// no map of it.
func partOf(f *iceberg.File) laketap.PartKind {
	switch {
	case f.IsVector():
		return laketap.DeletionVectorPart
	case f.Content != iceberg.Data:
		return laketap.DeleteFilePart
	}
	return laketap.DataPart
}

// add notes a file of a manifest.
func (n *liveNames) add(hash uint64, e *iceberg.Entry, partitions map[string]string) {
	partition := partitionText(e.Partition)
	if shared, ok := partitions[partition]; ok {
		partition = shared
	} else {
		partitions[partition] = partition
	}
	n.files = append(n.files, liveFile{hash: hash, size: e.Size, rows: e.Records, partition: partition, part: partOf(&e.File), format: formatOf(e.Format)})
	if e.IsVector() && e.ContentOffset >= 0 && e.ContentSize > 0 {
		n.vectors = append(n.vectors, liveVector{hash, laketap.Extent{Off: e.ContentOffset, Len: e.ContentSize}})
	}
}

// contentOf returns what a file of such parts is to a table.
func contentOf(part laketap.PartKind) laketap.FileContent {
	switch part {
	case laketap.DataPart:
		return laketap.DataContent
	case laketap.DeleteFilePart, laketap.DeletionVectorPart:
		return laketap.DeleteContent
	case laketap.UnknownPart:
		return laketap.UnknownContent
	}
	return laketap.MetadataContent
}

// A namedFile is a file as a table's metadata names it.
type namedFile struct {
	file     laketap.File
	part     laketap.PartKind
	snapshot int64            // the newest that has it
	vectors  []laketap.Extent // of a Puffin file, ascending
}

// file returns what the metadata of a table says of an object.
func (l *Live) file(table laketap.TableID, name laketap.ObjectName) (namedFile, bool) {
	hash := l.hash(name.Bucket, name.Key)
	l.mu.RLock()
	defer l.mu.RUnlock()
	t := l.tables[table]
	if t == nil || t.seen.Origin != name.Origin {
		return namedFile{}, false
	}
	at, ok := t.files[hash]
	if !ok {
		return namedFile{}, false
	}
	f := at.file()
	known := namedFile{
		file: laketap.File{
			Object:  laketap.Object{ObjectName: name, Size: f.size},
			Content: contentOf(f.part), Format: f.format.String(), Rows: f.rows, Partition: f.partition,
		},
		part: f.part, snapshot: at.names.snapshot.Load(),
	}
	for _, v := range at.names.vectors {
		if v.hash == hash {
			known.vectors = append(known.vectors, v.extent)
		}
	}
	slices.SortFunc(known.vectors, byOffset)
	return known, true
}

// mapping returns the table's name mapping; nil maps nothing.
func (l *Live) mapping(table laketap.TableID) *iceberg.NameMapping {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if t := l.tables[table]; t != nil {
		return t.names
	}
	return nil
}

// byOffset orders extents.
func byOffset(a, b laketap.Extent) int { return cmp.Compare(a.Off, b.Off) }

// knows reports whether anything is known of a table.
func (l *Live) knows(table laketap.TableID) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.tables[table] != nil
}
