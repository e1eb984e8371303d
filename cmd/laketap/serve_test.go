package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/admin"
)

// quiet is a configuration on free ports, in front of a catalog and a store.
func quiet(t *testing.T, catalog, store string) *Config {
	t.Helper()
	cfg := NewConfig()
	cfg.Catalogs = []UpstreamConfig{{Name: "prod", URL: catalog}}
	cfg.Storage.Origins = []OriginConfig{{Name: "m", Endpoint: store, PathStyle: true}}
	cfg.Catalog.Listen, cfg.Storage.Listen, cfg.Admin.Listen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	cfg.Data = t.TempDir()
	cfg.Drain = 30 * time.Second
	return cfg
}

// A running is a server that runs in this process.
type running struct {
	at    admin.Addresses
	flags adminFlags
	stop  context.CancelCauseFunc
	ended chan error
}

// start runs a server; the test's end ends it.
func start(t *testing.T, cfg *Config) *running {
	t.Helper()
	return startLogged(t, cfg, slog.New(slog.DiscardHandler))
}

// startLogged is start with a log.
func startLogged(t *testing.T, cfg *Config, log *slog.Logger) *running {
	t.Helper()
	return startWith(t, cfg, serveOptions{Log: log})
}

// startWith is start with options.
func startWith(t *testing.T, cfg *Config, opts serveOptions) *running {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &running{stop: cancel, ended: make(chan error, 1)}
	ready := make(chan admin.Addresses, 1)
	opts.Ready = func(at admin.Addresses) { ready <- at }
	go func() { s.ended <- serve(ctx, cfg, opts) }()
	select {
	case s.at = <-ready:
	case err := <-s.ended:
		t.Fatalf("serve: %v", err)
	}
	s.flags.Admin = s.at.Admin
	t.Cleanup(func() {
		cancel(errors.New("test ends"))
		if err, ok := <-s.ended; ok && err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s
}

// end shuts the server down and returns what serve returned.
func (s *running) end() error {
	s.stop(errors.New("enough"))
	err := <-s.ended
	close(s.ended)
	return err
}

// fetch gets a URL on a connection of its own.
func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err.Error()
	}
	return resp.StatusCode, string(body)
}

func TestServeInFrontOfACatalog(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("s3://lake/orders", map[string]string{
		"s3.access-key-id": "id", "s3.secret-access-key": "upstream secret", "s3.session-token": "t",
	}))
	defer up.Close()
	store := httptest.NewServer(fakeStore())
	defer store.Close()
	s := start(t, quiet(t, up.URL, store.URL))

	code, body := fetch(t, s.at.Catalog+"/v1/p/q/namespaces/tpch/tables/orders")
	if code != 200 || !strings.Contains(body, s.at.Storage) || strings.Contains(body, "upstream secret") {
		t.Errorf("got %d %s, want a table that leads to the storage tap", code, body)
	}
	if code, _ := fetch(t, s.at.Catalog+"/prod/v1/config"); code != 200 {
		t.Errorf("the catalog under its name: got %d", code)
	}
	if code, _ := fetch(t, s.at.Storage+"/lake/orders/f.parquet"); code != 403 {
		t.Errorf("a request without a key: got %d, want 403", code)
	}
	var engines admin.Engines
	if err := s.flags.ask(t.Context(), "/api/v1/engines", nil, &engines); err != nil {
		t.Fatal(err)
	}
	var catalogs, storage int64
	for _, e := range engines.Engines {
		catalogs, storage = catalogs+e.Catalog.Requests, storage+e.Storage.Requests
	}
	if catalogs != 2 || storage != 1 {
		t.Errorf("counted %d and %d requests, want 2 and 1", catalogs, storage)
	}
	var status admin.Status
	if err := s.flags.ask(t.Context(), "/api/v1/status", nil, &status); err != nil {
		t.Fatal(err)
	}
	if !status.Ready || status.Upstreams[0].Vends != "yes" || status.Upstreams[0].Rewritten != 1 || !status.Origins[0].Ready {
		t.Errorf("got status %+v", status)
	}
	if code, body := fetch(t, s.at.Admin+"/metrics"); code != 200 || !strings.Contains(body, "laketap_tap_requests_total") || !strings.Contains(body, "process_") {
		t.Errorf("metrics: got %d", code)
	}
}

// With nothing behind it, a server starts, and says why it is not ready.
func TestServeInFrontOfNothing(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	s := start(t, quiet(t, gone.URL, gone.URL))
	code, body := fetch(t, s.at.Admin+"/readyz")
	if code != 503 || !strings.Contains(body, `"kind":"upstream","name":"prod"`) || !strings.Contains(body, `"kind":"origin","name":"m"`) {
		t.Errorf("got %d %s, want 503 with a reason for both", code, body)
	}
	if code, _ := fetch(t, s.at.Admin+"/healthz"); code != 200 {
		t.Errorf("healthz: got %d", code)
	}
	if code, _ := fetch(t, s.at.Catalog+"/v1/config"); code != 503 {
		t.Errorf("a read of the catalog: got %d, want 503", code)
	}
}

// A shutdown lets a request end that is under way, refuses new ones, and says
// so on the admin port until it is over.
func TestShutdownDrains(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/slow" {
			close(entered)
			<-leave
		}
		_, _ = io.WriteString(w, `{"slow":"answer"}`)
	}))
	defer up.Close()
	s := start(t, quiet(t, up.URL, up.URL))
	var code int
	var body string
	var wg sync.WaitGroup
	wg.Go(func() { code, body = fetch(t, s.at.Catalog+"/v1/slow") })
	<-entered
	s.stop(errors.New("enough"))
	awaitTrue(t, "readyz says 503", func() bool {
		code, body := fetch(t, s.at.Admin+"/readyz")
		return code == 503 && strings.Contains(body, "is shutting down")
	})
	awaitTrue(t, "the catalog tap refuses", func() bool {
		code, _ := fetch(t, s.at.Catalog+"/v1/config")
		return code == 0
	})
	close(leave)
	wg.Wait()
	if code != 200 || body != `{"slow":"answer"}` {
		t.Errorf("the request under way got %d %q", code, body)
	}
	if err := s.end(); err != nil {
		t.Errorf("serve: %v", err)
	}
}

// One that does not end is broken off after the bound.
func TestShutdownIsBounded(t *testing.T) {
	entered := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	}))
	defer up.Close()
	cfg := quiet(t, up.URL, up.URL)
	cfg.Drain = 100 * time.Millisecond
	s := start(t, cfg)
	var wg sync.WaitGroup
	wg.Go(func() { fetch(t, s.at.Catalog+"/v1/slow") })
	<-entered
	if err := s.end(); err != nil {
		t.Errorf("serve: %v", err)
	}
	wg.Wait()
}

// Who follows accesses does not hold a shutdown up.
func TestShutdownEndsFollowers(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("", nil))
	defer up.Close()
	s := start(t, quiet(t, up.URL, up.URL))
	stdout := &syncBuffer{}
	a := &app{ctx: t.Context(), stdout: stdout, stderr: io.Discard}
	followed := make(chan error)
	go func() { followed <- (&AccessesCmd{adminFlags: s.flags, Limit: 10, Follow: true}).Run(a) }()
	fetch(t, s.at.Catalog+"/v1/config")
	awaitTrue(t, "the access is shown", func() bool { return strings.Contains(stdout.String(), "getConfig") })
	began := time.Now()
	if err := s.end(); err != nil {
		t.Errorf("serve: %v", err)
	}
	if err := <-followed; err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("follow: got %v, want to be told that the server ended", err)
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestServeRefusesBeforeItMakesAnything(t *testing.T) {
	cfg := quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1")
	cfg.Catalogs = append(cfg.Catalogs, cfg.Catalogs[0])
	err := serve(t.Context(), cfg, serveOptions{Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "two upstreams have the name") {
		t.Errorf("got %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		name, advertise, catalog, storage string
	}{
		{"nothing advertised", "", "http://127.0.0.1:", "http://127.0.0.1:"},
		{"advertised", "https://laketap.example.com:9191", "https://laketap.example.com:", "https://laketap.example.com:9191"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1")
			cfg.Storage.Advertise = c.advertise
			s := start(t, cfg)
			if !strings.HasPrefix(s.at.Catalog, c.catalog) || !strings.HasPrefix(s.at.Storage, c.storage) {
				t.Errorf("got %+v", s.at)
			}
		})
	}
}

func TestWelcome(t *testing.T) {
	for admin9292, want := range map[string]string{
		"http://127.0.0.1:9292": "  laketap accesses --follow  what engines do",
		"http://127.0.0.1:1234": "  laketap accesses --follow --admin 127.0.0.1:1234  what engines do",
	} {
		var out bytes.Buffer
		welcome(&out, admin.Addresses{Catalog: "c", Storage: "s", Admin: admin9292})
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s\nwant %q in it", out.String(), want)
		}
	}
}

func TestParseCatalogs(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  []UpstreamConfig
	}{
		{[]string{"http://a"}, []UpstreamConfig{{Name: "main", URL: "http://a"}}},
		{[]string{"prod=http://a"}, []UpstreamConfig{{Name: "prod", URL: "http://a"}}},
		{[]string{"http://a/?x=y"}, []UpstreamConfig{{Name: "main", URL: "http://a/?x=y"}}}, // Check refuses the query
		{[]string{"a=http://a", "b=http://b"}, []UpstreamConfig{{Name: "a", URL: "http://a"}, {Name: "b", URL: "http://b"}}},
		{[]string{"a=http://a", "http://b"}, nil},
	} {
		got, err := parseCatalogs(c.flags)
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != (c.want == nil) {
			t.Errorf("%v: %v (-want +got):\n%s", c.flags, err, diff)
		}
	}
}

// awaitTrue polls something that tells nobody when it changes.
func awaitTrue(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		<-tick.C
	}
}

// A syncBuffer is a buffer that may be read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
