package remember

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Bounds say how long and how much is kept. A zero field is its default.
type Bounds struct {
	History time.Duration // of hours, for charts; default 90 days
	Changes time.Duration // of commits; default 7 days
	Idle    time.Duration // of what nobody used or named since, tables but for their names included; default 400 days
	Files   int64         // of all tables; default 200,000. Those longest unused go first
	Uses    int64         // rows of habits; default 500,000. Those used least go first
	Hours   int64         // rows of hours; default 1,000,000. The oldest go first
}

func (b Bounds) withDefaults() Bounds {
	const day = 24 * time.Hour
	b.History, b.Changes, b.Idle = cmp.Or(b.History, 90*day), cmp.Or(b.Changes, 7*day), cmp.Or(b.Idle, 400*day)
	b.Files, b.Uses, b.Hours = cmp.Or(b.Files, 200_000), cmp.Or(b.Uses, 500_000), cmp.Or(b.Hours, 1_000_000)
	return b
}

// goneFor is how long a file that a commit removed is remembered: readers of
// older snapshots still come, and another node may be late with what it saw.
const goneFor = 24 * time.Hour

// Tend removes what is too old or too much.
func (s *Store) Tend(ctx context.Context, now time.Time, b Bounds) error {
	b = b.withDefaults()
	return s.inTurn(ctx, func(tx *writing) error {
		before := func(d time.Duration) int64 { return now.Add(-d).UnixMicro() }
		for _, step := range []struct {
			text string
			args []any
		}{
			{`DELETE FROM hours WHERE hour < $1`, []any{now.Add(-b.History).Unix() / 3600}},
			{`DELETE FROM hours WHERE hour <= (SELECT hour FROM hours ORDER BY hour DESC LIMIT 1 OFFSET $1)`, []any{b.Hours}},
			{`DELETE FROM changes WHERE at < $1`, []any{before(b.Changes)}},
			{`DELETE FROM changes WHERE at <= (SELECT at FROM changes ORDER BY at DESC LIMIT 1 OFFSET $1)`, []any{int64(maxChanges)}},
			{`DELETE FROM uses WHERE last < $1`, []any{before(b.Idle)}},
			{`DELETE FROM uses WHERE heat <= (SELECT heat FROM uses ORDER BY heat DESC LIMIT 1 OFFSET $1)`, []any{b.Uses}},
			{`DELETE FROM files WHERE last < $1 OR gone > 0 AND gone < $2 AND last < $2`, []any{before(b.Idle), before(goneFor)}},
			{`DELETE FROM files WHERE last <= (SELECT last FROM files ORDER BY last DESC LIMIT 1 OFFSET $1)`, []any{b.Files}},
			{`DELETE FROM file_uses WHERE NOT EXISTS (SELECT 1 FROM files WHERE files.id = file_uses.file_id)`, nil},
			{`DELETE FROM actors WHERE NOT EXISTS (SELECT 1 FROM uses WHERE uses.actor = actors.id)
				AND NOT EXISTS (SELECT 1 FROM hours WHERE hours.actor = actors.id)
				AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file_uses.actor = actors.id)`, nil},
		} {
			if _, err := tx.ExecContext(ctx, step.text, step.args...); err != nil {
				return fmt.Errorf("remove what is too old or too much: %w", err)
			}
		}
		return nil
	})
}
