package iceberg

import (
	"fmt"
	"math"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// maxVersion is the newest version of the format that is understood.
const maxVersion = 3

// ParseMetadata parses the JSON of a table's metadata, as a file has it or as a
// catalog's answer does under "metadata".
func ParseMetadata(text []byte) (*Table, error) {
	p := metadata{
		s: jsonscan.New(text),
		t: &Table{CurrentSnapshotID: None, Properties: map[string]string{}, Refs: map[string]Ref{}},
	}
	p.s.Object(p.member)
	p.finish()
	if err := p.s.End(); err != nil {
		return nil, fmt.Errorf("parse table metadata: %w", err)
	}
	return p.t, nil
}

// metadata parses one table's metadata.
type metadata struct {
	s *jsonscan.Scanner
	t *Table
	m members

	schema *Schema          // of version 1
	spec   []PartitionField // of version 1
}

// member parses one member. A null is as if the member were not there.
func (p *metadata) member(name string) {
	s, t := p.s, p.t
	if s.Null() {
		return
	}
	switch p.m.see(name); name {
	case "format-version":
		t.FormatVersion = s.Int32()
		if s.Err() == nil && (t.FormatVersion < 1 || t.FormatVersion > maxVersion) {
			s.Wrap(unsupported("format version %d", t.FormatVersion))
		}
	case "table-uuid":
		t.UUID = s.String()
	case "location":
		t.Location = s.String()
	case "last-sequence-number":
		t.LastSequenceNumber = s.Int64()
	case "last-updated-ms":
		t.LastUpdated = s.Int64()
	case "last-column-id":
		t.LastColumnID = s.Int32()
	case "last-partition-id":
		t.LastPartitionID = s.Int32()
	case "current-schema-id":
		t.CurrentSchemaID = s.Int32()
	case "default-spec-id":
		t.DefaultSpecID = s.Int32()
	case "default-sort-order-id":
		t.DefaultSortOrderID = s.Int32()
	case "current-snapshot-id":
		t.CurrentSnapshotID = s.Int64()
	case "next-row-id":
		t.NextRowID = s.Int64()
	case "properties":
		t.Properties = parseStrings(s)
	default:
		p.list(name)
	}
}

// list parses the members that hold several of something.
func (p *metadata) list(name string) {
	s, t := p.s, p.t
	switch name {
	case "schema":
		schema := parseSchema(s)
		p.schema = &schema
	case "schemas":
		t.Schemas = parseList(s, parseSchema)
	case "partition-spec":
		p.spec = parsePartitionFields(s)
	case "partition-specs":
		t.Specs = parseList(s, parseSpec)
	case "sort-orders":
		t.SortOrders = parseList(s, parseSortOrder)
	case "snapshots":
		t.Snapshots = parseList(s, parseSnapshot)
	case "refs":
		s.Object(func(name string) { t.Refs[name] = parseRef(s) })
	case "snapshot-log":
		t.SnapshotLog = parseList(s, parseLogEntry)
	case "metadata-log":
		t.MetadataLog = parseList(s, parseMetadataEntry)
	case "statistics":
		t.Statistics = parseList(s, parseStatistics)
	case "partition-statistics":
		t.PartitionStatistics = parseList(s, parsePartitionStatistics)
	case "encryption-keys":
		t.EncryptionKeys = parseList(s, parseEncryptionKey)
	default:
		s.Skip()
	}
}

// parseList parses an array; [jsonscan.Scanner] bounds how much there may be in
// all of them.
func parseList[T any](s *jsonscan.Scanner, parse func(*jsonscan.Scanner) T) []T {
	var list []T
	s.Array(func(int) {
		if item := parse(s); s.Err() == nil {
			list = append(list, item)
		}
	})
	return list
}

// finish fills in what version 1 says in other words, and checks the whole.
func (p *metadata) finish() {
	s := p.s
	p.m.need(s, "table metadata", "format-version", "location", "last-updated-ms", "last-column-id")
	if p.t.FormatVersion >= 2 {
		p.m.need(s, "table metadata of version 2", "table-uuid", "last-sequence-number", "schemas",
			"current-schema-id", "partition-specs", "default-spec-id", "last-partition-id",
			"sort-orders", "default-sort-order-id")
	}
	if p.t.FormatVersion >= 3 {
		p.m.need(s, "table metadata of version 3", "next-row-id")
	}
	if s.Err() != nil {
		return
	}
	p.fillSchemas()
	p.fillSpecs()
	if !p.m.has("sort-orders") {
		p.t.SortOrders = []SortOrder{{}}
		p.t.DefaultSortOrderID = 0
	}
	if len(p.t.Refs) == 0 && p.t.CurrentSnapshotID != None {
		p.t.Refs["main"] = Ref{
			Snapshot: p.t.CurrentSnapshotID, Branch: true,
			MinSnapshots: None, MaxSnapshotAge: None, MaxAge: None,
		}
	}
	if s.Err() == nil {
		s.Wrap(check(p.t))
	}
}

// fillSchemas takes the schema of version 1 where there is no list of them.
func (p *metadata) fillSchemas() {
	if p.m.has("schemas") {
		p.m.need(p.s, "table metadata with schemas", "current-schema-id")
		return
	}
	if p.m.need(p.s, "table metadata without schemas", "schema"); p.schema != nil {
		p.t.Schemas = []Schema{*p.schema}
		p.t.CurrentSchemaID = p.schema.ID
	}
}

// fillSpecs takes the partition spec of version 1 where there is no list.
func (p *metadata) fillSpecs() {
	t := p.t
	if p.m.has("partition-specs") {
		p.m.need(p.s, "table metadata with partition-specs", "default-spec-id")
	} else {
		p.m.need(p.s, "table metadata without partition-specs", "partition-spec")
		t.Specs, t.DefaultSpecID = []Spec{{Fields: p.spec}}, 0
	}
	if p.m.has("last-partition-id") {
		return
	}
	t.LastPartitionID = firstPartitionID - 1
	for _, spec := range t.Specs {
		for _, f := range spec.Fields {
			t.LastPartitionID = max(t.LastPartitionID, f.ID)
		}
	}
}

// check returns an error if the parts of the metadata contradict each other.
func check(t *Table) error {
	if t.Location == "" {
		return malformed("table with an empty location")
	}
	if err := checkIDs(t); err != nil {
		return err
	}
	if t.LastSequenceNumber < 0 || t.NextRowID < 0 || t.LastUpdated == math.MinInt64 {
		return malformed("table with a negative number")
	}
	ids := make(map[int64]bool, len(t.Snapshots))
	for i := range t.Snapshots {
		sn := &t.Snapshots[i]
		switch {
		case ids[sn.ID]:
			return malformed("snapshot %d comes twice", sn.ID)
		case t.FormatVersion >= 2 && sn.ManifestList == "":
			return malformed("snapshot %d without manifest-list", sn.ID)
		case t.FormatVersion >= 2 && sn.SequenceNumber > t.LastSequenceNumber:
			return malformed("snapshot %d has the sequence number %d, past the table's %d",
				sn.ID, sn.SequenceNumber, t.LastSequenceNumber)
		}
		ids[sn.ID] = true
	}
	if t.CurrentSnapshotID != None && !ids[t.CurrentSnapshotID] {
		return malformed("current snapshot %d is not there", t.CurrentSnapshotID)
	}
	for name, ref := range t.Refs {
		if !ids[ref.Snapshot] {
			return malformed("ref %q names the snapshot %d, which is not there", name, ref.Snapshot)
		}
		if name == "main" && ref.Snapshot != t.CurrentSnapshotID {
			return malformed("main is at snapshot %d, the table at %d", ref.Snapshot, t.CurrentSnapshotID)
		}
	}
	return nil
}

// checkIDs returns an error if schemas, specs or sort orders have an id twice,
// or if the current one is not there.
func checkIDs(t *Table) error {
	find := func(what string, n int, id func(int) int, current int) error {
		seen := make(map[int]bool, n)
		for i := range n {
			if seen[id(i)] {
				return malformed("%s %d comes twice", what, id(i))
			}
			seen[id(i)] = true
		}
		if !seen[current] {
			return malformed("current %s %d is not there", what, current)
		}
		return nil
	}
	if err := find("schema", len(t.Schemas), func(i int) int { return t.Schemas[i].ID }, t.CurrentSchemaID); err != nil {
		return err
	}
	if err := find("partition spec", len(t.Specs), func(i int) int { return t.Specs[i].ID }, t.DefaultSpecID); err != nil {
		return err
	}
	return find("sort order", len(t.SortOrders), func(i int) int { return t.SortOrders[i].ID }, t.DefaultSortOrderID)
}
