//go:build long

package e2e_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/workload"
)

// Spark's maintenance and odd flows of creation, with the cache on: every answer
// is the one without Laketap, and what lies in the store afterwards is the same
// but for random names. G24.
func TestLongMaintenance(t *testing.T) {
	bare := lake.Start(t)
	direct := maintain(t, bare, bare.Catalog)

	behind := lake.Start(t)
	config := laketap.InFrontOf(t, behind)
	config.Mode = "accelerate"
	server := laketap.Start(t, config)
	through := maintain(t, behind, server.Catalog)

	if diff := cmp.Diff(direct, through); diff != "" {
		t.Errorf("answers (-direct +through Laketap):\n%s", diff)
	}
	left := stored(t, bare)
	if len(left) < 50 {
		t.Errorf("%d kinds of objects are stored, which cannot be all", len(left))
	}
	if diff := cmp.Diff(left, stored(t, behind)); diff != "" {
		t.Errorf("objects by folder and kind (-direct +through Laketap):\n%s", diff)
	}
	for folder := range left {
		if strings.Contains(folder, "orphan") {
			t.Errorf("%s is still there: the procedures removed nothing", folder)
		}
	}
	checkLeavesNothing(t, behind, server, server.Accesses(t))
}

// maintain runs the text on the three engines. Between its parts a week passes,
// by the times of all that is stored: younger files are no orphans to Spark.
func maintain(t *testing.T, l *lake.Lake, uri string) (all []workload.Entry) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(process.Root(t), "test", "testdata", "maintenance.txt"))
	if err != nil {
		t.Fatal(err)
	}
	on := map[string]*engines.Engine{}
	for _, name := range engines.All() {
		on[name] = engines.Start(t, name, uri)
		defer on[name].Close()
	}
	for i, part := range strings.Split(string(text), "# A week later.\n") {
		if i > 0 {
			age(t, l, 7*24*time.Hour)
		}
		paragraphs, err := workload.Parse(strings.ReplaceAll(part, "{bucket}", "s3://"+l.S3.Bucket))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range workload.Run(t, paragraphs, on, nil) {
			for j, row := range e.Rows {
				e.Rows[j] = named(sizeless(t, e.Columns, row))
			}
			all = append(all, e)
		}
	}
	return all
}

// random are the parts of names and answers that differ from run to run.
var random = regexp.MustCompile(`\d{5}-\d{1,4}-|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|-[0-9a-f]{8}/|\d{15,}`)

// named is a text without them.
func named(text string) string { return random.ReplaceAllString(text, "*") }

// sizeless is a row without sizes in bytes: files that name others by random
// names are packed a little differently each time.
func sizeless(t *testing.T, columns []string, row string) string {
	t.Helper()
	if !slices.ContainsFunc(columns, func(c string) bool { return strings.Contains(c, "_bytes_") }) {
		return row
	}
	var values []any
	if err := json.Unmarshal([]byte(row), &values); err != nil {
		t.Fatal(err)
	}
	for i, c := range columns {
		if strings.Contains(c, "_bytes_") {
			values[i] = "*"
		}
	}
	return fmt.Sprint(values)
}

// age makes everything in a lake's store older.
func age(t *testing.T, l *lake.Lake, by time.Duration) {
	t.Helper()
	err := filepath.WalkDir(l.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		then := info.ModTime().Add(-by)
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stored counts what lies in a lake's bucket, by name without what is random.
func stored(t *testing.T, l *lake.Lake) map[string]int {
	t.Helper()
	count := map[string]int{}
	for path := range l.Stored(t) {
		if key, ok := strings.CutPrefix(path, "s3/objects/"+l.S3.Bucket+"/"); ok { // else it is the store's own
			count[named(key)]++
		}
	}
	return count
}
