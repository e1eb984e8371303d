package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/apache/iceberg-go/table"
)

// commitBody is the protocol's CommitTableRequest. The identifier is in the
// path for one table and in the body for a transaction.
type commitBody struct {
	Identifier   *identifier     `json:"identifier"`
	Requirements requirements    `json:"requirements"`
	Updates      json.RawMessage `json:"updates"`
}

// change is one table's part of a commit.
type change struct {
	id           identifier
	requirements requirements
	raw          json.RawMessage
}

// staged is a table as a commit wants it, its metadata file already written.
type staged struct {
	id     identifier
	from   string // metadata file it was built on; empty creates the table
	to     pointer
	data   []byte
	parsed table.Metadata
	before table.Metadata // the table that a commit changes; nil creates it
	kept   bool           // nothing changed: to is from, and its file is in use
}

// maxAttempts bounds how often a commit whose requirements still hold is built
// again on a base that moved. Each lost round means that another commit won.
const maxAttempts = 20

func (c *Catalog) commitTable(r *request) (reply, error) {
	var body commitBody
	if err := r.decode(&body); err != nil {
		return reply{}, err
	}
	if body.Identifier != nil && body.Identifier.String() != r.id().String() {
		return reply{}, badRequest("the path names table %s and the body %s", r.id(), body.Identifier)
	}
	done, err := c.commit(r.Context(), []change{{r.id(), body.Requirements, body.Updates}})
	if err != nil {
		return reply{}, err
	}
	return reply{
		status: http.StatusOK,
		etag:   c.etag(done[0].to.metadata, allSnapshots),
		body:   tableBody{MetadataLocation: done[0].to.metadata, Metadata: done[0].data},
	}, nil
}

// transactionBody is the protocol's CommitTransactionRequest.
type transactionBody struct {
	Changes []commitBody `json:"table-changes"`
}

// commitTransaction changes several tables or none of them.
func (c *Catalog) commitTransaction(r *request) (reply, error) {
	var body transactionBody
	if err := r.decode(&body); err != nil {
		return reply{}, err
	}
	if len(body.Changes) == 0 {
		return reply{}, badRequest("a transaction needs table-changes")
	}
	var changes []change
	for _, one := range body.Changes {
		if one.Identifier == nil {
			return reply{}, badRequest("each of table-changes needs an identifier")
		}
		if err := one.Identifier.check(); err != nil {
			return reply{}, err
		}
		changes = append(changes, change{*one.Identifier, one.Requirements, one.Updates})
	}
	if _, err := c.commit(r.Context(), changes); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

// commit carries out all changes or none. Metadata files are written first and
// pointers swapped in one database transaction, so a crash at any point leaves
// the old tables or the new ones, and at worst files that nobody names.
func (c *Catalog) commit(ctx context.Context, changes []change) ([]staged, error) {
	for range maxAttempts {
		done, err := c.stageAll(ctx, changes)
		if err == nil {
			err = c.swapAll(ctx, done)
		}
		if err == nil {
			c.expire(ctx, done)
			return done, nil
		}
		for _, one := range done {
			c.discard(ctx, one, err)
		}
		if !errors.Is(err, errMoved) {
			return nil, err
		}
	}
	return nil, commitFailed("table %s changes too fast: gave up after %d attempts", changes[0].id, maxAttempts)
}

// stageAll builds every change on the tables as they are now. Later changes of
// a table see the earlier ones; what it returns has one entry a table. On error
// it returns what was staged so far, to be discarded.
func (c *Catalog) stageAll(ctx context.Context, changes []change) ([]staged, error) {
	// Two strings and not one joined from both: a table's name may hold a
	// separator, and would then be another's in a deeper namespace.
	type place struct{ namespace, name string }
	var order []place
	built := map[place]staged{}
	for _, one := range changes {
		name := place{one.id.Namespace.key(), one.id.Name}
		base, seen := built[name]
		if !seen {
			var err error
			if base, err = c.base(ctx, one.id); err != nil {
				return nil, err
			}
			order = append(order, name)
		}
		next, err := c.apply(base, one, seen)
		if err != nil {
			return nil, err
		}
		base.kept = next == base.parsed && (base.kept || !seen)
		base.parsed = next
		built[name] = base
	}
	var done []staged
	for _, name := range order {
		if built[name].kept {
			done = append(done, built[name])
			continue
		}
		one, err := c.stage(ctx, built[name].id, built[name].from, built[name].parsed)
		if err != nil {
			return done, err
		}
		one.before = built[name].before
		done = append(done, one)
	}
	return done, nil
}

// base is a table before a commit: its current metadata, or none.
func (c *Catalog) base(ctx context.Context, id identifier) (staged, error) {
	// The namespace first: to a client, a table in a namespace that is not there
	// is another mistake than a table that is not there.
	if _, err := propertiesOf(ctx, c.db, id.Namespace); err != nil {
		return staged{}, err
	}
	current, ok, err := find(ctx, c.db, id)
	if err != nil || !ok {
		return staged{id: id}, err
	}
	if current.view {
		return staged{}, nameTaken(id, true)
	}
	data, err := c.readMetadata(ctx, current.metadata)
	if err != nil {
		return staged{}, err
	}
	parsed, err := table.ParseMetadataBytes(data)
	if err != nil {
		return staged{}, fmt.Errorf("parse metadata %s: %w", current.metadata, err)
	}
	return staged{id: id, from: current.metadata, to: current, data: data, parsed: parsed, before: parsed}, nil
}

// stage writes metadata to a new file of the table.
func (c *Catalog) stage(ctx context.Context, id identifier, from string, metadata table.Metadata) (staged, error) {
	to := pointer{uuid: metadata.TableUUID().String(), location: metadata.Location()}
	data, err := c.writeMetadata(ctx, &to, from, metadata.Properties(), metadata)
	if err != nil {
		return staged{}, fmt.Errorf("stage %s: %w", id, err)
	}
	return staged{id: id, from: from, to: to, data: data, parsed: metadata}, nil
}

// writeMetadata writes the metadata file that follows the one at from, names it
// in to, and returns its text.
func (c *Catalog) writeMetadata(ctx context.Context, to *pointer, from string, properties map[string]string, metadata any) ([]byte, error) {
	data, err := json.Marshal(metadata)
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	if _, err := c.keyOf(to.location); err != nil {
		return nil, err
	}
	ending, packed, err := pack(properties, data)
	if err != nil {
		return nil, fmt.Errorf("pack metadata: %w", err)
	}
	location := metadataFolder(to.location, properties) + "/" + nextMetadataName(from) + ending
	key, err := c.keyOf(location)
	if err != nil {
		return nil, err
	}
	if err := c.files.Write(ctx, key, packed); err != nil {
		return nil, fmt.Errorf("write metadata %s: %w", location, err)
	}
	to.metadata = location
	return data, nil
}

// swapAll makes staged tables the current ones in one transaction.
func (c *Catalog) swapAll(ctx context.Context, all []staged) error {
	return c.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, one := range all {
			var err error
			if one.from == "" {
				err = c.insertStaged(ctx, tx, one)
			} else {
				err = c.swap(ctx, tx, one.id, one.from, one.to)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// insertStaged adds the table of a create by commit. A name taken meanwhile
// is a failed assert-create, which is a failed commit.
func (c *Catalog) insertStaged(ctx context.Context, tx *sql.Tx, one staged) error {
	err := c.insert(ctx, tx, one.id, one.to)
	if known, ok := errors.AsType[*apiError](err); ok && known.status == http.StatusConflict {
		return commitFailed("Requirement failed: table already exists: %s", one.id)
	}
	return err
}

// discard removes the metadata file of a commit that did not happen because of
// cause. When it is unknown whether it happened, the file stays.
func (c *Catalog) discard(ctx context.Context, one staged, cause error) {
	// Every 5xx of our own is a commit whose state is unknown. The database may
	// yet name this file.
	known, ok := errors.AsType[*apiError](cause)
	if one.kept || (ok && known.status >= http.StatusInternalServerError) {
		return
	}
	key, err := c.keyOf(one.to.metadata)
	if err == nil {
		err = c.files.Remove(context.WithoutCancel(ctx), key)
	}
	if err != nil {
		c.options.Log.WarnContext(ctx, "file of a lost commit left behind", "location", one.to.metadata, "error", err)
	}
}
