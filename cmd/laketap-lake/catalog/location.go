package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// maxSegment keeps a folder made from a name, with its suffix, below the 255
// bytes file systems allow.
const maxSegment = 100

// newLocation is the location of a table whose client named none. It ends in a
// piece of the table's UUID, so a table dropped and created again never meets
// the files of its predecessor.
func (c *Catalog) newLocation(id identifier, tableID uuid.UUID) string {
	var parts []string
	if c.options.Warehouse != "" {
		parts = append(parts, c.options.Warehouse)
	}
	for _, level := range id.Namespace {
		parts = append(parts, segment(level))
	}
	parts = append(parts, segment(id.Name)+"-"+tableID.String()[:8])
	return "s3://" + c.options.Bucket + "/" + strings.Join(parts, "/")
}

// segment makes a folder name out of any name. Different names may give the
// same segment; the UUID keeps tables apart.
func segment(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		default:
			return '_'
		}
	}, name)
	// No folder is hidden, and none is "." or "..", which would climb.
	if strings.HasPrefix(safe, ".") {
		safe = "_" + safe[1:]
	}
	return safe[:min(len(safe), maxSegment)]
}

// keyOf is the key of a location in the lake's bucket, without a slash at its
// end. Other buckets and stores are refused: the catalog could not write the
// table's metadata there.
func (c *Catalog) keyOf(location string) (string, error) {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok || (scheme != "s3" && scheme != "s3a" && scheme != "s3n") {
		return "", badRequest("location %q: this lake keeps tables under s3://%s only", location, c.options.Bucket)
	}
	bucket, key, _ := strings.Cut(rest, "/")
	key = strings.TrimRight(key, "/")
	if bucket != c.options.Bucket || key == "" {
		return "", badRequest("location %q: this lake keeps tables in folders of s3://%s only", location, c.options.Bucket)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			return "", badRequest("location %q: its path has an empty or relative part", location)
		}
	}
	return key, nil
}

// metadataFolder is where new metadata files of a table go.
func metadataFolder(location string, properties map[string]string) string {
	if folder := properties["write.metadata.path"]; folder != "" {
		return strings.TrimRight(folder, "/")
	}
	return strings.TrimRight(location, "/") + "/metadata"
}

// nextMetadataName is the next metadata file's name but for its ending. It
// numbers files as all Iceberg catalogs do; the UUID keeps two commits on one
// base from writing one file.
func nextMetadataName(previous string) string {
	next := 0
	base := previous[strings.LastIndex(previous, "/")+1:]
	if digits, _, ok := strings.Cut(base, "-"); ok {
		if n, err := strconv.Atoi(digits); err == nil && n >= 0 {
			next = n + 1
		}
	}
	return fmt.Sprintf("%05d-%s", next, uuid.New())
}
