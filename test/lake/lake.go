// Package lake starts the local lake for a test and looks at it from the side,
// past Laketap.
package lake

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/s3"
)

// Info is what a lake says of itself in lake.json.
type Info struct {
	Version int    `json:"version"`
	Catalog string `json:"catalog"`
	S3      struct {
		Endpoint string `json:"endpoint"`
		Region   string `json:"region"`
		Bucket   string `json:"bucket"`
	} `json:"s3"`
	Keys      Keys   `json:"keys"`
	Reader    Keys   `json:"reader"`
	Warehouse string `json:"warehouse"`
}

// Keys are an access key pair.
type Keys struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// A Lake is a running local lake.
type Lake struct {
	Info
	Dir     string
	Process *process.Process

	log string
}

// startTime is how long a lake may take to open on a busy machine.
const startTime = 30 * time.Second

// Start starts a lake in a new folder, with flags beside those it always gets.
func Start(t testing.TB, flags ...string) *Lake {
	t.Helper()
	dir := t.TempDir()
	l := &Lake{Dir: filepath.Join(dir, "lake"), log: filepath.Join(dir, "requests.log")}
	l.Process = process.Start(t, process.Command{
		Path: process.Binary(t, "laketap-lake"),
		Args: append([]string{l.Dir, "--log", l.log, "--stdin-guard"}, flags...),
	})
	l.Process.Eventually(t, startTime, func() error {
		text, err := os.ReadFile(filepath.Join(l.Dir, "lake.json"))
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &l.Info)
	})
	return l
}

// Snapshot returns the id of the nth snapshot of a table, counted from 1.
func (l *Lake) Snapshot(ctx context.Context, table string, n int) (int64, error) {
	namespace, name, _ := strings.Cut(table, ".")
	var loaded struct {
		Metadata struct {
			Snapshots []struct {
				ID int64 `json:"snapshot-id"`
			} `json:"snapshots"`
		} `json:"metadata"`
	}
	path := "/v1/namespaces/" + url.PathEscape(namespace) + "/tables/" + url.PathEscape(name)
	if err := l.get(ctx, path, &loaded); err != nil {
		return 0, err
	}
	if n < 1 || n > len(loaded.Metadata.Snapshots) {
		return 0, fmt.Errorf("table %s has %d snapshots, not %d", table, len(loaded.Metadata.Snapshots), n)
	}
	return loaded.Metadata.Snapshots[n-1].ID, nil
}

// get asks the lake's catalog and decodes its answer into v.
func (l *Lake) get(ctx context.Context, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.Catalog+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask lake: %w", err)
	}
	defer resp.Body.Close() // read to its end or given up
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read lake's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("lake answers %s to %s: %s", resp.Status, path, body)
	}
	return json.Unmarshal(body, v)
}

// Owner returns a client of the lake's store with its owner's keys.
func (l *Lake) Owner() *s3.Client {
	return &s3.Client{Endpoint: l.S3.Endpoint, Region: l.S3.Region, Keys: s3.Keys{ID: l.Keys.ID, Secret: l.Keys.Secret}}
}

// Put stores an object past Laketap. The target is raw: "/bucket/key".
func (l *Lake) Put(t testing.TB, target, body string) {
	t.Helper()
	got, err := l.Owner().Do(t.Context(), s3.Request{Method: http.MethodPut, Target: target, Text: body})
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("put %s: %v %v", target, got, err)
	}
}
