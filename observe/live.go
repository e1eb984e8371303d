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

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
)

// Held returns bytes of an object that are at hand, without asking anybody;
// n < 0 is all of it. The block cache has one.
type Held func(name laketap.ObjectName, off, n int64) ([]byte, laketap.Object, bool)

// LiveOptions configure a [Live].
type LiveOptions struct {
	Held   Held         // required
	Tables int          // known at once; 0: 10,000
	Files  int          // known at once, over all tables; 0: 4,000,000
	Log    *slog.Logger // nil: discarded
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
}

// A liveTable is what is known of one table. What is not guarded is the
// learner's alone.
type liveTable struct {
	seen  laketap.TableSeen // guarded by Live.mu; without its metadata once that is read
	specs []iceberg.Spec
	named []liveFile                    // by the metadata itself, lists among them
	order []string                      // the lists of its snapshots
	lists map[string][]iceberg.Manifest // by path, of those that were read
	parts map[string][]liveFile         // by path of the manifest
	sizes map[uint64]int64              // guarded by Live.mu; replaced, never changed
	wants []uint64                      // what Live.wanted has of it
}

// A liveFile is a file that a manifest names.
type liveFile struct {
	hash uint64
	size int64 // bytes; -1: not stated
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
	size, ok := t.sizes[l.hash(name.Bucket, name.Key)]
	return laketap.Object{ObjectName: name, Size: size}, ok
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
		t = &liveTable{lists: map[string][]iceberg.Manifest{}, parts: map[string][]liveFile{}}
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
			l.opts.Log.DebugContext(ctx, "table metadata not understood", "table", seen.Name, "error", err)
			return
		}
		l.metadata(t, parsed, seen.MetadataLocation)
	}
	next := &learning{l: l, t: t, origin: seen.Origin, sizes: map[uint64]int64{}, lists: map[string][]iceberg.Manifest{}, parts: map[string][]liveFile{}}
	for _, f := range t.named {
		next.sizes[f.hash] = f.size
	}
	for _, list := range t.order {
		next.list(ctx, list)
	}
	t.lists, t.parts = next.lists, next.parts
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files += len(next.sizes) - len(t.sizes)
	t.sizes = next.sizes
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
	sizes  map[uint64]int64
	lists  map[string][]iceberg.Manifest
	parts  map[string][]liveFile
	wanted []uint64
}

// name notes a file of a size.
func (n *learning) name(location string, size int64) {
	if hash, ok := n.l.hashOf(location); ok {
		n.sizes[hash] = size
	}
}

// metadata takes down what table metadata names: itself, the ones before it,
// statistics, and the manifest lists of its snapshots.
func (l *Live) metadata(t *liveTable, parsed *iceberg.Table, location string) {
	t.specs, t.named, t.order = parsed.Specs, nil, nil
	name := func(location string, size int64) {
		if hash, ok := l.hashOf(location); ok {
			t.named = append(t.named, liveFile{hash, size})
		}
	}
	name(location, -1)
	for _, e := range parsed.MetadataLog {
		name(e.File, -1)
	}
	for _, s := range parsed.Statistics {
		name(s.Path, s.Size)
	}
	for _, s := range parsed.PartitionStatistics {
		name(s.Path, s.Size)
	}
	for i := range parsed.Snapshots {
		// Snapshots of version 1 without a list are few by now, and left out.
		if list := parsed.Snapshots[i].ManifestList; list != "" {
			name(list, -1)
			t.order = append(t.order, list)
		}
	}
}

// list notes what a manifest list names, reading what is at hand and was not
// read before.
func (n *learning) list(ctx context.Context, location string) {
	manifests, ok := n.t.lists[location]
	if !ok {
		manifests, ok = n.readList(ctx, location)
	}
	if !ok {
		return
	}
	n.lists[location] = manifests
	for i := range manifests {
		n.manifest(ctx, &manifests[i])
	}
}

// manifest notes a manifest and the files it names.
func (n *learning) manifest(ctx context.Context, m *iceberg.Manifest) {
	n.name(m.Path, m.Length)
	if _, done := n.parts[m.Path]; done {
		return
	}
	files, ok := n.t.parts[m.Path]
	if !ok {
		files, ok = n.readManifest(ctx, m)
	}
	if !ok || n.l.known()+len(n.sizes)+len(files) > n.l.opts.Files {
		return
	}
	n.parts[m.Path] = files
	for _, f := range files {
		n.sizes[f.hash] = f.size
	}
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
func (n *learning) readManifest(ctx context.Context, m *iceberg.Manifest) (files []liveFile, ok bool) {
	for e, err := range iceberg.ReadManifest(ctx, m, n.spec(m.SpecID), n, iceberg.Options{}) {
		if err != nil {
			n.want(ctx, m.Path, err)
			return nil, false
		}
		if hash, ok := n.l.hashOf(e.Path); ok && e.Live() {
			files = append(files, liveFile{hash, e.Size})
		}
	}
	return files, true
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
		return nil, 0, errNotHeld
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}
