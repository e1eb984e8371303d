package remember

import (
	"context"
	"fmt"

	"github.com/laketap/laketap"
)

// carried is what heat of removed files is summed up by.
type carried struct {
	partition   string
	part, field int
	actor       int64
}

// carry moves the heat of the files that a commit replaced to those that it
// put in their place: by partition, column and who has it, each of them a share
// by its size. Heat of a partition that the commit left no file in, as when a
// table is partitioned anew, goes to all of them. Bytes stay with what was
// read.
func (w *writing) carry(ctx context.Context, c *laketap.Change) error {
	heirs := map[string][]laketap.File{} // by partition
	for _, f := range c.Added {
		if f.Content != laketap.DeleteContent {
			heirs[f.Partition] = append(heirs[f.Partition], f)
		}
	}
	if len(heirs) == 0 {
		return nil
	}
	sums := map[carried]*fileUse{}
	for i := range c.Removed {
		f := &c.Removed[i]
		if f.Content == laketap.DeleteContent {
			continue
		}
		partition := f.Partition
		if len(heirs[partition]) == 0 {
			partition = everywhere
		}
		if err := w.take(ctx, c.Table, f, partition, sums); err != nil {
			return err
		}
	}
	for key, sum := range sums {
		files := heirs[key.partition]
		if key.partition == everywhere {
			files = nil
			for _, some := range heirs {
				files = append(files, some...)
			}
		}
		if err := w.bequeath(ctx, c, sum, files); err != nil {
			return err
		}
	}
	return nil
}

// everywhere is no partition: canonical ones have no control characters first.
const everywhere = "\x00"

// take adds the heat of a removed file to the sums and takes it from the file.
func (w *writing) take(ctx context.Context, table laketap.TableID, f *laketap.File, partition string, sums map[carried]*fileUse) error {
	name := f.Object.ObjectName
	rows, err := w.QueryContext(ctx, `SELECT u.file_id, u.part, u.field, u.actor, u.heat, u.since, u.last FROM file_uses u JOIN files f ON f.id = u.file_id
		WHERE f.table_id = $1 AND f.origin = $2 AND f.bucket = $3 AND f.name = $4 AND u.heat > 0`,
		w.tables[table], word(name.Origin), word(name.Bucket), word(name.Key))
	if err != nil {
		return fmt.Errorf("read heat of removed file: %w", err)
	}
	defer rows.Close()
	file := int64(0)
	for rows.Next() {
		var u fileUse
		if err := rows.Scan(&u.file, &u.part, &u.field, &u.actor, &u.heat, &u.since, &u.last); err != nil {
			return fmt.Errorf("read heat of removed file: %w", err)
		}
		file = u.file
		key := carried{partition, u.part, u.field, u.actor}
		sum := sums[key]
		if sum == nil {
			sums[key] = &u
			continue
		}
		sum.heat += u.heat
		sum.since, sum.last = min(sum.since, u.since), max(sum.last, u.last)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read heat of removed file: %w", err)
	}
	if err := rows.Close(); err != nil {
		return fmt.Errorf("read heat of removed file: %w", err)
	}
	if _, err := w.ExecContext(ctx, `UPDATE file_uses SET heat = 0 WHERE file_id = $1`, file); err != nil {
		return fmt.Errorf("take heat of removed file: %w", err)
	}
	return nil
}

// bequeath gives each of some files its share of a heat.
func (w *writing) bequeath(ctx context.Context, c *laketap.Change, sum *fileUse, files []laketap.File) error {
	total := int64(0)
	for i := range files {
		total += max(files[i].Object.Size, 1)
	}
	for i := range files {
		id, ok := w.files[fileKey{c.Table, files[i].Object.ObjectName}]
		if !ok {
			var err error
			if id, err = w.file(ctx, c.Table, &files[i], c.At); err != nil {
				return err
			}
		}
		share := *sum
		share.file, share.bytes = id, 0
		share.heat *= float64(max(files[i].Object.Size, 1)) / float64(total)
		if err := w.addFileUse(ctx, &share); err != nil {
			return err
		}
	}
	return nil
}
