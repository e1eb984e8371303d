package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/laketap/laketap/admin"
)

// AccessesCmd shows what engines read and wrote, request by request.
type AccessesCmd struct {
	adminFlags

	Follow bool   `short:"f" help:"Go on showing accesses as they come, until Ctrl-C."`
	Limit  int    `short:"n" default:"50" help:"Show so many of the newest first (${default})."`
	Engine string `placeholder:"NAME" help:"Only those of an engine: its name, or name/version."`
	Table  string `placeholder:"NAME" help:"Only those of a table: its dotted name, or its UUID."`
	Tap    string `placeholder:"TAP" help:"Only those of a tap: catalog or storage."`
	Op     string `placeholder:"OP" help:"Only those of an operation, such as loadTable or GetObject."`
	JSON   bool   `name:"json" help:"Print an access a line, as JSON."`
}

// Help shows examples.
func (AccessesCmd) Help() string {
	return `Examples:
  laketap accesses --follow
  laketap accesses --engine spark --table tpch.lineitem
  laketap accesses --follow --json | jq 'select(.status >= 400)'`
}

// Run executes the command.
func (c *AccessesCmd) Run(a *app) error {
	query := url.Values{"limit": {strconv.Itoa(c.Limit)}}
	for name, value := range map[string]string{"engine": c.Engine, "table": c.Table, "tap": c.Tap, "op": c.Op} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if c.Follow {
		return c.follow(a, query)
	}
	var page admin.Page
	if err := c.ask(a.ctx, "/api/v1/accesses", query, &page); err != nil {
		return err
	}
	for i := range page.Accesses {
		if err := c.show(a.stdout, &page.Accesses[i]); err != nil {
			return err
		}
	}
	switch {
	case len(page.Accesses) > 0 || c.JSON:
	case c.Engine+c.Table+c.Tap+c.Op != "":
		fmt.Fprintln(a.stderr, "none match; laketap status lists the engines and tables that were seen")
	default:
		fmt.Fprintln(a.stderr, "none yet; laketap connect ENGINE tells how to connect one")
	}
	return nil
}

// follow shows a stream until the user ends it or the server does.
func (c *AccessesCmd) follow(a *app, query url.Values) error {
	// The server ends a follower that does not keep up by dropping accesses, not
	// by closing; a stream that ends is a server that ends.
	query.Set("follow", "true")
	stream, err := c.open(a.ctx, "/api/v1/accesses", query, "application/x-ndjson")
	if err == nil {
		defer stream.Close()
		err = c.copy(a, stream)
	}
	if a.ctx.Err() != nil {
		return nil // Ctrl-C
	}
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the server ended the stream; it may be shutting down")
	}
	return err
}

// copy shows the lines of a stream as they come. What was dropped is told on
// standard error, so that --json stays JSON for the program behind the pipe.
func (c *AccessesCmd) copy(a *app, stream io.Reader) error {
	lines := bufio.NewScanner(stream)
	// A line is one access: what is longer comes from something that is no
	// Laketap, and must not fill our memory.
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		// Two kinds of lines come in one stream; the field that only one of them
		// has tells them apart.
		var line struct {
			admin.Access
			admin.Missed
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fmt.Errorf("read stream: %w", err)
		}
		if line.Missed.Missed > 0 {
			fmt.Fprintf(a.stderr, "%d accesses were dropped before they could be shown\n", line.Missed.Missed)
			continue
		}
		if err := c.show(a.stdout, &line.Access); err != nil {
			return err
		}
	}
	return lines.Err()
}

// show prints an access on one line.
func (c *AccessesCmd) show(w io.Writer, x *admin.Access) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(x)
	}
	// Fixed widths and not a table: following, nobody knows how wide the next
	// line will be. A request moves much in one direction only, so one size does.
	line := fmt.Sprintf("%s  %-18s %-7s %-23s %3d %10s %9s  %-24s %s%s%s",
		x.At.Local().Format("15:04:05.000"), engineText(x.Engine, x.EngineVersion), x.Tap, x.Op, x.Status, bytesText(max(x.BytesIn, x.BytesOut)),
		time.Duration(x.Seconds*float64(time.Second)).Round(10*time.Microsecond), orDash(x.Table), objectText(x), spaced(x.Range), spaced(x.Error))
	_, err := fmt.Fprintln(w, strings.TrimRight(line, " "))
	return err
}

// objectText spells where an object lives as its URI: what people paste into
// other tools. It is empty for a request of the catalog.
func objectText(x *admin.Access) string {
	if x.Object == nil {
		return ""
	}
	return "s3://" + x.Object.Bucket + "/" + x.Object.Key
}

// spaced puts a space before a text that may be missing.
func spaced(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}
