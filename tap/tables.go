package tap

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/laketap/laketap"
)

// A Table is what the taps know of a table, from what passed.
type Table struct {
	ID               laketap.TableID
	Name             string     // dotted namespace and table, decoded
	Location         Location   // of the table
	More             []Location // metadata directory and write paths that lie elsewhere
	MetadataLocation string
	Schema           int   // current schema id
	Snapshot         int64 // current snapshot; -1: none
	Seen             time.Time
}

// Tables is a bounded index of locations to tables: written by the catalog
// tap, read by the storage tap. When it is full the table seen longest ago
// goes; an access then falls back to the table of its session. It is safe for
// concurrent use.
type Tables struct {
	max int

	mu     sync.RWMutex
	byID   map[laketap.TableID]Table
	byPath map[Location]laketap.TableID // INVARIANT: every value is in byID
}

// NewTables returns an index of at most limit tables; 0 means 100,000.
func NewTables(limit int) *Tables {
	return &Tables{
		max:    cmp.Or(limit, 100_000),
		byID:   map[laketap.TableID]Table{},
		byPath: map[Location]laketap.TableID{},
	}
}

// Put learns a table, or what is new about it.
func (t *Tables) Put(table Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(table.ID)
	if len(t.byID) >= t.max {
		t.dropOldest()
	}
	t.byID[table.ID] = table
	for _, l := range table.locations() {
		t.byPath[l] = table.ID
	}
}

// Forget drops a table by its name, as after a DROP or a rename.
func (t *Tables) Forget(catalog, prefix, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, table := range t.byID {
		if id.Catalog == catalog && id.Prefix == prefix && table.Name == name {
			t.drop(id)
		}
	}
}

// At returns the table with the longest location above an object.
func (t *Tables) At(name laketap.ObjectName) (Table, bool) {
	if Climbs(name.Key) {
		return Table{}, false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	path := collapse(name.Key)
	for {
		if id, ok := t.byPath[Location{name.Origin, name.Bucket, path}]; ok {
			return t.byID[id], true
		}
		if path == "" {
			return Table{}, false
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
}

// All returns every known table, by catalog and name.
func (t *Tables) All() []Table {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make([]Table, 0, len(t.byID))
	for _, table := range t.byID {
		all = append(all, table)
	}
	slices.SortFunc(all, func(a, b Table) int {
		return cmp.Or(cmp.Compare(a.ID.Catalog, b.ID.Catalog), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID.UUID, b.ID.UUID))
	})
	return all
}

// locations returns every place that belongs to the table.
func (t Table) locations() []Location {
	return append([]Location{t.Location}, t.More...)
}

// drop removes a table; the caller holds the lock.
func (t *Tables) drop(id laketap.TableID) {
	for _, l := range t.byID[id].locations() {
		if t.byPath[l] == id {
			delete(t.byPath, l)
		}
	}
	delete(t.byID, id)
}

// dropOldest removes the table seen longest ago; the caller holds the lock.
func (t *Tables) dropOldest() {
	var oldest laketap.TableID
	var seen time.Time
	for id, table := range t.byID {
		if seen.IsZero() || table.Seen.Before(seen) {
			oldest, seen = id, table.Seen
		}
	}
	t.drop(oldest)
}

// Get returns a table by its identity.
func (t *Tables) Get(id laketap.TableID) (Table, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	table, ok := t.byID[id]
	return table, ok
}
