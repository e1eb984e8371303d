package catalog

import (
	"context"
	"database/sql"
	"net/http"

	"github.com/apache/iceberg-go/table"
)

// registerBody adopts a table by its metadata file.
type registerBody struct {
	Name             string `json:"name"`
	MetadataLocation string `json:"metadata-location"`
	Overwrite        bool   `json:"overwrite"`
}

// adopted reads what a request wants registered, under which name, and its
// metadata file.
func (c *Catalog) adopted(r *request) (body registerBody, id identifier, data []byte, err error) {
	if err := r.decode(&body); err != nil {
		return body, id, nil, err
	}
	id = identifier{r.namespace, body.Name}
	if err := id.check(); err != nil {
		return body, id, nil, err
	}
	data, err = c.readMetadata(r.Context(), body.MetadataLocation)
	return body, id, data, err
}

// registerTable adds a table whose files are already in the lake.
func (c *Catalog) registerTable(r *request) (reply, error) {
	body, id, data, err := c.adopted(r)
	if err != nil {
		return reply{}, err
	}
	parsed, err := table.ParseMetadataBytes(data)
	if err != nil {
		return reply{}, badRequest("metadata file %s: %v", body.MetadataLocation, err)
	}
	// The file may lie in the lake and its table elsewhere, where this catalog
	// could write no next file.
	if _, err := c.keyOf(parsed.Location()); err != nil {
		return reply{}, err
	}
	adopted := pointer{uuid: parsed.TableUUID().String(), location: parsed.Location(), metadata: body.MetadataLocation}
	err = c.write(r.Context(), func(ctx context.Context, tx *sql.Tx) error {
		current, taken, err := find(ctx, tx, id)
		if err != nil {
			return err
		}
		if taken && current.view {
			return nameTaken(id, true)
		}
		if taken && body.Overwrite {
			return c.swap(ctx, tx, id, current.metadata, adopted)
		}
		return c.insert(ctx, tx, id, adopted)
	})
	if err != nil {
		return reply{}, err
	}
	return reply{
		status: http.StatusOK,
		etag:   c.etag(adopted.metadata, allSnapshots),
		body:   c.describe(adopted.metadata, adopted.location, data),
	}, nil
}
