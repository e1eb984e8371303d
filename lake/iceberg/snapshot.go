package iceberg

import "github.com/laketap/laketap/lake/iceberg/internal/jsonscan"

// None is what stands where an id, count or number is not there.
const None = -1

// A Snapshot is one state of a table.
type Snapshot struct {
	ID             int64
	Parent         int64 // None if it has none
	SequenceNumber int64 // 0 in version 1
	Timestamp      int64 // milliseconds since 1970
	ManifestList   string
	Manifests      []string // in place of a list, in version 1
	Operation      string   // append, replace, overwrite or delete; "" if not told
	Summary        map[string]string
	SchemaID       int    // None if not told
	FirstRowID     int64  // None before version 3
	AddedRows      int64  // None before version 3
	KeyID          string // key that encrypts the manifest list's key; "" if none
}

// parseSnapshot parses a snapshot.
func parseSnapshot(s *jsonscan.Scanner) Snapshot {
	sn := Snapshot{Parent: None, SchemaID: None, FirstRowID: None, AddedRows: None}
	var m members
	s.Object(func(name string) {
		if s.Null() {
			return // as if it were not there
		}
		switch m.see(name); name {
		case "snapshot-id":
			sn.ID = s.Int64()
		case "parent-snapshot-id":
			sn.Parent = s.Int64()
		case "sequence-number":
			sn.SequenceNumber = s.Int64()
		case "timestamp-ms":
			sn.Timestamp = s.Int64()
		case "manifest-list":
			sn.ManifestList = s.String()
		case "manifests":
			s.Array(func(int) { sn.Manifests = append(sn.Manifests, s.String()) })
		case "summary":
			sn.Summary = parseStrings(s)
		case "schema-id":
			sn.SchemaID = s.Int32()
		case "first-row-id":
			sn.FirstRowID = s.Int64()
		case "added-rows":
			sn.AddedRows = s.Int64()
		case "key-id":
			sn.KeyID = s.String()
		default:
			s.Skip()
		}
	})
	m.need(s, "snapshot", "snapshot-id", "timestamp-ms")
	sn.Operation = sn.Summary["operation"]
	switch {
	case s.Err() != nil:
	case !m.has("manifest-list") && !m.has("manifests"):
		s.Failf("snapshot %d without manifest-list", sn.ID)
	case m.has("manifest-list") && sn.ManifestList == "":
		s.Failf("snapshot %d with an empty manifest-list", sn.ID)
	case sn.SequenceNumber < 0, sn.FirstRowID < None, sn.AddedRows < None:
		s.Failf("snapshot %d with a negative number", sn.ID)
	}
	return sn
}

// parseStrings parses an object of strings.
func parseStrings(s *jsonscan.Scanner) map[string]string {
	m := map[string]string{}
	s.Object(func(name string) { m[name] = s.String() })
	return m
}

// A Ref is a branch or tag.
type Ref struct {
	Snapshot                             int64
	Branch                               bool  // else a tag
	MinSnapshots, MaxSnapshotAge, MaxAge int64 // retention, ages in milliseconds; None if not set
}

// parseRef parses a branch or tag.
func parseRef(s *jsonscan.Scanner) Ref {
	ref := Ref{MinSnapshots: None, MaxSnapshotAge: None, MaxAge: None}
	var kind string
	var m members
	s.Object(func(name string) {
		if s.Null() {
			return
		}
		switch m.see(name); name {
		case "snapshot-id":
			ref.Snapshot = s.Int64()
		case "type":
			kind = s.String()
		case "min-snapshots-to-keep":
			ref.MinSnapshots = s.Int64()
		case "max-snapshot-age-ms":
			ref.MaxSnapshotAge = s.Int64()
		case "max-ref-age-ms":
			ref.MaxAge = s.Int64()
		default:
			s.Skip()
		}
	})
	m.need(s, "ref", "snapshot-id", "type")
	if ref.Branch = kind == "branch" || kind == "BRANCH"; s.Err() == nil && !ref.Branch && kind != "tag" && kind != "TAG" {
		s.Failf("ref of type %q", kind)
	}
	return ref
}

// A LogEntry says since when a snapshot was the current one.
type LogEntry struct{ Timestamp, Snapshot int64 }

// parseLogEntry parses an entry of the snapshot log.
func parseLogEntry(s *jsonscan.Scanner) LogEntry {
	var e LogEntry
	var m members
	s.Object(func(name string) {
		switch m.see(name); name {
		case "timestamp-ms":
			e.Timestamp = s.Int64()
		case "snapshot-id":
			e.Snapshot = s.Int64()
		default:
			s.Skip()
		}
	})
	m.need(s, "entry of the snapshot log", "timestamp-ms", "snapshot-id")
	return e
}

// A MetadataEntry is a metadata file that went before.
type MetadataEntry struct {
	Timestamp int64
	File      string
}

// parseMetadataEntry parses an entry of the metadata log.
func parseMetadataEntry(s *jsonscan.Scanner) MetadataEntry {
	var e MetadataEntry
	var m members
	s.Object(func(name string) {
		switch m.see(name); name {
		case "timestamp-ms":
			e.Timestamp = s.Int64()
		case "metadata-file":
			e.File = s.String()
		default:
			s.Skip()
		}
	})
	m.need(s, "entry of the metadata log", "timestamp-ms", "metadata-file")
	return e
}
