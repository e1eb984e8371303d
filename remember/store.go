// Package remember owns the memory: what has to outlive a process or be known
// to all nodes, in SQLite or, for many nodes, in Postgres. One Store and one
// SQL text serve both. It refuses to be needed: whoever reads it on the path
// of a request reads a copy in the process, and trouble with the database is
// told and healed without engines noticing.
package remember

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Options say which database a Store is on.
type Options struct {
	// File is the SQLite database; it is made with its folder if it is not
	// there. It is not used where URL is set.
	File string
	// URL is a Postgres database, as in postgres://user:password@host/name. Its
	// password is in no error.
	URL string
}

// migrateTries is how often the schema is looked at before giving up.
const migrateTries = 3

// maxConns bounds the connections of a Store.
const maxConns = 4

// A Store is the memory, open. It is safe for concurrent use.
type Store struct {
	db      *sql.DB
	dialect goose.Dialect
}

// Open connects to the database and brings its schema up to date. Several
// nodes may do so at once.
func Open(ctx context.Context, o Options) (*Store, error) {
	db, dialect, err := connect(o)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db, dialect); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Store{db, dialect}, nil
}

// Check returns what is wrong with the options, without connecting.
func (o Options) Check() error {
	if o.URL == "" {
		return nil
	}
	// Not the parser's own words: they repeat some of what they could not read.
	if !strings.HasPrefix(o.URL, "postgres://") && !strings.HasPrefix(o.URL, "postgresql://") {
		return errors.New("is no Postgres URL; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, or leave it out for SQLite")
	}
	if _, err := pgx.ParseConfig(o.URL); err != nil {
		return errors.New("cannot be read as a Postgres URL; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters as %XX")
	}
	return nil
}

// Name tells people which database it is, without its password.
func (o Options) Name() string {
	if o.URL == "" {
		return o.File
	}
	c, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return "postgres"
	}
	return fmt.Sprintf("postgres://%s:%d/%s", c.Host, c.Port, c.Database)
}

// connect opens a pool; for Postgres nothing is contacted yet.
func connect(o Options) (*sql.DB, goose.Dialect, error) {
	if err := o.Check(); err != nil {
		return nil, "", fmt.Errorf("memory url %w", err)
	}
	if o.URL == "" {
		db, err := openFile(o.File)
		return db, goose.DialectSQLite3, err
	}
	config, err := pgx.ParseConfig(o.URL)
	if err != nil { // Check has read it
		return nil, "", errors.New("memory url cannot be read")
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(maxConns)
	return db, goose.DialectPostgres, nil
}

// openFile opens a SQLite database that only its owner can read.
func openFile(file string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(cmp.Or(file, ".")), 0o700); err != nil {
		return nil, fmt.Errorf("make folder of memory: %w", err)
	}
	// SQLite would make it as the umask allows, and its WAL like the file.
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	// An absolute path, for the form file:NAME reads "//" as a host. The time to
	// wait for other processes comes first, so that it holds for the rest.
	// The limit gives back what a large write made the log grow to.
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	dsn := url.URL{
		Scheme: "file", OmitHost: true, Path: path,
		RawQuery: "_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=journal_size_limit(16777216)&_txlock=immediate",
	}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	db.SetMaxOpenConns(maxConns) // who reads need not wait for who writes
	return db, nil
}

// migrate brings the schema up to date.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	var options []goose.ProviderOption
	if dialect == goose.DialectPostgres {
		// Nodes start together; one migrates and the others wait for it.
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return fmt.Errorf("make lock for migrations: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(dialect, db, files, options...)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	// SQLite has no lock to hold throughout: who loses a race to another process
	// finds the work done when it looks again.
	for range migrateTries {
		if _, err = provider.Up(ctx); err == nil {
			return nil
		}
	}
	return fmt.Errorf("bring memory up to date: %w", err)
}

// Close ends the connections.
func (s *Store) Close() error { return s.db.Close() }
