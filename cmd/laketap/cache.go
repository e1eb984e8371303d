package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/laketap/laketap/admin"
)

// CacheCmd looks at the block cache of a running server.
type CacheCmd struct {
	Status CacheStatusCmd `cmd:"" help:"Show what is held, and where what engines were given came from."`
	Forget CacheForgetCmd `cmd:"" help:"Drop what is held of a table, or everything. It costs only time."`
	Verify CacheVerifyCmd `cmd:"" help:"Read everything that is on disk, and drop what is damaged."`
}

// CacheStatusCmd shows what is held.
type CacheStatusCmd struct {
	adminFlags

	JSON bool `name:"json" help:"Print what the admin API answers, as one JSON object."`
}

// Run executes the command.
func (c *CacheStatusCmd) Run(a *app) error {
	var held admin.Cache
	if err := c.ask(a.ctx, "/api/v1/cache", nil, &held); err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(held)
	}
	return showCache(a.stdout, &held)
}

// showCache prints what is held, and how much of what was given came from where.
func showCache(w io.Writer, c *admin.Cache) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "objects\t%d\nextents\t%d\n", c.Objects, c.Extents)
	fmt.Fprintf(out, "memory\t%s of %s\ndisk\t%s of %s\n", bytesText(c.Memory), bytesText(c.MaxMemory), bytesText(c.Disk), bytesText(c.MaxDisk))
	fmt.Fprintf(out, "directory\t%s\n", orDash(c.Dir))
	if c.Problem != "" {
		fmt.Fprintf(out, "PROBLEM\tnothing is written to the directory: %s\n", c.Problem)
	}
	g := &c.Given
	fmt.Fprintf(out, "\ngiven to engines since the start\t%s\n", bytesText(g.Asked))
	for _, from := range []struct {
		name string
		n    int64
	}{{"from memory", g.Memory}, {"from disk", g.Disk}, {"from the origin", g.Origin}, {"around the cache", g.Around}} {
		fmt.Fprintf(out, "  %s\t%s\t%.1f %%\n", from.name, bytesText(from.n), 100*float64(from.n)/float64(max(g.Asked, 1)))
	}
	fmt.Fprintf(out, "fetched before anybody asked\t%s\n", bytesText(g.Warmed))
	return out.Flush()
}

// CacheForgetCmd drops what is held.
type CacheForgetCmd struct {
	adminFlags

	Table string `placeholder:"TABLE" help:"Only what is of a table: CATALOG.NAMESPACE.TABLE, or its UUID."`
}

// Help shows examples.
func (CacheForgetCmd) Help() string {
	return "On the node that is asked.\nExamples:\n  laketap cache forget --table prod.tpch.orders\n  laketap cache forget"
}

// Run executes the command.
func (c *CacheForgetCmd) Run(a *app) error {
	query := url.Values{}
	if c.Table != "" {
		query.Set("table", c.Table)
	}
	var got admin.Forgotten
	if err := c.tell(a.ctx, http.MethodPost, "/api/v1/cache/forget", query, nil, &got); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "forgot %s\n", counted(got.Objects, "object"))
	return nil
}

// CacheVerifyCmd checks what is on disk.
type CacheVerifyCmd struct {
	adminFlags
}

// Help tells of the exit code.
func (CacheVerifyCmd) Help() string {
	return "What is damaged is dropped, and fetched again when it is asked for. Exit code 1: something was damaged."
}

// Run executes the command.
func (c *CacheVerifyCmd) Run(a *app) error {
	req, err := http.NewRequestWithContext(a.ctx, http.MethodPost, c.base()+"/api/v1/cache/verify", http.NoBody)
	if err != nil {
		return fmt.Errorf("--admin: %q is not an address such as %s", c.Admin, defaultAdmin)
	}
	stream, err := c.send(req)
	if err != nil {
		return err
	}
	defer stream.Close()
	for dec := json.NewDecoder(stream); ; {
		var v admin.Verified
		switch err := dec.Decode(&v); {
		case err != nil:
			return fmt.Errorf("the server ended before all was read: %w", err)
		case v.Error != "":
			return errors.New("the server could not go on: " + v.Error)
		case !v.Done:
			fmt.Fprintf(a.stderr, "%d of %s read, %s\n", v.Extents, counted(v.Of, "extent"), bytesText(v.Bytes))
		case v.Damaged > 0:
			return fmt.Errorf("%d of %s were damaged and have been dropped; laketap cache status tells if the disk has trouble", v.Damaged, counted(v.Extents, "extent"))
		default:
			fmt.Fprintf(a.stdout, "%s on disk, %s, none damaged\n", counted(v.Extents, "extent"), bytesText(v.Bytes))
			return nil
		}
	}
}
