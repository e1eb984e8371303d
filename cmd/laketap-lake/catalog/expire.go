package catalog

import (
	"context"
	"strings"

	"github.com/apache/iceberg-go/table"
)

// deleteAfterCommit is the property of tables that want no more metadata files
// kept than their log names.
const deleteAfterCommit = "write.metadata.delete-after-commit.enabled"

// expire removes the metadata files that fell out of the logs of tables with a
// commit. The commit has happened: trouble here is logged, not told.
func (c *Catalog) expire(ctx context.Context, done []staged) {
	for _, one := range done {
		if one.before == nil || one.kept || !strings.EqualFold(one.parsed.Properties()[deleteAfterCommit], "true") {
			continue
		}
		for _, location := range fellOut(one.before, one.parsed) {
			if err := c.expireFile(context.WithoutCancel(ctx), location); err != nil {
				c.options.Log.WarnContext(ctx, "old metadata left behind", "location", location, "error", err)
			}
		}
	}
}

// fellOut lists what the log named before and does not name any more.
func fellOut(before, after table.Metadata) []string {
	kept := map[string]bool{}
	for entry := range after.PreviousFiles() {
		kept[entry.MetadataFile] = true
	}
	var gone []string
	for entry := range before.PreviousFiles() {
		if !kept[entry.MetadataFile] {
			gone = append(gone, entry.MetadataFile)
		}
	}
	return gone
}

// expireFile removes a metadata file, unless it is some table's current one:
// a file may have been registered under a second name.
func (c *Catalog) expireFile(ctx context.Context, location string) error {
	key, err := c.keyOf(location)
	if err != nil {
		return err
	}
	used, err := column(ctx, c.db, "select name from tables where metadata_location = ?", location)
	if err != nil || len(used) > 0 {
		return err
	}
	return c.files.Remove(ctx, key)
}
