package iceberg

import (
	"context"
	"fmt"
	"iter"
)

// Manifests reads which manifests a snapshot has. Each is valid until the next
// is asked for, its texts for good; Clone keeps it. After an error nothing
// follows.
func (t *Table) Manifests(ctx context.Context, snapshot int64, open Opener, opts Options) iter.Seq2[*Manifest, error] {
	return func(yield func(*Manifest, error) bool) {
		r := newFiles(open, opts)
		defer r.close()
		r.manifests(ctx, t, snapshot, yield)
	}
}

// Files reads which data and delete files a snapshot has, with what they
// inherit. Each is valid until the next is asked for, its texts for good; Clone
// keeps it. After an error nothing follows.
func (t *Table) Files(ctx context.Context, snapshot int64, open Opener, opts Options) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		list := newFiles(open, opts)
		defer list.close()
		r := newFiles(open, opts)
		defer r.close()
		list.manifests(ctx, t, snapshot, func(m *Manifest, err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			if opts.Manifests != nil && !opts.Manifests(m) {
				return true
			}
			return r.entries(ctx, m, t.specOf(m), func(e *Entry, err error) bool {
				return err == nil && !e.Live() || yield(e, err)
			})
		})
	}
}

// specOf returns the spec of a manifest, nil if the table no longer has it.
func (t *Table) specOf(m *Manifest) *Spec {
	spec, _ := t.Spec(m.SpecID)
	return spec
}

// manifests yields the manifests of a snapshot.
func (r *files) manifests(ctx context.Context, t *Table, snapshot int64, yield func(*Manifest, error) bool) {
	sn, ok := t.Snapshot(snapshot)
	switch {
	case !ok:
		yield(nil, fmt.Errorf("find snapshot %d: %w", snapshot, ErrNotFound))
	case sn.KeyID != "":
		yield(nil, fmt.Errorf("read manifest list %s: %w", sn.ManifestList, ErrEncrypted))
	case sn.ManifestList != "":
		r.list(ctx, sn.ManifestList, yield)
	default:
		for _, path := range sn.Manifests {
			m := Manifest{
				Path: path, Length: None, SpecID: None, SnapshotID: sn.ID, FirstRowID: None,
				AddedFiles: None, ExistingFiles: None, DeletedFiles: None,
				AddedRows: None, ExistingRows: None, DeletedRows: None,
			}
			if !yield(&m, nil) {
				return
			}
		}
	}
}
