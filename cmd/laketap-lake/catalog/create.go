package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
)

// createBody is the protocol's CreateTableRequest.
type createBody struct {
	Name          string                 `json:"name"`
	Location      string                 `json:"location"`
	Schema        *iceberg.Schema        `json:"schema"`
	PartitionSpec *iceberg.PartitionSpec `json:"partition-spec"`
	WriteOrder    *table.SortOrder       `json:"write-order"`
	StageCreate   bool                   `json:"stage-create"`
	Properties    map[string]string      `json:"properties"`
}

// createTable creates a table or, staged, only answers what it would be; the
// client then commits the staged table with assert-create.
func (c *Catalog) createTable(r *request) (reply, error) {
	var body createBody
	if err := r.decode(&body); err != nil {
		return reply{}, err
	}
	id := identifier{r.namespace, body.Name}
	if err := id.check(); err != nil {
		return reply{}, err
	}
	if _, err := propertiesOf(r.Context(), c.db, id.Namespace); err != nil {
		return reply{}, err
	}
	// Asked early for a good answer; what decides is the insert, which sees what
	// others did meanwhile.
	if current, taken, err := find(r.Context(), c.db, id); err != nil || taken {
		if err == nil {
			err = current.taken(id, false)
		}
		return reply{}, err
	}
	created, err := c.newTable(id, body)
	if err != nil {
		return reply{}, err
	}
	if body.StageCreate {
		data, err := json.Marshal(created)
		if err != nil {
			return reply{}, fmt.Errorf("encode metadata of %s: %w", id, err)
		}
		return reply{status: http.StatusOK, body: c.describe("", created.Location(), data)}, nil
	}
	staged, err := c.stage(r.Context(), id, "", created)
	if err != nil {
		return reply{}, err
	}
	return c.publish(r.Context(), id, staged)
}

// newTable is the first metadata of a table, with the identifiers a catalog
// assigns.
func (c *Catalog) newTable(id identifier, body createBody) (table.Metadata, error) {
	if body.Schema == nil {
		return nil, badRequest("a new table needs a schema")
	}
	order := table.UnsortedSortOrder
	if body.WriteOrder != nil {
		order = *body.WriteOrder
	}
	tableID := uuid.New()
	// Without slashes at its end: engines append "/data" to it, and a store takes
	// two slashes for another key.
	location := strings.TrimRight(body.Location, "/")
	if location == "" {
		location = c.newLocation(id, tableID)
	}
	if _, err := c.keyOf(location); err != nil {
		return nil, err
	}
	created, err := table.NewMetadataWithUUID(body.Schema, body.PartitionSpec, order, location, maps.Clone(body.Properties), tableID)
	if err != nil {
		return nil, badRequest("create table %s: %v", id, err)
	}
	return created, nil
}

// publish makes a staged table visible and answers with it. If somebody else
// took the name, the staged file goes.
func (c *Catalog) publish(ctx context.Context, id identifier, staged staged) (reply, error) {
	err := c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return c.insert(ctx, tx, id, staged.to)
	})
	if err != nil {
		c.discard(ctx, staged, err)
		return reply{}, err
	}
	return reply{
		status: http.StatusOK,
		etag:   c.etag(staged.to.metadata, allSnapshots),
		body:   c.describe(staged.to.metadata, staged.to.location, staged.data),
	}, nil
}
