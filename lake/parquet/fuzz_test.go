package parquet_test

import (
	"testing"

	"github.com/laketap/laketap/lake/parquet"
)

// FuzzParseFooter holds the parser to errors of ours or layouts in order.
func FuzzParseFooter(f *testing.F) {
	for _, b := range samples(f) {
		if n, err := parquet.FooterLength(b); err == nil && n < 3000 {
			f.Add(b[len(b)-int(n):], int64(len(b)))
		}
	}
	for _, meta := range []value{plain(), plain().with(field{8, obj{{1, obj{}}}}), schemaOf(nestedSchema()...)} {
		b := file(data, meta)
		f.Add(b, int64(len(b)))
	}
	b := indexed()
	f.Add(b, int64(len(b)))
	f.Fuzz(func(t *testing.T, tail []byte, size int64) {
		if len(tail) > 1<<20 {
			return
		}
		names := func(path []string) (int, bool) { return len(path), true }
		for _, opts := range []parquet.Options{{}, {Names: names, DropFooter: true}} {
			l, err := parquet.ParseFooter(tail, size, opts)
			if err == nil {
				checkLayout(t, l)
			} else if !isOurs(err) {
				t.Error(err)
			}
		}
	})
}

// FuzzMetadata is the same with the frame right, so that no run is lost on it.
func FuzzMetadata(f *testing.F) {
	for _, b := range samples(f) {
		if n, err := parquet.FooterLength(b); err == nil && n < 3000 {
			f.Add(b[len(b)-int(n) : len(b)-8])
		}
	}
	f.Add(plain().append(nil))
	f.Add(full().append(nil))
	for i, v := range doubled(full()) {
		if i%16 == 0 { // the kinds of structs; all of them would only fill the corpus
			f.Add(v.append(nil))
		}
	}
	f.Add(pairs(obj{{1, str("k")}}, obj{{2, str("v")}}).append(nil))
	f.Add(plain().with(field{3, i64(-1)}).append(nil))
	f.Add(schemaOf(nestedSchema()...).append(nil))
	f.Fuzz(func(t *testing.T, meta []byte) {
		b := file(string(make([]byte, 10_000)), raw{12, string(meta)})
		l, err := parquet.ParseFooter(b, int64(len(b)), parquet.Options{})
		if err == nil {
			checkLayout(t, l)
		} else if !isOurs(err) {
			t.Error(err)
		}
	})
}
