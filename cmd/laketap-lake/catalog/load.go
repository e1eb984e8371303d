package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
)

// tableBody is the protocol's LoadTableResult. Metadata are the bytes of the
// metadata file, so what this program does not know is passed on.
type tableBody struct {
	MetadataLocation   string            `json:"metadata-location,omitempty"`
	Metadata           json.RawMessage   `json:"metadata"`
	Config             map[string]string `json:"config,omitempty"`
	StorageCredentials []credential      `json:"storage-credentials,omitempty"`
}

// credential is a configuration for the paths under a prefix.
type credential struct {
	Prefix string            `json:"prefix"`
	Config map[string]string `json:"config"`
}

// variant of a table's metadata a client may ask for.
const (
	allSnapshots = "all"
	refSnapshots = "refs"
)

// loadTable answers with the current metadata, or with 304 to a client that
// still has it.
func (c *Catalog) loadTable(r *request) (reply, error) {
	variant := r.URL.Query().Get("snapshots")
	switch variant {
	case "":
		variant = allSnapshots
	case allSnapshots, refSnapshots:
	default:
		return reply{}, badRequest("snapshots=%q: want all or refs", variant)
	}
	current, err := lookup(r.Context(), c.db, r.id())
	if err != nil {
		return reply{}, err
	}
	tag := c.etag(current.metadata, variant)
	if holds(r.Header.Values("If-None-Match"), tag) {
		return reply{status: http.StatusNotModified, etag: tag}, nil
	}
	// The bytes of the file, never what a parser made of them: fields of a format
	// that is newer than this program reach the engine that knows them.
	metadata, err := c.readMetadata(r.Context(), current.metadata)
	if err != nil {
		return reply{}, err
	}
	if variant == refSnapshots {
		if metadata, err = onlyReferenced(metadata); err != nil {
			return reply{}, fmt.Errorf("leave out snapshots of %s: %w", r.id(), err)
		}
	}
	return reply{status: http.StatusOK, etag: tag, body: c.describe(current.metadata, current.location, metadata)}, nil
}

// loadCredentials vends again what a load vended.
func (c *Catalog) loadCredentials(r *request) (reply, error) {
	current, err := lookup(r.Context(), c.db, r.id())
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: map[string]any{"storage-credentials": c.vend(current.location)}}, nil
}

// describe is the body of a load or create: metadata and what is vended.
func (c *Catalog) describe(metadataLocation, location string, metadata []byte) tableBody {
	return tableBody{
		MetadataLocation:   metadataLocation,
		Metadata:           metadata,
		Config:             c.options.Vend,
		StorageCredentials: c.vend(location),
	}
}

// vend is at most one credential, for the table's own folder.
func (c *Catalog) vend(location string) []credential {
	if len(c.options.Vend) == 0 {
		return []credential{}
	}
	return []credential{{Prefix: location, Config: c.options.Vend}}
}

// etag stands for an answer to a load. What is vended is part of it: after a
// restart on other ports a 304 would leave clients with dead addresses.
func (c *Catalog) etag(metadataLocation, variant string) string {
	// A hash and not the values: what is vended holds a secret.
	sum := sha256.New()
	keys := make([]string, 0, len(c.options.Vend))
	for key := range c.options.Vend {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	fmt.Fprintf(sum, "%s\n%s\n", metadataLocation, variant)
	for _, key := range keys {
		fmt.Fprintf(sum, "%s=%s\n", key, c.options.Vend[key])
	}
	return `"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
}

// holds reports whether If-None-Match names the tag. Weak and strong tags are
// compared alike, as HTTP asks for this header.
func holds(headers []string, tag string) bool {
	for _, header := range headers {
		for one := range strings.SplitSeq(header, ",") {
			if strings.TrimPrefix(strings.TrimSpace(one), "W/") == tag {
				return true
			}
		}
	}
	return false
}

// readMetadata reads a metadata file by its location.
func (c *Catalog) readMetadata(ctx context.Context, location string) ([]byte, error) {
	key, err := c.keyOf(location)
	if err != nil {
		return nil, err
	}
	data, err := c.files.Read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &apiError{http.StatusNotFound, "NotFoundException", "metadata file does not exist: " + location}
	}
	if err != nil {
		return nil, fmt.Errorf("read metadata %s: %w", location, err)
	}
	if data, err = unpack(data); err != nil {
		return nil, badRequest("metadata file %s: %v", location, err)
	}
	return bytes.TrimSpace(data), nil
}

// onlyReferenced leaves out the snapshots that no branch and no tag names.
// Everything else stays byte for byte.
func onlyReferenced(metadata []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &fields); err != nil {
		return nil, err
	}
	var named struct {
		Current *int64 `json:"current-snapshot-id"`
		Refs    map[string]struct {
			SnapshotID int64 `json:"snapshot-id"`
		} `json:"refs"`
		Snapshots []json.RawMessage `json:"snapshots"`
	}
	if err := json.Unmarshal(metadata, &named); err != nil {
		return nil, err
	}
	keep := map[int64]bool{}
	// Version 1 files have a current snapshot and need not have a branch for it.
	if named.Current != nil {
		keep[*named.Current] = true
	}
	for _, ref := range named.Refs {
		keep[ref.SnapshotID] = true
	}
	kept := []json.RawMessage{}
	for _, raw := range named.Snapshots {
		var snapshot struct {
			ID int64 `json:"snapshot-id"`
		}
		if err := json.Unmarshal(raw, &snapshot); err != nil {
			return nil, err
		}
		if keep[snapshot.ID] {
			kept = append(kept, raw)
		}
	}
	snapshots, err := json.Marshal(kept)
	if err != nil {
		return nil, err
	}
	fields["snapshots"] = snapshots
	return json.Marshal(fields)
}
