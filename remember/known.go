package remember

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laketap/laketap"
)

// maxFilesShown bounds the files that are answered of one table.
const maxFilesShown = 10_000

// KnownTables returns all that is known, hottest first at a time.
func (s *Store) KnownTables(ctx context.Context, now time.Time) ([]laketap.KnownTable, error) {
	var all []laketap.KnownTable
	at := map[int64]int{}
	err := each(ctx, s.db, "tables", func(rows *sql.Rows) error {
		var t laketap.KnownTable
		var id, since int64
		if err := rows.Scan(&id, &t.ID.Catalog, &t.ID.Prefix, &t.ID.Ref, &t.ID.UUID, &t.Name, &t.Location, &t.Snapshot, &since); err != nil {
			return err
		}
		t.Since = timeOf(since)
		at[id] = len(all)
		all = append(all, t)
		return nil
	}, `SELECT id, catalog, prefix, ref, uuid, name, location, snapshot, since FROM tables ORDER BY catalog, name, id LIMIT $1`, maxTables)
	if err != nil {
		return nil, err
	}
	err = each(ctx, s.db, "uses of tables", func(rows *sql.Rows) error {
		var id int64
		var kind string
		var e engineRow
		if err := rows.Scan(&id, &kind, &e.name, &e.version, &e.heat, &e.bytes, &e.last); err != nil {
			return err
		}
		i, ok := at[id]
		if !ok {
			return nil
		}
		t := &all[i]
		switch kind {
		case queryUse:
			t.Queries = t.Queries.Plus(e.uses())
		case string(laketap.TableHabit):
			t.Uses = t.Uses.Plus(e.uses())
			t.Engines = append(t.Engines, e.told())
		}
		if kind == partUse || kind == string(laketap.ColumnHabit) {
			t.Bytes += e.bytes
		}
		t.Last = later(t.Last, timeOf(e.last))
		return nil
	}, `SELECT u.table_id, u.kind, a.engine, a.version, SUM(u.heat), CAST(SUM(u.bytes) AS BIGINT), MAX(u.last)
		FROM uses u JOIN actors a ON a.id = u.actor WHERE u.kind IN ('table', 'query', 'part', 'column')
		GROUP BY u.table_id, u.kind, a.engine, a.version ORDER BY u.table_id, u.kind, a.engine, a.version`)
	if err != nil {
		return nil, err
	}
	err = each(ctx, s.db, "names of tables", func(rows *sql.Rows) error {
		var id int64
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return err
		}
		if i, ok := at[id]; ok && name != all[i].Name {
			all[i].Aliases = append(all[i].Aliases, name)
		}
		return nil
	}, `SELECT table_id, name FROM names WHERE field = 0 ORDER BY table_id, since, name`)
	slices.SortStableFunc(all, func(a, b laketap.KnownTable) int { return hotter(a.Uses, b.Uses, now) })
	return all, err
}

// An engineRow is how much of something is one engine's, as it is read.
type engineRow struct {
	name, version string
	heat          float64
	bytes, last   int64
}

func (e *engineRow) uses() laketap.Heat { return restored(e.heat, timeOf(e.last)) }

func (e *engineRow) told() laketap.EngineHeat {
	return laketap.EngineHeat{Engine: laketap.Engine{Name: e.name, Version: e.version}, Uses: e.uses(), Bytes: e.bytes, Last: timeOf(e.last)}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// hotter orders by heat at a time, hottest first.
func hotter(a, b laketap.Heat, now time.Time) int {
	switch x, y := a.At(now), b.At(now); {
	case x > y:
		return -1
	case x < y:
		return 1
	}
	return 0
}

// find returns a table's number by what people call it: its UUID, its name
// with or without its catalog, or a name that it had.
func (s *Store) find(ctx context.Context, name string) (id int64, err error) {
	for _, text := range []string{
		`SELECT id, catalog || '.' || name FROM tables WHERE uuid = $1 OR catalog || '.' || name = $1`,
		`SELECT id, catalog || '.' || name FROM tables WHERE name = $1`,
		`SELECT t.id, t.catalog || '.' || t.name FROM tables t JOIN names n ON n.table_id = t.id WHERE n.field = 0 AND n.name = $1`,
	} {
		var names []string
		err := each(ctx, s.db, "tables", func(rows *sql.Rows) error {
			names = append(names, "")
			return rows.Scan(&id, &names[len(names)-1])
		}, text+` ORDER BY 2 LIMIT 10`, word(name))
		switch {
		case err != nil:
			return 0, err
		case len(names) == 1:
			return id, nil
		case len(names) > 1:
			return 0, fmt.Errorf("%d tables have that name or UUID (%s); write CATALOG.NAMESPACE.TABLE, or the UUID", len(names), strings.Join(names, ", "))
		}
	}
	return 0, ErrUnknown
}

// KnownColumns returns what is known of a table's columns, by field id, of
// those that only bytes tell of too.
func (s *Store) KnownColumns(ctx context.Context, table string) ([]laketap.KnownColumn, error) {
	id, err := s.find(ctx, table)
	if err != nil {
		return nil, err
	}
	var text string
	if err := s.db.QueryRowContext(ctx, `SELECT columns FROM tables WHERE id = $1`, id).Scan(&text); err != nil {
		if errors.Is(err, sql.ErrNoRows) { // forgotten this moment
			return nil, ErrUnknown
		}
		return nil, fmt.Errorf("read columns: %w", err)
	}
	var told []laketap.Column
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	all := map[int]*laketap.KnownColumn{}
	of := func(field int) *laketap.KnownColumn {
		if all[field] == nil {
			all[field] = &laketap.KnownColumn{Column: laketap.Column{Field: field}}
		}
		return all[field]
	}
	for _, c := range told {
		of(c.Field).Column = c
	}
	err = each(ctx, s.db, "uses of columns", func(rows *sql.Rows) error {
		var field int
		var kind string
		var e engineRow
		if err := rows.Scan(&field, &kind, &e.name, &e.version, &e.heat, &e.bytes, &e.last); err != nil {
			return err
		}
		c := of(field)
		if kind == usedUse {
			c.Used = c.Used.Plus(e.uses())
		} else {
			c.Read = c.Read.Plus(e.uses())
			c.Engines = append(c.Engines, e.told())
			c.Bytes += e.bytes
		}
		c.Last = later(c.Last, timeOf(e.last))
		return nil
	}, `SELECT u.field, u.kind, a.engine, a.version, SUM(u.heat), CAST(SUM(u.bytes) AS BIGINT), MAX(u.last)
		FROM uses u JOIN actors a ON a.id = u.actor WHERE u.table_id = $1 AND u.kind IN ('column', 'used')
		GROUP BY u.field, u.kind, a.engine, a.version ORDER BY u.field, u.kind, a.engine, a.version`, id)
	if err != nil {
		return nil, err
	}
	err = each(ctx, s.db, "names of columns", func(rows *sql.Rows) error {
		var field int
		var name string
		if err := rows.Scan(&field, &name); err != nil {
			return err
		}
		if c := of(field); name != c.Name {
			c.Aliases = append(c.Aliases, name)
		}
		return nil
	}, `SELECT field, name FROM names WHERE table_id = $1 AND field <> 0 ORDER BY field, since, name`, id)
	columns := make([]laketap.KnownColumn, 0, len(all))
	for _, c := range all {
		columns = append(columns, *c)
	}
	slices.SortFunc(columns, func(a, b laketap.KnownColumn) int { return a.Field - b.Field })
	return columns, err
}

// KnownFiles returns the files of a table, hottest first, at most 10,000.
func (s *Store) KnownFiles(ctx context.Context, table string) (all []laketap.KnownFile, err error) {
	id, err := s.find(ctx, table)
	if err != nil {
		return nil, err
	}
	at := map[int64]int{}
	err = each(ctx, s.db, "files", func(rows *sql.Rows) error {
		var f laketap.KnownFile
		var number, last, gone, used int64
		var heat float64
		if err := rows.Scan(&number, &f.Object.Origin, &f.Object.Bucket, &f.Object.Key, &f.Content, &f.Format, &f.Object.Size, &f.Rows,
			&f.Partition, &last, &gone, &heat, &f.Bytes, &used); err != nil {
			return err
		}
		f.Last, f.Gone = timeOf(last), timeOf(gone)
		if used > 0 {
			f.Uses = restored(heat, timeOf(used))
		}
		at[number] = len(all)
		all = append(all, f)
		return nil
	}, `SELECT f.id, f.origin, f.bucket, f.name, f.content, f.format, f.size, f.row_count, f.part, f.last, f.gone,
		COALESCE(SUM(u.heat), 0) AS heat, CAST(COALESCE(SUM(u.bytes), 0) AS BIGINT), COALESCE(MAX(u.last), 0)
		FROM files f LEFT JOIN file_uses u ON u.file_id = f.id AND u.part = -1 WHERE f.table_id = $1
		GROUP BY f.id, f.origin, f.bucket, f.name, f.content, f.format, f.size, f.row_count, f.part, f.last, f.gone
		ORDER BY heat DESC, f.name LIMIT $2`, id, maxFilesShown)
	if err != nil {
		return nil, err
	}
	return all, each(ctx, s.db, "parts of files", func(rows *sql.Rows) error {
		var number, bytes int64
		var kind laketap.PartKind
		if err := rows.Scan(&number, &kind, &bytes); err != nil {
			return err
		}
		if i, ok := at[number]; ok {
			if all[i].Parts == nil {
				all[i].Parts = map[laketap.PartKind]int64{}
			}
			all[i].Parts[kind] = bytes
		}
		return nil
	}, `SELECT u.file_id, u.part, CAST(SUM(u.bytes) AS BIGINT) FROM file_uses u JOIN files f ON f.id = u.file_id
		WHERE f.table_id = $1 AND u.part >= 0 GROUP BY u.file_id, u.part`, id)
}

// Unused returns the tables, and the columns of the other tables, that nobody
// has read since a time, as far as they are there now.
func (s *Store) Unused(ctx context.Context, since time.Time) ([]laketap.Unused, error) {
	var all []laketap.Unused
	facts, err := s.Tables(ctx)
	if err != nil {
		return nil, err
	}
	known, err := s.KnownTables(ctx, since)
	if err != nil {
		return nil, err
	}
	last, err := s.lastOfColumns(ctx)
	if err != nil {
		return nil, err
	}
	columns := map[laketap.TableID][]laketap.Column{}
	for i := range facts {
		columns[facts[i].ID] = facts[i].Columns
	}
	for i := range known {
		t := &known[i]
		if t.Last.Before(since) {
			all = append(all, laketap.Unused{Table: t.ID, Name: t.Name, Since: t.Since, Last: t.Last})
			continue
		}
		for _, c := range columns[t.ID] {
			leaf := c.Type != "struct" && c.Type != "list" && c.Type != "map"
			if at := last[columnKey{t.ID, c.Field}]; leaf && !c.Dropped && at.Before(since) {
				all = append(all, laketap.Unused{Table: t.ID, Name: t.Name, Column: c.Name, Since: t.Since, Last: at})
			}
		}
	}
	return all, nil
}

type columnKey struct {
	table laketap.TableID
	field int
}

// lastOfColumns returns when each column was read or used last.
func (s *Store) lastOfColumns(ctx context.Context) (map[columnKey]time.Time, error) {
	last := map[columnKey]time.Time{}
	err := each(ctx, s.db, "uses of columns", func(rows *sql.Rows) error {
		var k columnKey
		var at int64
		if err := rows.Scan(&k.table.Catalog, &k.table.Prefix, &k.table.Ref, &k.table.UUID, &k.field, &at); err != nil {
			return err
		}
		last[k] = timeOf(at)
		return nil
	}, `SELECT t.catalog, t.prefix, t.ref, t.uuid, u.field, u.last FROM
		(SELECT table_id, field, MAX(last) AS last FROM uses WHERE kind IN ('column', 'used') GROUP BY table_id, field) u
		JOIN tables t ON t.id = u.table_id`)
	return last, err
}
