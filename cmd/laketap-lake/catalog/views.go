package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/apache/iceberg-go/view"
)

// viewBody is the protocol's LoadViewResult. Nothing is vended with a view: it
// has no data of its own.
type viewBody struct {
	MetadataLocation string            `json:"metadata-location"`
	Metadata         json.RawMessage   `json:"metadata"`
	Config           map[string]string `json:"config"`
}

// describeView is the answer that shows a view.
func describeView(p pointer, metadata []byte) reply {
	return reply{status: http.StatusOK, body: viewBody{p.metadata, metadata, map[string]string{}}}
}

func (c *Catalog) listViews(r *request) (reply, error) {
	if _, err := propertiesOf(r.Context(), c.db, r.namespace); err != nil {
		return reply{}, err
	}
	return c.list(r, true)
}

func (c *Catalog) viewExists(r *request) (reply, error) {
	if _, err := lookupView(r.Context(), c.db, r.id()); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

func (c *Catalog) loadView(r *request) (reply, error) {
	current, err := lookupView(r.Context(), c.db, r.id())
	if err != nil {
		return reply{}, err
	}
	metadata, err := c.readMetadata(r.Context(), current.metadata)
	if err != nil {
		return reply{}, err
	}
	return describeView(current, metadata), nil
}

// dropView forgets a view. Its metadata stays, as a dropped table's does.
func (c *Catalog) dropView(r *request) (reply, error) {
	err := c.write(r.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := lookupView(ctx, tx, r.id()); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "delete from tables where namespace = ? and name = ?", r.namespace.key(), r.table); err != nil {
			return fmt.Errorf("drop view %s: %w", r.id(), err)
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

func (c *Catalog) renameView(r *request) (reply, error) { return c.rename(r, lookupView) }

// registerView adds a view whose metadata file is already in the lake.
func (c *Catalog) registerView(r *request) (reply, error) {
	body, id, data, err := c.adopted(r)
	if err != nil {
		return reply{}, err
	}
	parsed, err := view.ParseMetadataBytes(data)
	if err != nil {
		return reply{}, badRequest("metadata file %s: %v", body.MetadataLocation, err)
	}
	adopted := pointer{uuid: parsed.ViewUUID().String(), location: parsed.Location(), metadata: body.MetadataLocation, view: true}
	err = c.write(r.Context(), func(ctx context.Context, tx *sql.Tx) error { return c.insert(ctx, tx, id, adopted) })
	if err != nil {
		return reply{}, err
	}
	return describeView(adopted, data), nil
}
