package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/laketap/laketap/lake/iceberg/avro"
	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// ReadManifestList reads a manifest list. Each manifest is valid until the next
// is asked for, its texts for good; Clone keeps it. After an error nothing
// follows.
func ReadManifestList(ctx context.Context, location string, open Opener, opts Options) iter.Seq2[*Manifest, error] {
	return func(yield func(*Manifest, error) bool) {
		r := newFiles(open, opts)
		defer r.close()
		r.list(ctx, location, yield)
	}
}

// ReadManifest reads the entries of a manifest, deleted ones included, with
// what they inherit from it. Each entry is valid until the next is asked for,
// its texts for good; Clone keeps it. After an error nothing follows. The spec
// is the manifest's; it is needed only for writers that left partition fields
// without ids, and may be nil.
func ReadManifest(ctx context.Context, m *Manifest, spec *Spec, open Opener, opts Options) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		r := newFiles(open, opts)
		defer r.close()
		r.entries(ctx, m, spec, yield)
	}
}

// files reads manifest lists and manifests, one after another. What it has
// learned of a schema serves for the next file with the same.
type files struct {
	open Opener
	opts Options
	avro *avro.Reader

	planned *avro.Type // that plan is for
	spec    *Spec      // that plan is for
	plan    *entryPlan
	entry   Entry
	texts   arena
}

// newFiles returns a reader; close ends it.
func newFiles(open Opener, opts Options) *files {
	opts = opts.withDefaults()
	return &files{open: open, opts: opts, avro: avro.NewReader(opts.Avro)}
}

// close releases what reading took.
func (r *files) close() { r.avro.Close() }

// list yields the manifests of a list.
func (r *files) list(ctx context.Context, location string, yield func(*Manifest, error) bool) {
	var m Manifest
	var steps []step
	n := 0
	start := func() (err error) {
		steps, err = plan(r.avro.Schema(), listFields(), r.opts.Want)
		if err == nil {
			err = checkListVersion(r.avro, steps)
		}
		return err
	}
	_, err := r.file(ctx, location, None, start, func(c *avro.Cursor) (bool, error) {
		if n++; n > r.opts.MaxManifests {
			return false, over("manifests", int64(n), int64(r.opts.MaxManifests))
		}
		if err := decodeManifest(c, steps, &m, &r.texts, r.opts.Want); err != nil {
			return false, err
		}
		return yield(&m, nil), nil
	})
	if err != nil {
		yield(nil, fmt.Errorf("read manifest list %s: %w", location, err))
	}
}

// checkListVersion returns an error if a list says it is of version 2 or later
// and lacks what that version needs to tell data from deletes.
func checkListVersion(r *avro.Reader, steps []step) error {
	version, err := formatVersion(r)
	if err != nil || version < 2 {
		return err
	}
	for _, need := range []struct {
		part part
		name string
	}{{partDeletes, "content"}, {partManifestSequence, "sequence_number"}} {
		found := false
		for _, s := range steps {
			found = found || s.part == need.part
		}
		if !found {
			return malformed("manifest list of version %d without %s", version, need.name)
		}
	}
	return nil
}

// formatVersion returns the version that a file says it has, 0 if it says none.
func formatVersion(r *avro.Reader) (int, error) {
	text := r.Meta("format-version")
	if text == nil {
		return 0, nil
	}
	v, err := strconv.Atoi(string(text))
	if err != nil || v < 1 {
		return 0, malformed("format version %q", text)
	}
	if v > maxVersion {
		return 0, unsupported("format version %d", v)
	}
	return v, nil
}

// entries yields the entries of a manifest, and tells whether to go on.
func (r *files) entries(ctx context.Context, m *Manifest, spec *Spec, yield func(*Entry, error) bool) bool {
	if m.Encrypted {
		yield(nil, fmt.Errorf("read manifest %s: %w", m.Path, ErrEncrypted))
		return false
	}
	in := inheritance{nextRowID: m.FirstRowID, m: m, specID: m.SpecID}
	start := func() error {
		if err := r.checkManifest(&in); err != nil {
			return err
		}
		return r.planFor(spec)
	}
	more, err := r.file(ctx, m.Path, m.Length, start, func(c *avro.Cursor) (bool, error) {
		if err := r.plan.decode(c, &r.entry, &r.texts); err != nil {
			return false, err
		}
		if err := in.apply(&r.entry); err != nil {
			return false, err
		}
		return yield(&r.entry, nil), nil
	})
	if err != nil {
		yield(nil, fmt.Errorf("read manifest %s: %w", m.Path, err))
	}
	return more && err == nil
}

// planFor makes the plan fit the schema of the file at hand.
func (r *files) planFor(spec *Spec) error {
	if r.plan != nil && r.planned == r.avro.Schema() && r.spec == spec {
		return nil
	}
	p, err := planEntries(r.avro.Schema(), spec, r.opts.Want)
	if err != nil {
		return err
	}
	r.plan, r.planned, r.spec = p, r.avro.Schema(), spec
	return nil
}

// checkManifest returns an error if a manifest's header contradicts its list.
func (r *files) checkManifest(in *inheritance) error {
	if _, err := formatVersion(r.avro); err != nil {
		return err
	}
	switch content := r.avro.Meta("content"); {
	case content == nil:
	case !bytes.Equal(content, []byte("data")) && !bytes.Equal(content, []byte("deletes")):
		return malformed("manifest of content %q", content)
	case in.m.Deletes != (string(content) == "deletes"):
		return malformed("manifest of content %q, another by its list", content)
	}
	text := r.avro.Meta("partition-spec-id")
	if text == nil {
		return nil
	}
	s := jsonscan.New(text)
	id := s.Int32()
	if err := s.End(); err != nil {
		return fmt.Errorf("parse partition-spec-id: %w", err)
	}
	if in.specID == None {
		in.specID = id
	}
	if in.specID != id {
		return malformed("manifest of partition spec %d, %d by its list", id, in.specID)
	}
	return nil
}

// checkEvery is how many entries are decoded between looks at the context.
const checkEvery = 256

// file opens a file and calls each for its values until it returns false; start
// is called when the header has been read. It tells whether each never did. A
// file with less than stated bytes was cut short, even where a block ends; one
// with more is not the file that is meant.
func (r *files) file(ctx context.Context, location string, stated int64, start func() error,
	each func(*avro.Cursor) (bool, error),
) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	in, size, err := r.open.Open(ctx, location)
	if err != nil {
		return false, err
	}
	defer in.Close()
	if err := r.avro.Reset(in); err != nil {
		return false, err
	}
	if err := start(); err != nil {
		return false, err
	}
	for {
		c, n, err := r.avro.Next(ctx)
		if errors.Is(err, io.EOF) {
			return true, whole(r.avro.Read(), size, stated)
		}
		if err != nil {
			return false, err
		}
		if more, err := block(ctx, c, n, each); !more || err != nil {
			return false, err
		}
	}
}

// block calls each for the n values of a block.
func block(ctx context.Context, c *avro.Cursor, n int64, each func(*avro.Cursor) (bool, error)) (bool, error) {
	for i := range n {
		if i%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return false, err
			}
		}
		if more, err := each(c); !more || err != nil {
			return false, err
		}
	}
	if c.Left() > 0 {
		return false, malformed("%d bytes behind the values of a block", c.Left())
	}
	return true, nil
}

// whole returns an error if a file that was read has not the size that it has to
// its store, or that its list states; each is None where it is not known.
func whole(read, size, stated int64) error {
	if stated != None && read > stated {
		return malformed("the file has %d bytes, %d by its list", read, stated)
	}
	return cutShort(read, max(size, stated))
}

// cutShort returns an error if less was read than there should be.
func cutShort(read, stated int64) error {
	if read < stated {
		return malformed("the file is cut short: %d bytes of %d", read, stated)
	}
	return nil
}
