package jsonscan_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

func TestInt64(t *testing.T) {
	tests := []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{" -1 ", -1, true},
		{"9223372036854775807", math.MaxInt64, true},
		{"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775808", 0, false},
		{"-9223372036854775809", 0, false},
		{"99999999999999999999999", 0, false},
		{"1.0", 0, false},
		{"1e2", 0, false},
		{"01", 0, false},
		{"-", 0, false},
		{`"1"`, 0, false},
		{"", 0, false},
		{"1 2", 0, false},
	}
	for _, tt := range tests {
		s := jsonscan.New([]byte(tt.text))
		got := s.Int64()
		if err := s.End(); got != tt.want && tt.ok || (err == nil) != tt.ok {
			t.Errorf("%q: %d, %v", tt.text, got, err)
		}
	}
}

func TestString(t *testing.T) {
	for _, text := range []string{
		`"plain"`, `""`, `"\"\\\/\b\f\n\r\t"`, `"\u00e9\ud83d\ude00é😀"`, `"\u0000"`,
		`"\ud800"`, `"\ude00\ud800"`, `"\x"`, `"\u12"`, "\"\xff\"", "\"a\nb\"", `"no end`, `"\`,
	} {
		s := jsonscan.New([]byte(text))
		got := s.String()
		err := s.End()
		var want string
		wantErr := json.Unmarshal([]byte(text), &want)
		if !utf8.ValidString(text) {
			wantErr = errors.New("encoding/json replaces what we refuse")
		}
		if (err == nil) != (wantErr == nil) || err == nil && got != want {
			t.Errorf("%s: %q, %v; want %q, %v", text, got, err, want, wantErr)
		}
	}
}

func TestObject(t *testing.T) {
	names := func(text string) ([]string, error) {
		var list []string
		s := jsonscan.New([]byte(text))
		s.Object(func(name string) { list = append(list, name); s.Skip() })
		return list, s.End()
	}
	if got, err := names(`{"a":1,"b":{"a":2,"a":3},"c":[{},[],null,true,false,"x",-1.5e+3]}`); err != nil || len(got) != 3 {
		t.Errorf("%q, %v", got, err)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i := range 100 {
		b.WriteString(`"` + strings.Repeat("k", i) + `":0,`)
	}
	many := b.String()
	if got, err := names(many + `"x":0}`); err != nil || len(got) != 101 {
		t.Errorf("%d, %v", len(got), err)
	}
	for _, text := range []string{
		many + `"kkk":0}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1`, `{a:1}`, `[1,]`, `[`,
		`{"a":tru}`, `{"a":1.}`, `{"a":1e}`, `{"a":-}`, `{"a":+1}`, `{}{}`, "", strings.Repeat(`{"a":`, 1000),
	} {
		if got, err := names(text); !errors.Is(err, jsonscan.ErrMalformed) {
			t.Errorf("%.40s: %q, %v", text, got, err)
		}
	}
}

func TestRaw(t *testing.T) {
	s := jsonscan.New([]byte(` [ {"a": 1.50} , null]`))
	var raw []string
	s.Array(func(i int) {
		if i == 1 && s.Null() {
			return
		}
		raw = append(raw, string(s.Raw()))
	})
	if err := s.End(); err != nil || len(raw) != 1 || raw[0] != `{"a": 1.50}` {
		t.Errorf("%q, %v", raw, err)
	}
}

// FuzzSkip holds what is passed over to what encoding/json thinks is JSON.
func FuzzSkip(f *testing.F) {
	f.Add([]byte(`{"a":[1,-2.5e3,"\u00e9",{"b":null}],"c":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := jsonscan.New(b)
		s.Skip()
		err := s.End()
		if err == nil && !json.Valid(b) && !strings.Contains(string(b), `\`) {
			t.Errorf("%q is not JSON", b)
		}
		if err != nil && !errors.Is(err, jsonscan.ErrMalformed) {
			t.Error(err)
		}
		if err != nil && json.Valid(b) && utf8.Valid(b) && !strings.Contains(err.Error(), "deeper") {
			t.Errorf("%q is JSON: %v", b, err)
		}
	})
}
