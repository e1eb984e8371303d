package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/remember"
)

// jsonFlags choose between what people and what programs read.
type jsonFlags struct {
	JSON bool `name:"json" help:"Print what the admin API answers, as one JSON object."`
}

// show prints v as JSON if that was asked for, else a table.
func (f *jsonFlags) show(a *app, v any, table func(*tabwriter.Writer)) error {
	if f.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	table(w)
	return w.Flush()
}

// TablesCmd shows what is remembered of tables.
type TablesCmd struct {
	adminFlags
	jsonFlags
}

// Run executes the command.
func (c *TablesCmd) Run(a *app) error {
	var page admin.KnownTables
	if err := c.ask(a.ctx, "/api/v1/memory/tables", nil, &page); err != nil {
		return err
	}
	if len(page.Tables) == 0 && !c.JSON {
		fmt.Fprintln(a.stderr, "none yet; laketap connect ENGINE tells how to connect one")
	}
	return c.show(a, page, func(w *tabwriter.Writer) {
		fmt.Fprintln(w, "TABLE\tHEAT\tQUERIES\tREAD\tLAST\tENGINES")
		for i := range page.Tables {
			t := &page.Tables[i]
			fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%s\t%s\t%s\n", t.Table, t.Heat, t.Queries, bytesText(t.Bytes), ago(time.Now(), t.Last), enginesText(t.Engines))
		}
	})
}

// enginesText names engines.
func enginesText(all []admin.EngineHeat) string {
	names := make([]string, 0, len(all))
	for _, e := range all {
		names = append(names, engineText(e.Engine, e.EngineVersion))
	}
	return orDash(strings.Join(names, " "))
}

// ColumnsCmd shows what is remembered of a table's columns.
type ColumnsCmd struct {
	adminFlags
	jsonFlags

	Table string `arg:"" help:"CATALOG.NAMESPACE.TABLE, or its UUID."`
}

// Run executes the command.
func (c *ColumnsCmd) Run(a *app) error {
	var page admin.KnownColumns
	if err := c.ask(a.ctx, "/api/v1/memory/columns", url.Values{"table": {c.Table}}, &page); err != nil {
		return err
	}
	return c.show(a, page, func(w *tabwriter.Writer) {
		fmt.Fprintln(w, "COLUMN\tFIELD\tTYPE\tREAD IN FILES\tUSED IN QUERIES\tREAD\tLAST\tENGINES")
		for i := range page.Columns {
			k := &page.Columns[i]
			name := orDash(k.Column)
			if k.Dropped {
				name += " (dropped)"
			}
			fmt.Fprintf(w, "%s\t%d\t%s\t%.1f\t%.1f\t%s\t%s\t%s\n", name, k.Field, orDash(k.Type), k.Read, k.Used, bytesText(k.Bytes), ago(time.Now(), k.Last), enginesText(k.Engines))
		}
	})
}

// FilesCmd shows what is remembered of a table's files.
type FilesCmd struct {
	adminFlags
	jsonFlags

	Table string `arg:"" help:"CATALOG.NAMESPACE.TABLE, or its UUID."`
}

// Run executes the command.
func (c *FilesCmd) Run(a *app) error {
	var page admin.KnownFiles
	if err := c.ask(a.ctx, "/api/v1/memory/files", url.Values{"table": {c.Table}}, &page); err != nil {
		return err
	}
	return c.show(a, page, func(w *tabwriter.Writer) {
		fmt.Fprintln(w, "HEAT\tREAD\tSIZE\tLAST\tPARTITION\tFILE")
		for i := range page.Files {
			f := &page.Files[i]
			size := "-"
			if f.Size >= 0 {
				size = bytesText(f.Size)
			}
			gone := ""
			if !f.Gone.IsZero() {
				gone = " (removed " + ago(time.Now(), f.Gone) + ")"
			}
			fmt.Fprintf(w, "%.1f\t%s\t%s\t%s\t%s\ts3://%s/%s%s\n", f.Heat, bytesText(f.Bytes), size, ago(time.Now(), f.Last), orDash(f.Partition), f.Object.Bucket, f.Object.Key, gone)
		}
	})
}

// EnginesCmd shows what engines did since the server started.
type EnginesCmd struct {
	adminFlags
	jsonFlags
}

// Run executes the command.
func (c *EnginesCmd) Run(a *app) error {
	var page admin.Engines
	if err := c.ask(a.ctx, "/api/v1/engines", nil, &page); err != nil {
		return err
	}
	return c.show(a, page, func(w *tabwriter.Writer) { showEngines(w, page.Engines, time.Now()) })
}

// UnusedCmd shows what nobody reads.
type UnusedCmd struct {
	adminFlags
	jsonFlags

	Since string `default:"30d" placeholder:"AGE" help:"Not read for so long, such as 30d or 12h (${default})."`
}

// Help says what it does not know.
func (UnusedCmd) Help() string {
	return "Only reads through Laketap are known: WATCHED says since when. A table or column that was read before, or around it, may be listed."
}

// Run executes the command.
func (c *UnusedCmd) Run(a *app) error {
	var page admin.UnusedPage
	if err := c.ask(a.ctx, "/api/v1/memory/unused", url.Values{"since": {c.Since}}, &page); err != nil {
		return err
	}
	return c.show(a, page, func(w *tabwriter.Writer) {
		fmt.Fprintln(w, "TABLE\tCOLUMN\tLAST READ\tWATCHED")
		for _, u := range page.Unused {
			column := u.Column
			if column == "" {
				column = "(all of it)"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\tsince %s\n", u.Table, column, ago(time.Now(), u.Last), u.Since.Format("2006-01-02 15:04Z"))
		}
	})
}

// ForgetCmd removes what is remembered of somebody or something.
type ForgetCmd struct {
	adminFlags

	Table     string `placeholder:"TABLE" help:"A table: CATALOG.NAMESPACE.TABLE, or its UUID." xor:"subject"`
	Principal string `placeholder:"NAME" help:"A principal, as laketap accesses --json names it." xor:"subject"`
}

// Help says what goes and what stays.
func (ForgetCmd) Help() string {
	return `Removes it from the memory for good, its bytes in the database's files included; docs/memory.md says what stays elsewhere.
It is remembered anew from its next access on; laketap deny keeps it out.`
}

// Run executes the command.
func (c *ForgetCmd) Run(a *app) error {
	query, what := url.Values{"table": {c.Table}}, c.Table
	switch {
	case c.Principal != "":
		query, what = url.Values{"principal": {c.Principal}}, c.Principal
	case c.Table == "":
		return errors.New("name what to forget: --table or --principal")
	}
	var done struct{}
	if err := c.tell(a.ctx, http.MethodPost, "/api/v1/memory/forget", query, nil, &done); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, "forgot", what)
	return nil
}

// A memoryView is the memory as the admin API wants it.
type memoryView struct{ w *remember.Writer }

// viewed asks the memory, if it is open.
func viewed[T any](w *remember.Writer, ask func(*remember.Store) (T, error)) (v T, err error) {
	store, err := w.Store()
	if err != nil {
		return v, err
	}
	v, err = ask(store)
	if errors.Is(err, remember.ErrUnknown) {
		err = admin.ErrUnknown
	}
	return v, err
}

// KnownTables implements [admin.Memory], as the others do.
func (m memoryView) KnownTables(ctx context.Context, now time.Time) ([]laketap.KnownTable, error) {
	return viewed(m.w, func(s *remember.Store) ([]laketap.KnownTable, error) { return s.KnownTables(ctx, now) })
}

// KnownColumns tells of the columns of a table.
func (m memoryView) KnownColumns(ctx context.Context, table string) ([]laketap.KnownColumn, error) {
	return viewed(m.w, func(s *remember.Store) ([]laketap.KnownColumn, error) { return s.KnownColumns(ctx, table) })
}

// KnownFiles tells of the files of a table.
func (m memoryView) KnownFiles(ctx context.Context, table string) ([]laketap.KnownFile, error) {
	return viewed(m.w, func(s *remember.Store) ([]laketap.KnownFile, error) { return s.KnownFiles(ctx, table) })
}

// Unused tells what nobody has read since.
func (m memoryView) Unused(ctx context.Context, since time.Time) ([]laketap.Unused, error) {
	return viewed(m.w, func(s *remember.Store) ([]laketap.Unused, error) { return s.Unused(ctx, since) })
}

// Forget removes a table or a principal.
func (m memoryView) Forget(ctx context.Context, table, principal string) error {
	err := m.w.Forget(ctx, remember.Subject{Table: table, Principal: principal})
	if errors.Is(err, remember.ErrUnknown) {
		return admin.ErrUnknown
	}
	return err
}
