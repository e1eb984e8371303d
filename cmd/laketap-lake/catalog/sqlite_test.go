package catalog_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/laketap/laketap/cmd/laketap-lake/catalog"
)

// firstVersion is a database as the first version of this program wrote it.
const firstVersion = `
create table namespaces (name text primary key, properties text not null, created_ms integer not null) without rowid;
create table tables (
  namespace text not null references namespaces(name), name text not null, uuid text not null, location text not null,
  folder text not null, metadata_location text not null, updated_ms integer not null, primary key (namespace, name)
) without rowid;
insert into namespaces values('n', '{}', 1);
insert into tables values('n', 't', 'u', 's3://lake/t', 't/', 's3://lake/t/metadata/0.json', 1);
`

// A lake of an older program keeps its tables, and its catalog is refused by
// none but the programs that came before.
func TestUpgrade(t *testing.T) {
	for name, one := range map[string]struct{ version, wrong string }{
		"first":   {"1", ""},
		"current": {"2", ""},
		"later":   {"3", "schema version is 3"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "catalog.sqlite")
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			text := firstVersion
			if one.version == "2" {
				text += "alter table tables add column view integer not null default 0;"
			}
			if _, err := db.ExecContext(t.Context(), text+"pragma user_version = "+one.version); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time there is nothing to do
				c, err := catalog.Open(t.Context(), &memory{}, catalog.Options{Database: path, Bucket: "lake"})
				if one.wrong != "" {
					if err == nil || !strings.Contains(err.Error(), one.wrong) {
						t.Errorf("opened: %v, want %q", err, one.wrong)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				checkRow(t, path)
			}
		})
	}
}

// checkRow checks that the one table is still there, and is no view.
func checkRow(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var name string
	var view bool
	if err := db.QueryRowContext(t.Context(), "select name, view from tables").Scan(&name, &view); err != nil || name != "t" || view {
		t.Errorf("row: %q, view %v, %v", name, view, err)
	}
}
