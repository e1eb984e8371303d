package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/laketap/laketap/lake/iceberg/internal/jsonscan"
)

// document makes up JSON with what is odd about JSON.
func document(r *rand.Rand, depth int) string {
	space := []string{"", " ", "\n\t", "\r"}[r.IntN(4)]
	kinds := 9
	if depth == 0 {
		kinds = 7
	}
	switch r.IntN(kinds) {
	case 0:
		return space + "null"
	case 1:
		return space + "true"
	case 2:
		return "false" + space
	case 3:
		return strconv.FormatInt(r.Int64()-1<<62, 10)
	case 4:
		return []string{"0", "-0", "1.5", "-1e9", "2E+3", "0.0e-7", "123456789012345678901234567890"}[r.IntN(7)]
	case 5, 6:
		return []string{`""`, `"plain"`, `"\u00e9\n\"\\\/"`, `"é😀"`, `"\ud83d\ude00"`, `"\u0000"`}[r.IntN(6)] + space
	case 7:
		items := make([]string, r.IntN(4))
		for i := range items {
			items[i] = document(r, depth-1)
		}
		return space + "[" + strings.Join(items, space+",") + space + "]"
	}
	members := make([]string, r.IntN(4))
	for i := range members {
		members[i] = fmt.Sprintf(`"k%d"%s:%s`, i, space, document(r, depth-1))
	}
	return "{" + space + strings.Join(members, ","+space) + "}" + space
}

// rebuilt reads a value through the scanner's own words for it.
func rebuilt(s *jsonscan.Scanner) any {
	switch s.Next() {
	case '{':
		m := map[string]any{}
		s.Object(func(name string) { m[name] = rebuilt(s) })
		return m
	case '[':
		list := []any{}
		s.Array(func(int) { list = append(list, rebuilt(s)) })
		return list
	case '"':
		return s.String()
	case 't', 'f':
		return s.Bool()
	case 'n':
		if !s.Null() {
			s.Fail("no null")
		}
		return nil
	}
	return json.Number(s.Raw())
}

// TestSameAsLibrary holds what is read of made-up documents to encoding/json,
// and so what is refused of the same documents with a byte changed.
func TestSameAsLibrary(t *testing.T) {
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same each time
		text := []byte(document(r, 4))
		var want any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s := jsonscan.New(text)
		got := rebuilt(s)
		if err := s.End(); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: %s is %v, %v; want %v", seed, text, got, err, want)
		}
		for range 20 {
			odd := bytes.Clone(text)
			odd[r.IntN(len(odd))] = `{}[]",:0-.eE\u	 xntf`[r.IntN(20)]
			s := jsonscan.New(odd)
			s.Skip()
			err := s.End()
			// Escapes of what is passed over are not looked at.
			if err == nil && !json.Valid(odd) && !bytes.Contains(odd, []byte(`\`)) {
				t.Errorf("seed %d: %s is taken for JSON", seed, odd)
			}
			if err != nil && (!errors.Is(err, jsonscan.ErrMalformed) || json.Valid(odd) && utf8.Valid(odd) && !strings.Contains(err.Error(), "twice") && !bytes.Contains(odd, []byte(`\u`))) {
				t.Errorf("seed %d: %s: %v", seed, odd, err)
			}
		}
	}
}

// After the first error nothing is read, and it is the one that is told.
func TestErrorStays(t *testing.T) {
	s := jsonscan.New([]byte(`{"a":[1,2,3],"b":"x"}`))
	calls := 0
	s.Object(func(string) {
		calls++
		s.Array(func(int) {
			calls++
			s.Failf("no %d", calls)
		})
	})
	s.Fail("later")
	if s.Int64() != 0 || s.String() != "" || s.Bool() || s.Null() || s.Next() != 0 || len(s.Raw()) != 0 {
		t.Error("something is read after an error")
	}
	s.Object(func(string) { t.Error("an object is read after an error") })
	s.Array(func(int) { t.Error("an array is read after an error") })
	if err := s.End(); calls != 2 || !errors.Is(err, jsonscan.ErrMalformed) || !strings.Contains(err.Error(), "no 2") {
		t.Errorf("%d calls, %v", calls, err)
	}
	cause := errors.New("cause")
	s = jsonscan.New([]byte("1"))
	s.Wrap(nil)
	if s.Err() != nil {
		t.Errorf("nothing wrapped: %v", s.Err())
	}
	s.Wrap(cause)
	if !errors.Is(s.End(), cause) {
		t.Errorf("%v", s.End())
	}
}

// Depth is bounded where values are read and where they are passed over.
func TestDepth(t *testing.T) {
	for name, read := range map[string]func(*jsonscan.Scanner){
		"passed over": (*jsonscan.Scanner).Skip,
		"raw":         func(s *jsonscan.Scanner) { s.Raw() },
		"read":        func(s *jsonscan.Scanner) { rebuilt(s) },
	} {
		for _, pair := range []string{"[]", `{"a":}`} {
			open, end := pair[:len(pair)-1], pair[len(pair)-1:]
			for depth, ok := range map[int]bool{1: true, 100: true, 1000: false, 1 << 20: false} {
				s := jsonscan.New([]byte(strings.Repeat(open, depth-1) + open + strings.Repeat(end, depth)))
				if open != "[" {
					s = jsonscan.New([]byte(strings.Repeat(open, depth) + "1" + strings.Repeat(end, depth)))
				}
				read(s)
				if err := s.End(); (err == nil) != ok {
					t.Errorf("%s, %d times %s: %v", name, depth, pair, err)
				}
			}
		}
	}
}
