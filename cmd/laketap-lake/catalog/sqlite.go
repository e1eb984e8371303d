package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver of the one database
)

// schema is the whole database. Namespaces are keyed by their levels joined
// with the unit separator, which the REST protocol uses too, so the children
// of a namespace are one range of the primary key. A table's folder is its
// location as a key with a slash at the end, whatever the scheme, so that two
// folders contain one another exactly when one begins with the other. A
// view is a row like a table: the two share names and folders, and so one key
// keeps a view from taking a table's name.
const schema = `
create table if not exists namespaces (
  name       text primary key,
  properties text not null,
  created_ms integer not null
) without rowid;
create table if not exists tables (
  namespace         text not null references namespaces(name),
  name              text not null,
  uuid              text not null,
  location          text not null,
  folder            text not null,
  metadata_location text not null,
  updated_ms        integer not null,
  view              integer not null default 0,
  primary key (namespace, name)
) without rowid;
`

// schemaVersion is kept in the file's user_version.
const schemaVersion = 2

// addViews is what a file of version 1 lacks.
const addViews = "alter table tables add column view integer not null default 0"

// openDatabase opens the file in WAL mode. With synchronous=FULL a commit that
// was answered survives the loss of power; begin takes the write lock at once
// (immediate), so a transaction never fails half-way because another one wrote.
func openDatabase(ctx context.Context, path string) (*sql.DB, error) {
	query := url.Values{}
	query.Set("_txlock", "immediate")
	for _, pragma := range []string{"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "busy_timeout(10000)"} {
		query.Add("_pragma", pragma)
	}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	// Readers do not wait for the writer in WAL mode, so a few connections help;
	// idle ones are kept, since each new one runs the pragmas again.
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	if err := migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// migrate creates the tables of a new file, brings an older one up to date, and
// refuses one of a version that is not known.
func migrate(ctx context.Context, db *sql.DB) error {
	var version int
	if err := db.QueryRowContext(ctx, "pragma user_version").Scan(&version); err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	switch version {
	case schemaVersion:
		return nil
	case 0:
		return upgrade(ctx, db, schema)
	case 1:
		return upgrade(ctx, db, addViews)
	default:
		return fmt.Errorf("schema version is %d and this program knows %d: open it with the program that wrote it, or choose another folder", version, schemaVersion)
	}
}

// upgrade runs statements and sets the version, both or neither: a start that
// was killed here begins again.
func upgrade(ctx context.Context, db *sql.DB, statements string) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin upgrade: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if _, err := tx.ExecContext(ctx, statements); err != nil {
		return fmt.Errorf("bring schema to version %d: %w", schemaVersion, err)
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("pragma user_version = %d", schemaVersion)); err != nil {
		return fmt.Errorf("set schema version: %w", err)
	}
	return tx.Commit()
}
