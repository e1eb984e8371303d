package archtest

import (
	"bytes"
	"errors"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	maxFile   = 600 // lines
	maxFunc   = 80  // lines, signature and closing brace included
	maxREADME = 120 // lines
)

// nameless are package names that say nothing, and so attract everything.
var nameless = []string{
	"base", "common", "helper", "helpers", "manager", "misc", "service",
	"shared", "types", "util", "utils",
}

func TestBudgets(t *testing.T) {
	for _, s := range sources(t) {
		if s.lines > maxFile {
			t.Errorf("%s: %d lines, at most %d: name its second idea and give it a file", s.rel, s.lines, maxFile)
		}
		for _, decl := range s.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: func init: wire it in cmd instead", s.rel)
			}
			// Tables make tests long; their length says nothing about them.
			if n := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1; n > maxFunc && !s.test() {
				t.Errorf("%s: %s has %d lines, at most %d", s.rel, fn.Name.Name, n, maxFunc)
			}
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, s := range sources(t) {
		if name := strings.TrimSuffix(s.ast.Name.Name, "_test"); slices.Contains(nameless, name) {
			t.Errorf("%s: package %s says nothing: name it after what it does", s.rel, name)
		}
	}
}

// Every package opens with what it owns and what it refuses.
func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		dir := s.dir()
		want := "Package " + s.ast.Name.Name + " "
		if s.ast.Name.Name == "main" {
			want = "" // a command says what it does in its own words
		}
		switch doc := s.ast.Doc.Text(); {
		case strings.HasSuffix(s.ast.Name.Name, "_test"):
			// Tests of the package from outside; the package itself is asked.
		case doc != "" && strings.HasPrefix(doc, want):
			documented[dir] = true
		default:
			documented[dir] = documented[dir] || false
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s: no file opens with a package comment", dir)
		}
	}
}

func TestREADMEIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no README.md yet")
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > maxREADME {
		t.Errorf("README.md has %d lines, at most %d: the rest belongs under docs", n, maxREADME)
	}
}
