package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/laketap/laketap/admin"
)

// StatusCmd shows a running server.
type StatusCmd struct {
	adminFlags

	JSON bool `name:"json" help:"Print what the admin API answers, as one JSON object."`
}

// overview is all that status shows.
type overview struct {
	Status admin.Status `json:"status"`
	admin.Engines
	admin.Tables
}

// Help shows examples.
func (StatusCmd) Help() string {
	return "Examples:\n  laketap status\n  laketap status --json | jq .engines"
}

// Run executes the command.
func (c *StatusCmd) Run(a *app) error {
	var all overview
	// Three answers of three moments: their numbers need not add up.
	for path, v := range map[string]any{
		"/api/v1/status": &all.Status, "/api/v1/engines": &all.Engines, "/api/v1/tables": &all.Tables,
	} {
		if err := c.ask(a.ctx, path, nil, v); err != nil {
			return err
		}
	}
	if c.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	// Each part of the text is a table of its own: a line without tabs, such as
	// the empty one between two, ends the columns above it.
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	showServer(w, &all.Status, time.Now())
	showEngines(w, all.Engines.Engines, time.Now())
	showTables(w, all.Tables.Tables)
	return w.Flush()
}

// showServer prints what runs and what it stands in front of.
func showServer(w io.Writer, s *admin.Status, now time.Time) {
	state := "ready"
	if !s.Ready {
		state = "NOT READY"
	}
	fmt.Fprintf(w, "Laketap %s, %s, up %v, mode %s, authority %s\n", s.Version, state, now.Sub(s.Started).Round(time.Second), s.Mode, s.Authority)
	for _, r := range s.Reasons {
		fmt.Fprintf(w, "  %s: %s\n", reasonFor(r), r.Reason)
	}
	for _, r := range s.Warnings {
		fmt.Fprintf(w, "  warning, %s: %s\n", reasonFor(r), r.Reason)
	}
	if c := s.Certificate; c != nil {
		fmt.Fprintf(w, "TLS on %s, certificate for %s until %s\n", strings.Join(c.Ports, ", "), strings.Join(c.Names, ", "), c.Expires.Format(time.DateOnly))
	}
	if c := s.Cache; c != nil {
		fmt.Fprintf(w, "cache: %d objects, %s of %s in memory, %s of %s on disk\n", c.Objects,
			bytesText(c.Memory), bytesText(c.MaxMemory), bytesText(c.Disk), bytesText(c.MaxDisk))
	}
	fmt.Fprintf(w, "\nCATALOG\tURI FOR ENGINES\tUPSTREAM\tREADY\tVENDS KEYS\tLED TO US\tPASSED ON\n")
	for _, u := range s.Upstreams {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\n", u.Name, u.URI, u.URL, yesNo(u.Ready), u.Vends, u.Rewritten, u.Passed)
	}
	for _, u := range s.Upstreams {
		if u.LastPassed != nil {
			fmt.Fprintf(w, "  %s passed %s on unchanged: %s\n", u.Name, u.LastPassed.Table, u.LastPassed.Fix)
		}
		if u.SignedFor != "" {
			fmt.Fprintf(w, "  %s: clients sign their requests for AWS %s; such a catalog cannot be proxied\n", u.Name, u.SignedFor)
		}
	}
	fmt.Fprintf(w, "\nORIGIN\tENDPOINT\tREGION\tBUCKETS\tREADY\n")
	for _, o := range s.Origins {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", o.Name, cmp.Or(o.Endpoint, "AWS"), o.Region, cmp.Or(strings.Join(o.Buckets, " "), "all"), yesNo(o.Ready))
	}
}

// reasonFor names what a reason is about: an upstream, an origin, or, as while
// it shuts down, the server itself.
func reasonFor(r admin.Reason) string {
	return cmp.Or(strings.TrimSpace(r.Kind+" "+r.Name), "server")
}

// showEngines prints an engine a line, both taps in it.
func showEngines(w io.Writer, all []admin.EngineUse, now time.Time) {
	fmt.Fprintf(w, "\nENGINE\tCATALOG REQUESTS\tSTORAGE REQUESTS\tREAD\tWRITTEN\tSECONDS\tERRORS\tLAST\n")
	for i := range all {
		e := &all[i]
		// Whichever tap saw the engine last.
		last := e.Catalog.Last
		if e.Storage.Last.After(last) {
			last = e.Storage.Last
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%.2f\t%d\t%s\n", engineText(e.Engine, e.EngineVersion), e.Catalog.Requests, e.Storage.Requests,
			bytesText(e.Storage.BytesOut), bytesText(e.Storage.BytesIn), e.Catalog.Seconds+e.Storage.Seconds, e.Catalog.Errors+e.Storage.Errors, ago(now, last))
	}
	if len(all) == 0 {
		fmt.Fprintln(w, "none yet; laketap connect ENGINE tells how")
	}
}

// showTables prints a table and an engine a line. What belongs to no table comes
// as one without a name.
func showTables(w io.Writer, all []admin.TableUse) {
	fmt.Fprintf(w, "\nTABLE\tCATALOG\tENGINE\tCATALOG REQUESTS\tSTORAGE REQUESTS\tREAD\tWRITTEN\tSECONDS\n")
	for i := range all {
		t := &all[i]
		for j := range t.Engines {
			e := &t.Engines[j]
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%.2f\n", cmp.Or(t.Table, "(no table)"), orDash(t.TableID.Catalog), engineText(e.Engine, e.EngineVersion),
				e.Catalog.Requests, e.Storage.Requests, bytesText(e.Storage.BytesOut), bytesText(e.Storage.BytesIn), e.Catalog.Seconds+e.Storage.Seconds)
		}
	}
}
