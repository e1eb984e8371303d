package remember

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/laketap/laketap"
)

// Bounds of what is read at once.
const (
	maxTables = 10_000
	maxHabits = 20_000
)

// each runs a query and has every row of its answer scanned.
func each(ctx context.Context, db *sql.DB, what string, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("read %s: %w", what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}

// timeOf is a time of the database; 0 is none.
func timeOf(micro int64) time.Time {
	if micro == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

// Tables returns what is known of every table that a catalog has told of, the
// one told of last first, at most 10,000.
func (s *Store) Tables(ctx context.Context) (all []laketap.TableFacts, err error) {
	err = each(ctx, s.db, "tables", func(rows *sql.Rows) error {
		var t laketap.TableFacts
		var told int64
		var columns, snapshots string
		if err := rows.Scan(&t.ID.Catalog, &t.ID.Prefix, &t.ID.Ref, &t.ID.UUID, &told, &t.Name, &t.Location, &t.Snapshot, &columns, &snapshots); err != nil {
			return err
		}
		t.At = timeOf(told)
		if err := json.Unmarshal([]byte(columns), &t.Columns); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(snapshots), &t.Snapshots); err != nil {
			return err
		}
		all = append(all, t)
		return nil
	}, `SELECT catalog, prefix, ref, uuid, told, name, location, snapshot, columns, snapshots FROM tables WHERE told > 0
		ORDER BY told DESC, id LIMIT $1`, maxTables)
	return all, err
}

// Habits returns those that are hottest, hottest first, at most 20,000. What
// several principals of an engine have is summed up.
func (s *Store) Habits(ctx context.Context) (all []laketap.Habit, err error) {
	kinds := []any{maxHabits, laketap.TableHabit, laketap.ColumnHabit, laketap.PartitionHabit, laketap.PredicateHabit, laketap.HourHabit}
	for i, k := range kinds[1:] {
		kinds[i+1] = string(k.(laketap.HabitKind))
	}
	err = each(ctx, s.db, "habits", func(rows *sql.Rows) error {
		var h laketap.Habit
		var heat float64
		var since, last int64
		if err := rows.Scan(&h.Table.Catalog, &h.Table.Prefix, &h.Table.Ref, &h.Table.UUID, &h.Kind, &h.Field, &h.Value,
			&h.Engine.Name, &h.Engine.Version, &heat, &h.Bytes, &since, &last); err != nil {
			return err
		}
		h.First, h.Last = timeOf(since), timeOf(last)
		h.Uses = restored(heat, h.Last)
		all = append(all, h)
		return nil
	}, `SELECT t.catalog, t.prefix, t.ref, t.uuid, h.kind, h.field, h.value, h.engine, h.version, h.heat, h.bytes, h.since, h.last
		FROM (SELECT u.table_id, u.kind, u.field, u.value, a.engine, a.version, SUM(u.heat) AS heat, CAST(SUM(u.bytes) AS BIGINT) AS bytes,
			MIN(u.since) AS since, MAX(u.last) AS last
			FROM uses u JOIN actors a ON a.id = u.actor WHERE u.kind IN ($2, $3, $4, $5, $6)
			GROUP BY u.table_id, u.kind, u.field, u.value, a.engine, a.version ORDER BY SUM(u.heat) DESC LIMIT $1) h
		JOIN tables t ON t.id = h.table_id ORDER BY h.heat DESC, h.kind, h.field, h.value, h.engine, h.version`, kinds...)
	return all, err
}

// Changes returns the commits from a time on, oldest first. The 1,000 newest
// of all tables are kept, for a time.
func (s *Store) Changes(ctx context.Context, since time.Time) (all []laketap.Change, err error) {
	err = each(ctx, s.db, "changes", func(rows *sql.Rows) error {
		var body string
		if err := rows.Scan(&body); err != nil {
			return err
		}
		var c laketap.Change
		if err := json.NewDecoder(strings.NewReader(body)).Decode(&c); err != nil {
			return err
		}
		c.At = c.At.UTC()
		all = append(all, c)
		return nil
	}, `SELECT body FROM changes WHERE at >= $1 ORDER BY at, snapshot LIMIT $2`, since.UnixMicro(), maxChanges)
	return all, err
}
