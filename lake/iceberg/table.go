package iceberg

import (
	"cmp"
	"slices"
	"strings"
)

// A Table is the metadata of a table.
type Table struct {
	FormatVersion       int
	UUID                string // "" in old metadata of version 1
	Location            string
	LastSequenceNumber  int64 // 0 in version 1
	LastUpdated         int64 // milliseconds since 1970
	LastColumnID        int
	Schemas             []Schema
	CurrentSchemaID     int
	Specs               []Spec
	DefaultSpecID       int
	LastPartitionID     int
	SortOrders          []SortOrder
	DefaultSortOrderID  int
	Properties          map[string]string
	CurrentSnapshotID   int64      // None if the table is empty
	Snapshots           []Snapshot // by the catalog's choice only those that refs name
	Refs                map[string]Ref
	SnapshotLog         []LogEntry
	MetadataLog         []MetadataEntry
	Statistics          []Statistics
	PartitionStatistics []PartitionStatistics
	NextRowID           int64 // 0 before version 3
	EncryptionKeys      []EncryptionKey
}

// Schema returns the schema with an id.
func (t *Table) Schema(id int) (*Schema, bool) {
	i := slices.IndexFunc(t.Schemas, func(s Schema) bool { return s.ID == id })
	if i < 0 {
		return nil, false
	}
	return &t.Schemas[i], true
}

// CurrentSchema returns the schema of the table as it is now.
func (t *Table) CurrentSchema() *Schema {
	s, _ := t.Schema(t.CurrentSchemaID)
	return s
}

// SchemaAt returns the schema that a snapshot was written with, the current
// one if it is not told.
func (t *Table) SchemaAt(s *Snapshot) *Schema {
	if schema, ok := t.Schema(s.SchemaID); ok {
		return schema
	}
	return t.CurrentSchema()
}

// Field returns a field by its id from the newest schema that has it: the
// current one, else the highest by id. A column that was dropped has its name
// and type from the past.
func (t *Table) Field(id int) (*Field, bool) {
	if f, ok := t.CurrentSchema().Field(id); ok {
		return f, true
	}
	var newest *Field
	best := None
	for i := range t.Schemas {
		if f, ok := t.Schemas[i].Field(id); ok && t.Schemas[i].ID > best {
			newest, best = f, t.Schemas[i].ID
		}
	}
	return newest, newest != nil
}

// Spec returns the partition spec with an id.
func (t *Table) Spec(id int) (*Spec, bool) {
	i := slices.IndexFunc(t.Specs, func(s Spec) bool { return s.ID == id })
	if i < 0 {
		return nil, false
	}
	return &t.Specs[i], true
}

// SortOrder returns the sort order with an id.
func (t *Table) SortOrder(id int) (*SortOrder, bool) {
	i := slices.IndexFunc(t.SortOrders, func(o SortOrder) bool { return o.ID == id })
	if i < 0 {
		return nil, false
	}
	return &t.SortOrders[i], true
}

// Snapshot returns the snapshot with an id.
func (t *Table) Snapshot(id int64) (*Snapshot, bool) {
	i := slices.IndexFunc(t.Snapshots, func(s Snapshot) bool { return s.ID == id })
	if i < 0 {
		return nil, false
	}
	return &t.Snapshots[i], true
}

// Current returns the current snapshot; an empty table has none.
func (t *Table) Current() (*Snapshot, bool) {
	if t.CurrentSnapshotID == None {
		return nil, false
	}
	return t.Snapshot(t.CurrentSnapshotID)
}

// DataPath returns the folder that new data files are written below.
func (t *Table) DataPath() string {
	path := cmp.Or(t.Properties["write.data.path"], t.Properties["write.object-storage.path"],
		t.Properties["write.folder-storage.path"], t.below("data"))
	return trimSlashes(path)
}

// MetadataPath returns the folder that new metadata files are written below.
func (t *Table) MetadataPath() string {
	return trimSlashes(cmp.Or(t.Properties["write.metadata.path"], t.below("metadata")))
}

// below returns a folder of the table's location.
func (t *Table) below(folder string) string { return trimSlashes(t.Location) + "/" + folder }

// trimSlashes cuts slashes off the end, but never those of a scheme.
func trimSlashes(path string) string {
	for strings.HasSuffix(path, "/") && !strings.HasSuffix(path, "://") {
		path = path[:len(path)-1]
	}
	return path
}

// Encrypted tells whether the table says that some of its files are encrypted.
// Manifests and files say it each for themselves.
func (t *Table) Encrypted() bool {
	return len(t.EncryptionKeys) > 0 || t.Properties["encryption.key-id"] != "" ||
		slices.ContainsFunc(t.Snapshots, func(s Snapshot) bool { return s.KeyID != "" }) ||
		slices.ContainsFunc(t.Statistics, func(s Statistics) bool { return s.Encrypted })
}
