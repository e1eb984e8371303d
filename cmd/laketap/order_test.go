package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/laketap/laketap/admin"
)

// A server that is refused at any step gives up what the steps before opened.
func TestServeGivesUpWhatItOpened(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"a key of others", func(c *Config) { c.Cluster.KeyFile = "/etc/passwd" }, "cluster.key_file: /etc/passwd can be read by others"},
		{"no store's authority", func(c *Config) { c.Storage.Origins[0].CA = "none.pem" }, "none.pem"},
		{"no store's secret", func(c *Config) {
			c.Storage.Origins[0].AccessKeyID, c.Storage.Origins[0].SecretFile = "id", "none.secret"
		}, "storage.origins[m].secret_file: "},
		{"no catalog's authority", func(c *Config) { c.Catalogs[0].CA = "none.pem" }, "catalogs[prod].ca: "},
		{"no static key's secret", func(c *Config) {
			c.Keys = []KeyConfig{{ID: "r", SecretFile: "none.secret", Principal: "p", Scope: "all"}}
		}, "keys[r].secret_file: "},
		{"a catalog that is us", func(c *Config) {
			c.Catalogs[0].URL = strings.Replace("http://"+c.Catalog.Listen+"/iceberg", "127.0.0.1", "localhost", 1)
		}, "catalogs[prod].url: "},
		{"a store that is us", func(c *Config) { c.Storage.Origins[0].Endpoint = "http://" + c.Catalog.Listen }, "storage.origins[m].endpoint: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1")
			cfg.Catalog.Listen = freeAddress(t)
			c.edit(cfg)
			err := serve(t.Context(), cfg, serveOptions{Log: slog.New(slog.DiscardHandler), Ready: func(admin.Addresses) {
				t.Error("said that it is ready")
			}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			var config net.ListenConfig
			l, err := config.Listen(t.Context(), "tcp", cfg.Catalog.Listen)
			if err != nil {
				t.Fatalf("the catalog's port is still taken: %v", err)
			}
			_ = l.Close()
		})
	}
}

// freeAddress returns an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A lake stands beside the catalogs that are configured, each under its name.
func TestLakeBesideACatalog(t *testing.T) {
	dir := t.TempDir()
	p := launch(t, dir, "serve", "--lake", filepath.Join(dir, "lake"), "--catalog", "mine=http://127.0.0.1:1")
	catalog := p.catalog(t)
	if code, body := fetch(t, catalog+"/lake/v1/config"); code != 200 {
		t.Errorf("the lake: got %d %s", code, body)
	}
	if code, _ := fetch(t, catalog+"/mine/v1/config"); code != 503 {
		t.Errorf("the other, which is down: got %d, want 503", code)
	}
	p.signal(t, os.Interrupt)
	if state := p.end(t); !state.Success() {
		t.Errorf("ended with %v; it said:\n%s", state, p.stderr)
	}
}

// The taps drain while the lake behind them still answers: it is stopped after
// the last request, not by the signal.
func TestLakeEndsAfterTheTaps(t *testing.T) {
	dir := t.TempDir()
	lakeDir := filepath.Join(dir, "lake")
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/slow" {
			close(entered)
			<-leave
		}
		_, _ = w.Write([]byte("{}"))
	}))
	defer slow.Close()
	p := launch(t, dir, "serve", "--lake", lakeDir, "--catalog", "slow="+slow.URL)
	catalog := p.catalog(t)
	var code int
	var wg sync.WaitGroup
	wg.Go(func() { code, _ = fetch(t, catalog+"/slow/v1/slow") })
	<-entered
	p.signal(t, os.Interrupt)
	awaitTrue(t, "it drains", func() bool { return strings.Contains(p.stderr.String(), "shutting down") })
	if _, err := os.Stat(filepath.Join(lakeDir, "ended")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lake ended before the request did: %v", err)
	}
	close(leave)
	wg.Wait()
	if code != 200 {
		t.Errorf("the request under way got %d, want 200", code)
	}
	if state := p.end(t); !state.Success() {
		t.Errorf("ended with %v; it said:\n%s", state, p.stderr)
	}
	if _, err := os.Stat(filepath.Join(lakeDir, "ended")); err != nil {
		t.Errorf("the lake did not end in good order: %v", err)
	}
}

// A lake that dies under a running server ends it, with the reason: a server
// without its only store would refuse everything for ever.
func TestLakeDies(t *testing.T) {
	dir := t.TempDir()
	lakeDir := filepath.Join(dir, "lake")
	p := launch(t, dir, "serve", "--lake", lakeDir)
	p.catalog(t)
	l := &lake{child: p.cmd}
	if _, err := l.read(filepath.Join(lakeDir, "lake.json")); err != nil {
		t.Fatal(err)
	}
	child, err := os.FindProcess(l.file.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Kill(); err != nil {
		t.Fatal(err)
	}
	if state := p.end(t); state.ExitCode() != 1 {
		t.Errorf("ended with %v, want exit status 1", state)
	}
	said := p.stderr.String()
	if !strings.Contains(said, "laketap: --lake: the local lake ended (signal: killed):") {
		t.Errorf("does not say why:\n%s", said)
	}
}

// A configuration without anything to stand in front of is refused before a port
// is opened or a key made.
func TestServeNothing(t *testing.T) {
	cfg := quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1")
	cfg.Catalogs = nil
	cfg.Data = filepath.Join(cfg.Data, "data")
	err := serve(t.Context(), cfg, serveOptions{Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.HasPrefix(err.Error(), "catalogs: is empty; name the catalog") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(cfg.Data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made the data directory: %v", err)
	}
}

// A port in use is found before the cluster key is made.
func TestPortsComeFirst(t *testing.T) {
	cfg := quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1")
	cfg.Data = filepath.Join(cfg.Data, "data")
	cfg.Storage.Listen = "192.0.2.1:0"
	err := serve(t.Context(), cfg, serveOptions{Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.HasPrefix(err.Error(), "storage.listen: 192.0.2.1:0 is no address of this machine") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(cfg.Data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made the data directory: %v", err)
	}
}

// The log says when a key was made, since all sessions of before are worthless
// then, and only then.
func TestServeSaysThatItMadeAKey(t *testing.T) {
	cfg := quiet(t, "http://127.0.0.1:1", "http://127.0.0.1:1")
	for i, want := range []bool{true, false} {
		logged := &syncBuffer{}
		s := startLogged(t, cfg, slog.New(slog.NewTextHandler(logged, nil)))
		if err := s.end(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(logged.String(), "made a cluster key"); got != want {
			t.Errorf("start %d: said so %v, want %v", i+1, got, want)
		}
		// In the order in which things happen.
		rest := logged.String()
		for _, part := range []string{"msg=ready", "msg=\"shutting down; a second signal ends at once\" cause=enough", "msg=ended"} {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Errorf("start %d: no %s after what came before it in:\n%s", i+1, part, logged)
			}
			rest = after
		}
	}
}

// A second server on the same ports is told so and leaves the first alone.
func TestSecondServer(t *testing.T) {
	up := httptest.NewServer(fakeCatalog("", nil))
	defer up.Close()
	first := start(t, quiet(t, up.URL, up.URL))
	cfg := quiet(t, up.URL, up.URL)
	cfg.Catalog.Listen = strings.TrimPrefix(first.at.Catalog, "http://")
	err := serve(t.Context(), cfg, serveOptions{Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "is in use by another program") {
		t.Errorf("got %v", err)
	}
	if code, _ := fetch(t, first.at.Catalog+"/v1/config"); code != 200 {
		t.Errorf("the first server: got %d", code)
	}
}

// Heads that never end do not hold a connection for ever.
func TestServerBoundsHeads(t *testing.T) {
	n := stillNode(func(*Config) {})
	n.log = slog.New(slog.DiscardHandler)
	srv := n.server(http.NotFoundHandler(), t.Context())
	if srv.ReadHeaderTimeout <= 0 || srv.ReadHeaderTimeout > 30*time.Second || srv.IdleTimeout <= 0 {
		t.Errorf("heads may take %v, idle connections %v", srv.ReadHeaderTimeout, srv.IdleTimeout)
	}
	if srv.ReadTimeout != 0 || srv.WriteTimeout != 0 {
		t.Error("bodies are bounded in time: a large one over a slow line would be broken off")
	}
}
