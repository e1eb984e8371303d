package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A look goes through a catalog as an engine would, for doctor: config, the
// first namespaces, the first table.
type look struct {
	base      string // without /v1
	token     string
	warehouse string
	client    *http.Client

	date     time.Time // the catalog's clock; zero: not told
	prefix   string    // of its paths
	endpoint string    // s3.endpoint of its config
}

// lookedAt is a table as the catalog answered it.
type lookedAt struct {
	name     string
	location string
	endpoint string // s3.endpoint; "": not told
	vends    bool   // keys came with it
}

// A statusError is an answer other than 200.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("it answers %d", int(s)) }

// maxLooked bounds what is read of a catalog, and how many namespaces are
// looked into.
const (
	maxLooked     = 32 << 20
	maxNamespaces = 20
)

// get asks the catalog for a path below /v1 and reads its JSON into v.
func (l *look) get(ctx context.Context, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(l.base, "/")+"/v1"+path, http.NoBody)
	if err != nil {
		return err
	}
	// As engines do: some catalogs vend keys to those only who ask.
	req.Header.Set("X-Iceberg-Access-Delegation", "vended-credentials")
	if l.token != "" {
		req.Header.Set("Authorization", "Bearer "+l.token)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		l.date = date
	}
	if resp.StatusCode != http.StatusOK {
		return statusError(resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxLooked)).Decode(v); err != nil {
		return fmt.Errorf("its answer to %s is no JSON of an Iceberg REST catalog: %w", path, err)
	}
	return nil
}

// config asks what engines ask first.
func (l *look) config(ctx context.Context) error {
	var answer struct{ Defaults, Overrides map[string]any }
	path := "/config"
	if l.warehouse != "" {
		path += "?warehouse=" + url.QueryEscape(l.warehouse)
	}
	if err := l.get(ctx, path, &answer); err != nil {
		return err
	}
	// Values of other types than text are passed over: doctor must get through
	// the answer of any catalog.
	for _, from := range []map[string]any{answer.Defaults, answer.Overrides} { // overrides win
		if prefix, ok := from["prefix"].(string); ok && prefix != "" {
			l.prefix = "/" + escapePrefix(prefix)
		}
		if endpoint, ok := from["s3.endpoint"].(string); ok {
			l.endpoint = endpoint
		}
	}
	return nil
}

// escapePrefix escapes a prefix as engines do: slashes in it separate segments.
func escapePrefix(prefix string) string {
	segments := strings.Split(prefix, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}

// firstTable loads the first table of the first namespaces; nil if there is
// none.
func (l *look) firstTable(ctx context.Context) (*lookedAt, error) {
	var found struct{ Namespaces [][]string }
	if err := l.get(ctx, l.prefix+"/namespaces", &found); err != nil {
		return nil, err
	}
	for _, namespace := range found.Namespaces[:min(maxNamespaces, len(found.Namespaces))] {
		var tables struct{ Identifiers []struct{ Name string } }
		path := l.prefix + "/namespaces/" + url.PathEscape(strings.Join(namespace, "\x1f")) + "/tables"
		if err := l.get(ctx, path, &tables); err != nil {
			return nil, err
		}
		if len(tables.Identifiers) > 0 {
			name := tables.Identifiers[0].Name
			return l.table(ctx, strings.Join(namespace, ".")+"."+name, path+"/"+url.PathEscape(name))
		}
	}
	return nil, nil //nolint:nilnil // no table is no error
}

// table loads a table as an engine that asks for keys.
func (l *look) table(ctx context.Context, name, path string) (*lookedAt, error) {
	var answer struct {
		Config      map[string]any
		Metadata    struct{ Location string }
		Credentials []struct{ Config map[string]any } `json:"storage-credentials"`
	}
	// Without the history: some tables have megabytes of it.
	if err := l.get(ctx, path+"?snapshots=refs", &answer); err != nil {
		return nil, err
	}
	t := &lookedAt{name: name, location: answer.Metadata.Location, endpoint: l.endpoint}
	all := []map[string]any{answer.Config}
	for _, c := range answer.Credentials {
		all = append(all, c.Config)
	}
	// Keys come in config or in storage-credentials, by the catalog's age.
	for _, config := range all {
		if endpoint, ok := config["s3.endpoint"].(string); ok {
			t.endpoint = endpoint
		}
		if id, ok := config["s3.access-key-id"].(string); ok && id != "" {
			t.vends = true
		}
	}
	return t, nil
}
