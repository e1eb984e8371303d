package remember

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/laketap/laketap"
)

// maxWord bounds a text in the memory, in bytes.
const maxWord = 1024

// A writing is a transaction that has the turn.
type writing struct {
	*sql.Tx

	literal func(string) string // nil: as it is
	tables  map[laketap.TableID]int64
	actors  map[actor]int64
	files   map[fileKey]int64
}

// inTurn runs a transaction while no other writes, on this node or another:
// so numbers are given once, and rows are locked by one in whatever order.
func (s *Store) inTurn(ctx context.Context, do func(*writing) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin to write: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE turn SET taken = taken + 1 WHERE id = 1`); err != nil {
		return errors.Join(fmt.Errorf("take the turn to write: %w", err), tx.Rollback())
	}
	w := &writing{Tx: tx, tables: map[laketap.TableID]int64{}, actors: map[actor]int64{}, files: map[fileKey]int64{}}
	if err := do(w); err != nil {
		// Once the context has ended, the driver has rolled back by itself.
		if rolled := tx.Rollback(); rolled != nil && !errors.Is(rolled, sql.ErrTxDone) {
			err = errors.Join(err, rolled)
		}
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("end to write: %w", err)
	}
	return nil
}

// write adds a digest, all of it or nothing. Changes come last: heat of files
// that the digest has is carried with the rest.
func (s *Store) write(ctx context.Context, d *digest, literal func(string) string) error {
	return s.inTurn(ctx, func(w *writing) error {
		w.literal = literal
		for _, step := range []func(context.Context, *digest) error{w.addTables, w.addUses, w.addFiles, w.addFileUses, w.addHours, w.addChanges} {
			if err := step(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// word makes a text one that every database takes.
func word(s string) string {
	if len(s) > maxWord {
		s = s[:maxWord]
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// number returns the id of a row, which is made if it is not there. Both
// statements end with the row's words.
func (w *writing) number(ctx context.Context, find, insert string, words ...any) (id int64, err error) {
	for range 2 {
		err = w.QueryRowContext(ctx, find, words...).Scan(&id)
		if !errors.Is(err, sql.ErrNoRows) {
			return id, err
		}
		if _, err = w.ExecContext(ctx, insert, words...); err != nil {
			return 0, err
		}
	}
	return 0, err
}

// table returns the number of a table.
func (w *writing) table(ctx context.Context, t laketap.TableID, seen time.Time) (int64, error) {
	if id, ok := w.tables[t]; ok {
		return id, nil
	}
	id, err := w.number(ctx, `SELECT id FROM tables WHERE catalog = $1 AND prefix = $2 AND ref = $3 AND uuid = $4`,
		fmt.Sprintf(`INSERT INTO tables (id, catalog, prefix, ref, uuid, told, name, location, snapshot, columns, snapshots, since)
		SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4, 0, '', '', -1, '[]', '[]', %d FROM tables`, seen.UnixMicro()),
		word(t.Catalog), word(t.Prefix), word(t.Ref), word(t.UUID))
	if err != nil {
		return 0, fmt.Errorf("number table: %w", err)
	}
	w.tables[t] = id
	return id, nil
}

// actor returns the number of an actor.
func (w *writing) actor(ctx context.Context, a actor) (int64, error) {
	if id, ok := w.actors[a]; ok {
		return id, nil
	}
	id, err := w.number(ctx, `SELECT id FROM actors WHERE engine = $1 AND version = $2 AND principal = $3`,
		`INSERT INTO actors (id, engine, version, principal) SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3 FROM actors`,
		word(a.engine), word(a.version), word(a.principal))
	if err != nil {
		return 0, fmt.Errorf("number engine: %w", err)
	}
	w.actors[a] = id
	return id, nil
}

// addTables writes what metadata says. What is older than what is known adds
// its names alone.
func (w *writing) addTables(ctx context.Context, d *digest) error {
	for _, all := range d.tables {
		for i := range all {
			if err := w.addTable(ctx, &all[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writing) addTable(ctx context.Context, t *laketap.TableFacts) error {
	id, err := w.table(ctx, t.ID, t.At)
	if err != nil {
		return err
	}
	columns, err := json.Marshal(t.Columns)
	if err != nil {
		return fmt.Errorf("write columns: %w", err)
	}
	snapshots, err := json.Marshal(t.Snapshots[max(0, len(t.Snapshots)-maxSnapshots):])
	if err != nil {
		return fmt.Errorf("write snapshots: %w", err)
	}
	at := t.At.UnixMicro()
	if _, err := w.ExecContext(ctx, `UPDATE tables SET told = $2, name = $3, location = $4, snapshot = $5, columns = $6, snapshots = $7
		WHERE id = $1 AND told <= $2`,
		id, at, word(t.Name), word(t.Location), t.Snapshot, text(columns), text(snapshots)); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return w.addNames(ctx, id, t, at)
}

// text is JSON as every database takes it; Postgres has no NUL.
func text(json []byte) string { return strings.ReplaceAll(string(json), `\u0000`, `\ufffd`) }

// addNames keeps the names that a table and its columns have.
func (w *writing) addNames(ctx context.Context, id int64, t *laketap.TableFacts, at int64) error {
	add := func(field int, name string) error {
		_, err := w.ExecContext(ctx, `INSERT INTO names (table_id, field, name, since) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			id, field, word(name), at)
		if err != nil {
			return fmt.Errorf("write name: %w", err)
		}
		return nil
	}
	if err := add(0, t.Name); err != nil {
		return err
	}
	for _, c := range t.Columns {
		if err := add(c.Field, c.Name); err != nil {
			return err
		}
	}
	return nil
}

// addUses adds what outlives files.
func (w *writing) addUses(ctx context.Context, d *digest) error {
	for key, u := range d.uses {
		table, err := w.table(ctx, key.table, u.since)
		if err != nil {
			return err
		}
		who, err := w.actor(ctx, key.actor)
		if err != nil {
			return err
		}
		value := key.value
		if key.kind == string(laketap.PartitionHabit) {
			value = w.partition(value)
		}
		if _, err := w.ExecContext(ctx, `INSERT INTO uses (table_id, kind, field, value, actor, heat, bytes, since, last)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (table_id, kind, field, value, actor) DO UPDATE SET heat = uses.heat + excluded.heat, bytes = uses.bytes + excluded.bytes,
			since = CASE WHEN excluded.since < uses.since THEN excluded.since ELSE uses.since END,
			last = CASE WHEN excluded.last > uses.last THEN excluded.last ELSE uses.last END`,
			table, key.kind, key.field, word(value), who, stored(u.heat), u.bytes, u.since.UnixMicro(), u.last.UnixMicro()); err != nil {
			return fmt.Errorf("write uses: %w", err)
		}
	}
	return nil
}

// addHours adds to the history for charts.
func (w *writing) addHours(ctx context.Context, d *digest) error {
	for key, h := range d.hours {
		table, err := w.table(ctx, key.table, time.Unix(key.hour*3600, 0))
		if err != nil {
			return err
		}
		who, err := w.actor(ctx, key.actor)
		if err != nil {
			return err
		}
		if _, err := w.ExecContext(ctx, `INSERT INTO hours (table_id, hour, actor, accesses, asked, origin, memory, disk)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (table_id, hour, actor) DO UPDATE SET accesses = hours.accesses + excluded.accesses, asked = hours.asked + excluded.asked,
			origin = hours.origin + excluded.origin, memory = hours.memory + excluded.memory, disk = hours.disk + excluded.disk`,
			table, key.hour, who, h.accesses, h.asked, h.served[laketap.FromOrigin], h.served[laketap.FromMemory], h.served[laketap.FromDisk]); err != nil {
			return fmt.Errorf("write history: %w", err)
		}
	}
	return nil
}

// partition is a partition as it is kept: the values replaced, the field ids
// as they are, if people want no literals.
func (w *writing) partition(p string) string {
	if w.literal == nil || p == "" {
		return p
	}
	fields := strings.Split(p, "/")
	for i, f := range fields {
		if id, value, ok := strings.Cut(f, "="); ok {
			fields[i] = id + "=" + w.literal(value)
		} else {
			fields[i] = w.literal(f) // a value with a slash in it
		}
	}
	return strings.Join(fields, "/")
}

// sorted returns the keys of a map of files in an order that does not change.
func sorted[V any](files map[fileKey]V) []fileKey {
	return slices.SortedFunc(maps.Keys(files), func(a, b fileKey) int {
		return cmp.Or(cmp.Compare(a.name.Key, b.name.Key), cmp.Compare(a.name.Bucket, b.name.Bucket), cmp.Compare(a.table.UUID, b.table.UUID))
	})
}
