package observe

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
)

const (
	// patience is how long manifests of a commit are waited for before it is told
	// without its files.
	patience = 10 * time.Minute
	// maxChanges bounds the files that are told of one commit.
	maxChanges = 1 << 17
)

// A history is what is still to be told of a table's snapshots. The metadata is
// kept for as long as that takes.
type history struct {
	table *iceberg.Table // nil: nothing is to be told
	names *iceberg.NameMapping
	told  int64 // the snapshot up to which all is told; 0: none yet
	since time.Time
}

// begin takes in new metadata.
func (h *history) begin(t *iceberg.Table, seen *laketap.TableSeen) {
	h.names, _ = t.NameMapping() // a mapping that is malformed maps nothing
	if max(t.CurrentSnapshotID, 0) == h.told {
		h.table = nil
		return
	}
	if h.table == nil {
		h.since = seen.At
	}
	h.table = t
}

// steps returns the snapshots that lead from what was told to the current one.
// Where the chain of parents does not, that is one step.
func (h *history) steps() []int64 {
	current := h.table.CurrentSnapshotID
	if h.told == 0 {
		return []int64{current} // what led there was not seen
	}
	var chain []int64
	for id := current; len(chain) <= len(h.table.Snapshots); {
		s, ok := h.table.Snapshot(id)
		if !ok {
			break
		}
		chain = append(chain, id)
		if s.Parent == h.told {
			slices.Reverse(chain)
			return chain
		}
		id = s.Parent
	}
	return []int64{current}
}

// tell tells what the table's commits changed, as far as it is at hand.
func (n *learning) tell(ctx context.Context, seen *laketap.TableSeen) {
	h := &n.t.news
	if h.table == nil {
		return
	}
	if n.l.opts.Change == nil || h.table.CurrentSnapshotID == iceberg.None {
		h.told, h.table = max(h.table.CurrentSnapshotID, 0), nil
		return
	}
	for _, to := range h.steps() {
		if !n.step(ctx, seen, to) {
			return // when what is missing passes, or after a while
		}
		h.told = to
	}
	h.table = nil
}

// step tells of one snapshot, and reports whether that is done.
func (n *learning) step(ctx context.Context, seen *laketap.TableSeen, to int64) bool {
	h := &n.t.news
	from := h.told
	if from == 0 {
		from = iceberg.None
	}
	change := laketap.Change{At: seen.At, Table: seen.ID, From: h.told, To: to}
	if s, ok := h.table.Snapshot(to); ok {
		change.At = time.UnixMilli(s.Timestamp)
		if s.Parent == from || h.told == 0 {
			change.Operation = s.Operation
		}
	}
	late := seen.At.Sub(h.since) >= patience
	if !late && !n.ready(from, to) {
		return false
	}
	diff, err := n.compare(ctx, h.table, from, to)
	switch {
	case err == nil:
		change.Added, change.Incomplete = filesOf(n.origin, diff.Added)
		var cut bool
		change.Removed, cut = filesOf(n.origin, n.gone(diff.Removed, to))
		change.Incomplete = change.Incomplete || cut
	case errors.Is(err, errNotHeld) && !late || ctx.Err() != nil:
		return false
	default:
		n.l.opts.Log.DebugContext(ctx, "commit not understood", "table", seen.Name, "snapshot", to, "error", err)
		change.Incomplete = true
	}
	n.l.opts.Change(change)
	return true
}

// errTooMany says that a snapshot has more files than are told of one.
var errTooMany = errors.New("too many files")

// compare returns what differs between two snapshots. Of the first one that is
// seen of a table all files are told, whatever led to it: the lists of the
// snapshots before it need not be at hand.
func (n *learning) compare(ctx context.Context, t *iceberg.Table, from, to int64) (*iceberg.Diff, error) {
	opts := iceberg.Options{Want: iceberg.WantPartition, MaxChanges: maxChanges}
	if from != iceberg.None {
		return t.Diff(ctx, from, to, n, opts)
	}
	diff := &iceberg.Diff{}
	for e, err := range t.Files(ctx, to, n, opts) {
		switch {
		case err != nil:
			return nil, err
		case len(diff.Added) == maxChanges:
			return nil, errTooMany
		}
		diff.Added = append(diff.Added, e.Clone())
	}
	slices.SortFunc(diff.Added, func(a, b *iceberg.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return diff, nil
}

// ready reports whether what a comparison reads first has been read: it is
// begun once, and not for every manifest that passes.
func (n *learning) ready(from, to int64) bool {
	had, ok := n.manifests(from)
	has, ok2 := n.manifests(to)
	if !ok || !ok2 {
		return false
	}
	old := make(map[string]bool, len(had))
	for i := range had {
		old[had[i].Path] = true
	}
	for i := range has {
		if path := has[i].Path; !old[path] && n.parts[path] == nil {
			return false
		}
	}
	return true
}

// manifests returns what was read of a snapshot's list; ok is false if that is
// to come. Of a snapshot that is gone, or has no list, nothing is.
func (n *learning) manifests(snapshot int64) (manifests []iceberg.Manifest, ok bool) {
	s, known := n.t.news.table.Snapshot(snapshot)
	if !known || s.ManifestList == "" {
		return nil, true
	}
	manifests, ok = n.lists[s.ManifestList]
	return manifests, ok
}

// gone leaves out vectors of files that the snapshot still has others of: a
// change is of files.
func (n *learning) gone(removed []*iceberg.Entry, to int64) []*iceberg.Entry {
	if !slices.ContainsFunc(removed, func(e *iceberg.Entry) bool { return e.IsVector() }) {
		return removed
	}
	stays := map[uint64]bool{}
	has, _ := n.manifests(to)
	for i := range has {
		if names := n.parts[has[i].Path]; names != nil && has[i].Deletes {
			for _, f := range names.files {
				stays[f.hash] = true
			}
		}
	}
	return slices.DeleteFunc(removed, func(e *iceberg.Entry) bool {
		hash, ok := n.l.hashOf(e.Path)
		return e.IsVector() && ok && stays[hash]
	})
}

// filesOf returns the files that entries name, each once; some says that not
// all are in S3 stores.
func filesOf(origin string, entries []*iceberg.Entry) (files []laketap.File, some bool) {
	for _, e := range entries {
		file, ok := fileOf(origin, &e.File)
		switch {
		case !ok:
			some = true
		case len(files) == 0 || files[len(files)-1].Object != file.Object: // they are sorted
			files = append(files, file)
		}
	}
	return files, some
}
