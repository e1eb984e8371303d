package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/laketap/laketap/admin"
)

// ExportCmd writes the memory as Parquet.
type ExportCmd struct {
	adminFlags

	To string `required:"" placeholder:"DIR" help:"The directory to write tables.parquet, columns.parquet and files.parquet to."`
}

// Help shows examples.
func (ExportCmd) Help() string {
	return `Writes what laketap tables, columns and files show of all tables, a row for each engine, so that any engine can query it.
Example:
  laketap export --to memory && duckdb -c "SELECT * FROM 'memory/columns.parquet' ORDER BY bytes DESC"`
}

// The rows of the files. Heat is as of the export.
type (
	tableRow struct {
		Catalog string    `parquet:"catalog"`
		UUID    string    `parquet:"uuid"`
		Table   string    `parquet:"table"`
		Engine  string    `parquet:"engine"` // "": nobody has opened a file of it
		Version string    `parquet:"engine_version"`
		Heat    float64   `parquet:"heat"`
		Bytes   int64     `parquet:"bytes"` // of data files
		Last    time.Time `parquet:"last,timestamp(microsecond)"`
		Since   time.Time `parquet:"since,timestamp(microsecond)"` // watched since
	}
	columnRow struct {
		UUID    string    `parquet:"uuid"`
		Table   string    `parquet:"table"`
		Field   int64     `parquet:"field"`
		Column  string    `parquet:"column"`
		Type    string    `parquet:"type"`
		Dropped bool      `parquet:"dropped"`
		Engine  string    `parquet:"engine"` // "": nobody has read it
		Version string    `parquet:"engine_version"`
		Heat    float64   `parquet:"heat"` // of files in which it was read
		Bytes   int64     `parquet:"bytes"`
		Last    time.Time `parquet:"last,timestamp(microsecond)"`
	}
	fileRow struct {
		UUID      string    `parquet:"uuid"`
		Table     string    `parquet:"table"`
		Bucket    string    `parquet:"bucket"`
		Key       string    `parquet:"key"`
		Content   string    `parquet:"content"`
		Format    string    `parquet:"format"`
		Size      int64     `parquet:"size"` // -1: not stated
		Rows      int64     `parquet:"rows"` // -1: not stated
		Partition string    `parquet:"partition"`
		Heat      float64   `parquet:"heat"`
		Bytes     int64     `parquet:"bytes"`
		Last      time.Time `parquet:"last,timestamp(microsecond)"`
	}
)

// Run executes the command.
func (c *ExportCmd) Run(a *app) error {
	var page admin.KnownTables
	if err := c.ask(a.ctx, "/api/v1/memory/tables", nil, &page); err != nil {
		return err
	}
	if err := os.MkdirAll(c.To, 0o700); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	var tables []tableRow
	var columns []columnRow
	var files []fileRow
	for i := range page.Tables {
		t := &page.Tables[i]
		for _, e := range orNobody(t.Engines) {
			tables = append(tables, tableRow{t.TableID.Catalog, t.TableID.UUID, t.Table, e.Engine, e.EngineVersion, e.Heat, e.Bytes, e.Last, t.Since})
		}
		of, err := c.columns(a.ctx, t)
		if err != nil {
			return err
		}
		columns = append(columns, of...)
		in, err := c.files(a.ctx, t)
		if err != nil {
			return err
		}
		files = append(files, in...)
	}
	if err := errors.Join(writeRows(c.To, "tables", tables), writeRows(c.To, "columns", columns), writeRows(c.To, "files", files)); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "wrote %d tables, %d columns and %d files by engine to %s\n", len(tables), len(columns), len(files), c.To)
	return nil
}

// orNobody is one row of nobody where there is none.
func orNobody(all []admin.EngineHeat) []admin.EngineHeat {
	if len(all) == 0 {
		return []admin.EngineHeat{{}}
	}
	return all
}

func (c *ExportCmd) columns(ctx context.Context, t *admin.KnownTable) (rows []columnRow, err error) {
	var page admin.KnownColumns
	if err := c.ask(ctx, "/api/v1/memory/columns", url.Values{"table": {t.TableID.UUID}}, &page); err != nil {
		return nil, err
	}
	for i := range page.Columns {
		k := &page.Columns[i]
		for _, e := range orNobody(k.Engines) {
			rows = append(rows, columnRow{t.TableID.UUID, t.Table, int64(k.Field), k.Column, k.Type, k.Dropped, e.Engine, e.EngineVersion, e.Heat, e.Bytes, e.Last})
		}
	}
	return rows, nil
}

func (c *ExportCmd) files(ctx context.Context, t *admin.KnownTable) (rows []fileRow, err error) {
	var page admin.KnownFiles
	if err := c.ask(ctx, "/api/v1/memory/files", url.Values{"table": {t.TableID.UUID}}, &page); err != nil {
		return nil, err
	}
	for i := range page.Files {
		f := &page.Files[i]
		rows = append(rows, fileRow{t.TableID.UUID, t.Table, f.Object.Bucket, f.Object.Key, f.Content, f.Format, f.Size, f.Rows, f.Partition, f.Heat, f.Bytes, f.Last})
	}
	return rows, nil
}

// writeRows writes a file of its own, which only its owner can read.
func writeRows[T any](dir, name string, rows []T) error {
	f, err := os.OpenFile(filepath.Join(dir, name+".parquet"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("export %s: %w", name, err)
	}
	w := parquet.NewGenericWriter[T](f)
	_, err = w.Write(rows)
	if err = errors.Join(err, w.Close(), f.Close()); err != nil {
		return fmt.Errorf("export %s: %w", name, err)
	}
	return nil
}
