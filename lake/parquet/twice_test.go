package parquet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/laketap/laketap/lake/parquet"
)

// full is a file in which every struct that this package reads has every field
// that it reads.
func full() obj {
	named := func(name string, kind int, of obj) obj {
		return leaf(name, 0, field{2, i32(4)}, field{6, i32(0)}, field{7, i32(0)}, field{8, i32(0)}, id(kind), field{10, obj{{kind, of}}})
	}
	stats := obj{
		{1, str("aaaa")},
		{2, str("aaaa")},
		{3, i64(1)},
		{4, i64(1)},
		{5, str("aaaa")},
		{6, str("aaaa")},
		{7, flag(true)},
		{8, flag(true)},
		{9, i64(0)},
	}
	at := func(off int64, name string) obj {
		meta := column(off, 20, name).with(field{11, i64(off)}, field{12, stats}, field{14, i64(90)}, field{15, i32(2)})
		return chunk(meta, field{1, str("")}, field{4, i64(80)}, field{5, i32(1)}, field{6, i64(81)}, field{7, i32(1)})
	}
	schema := list{
		root(3),
		named("a", 5, obj{{1, i32(2)}, {2, i32(9)}}),              // decimal
		named("b", 8, obj{{1, flag(true)}, {2, obj{{2, obj{}}}}}), // timestamp
		named("c", 10, obj{{1, raw{3, "\x08"}}, {2, flag(true)}}), // integer
	}
	group := rowGroup(at(4, "a"), at(24, "b"), at(44, "c")).with(field{6, i64(60)}, field{7, i16(0)})
	return metadata(schema, group).with(
		field{5, list{obj{{1, str("k")}, {2, str("v")}}}},
		field{6, str("me")},
		field{7, list{obj{{1, obj{}}}, obj{{1, obj{}}}, obj{{1, obj{}}}}},
	)
}

// doubled returns every file that is v but for one field of one struct in it,
// which is given once more, right behind itself or at the end of its struct.
func doubled(v value) []value {
	var out []value
	switch v := v.(type) {
	case list:
		for i, e := range v {
			for _, d := range doubled(e) {
				other := append(list(nil), v...)
				other[i] = d
				out = append(out, other)
			}
		}
	case obj:
		for i, f := range v {
			next := append(append(append(obj(nil), v[:i+1]...), f), v[i+1:]...)
			out = append(out, next, append(append(obj(nil), v...), f))
			for _, d := range doubled(f.v) {
				other := append(obj(nil), v...)
				other[i].v = d
				out = append(out, other)
			}
		}
	}
	return out
}

// readAll parses a file and reads what is read on demand.
func readAll(b []byte) error {
	l, err := parse(b, parquet.Options{})
	if err != nil {
		return err
	}
	for g := range l.NumRowGroups() {
		for c := range l.NumColumns() {
			if _, err := l.Stats(g, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// A field given twice is two answers to one question, and readers differ in
// which they take: whatever struct it is in, it is an error.
func TestTwice(t *testing.T) {
	if err := readAll(file(data, full())); err != nil {
		t.Fatal(err)
	}
	all := doubled(full())
	if len(all) < 200 {
		t.Fatalf("only %d files", len(all))
	}
	for i, meta := range all {
		err := readAll(file(data, meta))
		var format *parquet.FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), "twice") && !strings.Contains(err.Error(), "more than one member") {
			t.Errorf("file %d: got %v for %v", i, err, meta)
		}
	}
}
