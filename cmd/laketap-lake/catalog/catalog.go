// Package catalog is the Iceberg REST catalog of the local lake: namespaces,
// tables, views and commits over one SQLite file, table metadata in the lake's own
// object store.
//
// It owns which metadata file is the current one of each table and the order
// of commits. It refuses to read or plan data, to know who is asking (the lake
// listens on loopback only) and to keep tables outside its own bucket.
package catalog

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Files is where table metadata lives. Keys are relative to the lake's bucket.
type Files interface {
	// Read returns the whole object; a missing one is fs.ErrNotExist.
	Read(ctx context.Context, key string) ([]byte, error)
	// Write makes the object durable and readable over S3 before it returns.
	Write(ctx context.Context, key string, data []byte) error
	// Remove deletes the object at key and every object under key as a folder.
	// Removing what is not there is no error.
	Remove(ctx context.Context, key string) error
}

// Options describes a catalog.
type Options struct {
	// Database is the absolute path of the SQLite file; it is created if
	// missing. Required.
	Database string
	// Bucket is the only bucket tables may live in. Required.
	Bucket string
	// Warehouse is the key prefix under which tables get their location when
	// the client names none. Empty is the root of the bucket.
	Warehouse string
	// Vend is the configuration handed out with each table, as properties and
	// as one storage credential scoped to the table. Empty vends nothing.
	Vend map[string]string
	// Now is the clock of namespace and table rows; nil is time.Now.
	Now func() time.Time
	// Log gets what no client is told; nil discards.
	Log *slog.Logger
}

// Catalog answers the Iceberg REST protocol. It is an http.Handler.
type Catalog struct {
	options Options
	files   Files
	db      *sql.DB

	// writing keeps writers of this process from polling SQLite's lock. It
	// guards no state: the database alone decides which commit wins.
	writing sync.Mutex
}

// Open opens the catalog database, creating it if needed. Close it after use.
func Open(ctx context.Context, files Files, options Options) (*Catalog, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	db, err := openDatabase(ctx, options.Database)
	if err != nil {
		return nil, fmt.Errorf("open catalog database %s: %w", options.Database, err)
	}
	return &Catalog{options: options, files: files, db: db}, nil
}

// Close closes the database. Requests must have ended.
func (c *Catalog) Close() error {
	if err := c.db.Close(); err != nil {
		return fmt.Errorf("close catalog database: %w", err)
	}
	return nil
}

// write runs do in one transaction that is on disk when write returns nil.
// The transaction outlives its client: half a commit helps nobody.
func (c *Catalog) write(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	// From here on a client that goes away changes nothing: it cannot know
	// whether its commit happened, and must find out by asking.
	ctx = context.WithoutCancel(ctx)
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	if err := do(ctx, tx); err != nil {
		if undo := tx.Rollback(); undo != nil {
			c.options.Log.ErrorContext(ctx, "rollback", "error", undo)
		}
		return err
	}
	// A commit that returned an error may be on disk all the same, such as when
	// the sync failed. Only here is the state unknown.
	if err := tx.Commit(); err != nil {
		return unknownState(err)
	}
	return nil
}
