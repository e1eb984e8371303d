package observe

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laketap/laketap"
)

// shardCount is how many parts the tables are counted in, each under a lock of
// its own, so that listing all of them stalls no tap for long.
const shardCount = 16

// A ledger counts by engine, and by table and engine. No lock is taken while
// another is held.
type ledger struct {
	maxEngines int
	seed       maphash.Seed
	shards     [shardCount]shard
	folded     atomic.Int64 // accesses counted under "other", tables folded into it

	mu      sync.Mutex
	engines uses // INVARIANT: at most maxEngines and "other"
}

// A shard holds the tables of one share of the ids.
type shard struct {
	maxTables, maxUses int

	mu     sync.Mutex
	tables map[laketap.TableID]*tableEntry // INVARIANT: at most maxTables
	other  tableEntry                      // of those that were folded
	uses   int                             // INVARIANT: pairs of table and engine but "other", ≤ maxUses
}

// A tableEntry is a table with its uses.
type tableEntry struct {
	id       laketap.TableID
	name     string
	location string
	snapshot int64
	schema   int
	last     time.Time // when it was last used or seen
	engines  uses
}

func newLedger(engines, tables, pairs int) *ledger {
	l := &ledger{maxEngines: engines, seed: maphash.MakeSeed(), engines: uses{}}
	for i := range l.shards {
		l.shards[i] = shard{
			maxTables: max(1, tables/shardCount),
			maxUses:   max(1, pairs/shardCount),
			tables:    map[laketap.TableID]*tableEntry{},
			other:     tableEntry{id: laketap.TableID{UUID: other}, name: other, snapshot: -1, schema: -1, engines: uses{}},
		}
	}
	return l
}

// add counts an access.
func (l *ledger) add(a *laketap.Access) {
	engine := l.addEngine(a)
	id := a.Table
	if id.UUID == "" {
		// Whatever else it says, it is no table: one row a catalog.
		id = laketap.TableID{Catalog: a.Catalog}
	}
	if l.shardOf(id).add(id, engine, a) {
		l.folded.Add(1)
	}
}

// addEngine counts an access for its engine and returns the engine that it is
// counted under.
func (l *ledger) addEngine(a *laketap.Access) laketap.Engine {
	engine := laketap.Engine{Name: head(a.Engine.Name), Version: head(a.Engine.Version)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.engines[engine]; !known && len(l.engines) >= l.maxEngines {
		engine = laketap.Engine{Name: other}
		l.folded.Add(1)
	}
	count(l.engines.of(engine), a)
	return engine
}

// see learns what a catalog said of a table.
func (l *ledger) see(t *laketap.TableSeen) {
	if t.ID.UUID == "" {
		return
	}
	s := l.shardOf(t.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, folded := s.entry(t.ID)
	if folded {
		l.folded.Add(1)
	}
	e.name = strings.Clone(head(t.Name))
	e.location = strings.Clone(head(t.Location))
	e.snapshot, e.schema = t.Snapshot, t.Schema
	e.last = later(e.last, t.At)
}

func (l *ledger) shardOf(id laketap.TableID) *shard {
	return &l.shards[maphash.Comparable(l.seed, id)%shardCount]
}

// add counts an access for its table and reports whether anything had to be
// folded for it.
func (s *shard) add(id laketap.TableID, engine laketap.Engine, a *laketap.Access) (folded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, folded := s.entry(id)
	if a.TableName != "" && a.TableName != e.name && id.UUID != "" {
		e.name = strings.Clone(head(a.TableName))
	}
	e.last = later(e.last, a.At)
	if _, known := e.engines[engine]; !known && engine.Name != other {
		if s.uses >= s.maxUses {
			engine, folded = laketap.Engine{Name: other}, true
		} else {
			s.uses++
		}
	}
	count(e.engines.of(engine), a)
	return folded
}

// entry returns the entry of a table. If there is no room for a new one, the
// table used longest ago is folded into "other". The caller holds the lock.
func (s *shard) entry(id laketap.TableID) (e *tableEntry, folded bool) {
	if e, ok := s.tables[id]; ok {
		return e, false
	}
	if len(s.tables) >= s.maxTables {
		s.foldOldest()
		folded = true
	}
	e = &tableEntry{id: cloneID(id), snapshot: -1, schema: -1, engines: uses{}}
	s.tables[e.id] = e
	return e, folded
}

// foldOldest sums the table used longest ago up under "other"; the caller
// holds the lock.
func (s *shard) foldOldest() {
	var oldest *tableEntry
	for _, e := range s.tables {
		if oldest == nil || e.last.Before(oldest.last) {
			oldest = e
		}
	}
	delete(s.tables, oldest.id)
	for engine, use := range oldest.engines {
		merge(s.other.engines.of(engine), use)
		if engine.Name != other {
			s.uses--
		}
	}
}

// engineUses returns a copy of the use of every engine.
func (l *ledger) engineUses() []laketap.EngineUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engines.list()
}

// tableUses returns a copy of the use of every table; what is under "other"
// comes last.
func (l *ledger) tableUses() []laketap.TableUse {
	var all []laketap.TableUse
	rest := uses{}
	for i := range l.shards {
		all = l.shards[i].appendUses(all, rest)
	}
	slices.SortFunc(all, func(a, b laketap.TableUse) int {
		return cmp.Or(cmp.Compare(a.ID.Catalog, b.ID.Catalog), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.ID.Prefix, b.ID.Prefix), cmp.Compare(a.ID.Ref, b.ID.Ref), cmp.Compare(a.ID.UUID, b.ID.UUID))
	})
	if len(rest) > 0 {
		e := l.shards[0].other
		e.engines = rest
		all = append(all, e.use())
	}
	return all
}

// appendUses appends the shard's tables to all and adds its folded ones to rest.
func (s *shard) appendUses(all []laketap.TableUse, rest uses) []laketap.TableUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.tables {
		all = append(all, e.use())
	}
	for engine, use := range s.other.engines {
		merge(rest.of(engine), use)
	}
	return all
}

func (e *tableEntry) use() laketap.TableUse {
	return laketap.TableUse{
		ID: e.id, Name: e.name, Location: e.location, Snapshot: e.snapshot, Schema: e.schema, Engines: e.engines.list(),
	}
}

// cloneID copies an id out of the request it was cut from.
func cloneID(id laketap.TableID) laketap.TableID {
	return laketap.TableID{
		Catalog: strings.Clone(id.Catalog), Prefix: strings.Clone(id.Prefix), Ref: strings.Clone(id.Ref), UUID: strings.Clone(id.UUID),
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
