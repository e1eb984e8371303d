package iceberg

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Diff is what differs between two snapshots.
type Diff struct {
	// NewManifests and GoneManifests are the manifests that only the one or
	// only the other snapshot has, in the order of its list.
	NewManifests, GoneManifests []*Manifest
	// Added and Removed are the files that only the one or only the other
	// snapshot has, sorted by path. What is merely rewritten into another
	// manifest is in neither.
	Added, Removed []*Entry
	// Decoded is how many manifests were read to find out.
	Decoded int
}

// Diff reads what differs between two snapshots; from None is the empty table.
//
// Where the one descends from the other, only manifests that are new since are
// read: each commit's manifests say what it added and what it deleted, and the
// counts in the lists prove that they say all of it. Where they do not, since a
// writer dropped a manifest without a word or a snapshot in between is gone,
// manifests that are gone are read too, and files are compared by path.
func (t *Table) Diff(ctx context.Context, from, to int64, open Opener, opts Options) (*Diff, error) {
	d := differ{t: t, open: open, opts: opts.withDefaults(), diff: &Diff{}, changes: map[fileKey]change{}}
	defer d.close()
	if err := d.run(ctx, from, to); err != nil {
		return nil, fmt.Errorf("compare snapshots %d and %d: %w", from, to, err)
	}
	return d.result(), nil
}

// A fileKey tells files apart: deletion vectors share a Puffin file.
type fileKey struct {
	path   string
	offset int64
}

// A change is a file that was added or, else, removed.
type change struct {
	entry *Entry
	added bool
}

// A differ works out one Diff.
type differ struct {
	t       *Table
	open    Opener
	opts    Options
	files   *files
	diff    *Diff
	changes map[fileKey]change
	bytes   int64 // that changes take
}

// close releases what reading took.
func (d *differ) close() {
	if d.files != nil {
		d.files.close()
	}
}

// run compares step by step where there is a chain of parents, else at once.
func (d *differ) run(ctx context.Context, from, to int64) error {
	if _, ok := d.t.Snapshot(to); !ok {
		return fmt.Errorf("find snapshot %d: %w", to, ErrNotFound)
	}
	if from == to {
		return nil
	}
	chain, descends := d.chain(from, to)
	first, err := d.list(ctx, from)
	if err != nil {
		return err
	}
	before := first
	for _, id := range chain {
		after, err := d.list(ctx, id)
		if err != nil {
			return err
		}
		gone, fresh := apart(before, after)
		if err := d.step(ctx, id, descends, gone, fresh); err != nil {
			return err
		}
		before = after
	}
	d.diff.GoneManifests, d.diff.NewManifests = apart(first, before)
	return nil
}

// chain returns the snapshots that led from one to the other, the last
// included; only the last where it does not descend from the other.
func (d *differ) chain(from, to int64) (chain []int64, descends bool) {
	parents := make(map[int64]int64, len(d.t.Snapshots))
	for i := range d.t.Snapshots {
		parents[d.t.Snapshots[i].ID] = d.t.Snapshots[i].Parent
	}
	for id := to; len(chain) <= len(parents); { // parents that go in circles end here
		chain = append(chain, id)
		parent, ok := parents[id]
		if !ok {
			break
		}
		if parent == from {
			slices.Reverse(chain)
			return chain, true
		}
		id = parent
	}
	return []int64{to}, false
}

// list reads the manifests of a snapshot.
func (d *differ) list(ctx context.Context, id int64) ([]*Manifest, error) {
	if id == None {
		return nil, nil
	}
	var list []*Manifest
	for m, err := range d.t.Manifests(ctx, id, d.open, d.opts) {
		if err != nil {
			return nil, err
		}
		list = append(list, m.Clone())
	}
	return list, nil
}

// apart returns the manifests that only the one or only the other list has.
func apart(before, after []*Manifest) (gone, fresh []*Manifest) {
	in := func(list []*Manifest) map[string]bool {
		paths := make(map[string]bool, len(list))
		for _, m := range list {
			paths[m.Path] = true
		}
		return paths
	}
	had, has := in(before), in(after)
	for _, m := range before {
		if !has[m.Path] {
			gone = append(gone, m)
		}
	}
	for _, m := range after {
		if !had[m.Path] {
			fresh = append(fresh, m)
		}
	}
	return gone, fresh
}

// step notes what one snapshot changed. If it descends from the one before, it
// is taken at its word, as far as the counts agree: what was live in manifests
// that are gone must be what is live in the fresh ones, less what the commit
// added, plus what it says it deleted. A file that vanished without a word makes
// the sum too small. Lists that do not count cannot be summed, and the manifests
// are compared.
func (d *differ) step(ctx context.Context, id int64, descends bool, gone, fresh []*Manifest) error {
	live := make(map[fileKey]*Entry)
	var own []change
	var bytes int64   // of both
	var account int64 // live files of the fresh manifests, less added, plus removed
	told := descends
	err := d.read(ctx, fresh, func(e *Entry) error {
		if e.Live() {
			account++
			live[e.key()] = e.Clone()
			bytes += e.weight()
		}
		switch {
		case e.Status == Added && e.SnapshotID == id:
			account--
			own = append(own, change{live[e.key()], true})
		case e.Status == Added:
			told = false // by another commit: its manifest came in unnoticed
		case e.Status == Deleted && e.SnapshotID == id:
			account++
			own = append(own, change{e.Clone(), false})
			bytes += e.weight()
		}
		return d.bounded(len(live)+len(own), bytes)
	})
	if err != nil {
		return err
	}
	if told && account == liveIn(gone) {
		for _, c := range own {
			d.note(c)
		}
		return nil
	}
	return d.compare(ctx, gone, live, bytes)
}

// liveIn returns how many live files manifests have, None if not told.
func liveIn(list []*Manifest) int64 {
	var n int64
	for _, m := range list {
		if m.Live() == None {
			return None
		}
		n += m.Live()
	}
	return n
}

// compare notes what differs between the files of gone manifests and others. A
// file that was added to the table twice is in two manifests, so what stays is
// remembered, not crossed off.
func (d *differ) compare(ctx context.Context, gone []*Manifest, live map[fileKey]*Entry, bytes int64) error {
	stays := map[fileKey]bool{}
	err := d.read(ctx, gone, func(e *Entry) error {
		if !e.Live() {
			return nil
		}
		if key := e.key(); live[key] != nil {
			stays[key] = true
			return nil
		}
		d.note(change{e.Clone(), false})
		return d.bounded(len(live), bytes)
	})
	if err != nil {
		return err
	}
	for key, e := range live {
		if !stays[key] {
			d.note(change{e, true})
		}
	}
	return d.bounded(0, 0)
}

// read calls f for the entries of manifests.
func (d *differ) read(ctx context.Context, list []*Manifest, f func(*Entry) error) error {
	if d.files == nil {
		d.files = newFiles(d.open, d.opts)
	}
	for _, m := range list {
		var failed error
		d.diff.Decoded++
		d.files.entries(ctx, m, d.t.specOf(m), func(e *Entry, err error) bool {
			if failed = err; err == nil {
				failed = f(e)
			}
			return failed == nil
		})
		if failed != nil {
			return failed
		}
	}
	return nil
}

// note adds a change. What undoes a change of an earlier step leaves none.
func (d *differ) note(c change) {
	key := c.entry.key()
	if earlier, ok := d.changes[key]; ok && earlier.added != c.added {
		delete(d.changes, key)
		d.bytes -= earlier.entry.weight()
		return
	}
	d.changes[key] = c
	d.bytes += c.entry.weight()
}

// bounded returns an error if too many files are held.
func (d *differ) bounded(more int, bytes int64) error {
	if n := len(d.changes) + more; n > d.opts.MaxChanges {
		return over("files to compare", int64(n), int64(d.opts.MaxChanges))
	}
	if n := d.bytes + bytes; n > d.opts.MaxChangeBytes {
		return over("bytes of files to compare", n, d.opts.MaxChangeBytes)
	}
	return nil
}

// result returns the changes in order.
func (d *differ) result() *Diff {
	for _, c := range d.changes {
		if c.added {
			d.diff.Added = append(d.diff.Added, c.entry)
		} else {
			d.diff.Removed = append(d.diff.Removed, c.entry)
		}
	}
	slices.SortFunc(d.diff.Added, byPath)
	slices.SortFunc(d.diff.Removed, byPath)
	return d.diff
}

// byPath orders files by path and place.
func byPath(a, b *Entry) int {
	if n := strings.Compare(a.Path, b.Path); n != 0 {
		return n
	}
	return int(min(max(a.ContentOffset-b.ContentOffset, -1), 1))
}

// key returns what tells the file apart.
func (f *File) key() fileKey { return fileKey{f.Path, f.ContentOffset} }
