package remember

import (
	"context"
	"fmt"
	"time"

	"github.com/laketap/laketap"
)

// MaxDenials bounds how many there may be: every node has all of them in
// memory.
const MaxDenials = 10_000

// Denials returns all, by kind and subject.
func (s *Store) Denials(ctx context.Context) (all []laketap.Denial, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT kind, subject, since, "by", reason FROM denials ORDER BY kind, subject LIMIT $1`, MaxDenials)
	if err != nil {
		return nil, fmt.Errorf("read denials: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var d laketap.Denial
		var since int64
		if err := rows.Scan(&d.Kind, &d.Subject, &since, &d.By, &d.Reason); err != nil {
			return nil, fmt.Errorf("read denials: %w", err)
		}
		d.Since = time.UnixMicro(since).UTC()
		all = append(all, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read denials: %w", err)
	}
	return all, nil
}

// Deny adds a denial. One of the same subject is replaced.
func (s *Store) Deny(ctx context.Context, d laketap.Denial) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO denials (kind, subject, since, "by", reason) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (kind, subject) DO UPDATE SET since = excluded.since, "by" = excluded."by", reason = excluded.reason`,
		d.Kind, d.Subject, d.Since.UnixMicro(), d.By, d.Reason)
	if err != nil {
		return fmt.Errorf("write denial: %w", err)
	}
	return nil
}

// Allow lifts a denial; one that is not there is none to lift.
func (s *Store) Allow(ctx context.Context, kind, subject string) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM denials WHERE kind = $1 AND subject = $2`, kind, subject); err != nil {
		return fmt.Errorf("lift denial: %w", err)
	}
	return nil
}
