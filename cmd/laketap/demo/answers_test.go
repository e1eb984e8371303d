package demo

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		name, kind string
		a, b       *string
		want       bool
		err        string
	}{
		{"same text", "text", new("BUILDING"), new("BUILDING"), true, ""},
		{"text is not trimmed", "text", new("a"), new("a "), false, ""},
		{"text of digits is text", "text", new("1.0"), new("1.00"), false, ""},
		{"nulls", "text", nil, nil, true, ""},
		{"null is not empty", "text", nil, new(""), false, ""},
		{"null is not zero", "decimal", new("0"), nil, false, ""},
		{"whole numbers", "int", new("15000"), new("15000"), true, ""},
		{"64 bits, exactly", "int", new("9007199254740993"), new("9007199254740992"), false, ""},
		{"trailing zeros", "decimal", new("7822103.0000"), new("7822103"), true, ""},
		{"scale 4 and scale 6", "decimal", new("5256751331.4492"), new("5256751331.449200"), true, ""},
		{"the last digit counts", "decimal", new("5256751331.449234"), new("5256751331.449235"), false, ""},
		{"38 digits", "decimal", new("12345678901234567890123456789012345678"), new("12345678901234567890123456789012345679"), false, ""},
		{"Python's zero", "decimal", new("0E-6"), new("0.00"), true, ""},
		{"an exponent", "decimal", new("1.5e3"), new("1500"), true, ""},
		{"a huge exponent", "decimal", new("1e999999999"), new("1"), false, "not a number"},
		{"a fraction", "decimal", new("1/2"), new("0.5"), false, "not a number"},
		{"hexadecimal", "int", new("0x10"), new("16"), false, "not a number"},
		{"no digits", "decimal", new(""), new("0"), false, "not a number"},
		{"too long", "decimal", new(strings.Repeat("1", 65)), new("1"), false, "not a number"},
		{"the other one", "decimal", new("1"), new("many"), false, "not a number"},
		{"sums in another order", "float", new("36002.12382901414"), new("36002.12382901415"), true, ""},
		{"too far apart", "float", new("36002.1238290"), new("36002.1238291"), true, ""},
		{"a digit too early", "float", new("36002.1238"), new("36002.1240"), false, ""},
		{"around zero", "float", new("1e-300"), new("0"), false, ""},
		{"not a number twice", "float", new("NaN"), new("nan"), true, ""},
		{"infinities", "float", new("inf"), new("inf"), true, ""},
		{"opposite infinities", "float", new("inf"), new("-inf"), false, ""},
		{"no float", "float", new("1"), new("one"), false, "not a number"},
		{"days", "date", new("1995-03-14"), new("1995-03-14"), true, ""},
		{"midnight", "date", new("1995-03-14"), new("1995-03-14 00:00:00"), true, ""},
		{"midnight by ISO", "date", new("1995-03-14T00:00:00.000"), new("1995-03-14"), true, ""},
		{"another day", "date", new("1995-03-14"), new("1995-03-15"), false, ""},
		{"not midnight", "date", new("1995-03-14"), new("1995-03-14 01:00:00"), false, "not a date"},
		{"days since 1970", "date", new("9203"), new("1995-03-14"), false, "not a date"},
		{"unknown kind", "uuid", new("a"), new("a"), false, `kind "uuid"`},
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
			row = append(row, new(c))
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
		{"a null", [][]*string{row("a", "1"), {new("b"), nil}}, "row 2, n: null, not 2"},
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
	ids := make([]string, 0, len(d.questions))
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
