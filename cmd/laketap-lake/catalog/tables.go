package catalog

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
)

func (c *Catalog) listTables(r *request) (reply, error) {
	if _, err := propertiesOf(r.Context(), c.db, r.namespace); err != nil {
		return reply{}, err
	}
	return c.list(r, false)
}

// list lists the tables of a namespace, or its views.
func (c *Catalog) list(r *request, views bool) (reply, error) {
	names, err := column(r.Context(), c.db,
		"select name from tables where namespace = ? and view = ? order by name", r.namespace.key(), views)
	if err != nil {
		return reply{}, fmt.Errorf("list %s: %w", r.namespace, err)
	}
	found := []identifier{}
	for _, name := range names {
		found = append(found, identifier{r.namespace, name})
	}
	page, next, err := pageOf(r, found)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: map[string]any{"identifiers": page, "next-page-token": next}}, nil
}

func (c *Catalog) tableExists(r *request) (reply, error) {
	if _, err := lookup(r.Context(), c.db, r.id()); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

// dropTable forgets a table and, with ?purgeRequested=true, deletes its files.
// The row goes first: a purge that is cut short leaves files without a table,
// never a table without files.
func (c *Catalog) dropTable(r *request) (reply, error) {
	purge := strings.EqualFold(r.URL.Query().Get("purgeRequested"), "true")
	var key string
	var shared bool
	err := c.write(r.Context(), func(ctx context.Context, tx *sql.Tx) error {
		dropped, err := lookup(ctx, tx, r.id())
		if err != nil {
			return err
		}
		if key, err = c.keyOf(dropped.location); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "delete from tables where namespace = ? and name = ?", r.namespace.key(), r.table); err != nil {
			return fmt.Errorf("drop table %s: %w", r.id(), err)
		}
		// In the same transaction as the delete: it sees exactly what the drop
		// leaves, and not this table itself.
		shared, err = inUse(ctx, tx, key)
		return err
	})
	if err != nil {
		return reply{}, err
	}
	if purge {
		c.purge(context.WithoutCancel(r.Context()), key, shared)
	}
	return reply{status: http.StatusNoContent}, nil
}

// purge deletes the folder of a dropped table, unless another table lives in
// it or around it. The drop has happened: trouble here is logged, not told.
func (c *Catalog) purge(ctx context.Context, key string, shared bool) {
	if shared {
		c.options.Log.WarnContext(ctx, "purge left files in place: another table uses the folder", "key", key)
		return
	}
	if err := c.files.Remove(ctx, key); err != nil {
		c.options.Log.ErrorContext(ctx, "purge is incomplete", "key", key, "error", err)
	}
}

// inUse reports whether a table's folder is, contains or lies in the folder at
// key.
func inUse(ctx context.Context, q queryer, key string) (bool, error) {
	folder := key + "/"
	var n int
	err := q.QueryRowContext(ctx,
		"select count(*) from tables where substr(folder, 1, length(?)) = ? or substr(?, 1, length(folder)) = folder",
		folder, folder, folder).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look for tables in %s: %w", key, err)
	}
	return n > 0, nil
}

// renameBody moves a table to another name.
type renameBody struct {
	Source      identifier `json:"source"`
	Destination identifier `json:"destination"`
}

func (c *Catalog) renameTable(r *request) (reply, error) { return c.rename(r, lookup) }

// rename gives what lookup finds another name. Files stay where they are.
func (c *Catalog) rename(r *request, lookup func(context.Context, queryer, identifier) (pointer, error)) (reply, error) {
	var body renameBody
	if err := r.decode(&body); err != nil {
		return reply{}, err
	}
	for _, id := range []identifier{body.Source, body.Destination} {
		if err := id.check(); err != nil {
			return reply{}, err
		}
	}
	err := c.write(r.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := lookup(ctx, tx, body.Source); err != nil {
			return err
		}
		if _, err := propertiesOf(ctx, tx, body.Destination.Namespace); err != nil {
			return err
		}
		if current, taken, err := find(ctx, tx, body.Destination); err != nil || taken {
			if err == nil {
				err = current.renameTaken(body)
			}
			return err
		}
		_, err := tx.ExecContext(ctx, "update tables set namespace = ?, name = ? where namespace = ? and name = ?",
			body.Destination.Namespace.key(), body.Destination.Name, body.Source.Namespace.key(), body.Source.Name)
		if err != nil {
			return fmt.Errorf("rename %s: %w", body.Source, err)
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

// reportMetrics takes an engine's report and forgets it: the lake has no use
// for it, and an engine must not be held up by that.
func (c *Catalog) reportMetrics(r *request) (reply, error) {
	if _, err := lookup(r.Context(), c.db, r.id()); err != nil {
		return reply{}, err
	}
	// Read all the same: a client that sends nonsense should hear of it, and the
	// connection is kept only if the body was read.
	var report map[string]any
	if err := r.decode(&report); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}
