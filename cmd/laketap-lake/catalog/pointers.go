package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// pointer is a table's row: which metadata file is the current one.
type pointer struct {
	uuid     string
	location string
	metadata string // location of the metadata file
}

// find reads a table's pointer; ok is false if there is no such table.
func find(ctx context.Context, q queryer, id identifier) (p pointer, ok bool, err error) {
	err = q.QueryRowContext(ctx,
		"select uuid, location, metadata_location from tables where namespace = ? and name = ?",
		id.Namespace.key(), id.Name).Scan(&p.uuid, &p.location, &p.metadata)
	if errors.Is(err, sql.ErrNoRows) {
		return pointer{}, false, nil
	}
	if err != nil {
		return pointer{}, false, fmt.Errorf("look up table %s: %w", id, err)
	}
	return p, true, nil
}

// lookup is find where a missing table is the protocol's 404.
func lookup(ctx context.Context, q queryer, id identifier) (pointer, error) {
	p, ok, err := find(ctx, q, id)
	if err == nil && !ok {
		err = noSuchTable(id)
	}
	return p, err
}

// insert adds a table. A name taken or a namespace gone meanwhile is the
// protocol's error.
func (c *Catalog) insert(ctx context.Context, tx *sql.Tx, id identifier, p pointer) error {
	if _, err := propertiesOf(ctx, tx, id.Namespace); err != nil {
		return err
	}
	key, err := c.keyOf(p.location)
	if err != nil {
		return err
	}
	changed, err := affected(tx.ExecContext(ctx,
		"insert into tables(namespace, name, uuid, location, folder, metadata_location, updated_ms) values(?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
		id.Namespace.key(), id.Name, p.uuid, p.location, key+"/", p.metadata, c.options.Now().UnixMilli()))
	if err != nil {
		return fmt.Errorf("add table %s: %w", id, err)
	}
	if changed == 0 {
		return tableExists(id)
	}
	return nil
}

// errMoved says that a table's pointer is not the one a commit was built on.
var errMoved = errors.New("table changed meanwhile")

// swap moves a table's pointer from one metadata file to the next, or returns
// errMoved. Metadata files have unique names, so comparing the name is enough.
func (c *Catalog) swap(ctx context.Context, tx *sql.Tx, id identifier, from string, to pointer) error {
	key, err := c.keyOf(to.location)
	if err != nil {
		return err
	}
	// Compare and swap in one statement: whoever finds another file than the one
	// it built on changes no row.
	changed, err := affected(tx.ExecContext(ctx,
		"update tables set uuid = ?, location = ?, folder = ?, metadata_location = ?, updated_ms = ? where namespace = ? and name = ? and metadata_location = ?",
		to.uuid, to.location, key+"/", to.metadata, c.options.Now().UnixMilli(), id.Namespace.key(), id.Name, from))
	if err != nil {
		return fmt.Errorf("move table %s: %w", id, err)
	}
	if changed == 0 {
		return errMoved
	}
	return nil
}
