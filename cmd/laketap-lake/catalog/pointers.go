package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
)

// pointer is the row of a table or a view: which metadata file is the current
// one.
type pointer struct {
	uuid     string
	location string
	metadata string // location of the metadata file
	view     bool
}

// taken is the refusal to create what would have the name of p.
func (p pointer) taken(id identifier, view bool) error {
	switch {
	case p.view != view:
		return nameTaken(id, p.view)
	case view:
		return viewExists(id)
	default:
		return tableExists(id)
	}
}

// renameTaken is the refusal to give p's name to something else.
func (p pointer) renameTaken(body renameBody) error {
	kind := "Table"
	if p.view {
		kind = "View"
	}
	return &apiError{
		http.StatusConflict, "AlreadyExistsException",
		fmt.Sprintf("Cannot rename %s to %s. %s already exists", body.Source, body.Destination, kind),
	}
}

// find reads the pointer of a table or a view; ok is false if neither has the
// name.
func find(ctx context.Context, q queryer, id identifier) (p pointer, ok bool, err error) {
	err = q.QueryRowContext(ctx,
		"select uuid, location, metadata_location, view from tables where namespace = ? and name = ?",
		id.Namespace.key(), id.Name).Scan(&p.uuid, &p.location, &p.metadata, &p.view)
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
	if err == nil && (!ok || p.view) {
		err = noSuchTable(id)
	}
	return p, err
}

// lookupView is lookup for views.
func lookupView(ctx context.Context, q queryer, id identifier) (pointer, error) {
	p, ok, err := find(ctx, q, id)
	if err == nil && (!ok || !p.view) {
		err = noSuchView(id)
	}
	return p, err
}

// insert adds a table or a view. A name taken or a namespace gone meanwhile is the
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
		"insert into tables(namespace, name, uuid, location, folder, metadata_location, updated_ms, view) values(?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
		id.Namespace.key(), id.Name, p.uuid, p.location, key+"/", p.metadata, c.options.Now().UnixMilli(), p.view))
	if err != nil {
		return fmt.Errorf("add table %s: %w", id, err)
	}
	if changed > 0 {
		return nil
	}
	current, _, err := find(ctx, tx, id)
	if err != nil {
		return err
	}
	return current.taken(id, p.view)
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
