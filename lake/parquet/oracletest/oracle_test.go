package oracletest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	peer "github.com/parquet-go/parquet-go"

	"github.com/laketap/laketap/lake/parquet"
)

// compare holds our reading of a file against arrow-go's.
func compare(t *testing.T, file []byte) {
	t.Helper()
	l, err := parquet.ReadLayout(t.Context(), bytes.NewReader(file), int64(len(file)), parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := factsOf(l)
	if err != nil {
		t.Fatal(err)
	}
	want, err := arrowFacts(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arrow-go (-) and we (+) differ: %s", diff)
	}
}

// corpus returns the files of a folder and below it, by name.
func corpus(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, ".parquet") || strings.HasSuffix(path, ".json") {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// moduleDir returns where the sources of a module are, of the version that the
// go.mod in dir requires: no version stands here, which an upgrade would miss.
func moduleDir(t *testing.T, dir, module string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = dir
	out, err := cmd.Output()
	var at struct{ Dir, Error string }
	if bad := json.Unmarshal(out, &at); bad != nil || err != nil || at.Dir == "" {
		t.Fatalf("%s, as %s/go.mod requires it, is not to be had: %v %s", module, dir, err, at.Error)
	}
	return at.Dir
}

// compareAll compares every file of a corpus that is not encrypted.
func compareAll(t *testing.T, files map[string][]byte, least int) {
	t.Helper()
	compared := 0
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			if _, err := parquet.ParseFooter(file, int64(len(file)), parquet.Options{}); errors.Is(err, parquet.ErrEncrypted) {
				return
			}
			compare(t, file)
			compared++
		})
	}
	if compared < least {
		t.Errorf("compared %d files, want %d", compared, least)
	}
}

// Files of the engines, see testdata/make.py.
func TestSamples(t *testing.T) { compareAll(t, corpus(t, "../testdata"), 33) }

// Files that come with arrow-go.
func TestArrowFiles(t *testing.T) {
	dir := moduleDir(t, ".", "github.com/apache/arrow-go/v18")
	compareAll(t, corpus(t, filepath.Join(dir, "parquet")), 1)
}

// Files that come with iceberg-go, which the other oracle requires.
func TestIcebergFiles(t *testing.T) {
	dir := moduleDir(t, "../../iceberg/oracletest", "github.com/apache/iceberg-go")
	compareAll(t, corpus(t, filepath.Join(dir, "table/testdata")), 20)
}

// wrong are files that are bad on purpose, and what is bad in their footers;
// arrow-go finds out later, or never.
var wrong = map[string]string{
	"bad_data/ARROW-GH-41317.parquet":              "a list of encodings says that they have 16 bits; generated readers do not look",
	"bad_data/PARQUET-1481.parquet":                "a column has the physical type -7",
	"bad_data/ARROW-RS-GH-6229-DICTHEADER.parquet": "a chunk reaches into the footer",
}

// arrowFails are good files that arrow-go does not read.
var arrowFails = map[string]string{
	"data/unknown-logical-type.parquet": "a reader should pass over logical types of the future",
}

// Files of apache/parquet-testing, if a checkout is named: go test with
// PARQUET_TESTING=DIR. Those that only one of us reads are named above.
func TestParquetTesting(t *testing.T) {
	dir := os.Getenv("PARQUET_TESTING")
	if dir == "" {
		t.Skip("PARQUET_TESTING names no checkout")
	}
	files := corpus(t, dir)
	for name := range wrong {
		if _, err := parquet.ParseFooter(files[name], int64(len(files[name])), parquet.Options{}); !errors.Is(err, parquet.ErrMalformed) {
			t.Errorf("%s: %v, though %s", name, err, wrong[name])
		}
		delete(files, name)
	}
	for name, why := range arrowFails {
		if _, err := arrowFacts(files[name]); err == nil {
			t.Errorf("%s: arrow-go reads it, though %s", name, why)
		}
		delete(files, name)
	}
	compareAll(t, files, 80)
}

// parquet-go is a second opinion on where the chunks are.
func TestParquetGoAgrees(t *testing.T) {
	files := corpus(t, "../testdata")
	files["wide"] = wide(t, shapes[0])
	for name, file := range files {
		l, err := parquet.ParseFooter(file, int64(len(file)), parquet.Options{})
		if err != nil {
			continue // encrypted
		}
		f, err := peer.OpenFile(bytes.NewReader(file), int64(len(file)), peer.SkipPageIndex(true), peer.SkipBloomFilters(true))
		if err != nil {
			t.Logf("%s: parquet-go: %v", name, err)
			continue
		}
		for g, group := range f.Metadata().RowGroups {
			for c := range group.Columns {
				want, got := &group.Columns[c].MetaData, l.Chunk(g, c)
				if got.External {
					continue
				}
				if want.TotalCompressedSize != got.Extent.Len || want.NumValues != got.Values {
					t.Errorf("%s: row group %d, column %d: %+v, want %+v", name, g, c, got, want)
				}
			}
		}
	}
}

func TestWideFiles(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {20, 4}, {300, 7}} {
		compare(t, wide(t, shape))
	}
}
