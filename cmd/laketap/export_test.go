package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func TestExport(t *testing.T) {
	addr, dir := rememberingServer(t), filepath.Join(t.TempDir(), "new")
	if code, out, errs := told(t, "export", "--to", dir, "--admin", addr); code != 0 || !strings.Contains(out, "1 tables, 2 columns and 1 files") {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	tables, err := parquet.ReadFile[tableRow](filepath.Join(dir, "tables.parquet"))
	if err != nil || len(tables) != 1 || tables[0].Table != "prod.ns.orders" || tables[0].Engine != "duckdb" || tables[0].Bytes != 2048 || tables[0].Heat < 0.9 || tables[0].Last.IsZero() {
		t.Errorf("tables: %+v (%v)", tables, err)
	}
	columns, err := parquet.ReadFile[columnRow](filepath.Join(dir, "columns.parquet"))
	if err != nil || len(columns) != 2 || columns[0].Column != "total" || columns[0].Bytes != 2048 || columns[1].Engine != "" {
		t.Errorf("columns: %+v (%v)", columns, err)
	}
	files, err := parquet.ReadFile[fileRow](filepath.Join(dir, "files.parquet"))
	if err != nil || len(files) != 1 || files[0].Key != "orders/f.parquet" || files[0].Size != 4096 {
		t.Errorf("files: %+v (%v)", files, err)
	}
	if code, _, errs := told(t, "export", "--to", filepath.Join(dir, "tables.parquet"), "--admin", addr); code != 1 || !strings.Contains(errs, "--to") {
		t.Errorf("onto a file: %d %s", code, errs)
	}
}
