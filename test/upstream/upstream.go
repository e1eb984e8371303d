// Package upstream starts other catalogs than the local lake's for tests, as
// their makers ship them. Their tables live in the store of a local lake, which
// checks every signature; the catalogs themselves keep nothing beyond the test.
package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
)

// startTime is how long a catalog may take until it answers; each is a JVM, and
// the machine may have others to run.
const startTime = 2 * time.Minute

// A Server is a running catalog.
type Server struct {
	URI       string // what engines are told
	Prefix    string // of its paths, as its config says; "main/" at Nessie
	Warehouse string // the location below which the catalog puts tables
	Process   *process.Process

	store *lake.Lake
}

// start runs a catalog and waits until it answers to /v1/config.
func start(t testing.TB, s *Server, c process.Command) *Server {
	t.Helper()
	s.Process = process.Start(t, c)
	s.Process.Eventually(t, startTime, func() error { return s.answers(t.Context()) })
	return s
}

func (s *Server) answers(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URI+"/v1/config", http.NoBody)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask catalog: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("catalog answers %s", resp.Status)
	}
	var config struct{ Defaults, Overrides map[string]string }
	if err := json.NewDecoder(resp.Body).Decode(&config); err != nil {
		return fmt.Errorf("read catalog's config: %w", err)
	}
	if prefix := cmp.Or(config.Overrides["prefix"], config.Defaults["prefix"]); prefix != "" {
		s.Prefix = url.PathEscape(prefix) + "/"
	}
	return nil
}

// Client returns a client of the catalog at a URI, its own or that of a Laketap
// in front of it.
func (s *Server) Client(uri string) catalog.Client {
	return catalog.Client{URI: uri, Prefix: s.Prefix}
}

// InFrontOf returns the configuration of a Laketap for the catalog and the
// store that its tables live in.
func (s *Server) InFrontOf(t testing.TB) laketap.Config {
	t.Helper()
	config := laketap.InFrontOf(t, s.store)
	config.Catalogs[0].URL = s.URI
	return config
}

// Store returns the lake that the catalog's tables live in. Its own catalog
// knows nothing of them.
func (s *Server) Store() *lake.Lake { return s.store }

// listen returns a free port and the address on it.
func listen(t testing.TB) (port, address string) {
	t.Helper()
	port = strconv.Itoa(process.FreePort(t))
	return port, "http://127.0.0.1:" + port
}
