// Package laketap starts the product's server for a test and reads its admin
// API, knowing of it only what its documentation says.
package laketap

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/secrets"
)

// startTime is how long the server may take to answer on a busy machine.
const startTime = 20 * time.Second

// A Config is laketap.yml, as far as tests set it; JSON is YAML too.
type Config struct {
	Catalogs []Catalog      `json:"catalogs"`
	Catalog  map[string]any `json:"catalog"`
	Storage  Storage        `json:"storage"`
	Admin    map[string]any `json:"admin"`
	Keys     []Key          `json:"keys,omitempty"`
	Cluster  map[string]any `json:"cluster,omitempty"`
	TLS      map[string]any `json:"tls,omitempty"`
	Audit    map[string]any `json:"audit,omitempty"`
	Cache    map[string]any `json:"cache,omitempty"`
	Memory   map[string]any `json:"memory,omitempty"`
	Mode     string         `json:"mode,omitempty"`
	Data     string         `json:"data"`
	Drain    string         `json:"drain,omitempty"`
	Log      map[string]any `json:"log"`

	// Secrets are those in use that are in none of the files it names.
	Secrets *secrets.Set `json:"-"`
}

// A Catalog is an upstream.
type Catalog struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	CA   string `json:"ca,omitempty"`
}

// Storage is the section of the storage tap.
type Storage struct {
	Listen    string   `json:"listen"`
	Advertise string   `json:"advertise,omitempty"`
	Domain    string   `json:"domain,omitempty"`
	Origins   []Origin `json:"origins"`
	Authority string   `json:"authority,omitempty"`
	Roots     []string `json:"roots,omitempty"`
	Write     bool     `json:"write,omitempty"`
	Anonymous bool     `json:"anonymous,omitempty"`
}

// An Origin is a store behind the storage tap.
type Origin struct {
	Name        string   `json:"name"`
	Endpoint    string   `json:"endpoint"`
	Region      string   `json:"region"`
	PathStyle   bool     `json:"path_style"`
	CA          string   `json:"ca,omitempty"`
	Buckets     []string `json:"buckets,omitempty"`
	AccessKeyID string   `json:"access_key_id,omitempty"`
	SecretFile  string   `json:"secret_file,omitempty"`
}

// A Key is a static key of the storage tap.
type Key struct {
	ID         string   `json:"id"`
	SecretFile string   `json:"secret_file"`
	Principal  string   `json:"principal"`
	Prefixes   []string `json:"prefixes,omitempty"`
	Scope      string   `json:"scope,omitempty"`
	Write      bool     `json:"write,omitempty"`
}

// A Server is a running Laketap.
type Server struct {
	Catalog string // the URI that engines are told
	Storage string // the endpoint that they are vended
	Admin   string
	Process *process.Process

	config Config
	file   string // that it was written to
	before []byte // what its processes said that have ended
	said   []byte // what commands said that asked it
}

// InFrontOf returns the configuration for a lake: its catalog as the only
// upstream, its store as the only origin, everything else on free ports. It
// reuses nothing, so that each request can be followed to the store; tests of
// what is reused set the mode.
func InFrontOf(t testing.TB, l *lake.Lake) Config {
	t.Helper()
	listen := func() string { return "127.0.0.1:" + strconv.Itoa(process.FreePort(t)) }
	known := &secrets.Set{}
	known.Add("secret that the lake vends", l.Keys.Secret)
	known.Add("secret that the lake vends to readers", l.Reader.Secret)
	return Config{
		Secrets:  known,
		Catalogs: []Catalog{{Name: "lake", URL: l.Catalog}},
		Catalog:  map[string]any{"listen": listen()},
		Storage: Storage{
			Listen:  listen(),
			Origins: []Origin{{Name: "lake", Endpoint: l.S3.Endpoint, Region: l.S3.Region, PathStyle: true}},
		},
		Admin: map[string]any{"listen": listen()},
		Mode:  "observe",
		Data:  filepath.Join(t.TempDir(), "data"),
		Log:   map[string]any{"level": "info", "format": "json"},
	}
}

// Secret writes a secret to a file of its own and returns the file's path.
func Secret(t testing.TB, secret string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Write writes the configuration to a file and returns its path.
func Write(t testing.TB, c Config) string {
	t.Helper()
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "laketap.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Command returns how to start a server with a configuration file.
func Command(t testing.TB, file string) process.Command {
	t.Helper()
	return process.Command{Path: process.Binary(t, "laketap"), Args: []string{"serve", "--config", file}}
}

// Start starts a server and waits until it answers.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	s := &Server{
		Catalog: fmt.Sprintf("http://%v", c.Catalog["listen"]),
		Storage: "http://" + c.Storage.Listen,
		Admin:   fmt.Sprintf("http://%v", c.Admin["listen"]),
		config:  c,
		file:    Write(t, c),
	}
	s.Restart(t)
	// While it still runs: what starts last is cleaned up first.
	t.Cleanup(func() { s.searchSecrets(t) })
	return s
}

// Restart starts the server again after its process has ended: same
// configuration, same data, same ports.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if s.Process != nil {
		s.before = append(s.before, s.Process.Output(t)...)
	}
	s.Process = process.Start(t, Command(t, s.file))
	s.Process.Eventually(t, startTime, func() error {
		status, body, err := s.ask(t.Context(), "/healthz")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("healthz: %d %s", status, body)
		}
		return err
	})
}

// Doctor has the server's program check the configuration, and returns what it
// says and whether it finds all well.
func Doctor(t testing.TB, s *Server) (said string, well bool) {
	t.Helper()
	p := process.Start(t, process.Command{
		Path: process.Binary(t, "laketap"),
		Args: []string{"doctor", "--config", s.file, "--admin", strings.TrimPrefix(s.Admin, "http://")},
	})
	code := p.WaitFor(t, time.Minute)
	s.said = append(s.said, p.Output(t)...)
	return p.Tail(), code == 0
}

// Connect returns what `laketap connect` prints for the server.
func (s *Server) Connect(t testing.TB, args ...string) string {
	t.Helper()
	return s.Run(t, append([]string{"connect"}, args...)...)
}

// Run runs a command of the server's program that asks the server, and returns
// what it prints, which is something.
func (s *Server) Run(t testing.TB, args ...string) string {
	t.Helper()
	p := process.Start(t, process.Command{
		Path: process.Binary(t, "laketap"),
		Args: append(slices.Clone(args), "--admin", strings.TrimPrefix(s.Admin, "http://")),
		Pipe: true,
	})
	printed, err := io.ReadAll(p.Stdout)
	if code := p.Wait(t); err != nil || code != 0 || len(printed) == 0 {
		t.Fatalf("%q: exit code %d, %d bytes, %v\n%s", args, code, len(printed), err, p.Tail())
	}
	s.said = append(append(s.said, printed...), p.Output(t)...)
	return string(printed)
}

// Ready returns what the server says of its readiness.
func (s *Server) Ready(t testing.TB) (status int, body string) {
	t.Helper()
	status, text, err := s.ask(t.Context(), "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	return status, string(text)
}

// An Access is a request that a tap saw, as the admin API tells it.
type Access struct {
	Seq       uint64 `json:"seq"`
	RequestID string `json:"request_id"`
	Tap       string `json:"tap"`
	Op        string `json:"op"`
	Engine    string `json:"engine"`
	Version   string `json:"engine_version"`
	Principal string `json:"principal"`
	Session   string `json:"session"`
	Table     string `json:"table"`
	TableID   *struct {
		UUID string `json:"uuid"`
	} `json:"table_id"`
	Object *struct {
		Origin string `json:"origin"`
		Bucket string `json:"bucket"`
		Key    string `json:"key"`
	} `json:"object"`
	Range    string `json:"range"`
	Size     int64  `json:"size"`
	Status   int    `json:"status"`
	BytesIn  int64  `json:"bytes_in"`
	BytesOut int64  `json:"bytes_out"`
	Served   string `json:"served"`
	Error    string `json:"error"`
}

// AccessesOnce returns what Accesses does once there are so many: a request is
// recorded when its answer has been written, and its client may be quicker.
func (s *Server) AccessesOnce(t testing.TB, n int) []Access {
	t.Helper()
	var all []Access
	s.Process.Eventually(t, startTime, func() error {
		if all = s.Accesses(t); len(all) < n {
			return fmt.Errorf("%d accesses, want %d", len(all), n)
		}
		return nil
	})
	return all
}

// Accesses returns all that the taps recorded from the first on. None may have
// been dropped: then the test asks too late.
func (s *Server) Accesses(t testing.TB) []Access {
	t.Helper()
	var all []Access
	for after := uint64(0); ; {
		var page struct {
			Accesses []Access `json:"accesses"`
			Next     uint64   `json:"next"`
			Missed   uint64   `json:"missed"`
		}
		if err := s.get(t.Context(), fmt.Sprintf("/api/v1/accesses?limit=5000&after=%d", after), &page); err != nil {
			t.Fatal(err)
		}
		if page.Missed > 0 {
			t.Fatalf("%d accesses were dropped before they were read", page.Missed)
		}
		if len(page.Accesses) == 0 {
			return all
		}
		all, after = append(all, page.Accesses...), page.Next
	}
}

// An Observation is an access with its meaning, as the admin API tells it.
type Observation struct {
	Seq     uint64 `json:"seq"`
	Engine  string `json:"engine"`
	TableID struct {
		UUID string `json:"uuid"`
	} `json:"table_id"`
	Object struct {
		Key string `json:"key"`
	} `json:"object"`
	Bytes int64 `json:"bytes"`
	Parts []struct {
		Kind   string `json:"kind"`
		Field  int    `json:"field"`
		Offset int64  `json:"offset"`
		Bytes  int64  `json:"bytes"`
	} `json:"parts"`
}

// Footer reports whether some of the bytes were a footer's.
func (o *Observation) Footer() bool {
	for _, p := range o.Parts {
		if p.Kind == "footer" {
			return true
		}
	}
	return false
}

// Observations returns all that was understood from the first access on. None
// may have been dropped: then the test asks too late.
func (s *Server) Observations(t testing.TB) []Observation {
	t.Helper()
	var all []Observation
	for after := uint64(0); ; {
		var page struct {
			Observations []Observation `json:"observations"`
			Next         uint64        `json:"next"`
			Missed       uint64        `json:"missed"`
		}
		if err := s.get(t.Context(), fmt.Sprintf("/api/v1/observations?limit=5000&after=%d", after), &page); err != nil {
			t.Fatal(err)
		}
		if page.Missed > 0 {
			t.Fatalf("%d observations were dropped before they were read", page.Missed)
		}
		if len(page.Observations) == 0 {
			return all
		}
		all, after = append(all, page.Observations...), page.Next
	}
}

// get asks the admin API and decodes its answer into v.
func (s *Server) get(ctx context.Context, path string, v any) error {
	status, body, err := s.ask(ctx, path)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("admin API answers %d to %s: %s", status, path, body)
	}
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	return err
}

// ask asks the admin API.
func (s *Server) ask(ctx context.Context, path string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Admin+path, http.NoBody)
	if err != nil {
		return 0, nil, fmt.Errorf("make request: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("ask admin API: %w", err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}
