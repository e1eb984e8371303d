package remember

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/laketap/laketap"
)

// Bounds of what is kept of a table's metadata and of commits.
const (
	maxSnapshots = 1000  // of a table, the newest
	maxChanges   = 1000  // commits of all tables, the newest
	maxListed    = 5_000 // files of one commit
)

// addFiles names the files that were read.
func (w *writing) addFiles(ctx context.Context, d *digest) error {
	for _, key := range sorted(d.files) {
		f := d.files[key]
		if _, err := w.file(ctx, key.table, &f.File, f.last); err != nil {
			return err
		}
	}
	return nil
}

// file returns the number of a file and keeps what is told of it; what is not
// told leaves what is known.
func (w *writing) file(ctx context.Context, table laketap.TableID, f *laketap.File, at time.Time) (int64, error) {
	t, err := w.table(ctx, table, at)
	if err != nil {
		return 0, err
	}
	name := f.Object.ObjectName
	id, err := w.number(ctx, `SELECT id FROM files WHERE table_id = $1 AND origin = $2 AND bucket = $3 AND name = $4`,
		`INSERT INTO files (id, table_id, origin, bucket, name, content, format, size, row_count, part, last, gone)
		SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4, 0, '', -1, -1, '', 0, 0 FROM files`,
		t, word(name.Origin), word(name.Bucket), word(name.Key))
	if err != nil {
		return 0, fmt.Errorf("number file: %w", err)
	}
	if _, err := w.ExecContext(ctx, `UPDATE files SET
		content = CASE WHEN $2 > 0 THEN $2 ELSE content END, format = CASE WHEN $3 <> '' THEN $3 ELSE format END,
		size = CASE WHEN $4 >= 0 THEN $4 ELSE size END, row_count = CASE WHEN $5 >= 0 THEN $5 ELSE row_count END,
		part = CASE WHEN $6 <> '' THEN $6 ELSE part END, last = CASE WHEN $7 > last THEN $7 ELSE last END WHERE id = $1`,
		id, int64(f.Content), word(f.Format), f.Object.Size, f.Rows, word(w.partition(f.Partition)), at.UnixMicro()); err != nil {
		return 0, fmt.Errorf("write file: %w", err)
	}
	w.files[fileKey{table, name}] = id
	return id, nil
}

// addFileUses adds to the heat of files. Their names are written already.
func (w *writing) addFileUses(ctx context.Context, d *digest) error {
	for key, u := range d.fileUses {
		who, err := w.actor(ctx, key.actor)
		if err != nil {
			return err
		}
		row := fileUse{file: w.files[key.file], part: key.part, field: key.field, actor: who, heat: stored(u.heat), bytes: u.bytes, since: u.since.UnixMicro(), last: u.last.UnixMicro()}
		if err := w.addFileUse(ctx, &row); err != nil {
			return err
		}
	}
	return nil
}

// A fileUse is a row of file_uses.
type fileUse struct {
	file        int64
	part, field int
	actor       int64
	heat        float64 // as stored
	bytes       int64
	since, last int64
}

func (w *writing) addFileUse(ctx context.Context, u *fileUse) error {
	_, err := w.ExecContext(ctx, `INSERT INTO file_uses (file_id, part, field, actor, heat, bytes, since, last)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (file_id, part, field, actor) DO UPDATE SET heat = file_uses.heat + excluded.heat, bytes = file_uses.bytes + excluded.bytes,
		since = CASE WHEN excluded.since < file_uses.since THEN excluded.since ELSE file_uses.since END,
		last = CASE WHEN excluded.last > file_uses.last THEN excluded.last ELSE file_uses.last END`,
		u.file, u.part, u.field, u.actor, u.heat, u.bytes, u.since, u.last)
	if err != nil {
		return fmt.Errorf("write uses of file: %w", err)
	}
	return nil
}

// addChanges keeps commits and does to files what they say, once each: on a
// replace the heat of removed files goes to the added ones.
func (w *writing) addChanges(ctx context.Context, d *digest) error {
	for i := range d.changes {
		if err := w.addChange(ctx, &d.changes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) addChange(ctx context.Context, c *laketap.Change) error {
	table, err := w.table(ctx, c.Table, c.At)
	if err != nil {
		return err
	}
	kept := *c
	kept.Added, kept.Incomplete = w.listed(c.Added), c.Incomplete || len(c.Added) > maxListed || len(c.Removed) > maxListed
	kept.Removed = w.listed(c.Removed)
	body, err := json.Marshal(&kept)
	if err != nil {
		return fmt.Errorf("write change: %w", err)
	}
	res, err := w.ExecContext(ctx, `INSERT INTO changes (table_id, snapshot, at, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		table, c.To, c.At.UnixMicro(), text(body))
	if err != nil {
		return fmt.Errorf("write change: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err // it is known, and done
	}
	if c.Operation == "replace" {
		if err := w.carry(ctx, c); err != nil {
			return err
		}
	}
	for i := range c.Removed {
		name := c.Removed[i].Object.ObjectName
		if _, err := w.ExecContext(ctx, `UPDATE files SET gone = $5 WHERE table_id = $1 AND origin = $2 AND bucket = $3 AND name = $4`,
			table, word(name.Origin), word(name.Bucket), word(name.Key), c.At.UnixMicro()); err != nil {
			return fmt.Errorf("write removed file: %w", err)
		}
	}
	return nil
}

// listed is a list of files as it is kept.
func (w *writing) listed(files []laketap.File) []laketap.File {
	files = files[:min(len(files), maxListed):min(len(files), maxListed)]
	if w.literal == nil {
		return files
	}
	kept := make([]laketap.File, len(files))
	for i := range files {
		kept[i] = files[i]
		kept[i].Partition = w.partition(files[i].Partition)
	}
	return kept
}
