package avro_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

func TestCursorNumbers(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 63, -64, 64, -65, 1 << 20, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, math.MinInt32 - 1, math.MaxInt64, math.MinInt64} {
		c := avro.NewCursor([]byte(long(n) + "x"))
		if got := c.Long(); got != n || c.Err() != nil || c.Left() != 1 {
			t.Errorf("%d: %d, %v, %d left", n, got, c.Err(), c.Left())
		}
		c = avro.NewCursor([]byte(long(n)))
		fits := n >= math.MinInt32 && n <= math.MaxInt32
		if got := c.Int(); (c.Err() == nil) != fits || fits && got != n {
			t.Errorf("int %d: %d, %v", n, got, c.Err())
		}
	}
	for name, b := range map[string]string{"empty": "", "no end": "\x80", "65 bits": strings.Repeat("\xff", 9) + "\x02", "11 bytes": strings.Repeat("\xff", 10) + "\x00"} {
		c := avro.NewCursor([]byte(b))
		if n := c.Long(); n != 0 || !errors.Is(c.Err(), avro.ErrMalformed) {
			t.Errorf("%s: %d, %v", name, n, c.Err())
		}
	}
}

func TestCursorValues(t *testing.T) {
	c := avro.NewCursor([]byte("\x01\x00" + "\x00\x00\xc0\x3f" + "\x00\x00\x00\x00\x00\x00\x04\x40" + text("ab") + "xyz" + text("")))
	if !c.Boolean() || c.Boolean() || c.Float() != 1.5 || c.Double() != 2.5 || string(c.Bytes()) != "ab" ||
		string(c.Fixed(3)) != "xyz" || len(c.Bytes()) != 0 || c.Err() != nil || c.Left() != 0 {
		t.Errorf("%v, %d left", c.Err(), c.Left())
	}
}

// The first error stays, and from then on there is nothing more: a caller that
// looks once at the end has missed nothing.
func TestCursorErrorStays(t *testing.T) {
	calls := map[string]func(c *avro.Cursor) bool{ // each returns whether what it got is a zero
		"long": func(c *avro.Cursor) bool { return c.Long() == 0 }, "int": func(c *avro.Cursor) bool { return c.Int() == 0 },
		"boolean": func(c *avro.Cursor) bool { return !c.Boolean() }, "float": func(c *avro.Cursor) bool { return c.Float() == 0 },
		"double": func(c *avro.Cursor) bool { return c.Double() == 0 }, "bytes": func(c *avro.Cursor) bool { return len(c.Bytes()) == 0 },
		"fixed": func(c *avro.Cursor) bool { return c.Fixed(2) == nil }, "items": func(c *avro.Cursor) bool { return c.Items(1).N == 0 },
	}
	for name, call := range calls {
		c := avro.NewCursor([]byte(strings.Repeat("\x01", 100)))
		c.Fail("first")
		c.Fail("second")
		if !call(c) || c.Left() != 0 || !strings.Contains(c.Err().Error(), "first") || !errors.Is(c.Err(), avro.ErrMalformed) {
			t.Errorf("%s: %v, %d left", name, c.Err(), c.Left())
		}
		c.Reset([]byte(long(5)))
		if c.Err() != nil || c.Long() != 5 {
			t.Errorf("%s: after a reset: %v", name, c.Err())
		}
	}
	if c := avro.NewCursor([]byte("\x02")); c.Boolean() || c.Err() == nil {
		t.Error("a boolean of 2 is taken")
	}
}

// What is handed out ends where it ends: appending to it writes over nothing.
func TestBytesDoNotReachFurther(t *testing.T) {
	c := avro.NewCursor([]byte(text("ab") + "cd" + long(7)))
	first, second := c.Bytes(), c.Fixed(2)
	_ = append(first, "XXXX"...)
	_ = append(second, "XXXX"...)
	if string(second) != "cd" || c.Long() != 7 || c.Err() != nil {
		t.Errorf("%q, %v", second, c.Err())
	}
}

func TestItems(t *testing.T) {
	tests := map[string]struct {
		b       string
		least   int
		n       int
		refused bool
	}{
		"end":                   {long(0), 1, 0, false},
		"three":                 {long(3) + "abc", 1, 3, false},
		"three of two":          {long(3) + "abcde", 2, 0, true},
		"with a size":           {long(-2) + long(3) + "abc", 1, 2, false},
		"with a size too large": {long(-2) + long(4) + "abc", 1, 0, true},
		"with a size below 0":   {long(-2) + long(-1) + "abc", 1, 0, true},
		"2^63":                  {long(math.MinInt64) + long(1), 0, 0, true},
		"no bytes each":         {long(1 << 40), 0, 1 << 40, false},
		"cut":                   {"\x80", 1, 0, true},
	}
	for name, tt := range tests {
		c := avro.NewCursor([]byte(tt.b))
		run := c.Items(tt.least)
		if (c.Err() != nil) != tt.refused || !tt.refused && run.N != tt.n {
			t.Errorf("%s: %d, %v", name, run.N, c.Err())
		}
	}
}

// A run that states its size is held to it, by whoever decodes it and by whoever
// passes over it.
func TestRunsAreHeldToTheirSize(t *testing.T) {
	schema, err := avro.ParseSchema([]byte(`{"type":"array","items":"long"}`))
	if err != nil {
		t.Fatal(err)
	}
	words, err := avro.ParseSchema([]byte(`{"type":"map","values":"long"}`))
	if err != nil {
		t.Fatal(err)
	}
	for size, right := range map[int64]bool{1: false, 2: true, 3: false} {
		items := long(-2) + long(size) + long(1) + long(2) + long(0) + "tail"
		c := avro.NewCursor([]byte(items))
		run := c.Items(1)
		for range run.N {
			c.Long()
		}
		if c.Ran(run); (c.Err() == nil) != right {
			t.Errorf("%d bytes, decoded: %v", size, c.Err())
		}
		c.Reset([]byte(items))
		if c.Skip(schema); (c.Err() == nil) != right || right && c.Left() != 4 {
			t.Errorf("%d bytes, passed over: %v, %d left", size, c.Err(), c.Left())
		}
		c.Reset([]byte(long(-1) + long(size) + text("") + long(1) + long(0) + "tail"))
		if c.Skip(words); (c.Err() == nil) != right || right && c.Left() != 4 {
			t.Errorf("map of %d bytes, passed over: %v, %d left", size, c.Err(), c.Left())
		}
	}
}

// TestSkipIsDecode holds passing over to decoding: a made-up value of a made-up
// schema, and any piece of it, takes the same bytes either way or is refused.
func TestSkipIsDecode(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same each time
		n := 0
		text, value := invent(r, 4, &n)
		schema, err := avro.ParseSchema([]byte(text))
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		c := avro.NewCursor([]byte(value + "tail"))
		if c.Skip(schema); c.Err() != nil || c.Left() != 4 {
			t.Fatalf("seed %d: %s: %q passed over: %d left, %v", seed, text, value, c.Left(), c.Err())
		}
		for cut := range len(value) {
			c.Reset([]byte(value[:cut]))
			if c.Skip(schema); !errors.Is(c.Err(), avro.ErrMalformed) {
				t.Fatalf("seed %d: %s: %q cut at %d: %v", seed, text, value, cut, c.Err())
			}
		}
	}
}

// invent makes up a schema and a value of it.
func invent(r *rand.Rand, depth int, names *int) (schema, value string) {
	*names++
	name := fmt.Sprintf("n%d", *names)
	kinds := 13
	if depth == 0 {
		kinds = 9
	}
	switch r.IntN(kinds) {
	case 0:
		return `"boolean"`, string(rune(r.IntN(2)))
	case 1:
		return `"int"`, long(int64(r.Int32()) - 1<<30)
	case 2:
		return `"long"`, long(r.Int64() - 1<<62)
	case 3:
		return `"float"`, "ffff"
	case 4:
		return `"double"`, "dddddddd"
	case 5:
		return `"bytes"`, text(strings.Repeat("b", r.IntN(200)))
	case 6:
		return `"string"`, text(strings.Repeat("s", r.IntN(9)))
	case 7:
		size := 1 + r.IntN(20)
		return fmt.Sprintf(`{"type":"fixed","name":%q,"size":%d}`, name, size), strings.Repeat("x", size)
	case 8:
		return fmt.Sprintf(`{"type":"enum","name":%q,"symbols":["A","B","C"]}`, name), long(int64(r.IntN(3)))
	case 9:
		inner, v := invent(r, depth-1, names)
		return `["null",` + inner + `,{"type":"fixed","name":"` + name + `u","size":2}]`, []string{long(0), long(1) + v, long(2) + "uu"}[r.IntN(3)]
	case 10:
		inner, v := invent(r, depth-1, names)
		return `{"type":"array","items":` + inner + `}`, runs(r, v)
	case 11:
		inner, v := invent(r, depth-1, names)
		return `{"type":"map","values":` + inner + `}`, runs(r, text("key")+v)
	}
	fields, values := make([]string, 1+r.IntN(5)), strings.Builder{}
	for i := range fields {
		inner, v := invent(r, depth-1, names)
		fields[i] = fmt.Sprintf(`{"name":"f%d","type":%s}`, i, inner)
		values.WriteString(v)
	}
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(fields, ",")), values.String()
}

// runs spells some equal items as writers do: in runs, of which some say how
// many bytes they take.
func runs(r *rand.Rand, item string) string {
	var out strings.Builder
	for range r.IntN(3) {
		n := 1 + r.IntN(3)
		if r.IntN(2) == 0 {
			out.WriteString(long(int64(n)))
		} else {
			out.WriteString(long(int64(-n)) + long(int64(n*len(item))))
		}
		out.WriteString(strings.Repeat(item, n))
	}
	return out.String() + long(0)
}

// One reader reads files one after another, of other schemas and codecs, whole
// and broken, and none leaves anything behind for the next.
func TestReaderAgain(t *testing.T) {
	r := avro.NewReader(avro.Limits{})
	defer r.Close()
	files := []struct {
		file   string
		schema avro.Kind
		values int64
		broken bool
	}{
		{header(`"long"`, "null") + block(2, long(1)+long(2)), avro.Long, 2, false},
		{header(`"string"`, "deflate") + block(1, pack(t, "deflate", text("abc"))), avro.String, 1, false},
		{header(`"string"`, "deflate") + block(1, pack(t, "deflate", text("abc"))[1:]), avro.String, 0, true},
		{header(`"string"`, "zstandard") + block(1, pack(t, "zstandard", text("abc"))), avro.String, 1, false},
		{header(`"string"`, "snappy") + block(3, pack(t, "snappy", text("a")+text("b")+text("c"))) + block(0, pack(t, "snappy", "")), avro.String, 3, false},
		{header(`"long"`, "null"), avro.Long, 0, false},
		{header(`"long"`, "null") + "\x02", avro.Long, 0, true},
		{header(`"boolean"`, "null") + block(1, "\x01") + block(1, "\x00"), avro.Boolean, 2, false},
	}
	for range 3 {
		for i, f := range files {
			if err := r.Reset(iotest.OneByteReader(strings.NewReader(f.file))); err != nil {
				t.Fatalf("file %d: %v", i, err)
			}
			if r.Schema().Kind != f.schema || r.Meta("avro.codec") == nil || r.Meta("nothing") != nil {
				t.Errorf("file %d: schema of kind %d", i, r.Schema().Kind)
			}
			values, err := int64(0), error(nil)
			for err == nil {
				var c *avro.Cursor
				var n int64
				if c, n, err = r.Next(t.Context()); err != nil {
					break
				}
				for range n {
					c.Skip(r.Schema())
				}
				if values += n; c.Err() != nil || c.Left() > 0 {
					t.Errorf("file %d: %v, %d left", i, c.Err(), c.Left())
				}
			}
			if values != f.values || errors.Is(err, io.EOF) == f.broken || f.broken && !errors.Is(err, avro.ErrMalformed) {
				t.Errorf("file %d: %d values, %v", i, values, err)
			}
			if !f.broken && r.Read() != int64(len(f.file)) {
				t.Errorf("file %d: %d bytes read of %d", i, r.Read(), len(f.file))
			}
		}
	}
}

// Optional types, null on either side, and what is none.
func TestOptional(t *testing.T) {
	for text, want := range map[string]struct {
		kind avro.Kind
		null int
	}{
		`["null","long"]`: {avro.Long, 0}, `["long","null"]`: {avro.Long, 1}, `"long"`: {avro.Long, -1},
		`["null"]`: {avro.Union, -1}, `["null","long","int"]`: {avro.Union, -1}, `["int","long"]`: {avro.Union, -1},
	} {
		schema, err := avro.ParseSchema([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if inner, null := schema.Optional(); inner.Kind != want.kind || null != want.null {
			t.Errorf("%s: kind %d, null %d", text, inner.Kind, null)
		}
	}
}
