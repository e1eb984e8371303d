package catalog

import (
	"sync"

	"github.com/laketap/laketap"
)

// idsMax bounds how many names are known.
const idsMax = 100_000

// An idKey is a table's name as a catalog's clients say it.
type idKey struct{ catalog, prefix, name string }

// ids remembers the identity behind a name, for requests that carry only the
// name. When it is full any entry goes: the next load brings it back.
type ids struct {
	mu     sync.RWMutex
	byName map[idKey]laketap.TableID // INVARIANT: at most idsMax entries
}

func newIDs() *ids { return &ids{byName: map[idKey]laketap.TableID{}} }

// of returns the identity behind a name.
func (i *ids) of(key idKey) (laketap.TableID, bool) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	id, ok := i.byName[key]
	return id, ok
}

// put notes the identity behind a name; the latest one counts, since a table
// may be dropped and another made of the same name.
func (i *ids) put(key idKey, id laketap.TableID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.byName) >= idsMax {
		for old := range i.byName {
			delete(i.byName, old)
			break
		}
	}
	i.byName[key] = id
}

// forget drops a name.
func (i *ids) forget(key idKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.byName, key)
}
