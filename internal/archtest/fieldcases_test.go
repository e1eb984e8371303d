package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fieldCases are the ids that docs/testing.md must have a line for.
const fieldCases = "G1 G2 G4 G5 G6 G7 G8 G10 G12 G13 G14 G15 G16 G17 G18 G19 G20 G21 G22 G23 G24 " +
	"C2 C3 C4 C6 C7 C8 C9 C10 C11 C12 C13 C14 C16 C17 C18 " +
	"P1 P3 P4 P5 P7 P10 P11 P12 P13 P14 P15 P16 P17 P18 P19 P20 " +
	"R2 R3 R4 R5 R7 R9 R10 R11 R12 R13 R14 N9 N10 N20 N21 N22 N25"

// TestFieldCases holds the tables of field cases to the tests that they name:
// each exists and says that it is about the case. A case without a test has a
// reason.
func TestFieldCases(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{} // name of a test -> its name and comment
	for _, s := range sources(t) {
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && s.test() && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				said[f.Name.Name] += f.Name.Name + " " + f.Doc.Text()
			}
		}
	}
	row := regexp.MustCompile(`(?m)^\| ([A-Z]\d+) \| ([^|]+) \| ([^|]+) \|$`)
	named := regexp.MustCompile("`(Test\\w+)`")
	rows := row.FindAllStringSubmatch(string(text), -1)
	ids := make([]string, 0, len(rows))
	for _, line := range rows {
		id, rest := line[1], line[3]
		ids = append(ids, id)
		tests := named.FindAllStringSubmatch(rest, -1)
		if len(tests) == 0 && len(strings.TrimSpace(rest)) < 20 {
			t.Errorf("%s has neither a test nor a reason why not", id)
		}
		about := regexp.MustCompile(`(^|\W|Test|\d)` + id + `($|\D)`)
		for _, name := range tests {
			switch what, ok := said[name[1]]; {
			case !ok:
				t.Errorf("%s: there is no %s", id, name[1])
			case !about.MatchString(what):
				t.Errorf("%s: %s says neither in its name nor in its comment that it is about %s", id, name[1], id)
			}
		}
	}
	for id := range strings.FieldsSeq(fieldCases) {
		if !slices.Contains(ids, id) {
			t.Errorf("docs/testing.md has no line for %s", id)
		}
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			t.Errorf("%s has two lines", id)
		}
	}
}
