package demo

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func text(s string) *string { return &s }

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		name, kind string
		a, b       *string
		want       bool
		err        string
	}{
		{"same text", "text", text("BUILDING"), text("BUILDING"), true, ""},
		{"text is not trimmed", "text", text("a"), text("a "), false, ""},
		{"text of digits is text", "text", text("1.0"), text("1.00"), false, ""},
		{"nulls", "text", nil, nil, true, ""},
		{"null is not empty", "text", nil, text(""), false, ""},
		{"null is not zero", "decimal", text("0"), nil, false, ""},
		{"whole numbers", "int", text("15000"), text("15000"), true, ""},
		{"64 bits, exactly", "int", text("9007199254740993"), text("9007199254740992"), false, ""},
		{"trailing zeros", "decimal", text("7822103.0000"), text("7822103"), true, ""},
		{"scale 4 and scale 6", "decimal", text("5256751331.4492"), text("5256751331.449200"), true, ""},
		{"the last digit counts", "decimal", text("5256751331.449234"), text("5256751331.449235"), false, ""},
		{"38 digits", "decimal", text("12345678901234567890123456789012345678"), text("12345678901234567890123456789012345679"), false, ""},
		{"Python's zero", "decimal", text("0E-6"), text("0.00"), true, ""},
		{"an exponent", "decimal", text("1.5e3"), text("1500"), true, ""},
		{"a huge exponent", "decimal", text("1e999999999"), text("1"), false, "not a number"},
		{"a fraction", "decimal", text("1/2"), text("0.5"), false, "not a number"},
		{"hexadecimal", "int", text("0x10"), text("16"), false, "not a number"},
		{"no digits", "decimal", text(""), text("0"), false, "not a number"},
		{"too long", "decimal", text(strings.Repeat("1", 65)), text("1"), false, "not a number"},
		{"the other one", "decimal", text("1"), text("many"), false, "not a number"},
		{"sums in another order", "float", text("36002.12382901414"), text("36002.12382901415"), true, ""},
		{"too far apart", "float", text("36002.1238290"), text("36002.1238291"), true, ""},
		{"a digit too early", "float", text("36002.1238"), text("36002.1240"), false, ""},
		{"around zero", "float", text("1e-300"), text("0"), false, ""},
		{"not a number twice", "float", text("NaN"), text("nan"), true, ""},
		{"infinities", "float", text("inf"), text("inf"), true, ""},
		{"opposite infinities", "float", text("inf"), text("-inf"), false, ""},
		{"no float", "float", text("1"), text("one"), false, "not a number"},
		{"days", "date", text("1995-03-14"), text("1995-03-14"), true, ""},
		{"midnight", "date", text("1995-03-14"), text("1995-03-14 00:00:00"), true, ""},
		{"midnight by ISO", "date", text("1995-03-14T00:00:00.000"), text("1995-03-14"), true, ""},
		{"another day", "date", text("1995-03-14"), text("1995-03-15"), false, ""},
		{"not midnight", "date", text("1995-03-14"), text("1995-03-14 01:00:00"), false, "not a date"},
		{"days since 1970", "date", text("9203"), text("1995-03-14"), false, "not a date"},
		{"unknown kind", "uuid", text("a"), text("a"), false, `kind "uuid"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := column{Kind: tt.kind}.same(tt.a, tt.b)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v, %v; want %v, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestDiffers(t *testing.T) {
	columns := []column{{"name", "text"}, {"n", "int"}}
	row := func(cells ...string) (row []*string) {
		for _, c := range cells {
			row = append(row, text(c))
		}
		return row
	}
	want := [][]*string{row("a", "1"), row("b", "2")}
	for _, tt := range []struct {
		name string
		got  [][]*string
		err  string
	}{
		{"equal", [][]*string{row("a", "1.0"), row("b", "2")}, ""},
		{"one row less", [][]*string{row("a", "1")}, "1 rows, not 2"},
		{"none", nil, "0 rows, not 2"},
		{"another order", [][]*string{row("b", "2"), row("a", "1")}, "row 1, name: b, not a"},
		{"a cell", [][]*string{row("a", "1"), row("b", "3")}, "row 2, n: 3, not 2"},
		{"a null", [][]*string{row("a", "1"), {text("b"), nil}}, "row 2, n: null, not 2"},
		{"a column less", [][]*string{row("a", "1"), row("b")}, "row 2: 1 columns, not 2"},
		{"no number", [][]*string{row("a", "1"), row("b", "two")}, `row 2, n: "two" is not a number`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			switch err := differs(columns, want, tt.got); {
			case err == nil && tt.err != "", err != nil && err.Error() != tt.err:
				t.Errorf("got %v, want %q", err, tt.err)
			}
		})
	}
}

// The scripts and the questions belong together.
func TestQuestions(t *testing.T) {
	d := Demo{Dir: t.TempDir()}
	if err := os.Mkdir(d.scripts(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.writeScripts(); err != nil {
		t.Fatal(err)
	}
	if len(d.questions) < 5 {
		t.Fatalf("%d questions", len(d.questions))
	}
	pyiceberg, err := scripts.ReadFile("scripts/pyiceberg_demo.py")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, q := range d.questions {
		if slices.Contains(ids, q.ID) {
			t.Errorf("%s is asked twice", q.ID)
		}
		ids = append(ids, q.ID)
		if !strings.Contains(string(pyiceberg), "\ndef "+q.ID+"(lake):") {
			t.Errorf("PyIceberg has no answer to %s", q.ID)
		}
		if sql := strings.Join(q.SQL, " "); len(q.Columns) > 2 && !strings.Contains(sql, "order by") {
			t.Errorf("%s has several rows and no order", q.ID)
		}
		for _, c := range q.Columns {
			if !slices.Contains([]string{"text", "int", "decimal", "float", "date"}, c.Kind) {
				t.Errorf("%s, %s: kind %q", q.ID, c.Name, c.Kind)
			}
		}
	}
	for _, e := range known() {
		if _, err := scripts.ReadFile("scripts/" + e.script); err != nil {
			t.Error(err)
		}
	}
}

// A cell is what an engine printed: any text must compare in no time, and a
// value equals itself.
func FuzzSame(f *testing.F) {
	for _, kind := range []string{"text", "int", "decimal", "float", "date"} {
		for _, cell := range []string{"", "1", "1.50", "0E-6", "1e999999999", "NaN", "-inf", "1995-03-14T00:00:00", "1995-03-14\x00", "é", "1_0", "."} {
			f.Add(kind, cell)
		}
	}
	f.Fuzz(func(t *testing.T, kind, cell string) {
		c := column{Kind: kind}
		start := time.Now()
		same, err := c.same(&cell, &cell)
		if err == nil && !same {
			t.Errorf("%s: %q differs from itself", kind, cell)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: %q took %v", kind, cell, took)
		}
	})
}
