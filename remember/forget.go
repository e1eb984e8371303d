package remember

import (
	"context"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"
)

// A Subject is whom or what to forget: one of the two.
type Subject struct {
	Table     string // its UUID, or CATALOG.NAMESPACE.TABLE
	Principal string
}

// Check returns what is wrong with a subject.
func (s Subject) Check() error {
	if (s.Table == "") == (s.Principal == "") {
		return errors.New("name a table or a principal to forget, one of them")
	}
	return nil
}

// ErrUnknown is that there is nothing to forget.
var ErrUnknown = errors.New("the memory knows nothing of it")

// An ask is for Run to forget a subject, in turn with its writes.
type ask struct {
	ctx     context.Context
	subject Subject
	done    chan error // holds one
}

// Forget removes a subject, what waits to be written included. Other nodes may
// add what they are about to write.
func (w *Writer) Forget(ctx context.Context, s Subject) error {
	if err := s.Check(); err != nil {
		return err
	}
	a := ask{ctx, s, make(chan error, 1)}
	select {
	case w.asks <- a:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *Writer) forget(a ask) error {
	store, err := w.open(a.ctx)
	if err != nil {
		return err
	}
	return store.Forget(a.ctx, a.subject)
}

// Forget removes all that is remembered of a table or a principal, and its
// bytes from the database's files. Who is denied stays so. It is [ErrUnknown]
// if there is nothing; the files are cleaned all the same, of what an earlier
// try has left.
func (s *Store) Forget(ctx context.Context, what Subject) error {
	if err := what.Check(); err != nil {
		return err
	}
	found := int64(0)
	err := s.inTurn(ctx, func(w *writing) (err error) {
		if what.Table != "" {
			found, err = w.forgetTable(ctx, what.Table)
		} else {
			found, err = w.forgetPrincipal(ctx, what.Principal)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.shred(ctx); err != nil {
		return err
	}
	if found == 0 {
		return ErrUnknown
	}
	return nil
}

// forgetTable removes the rows of a table, or of all that share a UUID.
func (w *writing) forgetTable(ctx context.Context, name string) (found int64, err error) {
	const these = `(SELECT id FROM tables WHERE uuid = $1 OR catalog || '.' || name = $1)`
	for _, text := range []string{
		`DELETE FROM file_uses WHERE file_id IN (SELECT id FROM files WHERE table_id IN ` + these + `)`,
		`DELETE FROM files WHERE table_id IN ` + these,
		`DELETE FROM uses WHERE table_id IN ` + these,
		`DELETE FROM names WHERE table_id IN ` + these,
		`DELETE FROM changes WHERE table_id IN ` + these,
		`DELETE FROM hours WHERE table_id IN ` + these,
		`DELETE FROM tables WHERE id IN ` + these, // last: the others are found by it
	} {
		res, err := w.ExecContext(ctx, text, name)
		if err != nil {
			return 0, fmt.Errorf("forget table: %w", err)
		}
		if found, err = res.RowsAffected(); err != nil {
			return 0, fmt.Errorf("forget table: %w", err)
		}
	}
	return found, nil
}

// forgetPrincipal removes the rows of a principal. Sums that nobody's name is
// on, the hours by engine, stay.
func (w *writing) forgetPrincipal(ctx context.Context, principal string) (found int64, err error) {
	const these = `(SELECT id FROM actors WHERE principal = $1)`
	for _, text := range []string{
		`DELETE FROM file_uses WHERE actor IN ` + these,
		`DELETE FROM uses WHERE actor IN ` + these,
		`DELETE FROM actors WHERE id IN ` + these,
	} {
		res, err := w.ExecContext(ctx, text, principal)
		if err != nil {
			return 0, fmt.Errorf("forget principal: %w", err)
		}
		if found, err = res.RowsAffected(); err != nil {
			return 0, fmt.Errorf("forget principal: %w", err)
		}
	}
	return found, nil
}

// shred removes the bytes of deleted rows from the database's files. Of
// Postgres, its write-ahead log and backups are the administrator's.
func (s *Store) shred(ctx context.Context) error {
	if s.dialect == goose.DialectPostgres {
		for _, table := range []string{"tables", "names", "actors", "uses", "files", "file_uses", "changes", "hours"} {
			if _, err := s.db.ExecContext(ctx, `VACUUM (FULL, ANALYZE) `+table); err != nil {
				return fmt.Errorf("remove bytes of what is forgotten: %w", err)
			}
		}
		return nil
	}
	if _, err := s.db.ExecContext(ctx, `VACUUM`); err != nil {
		return fmt.Errorf("remove bytes of what is forgotten: %w", err)
	}
	// The log still has pages of before; all of it goes into the file.
	var busy, logged, moved int64
	if err := s.db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &logged, &moved); err != nil {
		return fmt.Errorf("remove bytes of what is forgotten: %w", err)
	}
	if busy != 0 {
		return errors.New("rows are gone, but bytes of them are still in the memory's log since somebody reads it; forget it again")
	}
	return nil
}
