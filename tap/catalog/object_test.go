package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditKeepsTheRest(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"empty", `{}`, `{"set":1}`},
		{"empty with space", " {\n} ", ` {"set":1} `},
		{"appended", `{"a":1}`, `{"a":1,"set":1}`},
		{"in place", `{"a":1, "set" : "old" , "b":2}`, `{"a":1, "set" : 1 , "b":2}`},
		{"every repetition", `{"set":0,"a":1,"set":2}`, `{"set":1,"a":1}`},
		{"dropped first", `{"drop":1,"a":2}`, `{"a":2,"set":1}`},
		{"dropped last", `{"a":2,"drop":{"x":["]"]}}`, `{"a":2,"set":1}`},
		{"dropped in between", `{"a":2 , "drop":1 , "b":3}`, `{"a":2 , "b":3,"set":1}`},
		{"all dropped", `{"drop":1,"drop":2}`, `{"set":1}`},
		{"escaped name", `{"dr\u006fp":1,"se\u0074":0}`, `{"se\u0074":1}`},
		{"order, numbers, repetitions", `{"z":1.0,"a":18446744073709551615,"a":1e400,"é":"\ud800"}`, `{"z":1.0,"a":18446744073709551615,"a":1e400,"é":"\ud800","set":1}`},
		{"tricky strings", `{"a\"b":"}\\","c":"\\\"{","d":[{"e":"]"}]}`, `{"a\"b":"}\\","c":"\\\"{","d":[{"e":"]"}],"set":1}`},
		{"scalars", `{"t":true,"f":false,"n":null,"x":-1.5E+3}`, `{"t":true,"f":false,"n":null,"x":-1.5E+3,"set":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, ok := parseObject([]byte(tt.raw))
			if !ok {
				t.Fatal("no object")
			}
			got := o.edit([]pair{{"set", []byte("1")}}, func(name string) bool { return name == "drop" })
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoObject(t *testing.T) {
	for _, raw := range []string{``, ` `, `null`, `[]`, `"{}"`, `{`, `{"a":}`, `{"a":1,}`, `{} {}`, `{a:1}`, "\xef\xbb\xbf{}", `1`} {
		if _, ok := parseObject([]byte(raw)); ok {
			t.Errorf("%q is taken for an object", raw)
		}
	}
}

func TestGet(t *testing.T) {
	o, ok := parseObject([]byte(`{"s":"a\u0062","n":9223372036854775807,"big":9223372036854775808,"f":1.0,"two":1,"two":2,"o":{"x":"y"},"null":null,"l":[1,"a",[2],{}],"e":[ ]}`))
	if !ok {
		t.Fatal("no object")
	}
	if s, ok := o.text("s"); s != "ab" || !ok {
		t.Errorf("text = %q, %v", s, ok)
	}
	for _, name := range []string{"n", "two", "o", "null", "none"} {
		if s, ok := o.text(name); ok {
			t.Errorf("text of %s = %q", name, s)
		}
	}
	for name, want := range map[string]int64{"n": 9223372036854775807, "big": -1, "f": -1, "two": -1, "none": -1, "s": -1} {
		if got := o.integer(name, -1); got != want {
			t.Errorf("integer of %s = %d, want %d", name, got, want)
		}
	}
	if in, ok := o.object("o"); !ok || len(in.members) != 1 {
		t.Error("the object within was not found")
	}
	list, _ := o.get("l")
	values, ok := elements(list)
	got := make([]string, 0, len(values))
	for _, v := range values {
		got = append(got, string(v))
	}
	if diff := cmp.Diff([]string{"1", `"a"`, "[2]", "{}"}, got); diff != "" || !ok {
		t.Error(diff)
	}
	empty, _ := o.get("e")
	if values, ok := elements(empty); len(values) != 0 || !ok {
		t.Errorf("elements of %s = %v", empty, values)
	}
	if _, ok := elements([]byte(`{}`)); ok {
		t.Error("an object is taken for a list")
	}
}

// untouched fails unless every member of before that touched does not name is
// in after, byte for byte and in order, and nothing else is but what touched
// names.
func untouched(t *testing.T, before, after []byte, touched func(string) bool) {
	t.Helper()
	list := func(raw []byte) (all []string) {
		o, ok := parseObject(raw)
		if !ok {
			t.Fatalf("%q is no object", raw)
		}
		for _, m := range o.members {
			if !touched(m.name) {
				all = append(all, string(raw[m.from:m.to]))
			}
		}
		return all
	}
	if diff := cmp.Diff(list(before), list(after)); diff != "" {
		t.Errorf("other members changed (-before +after):\n%s", diff)
	}
}

func FuzzEdit(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1,"config":{},"b":[{}]}`, ` { "a" : "\\\"" , "config" : 1 } `, `{"config":1,"config":2}`, `{"a":1e999,"é":"\ud800"}`, `[1]`, `{"a":1,}`, ``} {
		f.Add([]byte(seed), "config", "b")
	}
	f.Fuzz(func(t *testing.T, raw []byte, set, drop string) {
		o, ok := parseObject(raw)
		var plain map[string]json.RawMessage
		if isObject := json.Unmarshal(raw, &plain) == nil && strings.HasPrefix(strings.TrimLeft(string(raw), " \t\r\n"), "{"); isObject != ok {
			t.Fatalf("parseObject = %v, encoding/json says %v", ok, isObject)
		}
		if !ok {
			return
		}
		got := o.edit([]pair{{set, []byte(`{"x":1}`)}}, func(name string) bool { return name == drop })
		if !json.Valid(got) {
			t.Fatalf("edit made %q", got)
		}
		again, _ := parseObject(got)
		name := unquote(quote(set)) // as JSON can say it
		if value, times := again.get(name); name == set && (times != 1 || string(value) != `{"x":1}`) {
			t.Errorf("member occurs %d times, as %s", times, value)
		}
		untouched(t, raw, got, func(n string) bool { return n == set || n == name || n == drop })
	})
}
