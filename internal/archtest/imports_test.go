package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the architecture, as data: what each top-level folder may
// import from this module; "." is the vocabulary in the root package.
// A step never imports another step: package cmd introduces them to each other.
var mayImport = map[string][]string{
	".":        nil,
	"lake":     {"."},
	"tap":      {"."},
	"observe":  {".", "lake"},
	"remember": {"."},
	"decide":   {"."},
	"reuse":    {".", "lake"},
	"audit":    {"."},
	"admin":    {"."},
	"console":  nil,
	"cmd":      {".", "lake", "tap", "observe", "remember", "decide", "reuse", "audit", "admin", "console"},
	"internal": {".", "lake", "remember"},
}

// planned are steps that mayImport rules already and that have no code yet.
// A folder leaves this list with its first file.
var planned = []string{"console"}

// leaves are small packages of internal/ that every folder may import; they
// import the standard library and the vocabulary only.
var leaves = []string{"internal/certs", "internal/durable", "internal/invariants", "internal/sigv4"}

// onlyIn names the one folder that may import a heavy dependency, so that
// replacing it is a change to one package. Tests may use any as an oracle.
var onlyIn = map[string]string{
	"github.com/alecthomas/kong":          "cmd/laketap",
	"github.com/apache/arrow-go":          "nowhere", // an oracle of tests, too heavy for the product
	"github.com/apache/iceberg-go":        "nowhere", // the same, and 0.1 s at every start
	"github.com/aws/aws-sdk-go-v2/config": "lake/s3", // the credential chain and all it can call
	"github.com/jackc/pgx":                "remember",
	"github.com/parquet-go/parquet-go":    "cmd/laketap", // laketap export
	"github.com/pressly/goose":            "remember",
	"github.com/valyala/fasthttp":         "tap/storage",
	"modernc.org/sqlite":                  "remember",
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		if s.test() || s.module != "." {
			continue
		}
		seen[top(s.dir())] = true
		for _, imp := range imports(t, s) {
			for _, problem := range forbidden(s.dir(), imp) {
				t.Error(problem)
			}
		}
	}
	for folder := range mayImport {
		switch {
		case slices.Contains(planned, folder) && seen[folder]:
			t.Errorf("%q has code: take it off the list planned", folder)
		case !slices.Contains(planned, folder) && !exists(folder):
			t.Errorf("mayImport names %q, which is gone", folder)
		}
	}
}

// Modules beside the product's are programs and tests of their own; they link
// nothing of it, so they prove it from outside. A module called oracletest is
// the tests of the folder around it: heavy libraries are compared there with
// what we wrote, outside the product's go.mod.
func TestOtherModulesStandAlone(t *testing.T) {
	for _, s := range sources(t) {
		if s.module == "." || filepath.Base(s.module) == "oracletest" {
			continue
		}
		own := module + "/" + s.module
		for _, imp := range imports(t, s) {
			if within(imp, module) && !within(imp, own) {
				t.Errorf("%s may not import %s: its module imports nothing of the product", s.rel, imp)
			}
		}
	}
}

// The rules themselves, tried on imports that must and must not pass.
func TestForbidden(t *testing.T) {
	tests := []struct {
		dir, imp string
		ok       bool
	}{
		{"tap/catalog", module, true},
		{"tap/catalog", module + "/tap", true},
		{"tap/catalog", module + "/internal/sigv4", true},
		{"tap/catalog", module + "/tap/storage", false},
		{"tap/catalog", module + "/lake/iceberg", false},
		{"tap", module + "/tap/catalog", false},
		{"observe", module + "/lake/iceberg", true},
		{"observe", module + "/tap", false},
		{"admin", module + "/observe", false},
		{".", module + "/internal/sigv4", true},
		{".", module + "/lake", false},
		{"internal/sigv4", module + "/lake/s3", false},
		{"cmd/laketap", module + "/tap/storage", true},
		{"tap/storage", "github.com/valyala/fasthttp", true},
		{"tap/storage/xml", "github.com/valyala/fasthttp/fasthttputil", true},
		{"admin", "github.com/valyala/fasthttp", false},
		{"lake/s3", "github.com/aws/aws-sdk-go-v2/config", true},
		{"lake/s3", "github.com/aws/aws-sdk-go-v2/aws", true},
		{"admin", "github.com/aws/aws-sdk-go-v2/configuration", true},
		{"cmd/laketap", "github.com/aws/aws-sdk-go-v2/config", false},
		{"novel", "fmt", false},
	}
	for _, tt := range tests {
		if problems := forbidden(tt.dir, tt.imp); (len(problems) == 0) != tt.ok {
			t.Errorf("forbidden(%s, %s) = %q, want ok %v", tt.dir, tt.imp, problems, tt.ok)
		}
	}
}

// forbidden says what the tables above have against an import of the product.
func forbidden(dir, imp string) (problems []string) {
	report := func(parts ...string) { problems = append(problems, strings.Join(parts, "")) }
	allowed, known := mayImport[top(dir)]
	if !known {
		report(dir, ": a new top-level folder needs a line in mayImport")
	}
	if within(imp, module) {
		target := strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
		to, leaf := top(target), slices.Contains(leaves, dir)
		switch {
		case target != "" && slices.Contains(leaves, target):
		case leaf && to != ".":
			report(dir, " may not import ", imp, ": a leaf imports the vocabulary only")
		case to != top(dir) && !slices.Contains(allowed, to):
			report(dir, " may not import ", imp)
		case to == "tap" && top(dir) == "tap" && target != "tap" && target != dir:
			report(dir, " may not import ", imp, ": taps do not know each other")
		}
	}
	for dep, owner := range onlyIn {
		if within(imp, dep) && !within(dir, owner) {
			report(dir, " may not import ", imp, ": only ", owner, " does")
		}
	}
	return problems
}

// exists reports whether the repository has the folder.
func exists(folder string) bool {
	info, err := os.Stat(filepath.Join(root, folder))
	return err == nil && info.IsDir()
}

// within reports whether the path is parent or lies below it.
func within(p, parent string) bool { return p == parent || strings.HasPrefix(p, parent+"/") }

// imports returns the import paths of a file.
func imports(t *testing.T, s source) []string {
	t.Helper()
	paths := make([]string, 0, len(s.ast.Imports))
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", s.rel, err)
		}
		paths = append(paths, p)
	}
	return paths
}
