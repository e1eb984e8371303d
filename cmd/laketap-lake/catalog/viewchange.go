package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/view"
	"github.com/google/uuid"
)

// createViewBody is the protocol's CreateViewRequest.
type createViewBody struct {
	Name       string            `json:"name"`
	Location   string            `json:"location"`
	Schema     *iceberg.Schema   `json:"schema"`
	Version    *view.Version     `json:"view-version"`
	Properties map[string]string `json:"properties"`
}

func (c *Catalog) createView(r *request) (reply, error) {
	var body createViewBody
	if err := r.decode(&body); err != nil {
		return reply{}, err
	}
	id := identifier{r.namespace, body.Name}
	if err := id.check(); err != nil {
		return reply{}, err
	}
	if body.Schema == nil || body.Version == nil {
		return reply{}, badRequest("a new view needs a schema and a view-version")
	}
	if _, err := propertiesOf(r.Context(), c.db, id.Namespace); err != nil {
		return reply{}, err
	}
	if current, taken, err := find(r.Context(), c.db, id); err != nil || taken {
		if err == nil {
			err = current.taken(id, true)
		}
		return reply{}, err
	}
	viewID := uuid.New()
	location := strings.TrimRight(body.Location, "/")
	if location == "" {
		location = c.newLocation(id, viewID)
	}
	created, err := view.NewMetadataWithUUID(body.Version, body.Schema, location, maps.Clone(body.Properties), viewID)
	if err != nil {
		return reply{}, badView(id, err)
	}
	one, err := c.stageView(r.Context(), id, "", created)
	if err != nil {
		return reply{}, err
	}
	err = c.write(r.Context(), func(ctx context.Context, tx *sql.Tx) error { return c.insert(ctx, tx, id, one.to) })
	if err != nil {
		c.discard(r.Context(), one, err)
		return reply{}, err
	}
	return describeView(one.to, one.data), nil
}

// stageView writes the next metadata file of a view.
func (c *Catalog) stageView(ctx context.Context, id identifier, from string, metadata view.Metadata) (staged, error) {
	to := pointer{uuid: metadata.ViewUUID().String(), location: metadata.Location(), view: true}
	data, err := c.writeMetadata(ctx, &to, from, metadata.Properties(), metadata)
	if err != nil {
		return staged{}, fmt.Errorf("stage view %s: %w", id, err)
	}
	return staged{id: id, from: from, to: to, data: data}, nil
}

// viewChangeBody is the protocol's CommitViewRequest.
type viewChangeBody struct {
	Requirements view.Requirements `json:"requirements"`
	Updates      view.Updates      `json:"updates"`
}

// UnmarshalJSON reads a change and refuses updates without what they are about,
// which the library would take for something that is there.
func (b *viewChangeBody) UnmarshalJSON(data []byte) error {
	type plain viewChangeBody
	if err := json.Unmarshal(data, (*plain)(b)); err != nil {
		return err
	}
	var outline struct {
		Updates []struct {
			Action  string           `json:"action"`
			Schema  *json.RawMessage `json:"schema"`
			Version *json.RawMessage `json:"view-version"`
		} `json:"updates"`
	}
	if err := json.Unmarshal(data, &outline); err != nil {
		return err
	}
	for _, one := range outline.Updates {
		if one.Action == "add-schema" && one.Schema == nil || one.Action == "add-view-version" && one.Version == nil {
			return fmt.Errorf("update %s says nothing to add", one.Action)
		}
	}
	return nil
}

// replaceView changes a view. A change whose requirements still hold is built
// again when another one was quicker, as a table's is.
func (c *Catalog) replaceView(r *request) (reply, error) {
	raw := json.RawMessage{}
	if err := r.decode(&raw); err != nil {
		return reply{}, err
	}
	for range maxAttempts {
		// Read anew for each attempt: the library changes updates it has applied.
		var body viewChangeBody
		if err := json.Unmarshal(raw, &body); err != nil {
			return reply{}, badRequest("change of view %s: %v", r.id(), err)
		}
		answer, err := c.tryView(r.Context(), r.id(), body)
		if !errors.Is(err, errMoved) {
			return answer, err
		}
	}
	return reply{}, commitFailed("view %s changes too fast: gave up after %d attempts", r.id(), maxAttempts)
}

// tryView carries out a change on the view as it is now, or returns errMoved.
func (c *Catalog) tryView(ctx context.Context, id identifier, body viewChangeBody) (reply, error) {
	current, err := lookupView(ctx, c.db, id)
	if err != nil {
		return reply{}, err
	}
	data, err := c.readMetadata(ctx, current.metadata)
	if err != nil {
		return reply{}, err
	}
	base, err := view.ParseMetadataBytes(data)
	if err != nil {
		return reply{}, fmt.Errorf("parse metadata %s: %w", current.metadata, err)
	}
	next, err := changeView(id, base, body)
	if err != nil {
		return reply{}, err
	}
	if next == nil {
		return describeView(current, data), nil
	}
	one, err := c.stageView(ctx, id, current.metadata, next)
	if err != nil {
		return reply{}, err
	}
	err = c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return c.swap(ctx, tx, id, current.metadata, one.to)
	})
	if err != nil {
		c.discard(ctx, one, err)
		return reply{}, err
	}
	return describeView(one.to, one.data), nil
}

// changeView checks requirements and applies updates; nil is no change.
func changeView(id identifier, base view.Metadata, body viewChangeBody) (view.Metadata, error) {
	for _, requirement := range body.Requirements {
		if err := requirement.Validate(base); err != nil {
			return nil, commitFailed("Requirement failed: view UUID does not match (view %s: %v)", id, err)
		}
	}
	builder, err := view.MetadataBuilderFromBase(base)
	if err != nil {
		return nil, fmt.Errorf("build on metadata of %s: %w", id, err)
	}
	for _, update := range body.Updates {
		if err := update.Apply(builder); err != nil {
			return nil, badRequest("view %s: %s: %v", id, update.Action(), err)
		}
	}
	if builder.Err() == nil && !builder.HasChanges() {
		return nil, nil
	}
	built, err := builder.Build()
	if err != nil {
		return nil, badView(id, err)
	}
	return built.Metadata, nil
}
