package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/laketap/laketap/admin"
)

// defaultConfig is read if it is there and no other file is named.
const defaultConfig = "laketap.yml"

// configFlags set the configuration. They win over the environment, and that
// over the file.
type configFlags struct {
	Config        string   `short:"c" env:"LAKETAP_CONFIG" placeholder:"FILE" help:"Configuration file; laketap.yml in this directory is read without asking."`
	Catalog       []string `sep:"none" placeholder:"[NAME=]URL" help:"Iceberg REST catalog to stand in front of; several need names."`
	Data          string   `placeholder:"DIR" help:"Where Laketap keeps what it makes (./laketap-data)."`
	CatalogListen string   `placeholder:"ADDR" help:"Where engines reach the catalog tap (:8181)."`
	StorageListen string   `placeholder:"ADDR" help:"Where engines reach the storage tap (:9191)."`
	AdminListen   string   `placeholder:"ADDR" help:"Where people reach the admin API (127.0.0.1:9292)."`
	Advertise     string   `placeholder:"URL" help:"Address of the storage tap that engines are told."`
	Mode          string   `placeholder:"MODE" help:"observe, advise, accelerate or maintain (accelerate)."`
	LogLevel      string   `placeholder:"LEVEL" help:"debug, info, warn or error (info)."`
	LogFormat     string   `placeholder:"FORMAT" help:"text or json (text)."`
}

// load reads the configuration from all its sources. It does not check it.
func (f *configFlags) load(environ []string) (*Config, error) {
	cfg := NewConfig()
	err := cfg.readFile(cmp.Or(f.Config, defaultConfig))
	// The file that is read without asking need not be there.
	if err != nil && (f.Config != "" || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	if err := cfg.readEnv(environ); err != nil {
		return nil, err
	}
	for to, value := range map[*string]string{
		&cfg.Data: f.Data, &cfg.Catalog.Listen: f.CatalogListen, &cfg.Storage.Listen: f.StorageListen,
		&cfg.Admin.Listen: f.AdminListen, &cfg.Storage.Advertise: f.Advertise, &cfg.Mode: f.Mode,
		&cfg.Log.Level: f.LogLevel, &cfg.Log.Format: f.LogFormat,
	} {
		*to = cmp.Or(value, *to)
	}
	// As a whole: a catalog of the file beside one of the command line would be
	// a surprise.
	if len(f.Catalog) > 0 {
		if cfg.Catalogs, err = parseCatalogs(f.Catalog); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

// parseCatalogs reads what --catalog says.
func parseCatalogs(flags []string) ([]UpstreamConfig, error) {
	var all []UpstreamConfig
	for _, text := range flags {
		name, url, named := strings.Cut(text, "=")
		switch {
		// A "=" after a colon is part of a URL and ends no name.
		case named && !strings.Contains(name, ":"):
			all = append(all, UpstreamConfig{Name: name, URL: url})
		case len(flags) > 1:
			return nil, fmt.Errorf("--catalog: of several catalogs each needs a name; write --catalog NAME=%s", redact(text))
		default:
			all = append(all, UpstreamConfig{Name: "main", URL: text})
		}
	}
	return all, nil
}

// ServeCmd runs the taps.
type ServeCmd struct {
	configFlags

	Lake string `placeholder:"DIR" help:"Run a local lake (catalog and store) in DIR and stand in front of it."`
}

// Help shows examples.
func (ServeCmd) Help() string {
	return `Examples:
  laketap serve --catalog http://localhost:8080/iceberg
  laketap serve --catalog prod=https://a.example.com --catalog dev=https://b.example.com
  laketap serve --config /etc/laketap.yml
  laketap serve --lake ./lake

Every setting is also an environment variable: storage.advertise is LAKETAP_STORAGE_ADVERTISE.`
}

// Run executes the command.
func (c *ServeCmd) Run(a *app) error {
	cfg, err := c.load(a.environ)
	if err != nil {
		return err
	}
	// A hangup ends a program by default; daemons read their files again.
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	return serve(a.ctx, cfg, serveOptions{
		Lake: c.Lake, Log: newLogger(a.stderr, cfg.Log), Ready: func(at admin.Addresses) { welcome(a.stdout, at) }, Reload: reload,
	})
}

// welcome says where the server is and what to do next.
func welcome(w io.Writer, at admin.Addresses) {
	fmt.Fprintf(w, `Laketap %s is ready.
  catalog  %s   the catalog URI for engines
  storage  %s   where they are sent for files
  admin    %s   status, accesses, metrics

Next, in another terminal:
  laketap connect duckdb%s     how to connect an engine
  laketap accesses --follow%s  what engines do, as they do it
`, version(), at.Catalog, at.Storage, at.Admin, adminFlag(at.Admin), adminFlag(at.Admin))
}

// adminFlag returns the flag that client commands need to find this server.
func adminFlag(url string) string {
	if strings.TrimPrefix(url, "http://") == defaultAdmin {
		return ""
	}
	return " --admin " + strings.TrimPrefix(url, "http://")
}
