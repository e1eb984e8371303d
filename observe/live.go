package observe

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
)

// Held returns bytes of an object that are at hand, without asking anybody;
// n < 0 is all of it. The block cache has one.
type Held func(name laketap.ObjectName, off, n int64) ([]byte, laketap.Object, bool)

// LiveOptions configure a [Live].
type LiveOptions struct {
	Held   Held                     // required
	Facts  func(laketap.TableFacts) // told what metadata says; nil: nobody is
	Change func(laketap.Change)     // told what commits changed; nil: nobody is
	Tables int                      // known at once; 0: 10,000
	Files  int                      // known at once, over all tables; 0: 4,000,000
	Log    *slog.Logger             // nil: discarded
}

// Live knows which files the live snapshots of tables name: those are immutable
// by the format's contract. It learns from what passes: table metadata from the
// catalog's answers, and manifests from the bytes that engines have just read,
// so it asks no store for anything. What it does not know yet is not vouched
// for. The word of one table's metadata counts for that table alone.
//
// Names are kept as hashes with a seed of this process: nobody outside can make
// one that is taken for another.
type Live struct {
	opts LiveOptions
	seed maphash.Seed
	wake chan struct{} // of one place: something is due

	mu     sync.RWMutex
	tables map[laketap.TableID]*liveTable
	due    map[laketap.TableID]bool
	wanted map[uint64]laketap.TableID // manifests and lists that are yet to be read
	files  int

	malformed atomic.Int64 // files that passed and could not be understood
}

// A liveTable is what is known of one table. What is not guarded is the
// learner's alone.
type liveTable struct {
	seen  laketap.TableSeen // guarded by Live.mu; without its metadata once that is read
	specs []iceberg.Spec
	named *liveNames                    // by the metadata itself, lists among them
	order []liveList                    // the lists of its snapshots, newest first
	lists map[string][]iceberg.Manifest // by path, of those that were read
	parts map[string]*liveNames         // by path of the manifest
	files map[uint64]livePlace          // guarded by Live.mu; replaced, never changed
	names *iceberg.NameMapping          // guarded by Live.mu; nil: none

	schemas []iceberg.Schema // guarded by Live.mu; replaced, never changed
	schema  int              // guarded by Live.mu; id of the current one

	wants []uint64 // what Live.wanted has of it
	news  history  // what is to be told of its snapshots
}

// A liveList is the manifest list of a snapshot.
type liveList struct {
	location string
	snapshot int64
}

// NewLive returns a Live that knows nothing.
func NewLive(opts LiveOptions) *Live {
	if opts.Tables == 0 {
		opts.Tables = 10_000
	}
	if opts.Files == 0 {
		opts.Files = 4_000_000
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Live{
		opts: opts, seed: maphash.MakeSeed(), wake: make(chan struct{}, 1),
		tables: map[laketap.TableID]*liveTable{}, due: map[laketap.TableID]bool{}, wanted: map[uint64]laketap.TableID{},
	}
}

// Version returns the version that the table's live snapshots state for an
// object. It does not wait for what is yet to be learned.
func (l *Live) Version(table laketap.TableID, name laketap.ObjectName) (laketap.Object, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	t := l.tables[table]
	if t == nil || t.seen.Origin != name.Origin {
		return laketap.Object{}, false
	}
	at, ok := t.files[l.hash(name.Bucket, name.Key)]
	if !ok {
		return laketap.Object{}, false
	}
	return laketap.Object{ObjectName: name, Size: at.file().size}, true
}

func (l *Live) hash(bucket, key string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	_, _ = h.WriteString(bucket)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(key)
	return h.Sum64()
}

// hashOf hashes the object of a location as metadata has it; ok is false if it
// is in no S3 store.
func (l *Live) hashOf(location string) (hash uint64, ok bool) {
	bucket, key, ok := laketap.SplitS3(location)
	if !ok {
		return 0, false
	}
	return l.hash(bucket, key), true
}

// Table takes in what a catalog answered about a table.
func (l *Live) Table(seen laketap.TableSeen) {
	if seen.ID.UUID == "" || seen.Origin == "" || len(seen.Metadata) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tables[seen.ID]
	if t == nil {
		if len(l.tables) >= l.opts.Tables {
			return // not vouched for, which costs time only
		}
		t = &liveTable{lists: map[string][]iceberg.Manifest{}, parts: map[string]*liveNames{}}
		l.tables[seen.ID] = t
	}
	t.seen = seen
	l.dueLocked(seen.ID)
}

// Access notes that bytes of a manifest or a list have passed, which can be read
// now.
func (l *Live) Access(a laketap.Access) {
	if a.Tap != laketap.StorageTap || a.Status/100 != 2 || !strings.HasSuffix(a.Object.Key, ".avro") {
		return
	}
	hash := l.hash(a.Object.Bucket, a.Object.Key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if id, ok := l.wanted[hash]; ok {
		l.dueLocked(id)
	}
}

// Report has nothing to say about files.
func (l *Live) Report(laketap.Report) {}

func (l *Live) dueLocked(id laketap.TableID) {
	l.due[id] = true
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run learns until ctx ends.
func (l *Live) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
		}
		l.Learn(ctx)
	}
}

// Learn learns what is due, in the caller's goroutine. Only one may be at it.
func (l *Live) Learn(ctx context.Context) {
	for ctx.Err() == nil {
		l.mu.Lock()
		var t *liveTable
		var seen laketap.TableSeen
		for id := range l.due {
			t, seen = l.tables[id], l.tables[id].seen
			delete(l.due, id)
			break
		}
		l.mu.Unlock()
		if t == nil {
			return
		}
		l.learn(ctx, t, &seen)
	}
}

// learn brings a table up to what is at hand.
func (l *Live) learn(ctx context.Context, t *liveTable, seen *laketap.TableSeen) {
	if seen.Metadata != nil {
		parsed, err := iceberg.ParseMetadata(seen.Metadata)
		if err != nil {
			l.malformed.Add(1)
			l.opts.Log.DebugContext(ctx, "table metadata not understood", "table", seen.Name, "error", err)
			return
		}
		l.metadata(t, parsed, seen.MetadataLocation)
		l.mu.Lock()
		t.schemas, t.schema = parsed.Schemas, parsed.CurrentSchemaID
		l.mu.Unlock()
		t.news.begin(parsed, seen)
		if l.opts.Facts != nil {
			l.opts.Facts(factsOf(parsed, seen))
		}
	}
	next := &learning{l: l, t: t, origin: seen.Origin, files: map[uint64]livePlace{}, lists: map[string][]iceberg.Manifest{}, parts: map[string]*liveNames{}}
	next.all(t.named)
	for _, list := range t.order {
		next.list(ctx, list)
	}
	next.tell(ctx, seen)
	t.lists, t.parts = next.lists, next.parts
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files += len(next.files) - len(t.files)
	t.files = next.files
	if seen.Metadata != nil {
		t.names = t.news.names
	}
	if t.seen.At.Equal(seen.At) {
		t.seen.Metadata = nil // it is large, and has been read
	}
	for _, hash := range t.wants {
		if l.wanted[hash] == seen.ID {
			delete(l.wanted, hash)
		}
	}
	t.wants = next.wanted
	for _, hash := range t.wants {
		l.wanted[hash] = seen.ID
	}
}

// A learning is what the live snapshots of a table name, as far as is known.
type learning struct {
	l      *Live
	t      *liveTable
	origin string
	files  map[uint64]livePlace
	lists  map[string][]iceberg.Manifest
	parts  map[string]*liveNames
	wanted []uint64
}

// all notes the files that one place names. What a newer snapshot has named
// already stays as it says.
func (n *learning) all(names *liveNames) {
	for i := range names.files {
		if hash := names.files[i].hash; !n.has(hash) {
			n.files[hash] = livePlace{names, i}
		}
	}
}

// has reports whether a file is named already.
func (n *learning) has(hash uint64) bool {
	_, ok := n.files[hash]
	return ok
}

// metadata takes down what table metadata names: itself, the ones before it,
// statistics; and which manifest lists its snapshots have.
func (l *Live) metadata(t *liveTable, parsed *iceberg.Table, location string) {
	t.specs, t.named, t.order = parsed.Specs, &liveNames{}, nil
	t.named.snapshot.Store(max(parsed.CurrentSnapshotID, 0))
	name := func(location string, size int64, part laketap.PartKind) {
		if hash, ok := l.hashOf(location); ok {
			t.named.files = append(t.named.files, liveFile{hash: hash, size: size, rows: -1, part: part})
		}
	}
	name(location, -1, laketap.TableMetadataPart)
	for _, e := range parsed.MetadataLog {
		name(e.File, -1, laketap.TableMetadataPart)
	}
	for _, s := range parsed.Statistics {
		name(s.Path, s.Size, laketap.StatisticsPart)
	}
	for _, s := range parsed.PartitionStatistics {
		name(s.Path, s.Size, laketap.StatisticsPart)
	}
	for i := range parsed.Snapshots {
		// Snapshots of version 1 without a list are few by now, and left out.
		if list := parsed.Snapshots[i].ManifestList; list != "" {
			t.order = append(t.order, liveList{list, parsed.Snapshots[i].ID})
		}
	}
	newestFirst(t.order, parsed)
}

// list notes what a manifest list names, reading what is at hand and was not
// read before.
func (n *learning) list(ctx context.Context, list liveList) {
	if hash, ok := n.l.hashOf(list.location); ok {
		own := &liveNames{files: []liveFile{{hash: hash, size: -1, rows: -1, part: laketap.ManifestListPart}}}
		own.snapshot.Store(list.snapshot)
		n.all(own)
	}
	manifests, ok := n.t.lists[list.location]
	if !ok {
		manifests, ok = n.readList(ctx, list.location)
	}
	if !ok {
		return
	}
	n.lists[list.location] = manifests
	named := &liveNames{}
	named.snapshot.Store(list.snapshot)
	for i := range manifests {
		if hash, ok := n.l.hashOf(manifests[i].Path); ok {
			named.files = append(named.files, liveFile{hash: hash, size: manifests[i].Length, rows: -1, part: laketap.ManifestPart})
		}
	}
	n.all(named)
	for i := range manifests {
		n.manifest(ctx, &manifests[i], list.snapshot)
	}
}

// manifest notes the files that a manifest names.
func (n *learning) manifest(ctx context.Context, m *iceberg.Manifest, snapshot int64) {
	if n.parts[m.Path] != nil {
		return
	}
	names, ok := n.t.parts[m.Path]
	if !ok {
		names, ok = n.readManifest(ctx, m)
	}
	if !ok || n.l.known()+len(n.files)+len(names.files) > n.l.opts.Files {
		return
	}
	names.snapshot.Store(snapshot)
	n.parts[m.Path] = names
	n.all(names)
}

// known is how many files are known of all tables.
func (l *Live) known() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.files
}

// readList reads a manifest list, if it is at hand.
func (n *learning) readList(ctx context.Context, location string) (manifests []iceberg.Manifest, ok bool) {
	for m, err := range iceberg.ReadManifestList(ctx, location, n, iceberg.Options{}) {
		if err != nil {
			n.want(ctx, location, err)
			return nil, false
		}
		manifests = append(manifests, iceberg.Manifest{Path: strings.Clone(m.Path), Length: m.Length, SpecID: m.SpecID, Deletes: m.Deletes})
	}
	return manifests, true
}

// readManifest reads which files a manifest names, if it is at hand.
func (n *learning) readManifest(ctx context.Context, m *iceberg.Manifest) (names *liveNames, ok bool) {
	names = &liveNames{}
	partitions := map[string]string{} // many files share one
	for e, err := range iceberg.ReadManifest(ctx, m, n.spec(m.SpecID), n, iceberg.Options{Want: iceberg.WantPartition}) {
		if err != nil {
			n.want(ctx, m.Path, err)
			return nil, false
		}
		hash, ok := n.l.hashOf(e.Path)
		if !ok || !e.Live() {
			continue
		}
		names.add(hash, e, partitions)
	}
	return names, true
}

// spec returns a partition spec by its id, nil if the table has none.
func (n *learning) spec(id int) *iceberg.Spec {
	for i := range n.t.specs {
		if n.t.specs[i].ID == id {
			return &n.t.specs[i]
		}
	}
	return nil
}

// want notes that a file is to be read when its bytes pass.
func (n *learning) want(ctx context.Context, location string, err error) {
	if hash, ok := n.l.hashOf(location); ok {
		n.wanted = append(n.wanted, hash)
	}
	if !errors.Is(err, errNotHeld) {
		n.l.malformed.Add(1)
	}
	n.l.opts.Log.DebugContext(ctx, "manifest not read yet", "location", location, "error", err)
}

// errNotHeld says that an object is not at hand.
var errNotHeld = errors.New("not at hand")

// Open implements [iceberg.Opener] over what is at hand.
func (n *learning) Open(_ context.Context, location string) (io.ReadCloser, int64, error) {
	bucket, key, ok := laketap.SplitS3(location)
	if !ok {
		return nil, 0, errNotHeld
	}
	b, _, ok := n.l.opts.Held(laketap.ObjectName{Origin: n.origin, Bucket: bucket, Key: key}, 0, -1)
	if !ok {
		n.wanted = append(n.wanted, n.l.hash(bucket, key))
		return nil, 0, errNotHeld
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}
