package main

import (
	"cmp"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/laketap/laketap/admin"
)

//go:embed connect/*.tmpl
var connectFiles embed.FS

// ConnectCmd prints how to connect an engine.
type ConnectCmd struct {
	adminFlags

	Engine    string `arg:"" enum:"${engines}" help:"One of ${enum}."`
	Catalog   string `placeholder:"NAME" help:"Which of several catalogs."`
	Warehouse string `placeholder:"NAME" help:"Warehouse, if the catalog has several."`
	URI       string `name:"uri" placeholder:"URI" help:"Catalog URI to print, if engines reach this server by another address than the server knows."`
}

// engines are the names of the files in connect/, in the order in which people
// look for them; a test compares the two.
const engines = "spark,trino,duckdb,pyiceberg,polars,daft,datafusion,clickhouse"

// Help shows examples.
func (ConnectCmd) Help() string {
	return "Examples:\n  laketap connect duckdb\n  laketap connect spark --catalog prod --warehouse lake"
}

// connectWords are what the files in connect/ are filled with. Storage and
// Region are for engines that do not take them from the catalog.
type connectWords struct{ URI, Storage, Region, Warehouse string }

// Run executes the command.
func (c *ConnectCmd) Run(a *app) error {
	var s admin.Status
	if err := c.ask(a.ctx, "/api/v1/status", nil, &s); err != nil {
		return err
	}
	up, err := pick(s.Upstreams, c.Catalog)
	if err != nil {
		return err
	}
	// The signature covers the host name, so it is worth nothing once another
	// host passes it on. Better no lines than lines that cannot work.
	if up.SignedFor != "" {
		return fmt.Errorf("catalog %s takes requests signed for AWS %s; such a catalog cannot be proxied, connect engines to it directly", up.Name, up.SignedFor)
	}
	// text/template escapes nothing; each template quotes the warehouse, whose
	// name may be anything, in its own language. The addresses are URLs.
	name := c.Engine + ".tmpl"
	text, err := template.New(name).Funcs(quoting).ParseFS(connectFiles, "connect/"+name)
	if err != nil {
		return fmt.Errorf("read connect lines: %w", err)
	}
	err = text.Execute(a.stdout, connectWords{
		URI: strings.TrimRight(cmp.Or(c.URI, up.URI), "/"), Storage: s.Addresses.Storage, Region: s.Region, Warehouse: c.Warehouse,
	})
	if err != nil {
		return err
	}
	// On standard error: standard output is piped into files and shells.
	if up.Vends == "no" {
		fmt.Fprintf(a.stderr, "note: catalog %s vends no keys, so engines reach its files around Laketap; laketap doctor tells what to do\n", up.Name)
	}
	return nil
}

// pick returns the catalog that is meant.
func pick(all []admin.Upstream, name string) (*admin.Upstream, error) {
	var names []string
	for i := range all {
		if all[i].Name == name || name == "" && len(all) == 1 {
			return &all[i], nil
		}
		names = append(names, all[i].Name)
	}
	if name == "" {
		return nil, fmt.Errorf("--catalog: the server stands in front of several; name one of %s", strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("--catalog: the server knows no %q; there is %s", name, strings.Join(names, ", "))
}
