package catalog

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
)

// defaultFormat is the format of a table whose creator names none.
const defaultFormat = 2

// outline is what the catalog itself reads of an update; the rest is the table
// library's.
type outline struct {
	Action        string `json:"action"`
	FormatVersion int    `json:"format-version"`
	UUID          string `json:"uuid"`
	Location      string `json:"location"`
	Snapshot      *struct {
		Sequence int64  `json:"sequence-number"`
		Parent   *int64 `json:"parent-snapshot-id"`
	} `json:"snapshot"`
}

// apply checks the requirements of a change against base and returns base with
// its updates. With again set, base is itself the result of an earlier change
// in the same transaction, whose previous file is already in the log.
func (c *Catalog) apply(base staged, one change, again bool) (table.Metadata, error) {
	if len(one.raw) == 0 {
		one.raw = json.RawMessage("[]")
	}
	// Read twice: the library's types hide what is decided here, such as the
	// location, and the outline alone could not be applied.
	var outlines []outline
	if err := json.Unmarshal(one.raw, &outlines); err != nil {
		return nil, badRequest("updates of table %s: %v", one.id, err)
	}
	var updates table.Updates
	if err := json.Unmarshal(one.raw, &updates); err != nil {
		return nil, badRequest("updates of table %s: %v", one.id, err)
	}
	if err := require(base.parsed, one); err != nil {
		return nil, err
	}
	builder, err := c.builder(base, one, outlines, again)
	if err != nil {
		return nil, err
	}
	for _, i := range sequence(base.parsed, outlines) {
		update := updates[i]
		if err := outlines[i].check(base.parsed, c); err != nil {
			return nil, err
		}
		if err := update.Apply(builder); err != nil {
			return nil, refusal(one.id, update.Action(), err)
		}
	}
	// A commit that changes nothing makes no new file: engines send such commits
	// to assert something, and the metadata log would fill with copies.
	if base.parsed != nil && !builder.HasChanges() {
		return base.parsed, nil
	}
	next, err := builder.Build()
	if err != nil {
		return nil, refusal(one.id, "the result", err)
	}
	return next, nil
}

// broken says, by type of requirement, what it means that it does not hold.
func broken(requirement string) string {
	switch requirement {
	case "assert-create":
		return "table already exists"
	case "assert-table-uuid":
		return "UUID does not match"
	case "assert-ref-snapshot-id":
		return "branch or tag has changed"
	case "assert-last-assigned-field-id":
		return "last assigned field id changed"
	case "assert-current-schema-id":
		return "current schema changed"
	case "assert-last-assigned-partition-id":
		return "last assigned partition id changed"
	case "assert-default-spec-id":
		return "default partition spec changed"
	case "assert-default-sort-order-id":
		return "default sort order changed"
	default:
		return requirement
	}
}

// require checks what the client expects of the table. A table that is not
// there can only be created.
func require(base table.Metadata, one change) error {
	creates := false
	for _, requirement := range one.requirements {
		creates = creates || requirement.GetType() == "assert-create"
	}
	if base == nil && !creates {
		return noSuchTable(one.id)
	}
	// All 409: a client takes that to mean that it may refresh and try again,
	// which is what a requirement is for.
	for _, requirement := range one.requirements {
		if err := requirement.Validate(base); err != nil {
			return commitFailed("Requirement failed: %s (table %s: %v)", broken(requirement.GetType()), one.id, err)
		}
	}
	return nil
}

// builder starts from base, or from nothing with the defaults of a catalog,
// which the updates then override.
func (c *Catalog) builder(base staged, one change, outlines []outline, again bool) (*table.MetadataBuilder, error) {
	if base.parsed != nil {
		from := base.from
		// The log has its entry for the file of before this transaction; the
		// state in between was never a file.
		if again {
			from = ""
		}
		builder, err := table.MetadataBuilderFromBase(base.parsed, from)
		if err != nil {
			return nil, fmt.Errorf("build on metadata of %s: %w", one.id, err)
		}
		return builder, nil
	}
	format, tableID, located := defaultFormat, uuid.New(), false
	for _, update := range outlines {
		switch update.Action {
		case table.UpdateUpgradeFormatVersion:
			format = update.FormatVersion
		case table.UpdateSetLocation:
			located = true
		case table.UpdateAssignUUID:
			if parsed, err := uuid.Parse(update.UUID); err == nil {
				tableID = parsed
			}
		}
	}
	builder, err := table.NewMetadataBuilder(format)
	if err != nil {
		return nil, refusal(one.id, table.UpdateUpgradeFormatVersion, err)
	}
	if err := builder.SetUUID(tableID); err != nil {
		return nil, refusal(one.id, table.UpdateAssignUUID, err)
	}
	if !located {
		if err := builder.SetLoc(c.newLocation(one.id, tableID)); err != nil {
			return nil, refusal(one.id, table.UpdateSetLocation, err)
		}
	}
	return builder, nil
}

// sequence is the order in which updates are applied: as sent, but that a new
// table gets its current schema as soon as it has one. DuckDB sends that last,
// and the table library binds specs and sort orders to the current schema.
func sequence(base table.Metadata, outlines []outline) []int {
	current, schema := -1, -1
	for i, update := range outlines {
		if update.Action == table.UpdateSetCurrentSchema {
			current = i
			break
		}
		if update.Action == table.UpdateAddSchema {
			schema = i
		}
	}
	move := base == nil && current >= 0 && schema >= 0
	order := make([]int, 0, len(outlines))
	for i := range outlines {
		if move && i == current {
			continue
		}
		order = append(order, i)
		if move && i == schema {
			order = append(order, current)
		}
	}
	return order
}

// check refuses what the table library would let pass but the protocol does
// not: a table that changes its identity, that leaves the lake, or a snapshot
// that was overtaken. The last is a conflict, since a client that refreshes
// gets a new number.
func (o outline) check(base table.Metadata, c *Catalog) error {
	switch {
	case o.Action == table.UpdateSetLocation:
		_, err := c.keyOf(o.Location)
		return err
	case base == nil:
		return nil
	case o.Action == table.UpdateAssignUUID && o.UUID != base.TableUUID().String():
		return badRequest("assign-uuid: table has UUID %s, which cannot be changed to %s", base.TableUUID(), o.UUID)
	case o.Action == table.UpdateAddSnapshot && o.Snapshot != nil && o.Snapshot.Parent != nil && base.Version() > 1 &&
		o.Snapshot.Sequence <= base.LastSequenceNumber():
		return commitFailed("add-snapshot: sequence number %d was overtaken by %d", o.Snapshot.Sequence, base.LastSequenceNumber())
	}
	return nil
}

// refusal is the answer to an update that cannot be applied.
func refusal(id identifier, action string, err error) error {
	if errors.Is(err, table.ErrInvalidRowLineage) {
		return commitFailed("table %s: %s: %v", id, action, err)
	}
	return badRequest("table %s: %s: %v", id, action, err)
}
