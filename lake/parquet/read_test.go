package parquet_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/lake/parquet"
)

// reader is a file that keeps what was read of it, as offset and length.
type reader struct {
	b     []byte
	reads [][2]int64
	err   error  // after the first read
	then  func() // called after the first read
}

func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	r.reads = append(r.reads, [2]int64{off, int64(len(p))})
	if r.err != nil && len(r.reads) > 1 {
		return 0, r.err
	}
	n := copy(p, r.b[min(off, int64(len(r.b))):])
	if r.then != nil && len(r.reads) == 1 {
		r.then()
	}
	if n < len(p) || off+int64(n) == int64(len(r.b)) {
		return n, io.EOF // as readers may also when they read all
	}
	return n, nil
}

func TestReadLayout(t *testing.T) {
	whole := file(data, plain())
	size := int64(len(whole))
	footer := size - 104
	tests := []struct {
		name string
		tail int64
		want [][2]int64
	}{
		{"default covers all", 0, [][2]int64{{0, size}}},
		{"exactly the footer", footer, [][2]int64{{104, footer}}},
		{"more", footer + 9, [][2]int64{{95, footer + 9}}},
		{"one byte less", footer - 1, [][2]int64{{105, footer - 1}, {104, footer}}},
		{"too little to know", 1, [][2]int64{{size - 8, 8}, {104, footer}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &reader{b: whole}
			l, err := parquet.ReadLayout(t.Context(), r, size, parquet.Options{Tail: tt.tail})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, r.reads); diff != "" {
				t.Error(diff)
			}
			if l.NumColumns() != 2 || l.Memory() > 4096 {
				t.Errorf("%d columns in %d bytes", l.NumColumns(), l.Memory())
			}
		})
	}
}

func TestReadLayoutErrors(t *testing.T) {
	whole := file(data, plain())
	size := int64(len(whole))
	broken := errors.New("origin is gone")
	tests := []struct {
		name string
		r    *reader
		size int64
		want error
	}{
		{"size 0", &reader{}, 0, parquet.ErrNotParquet},
		{"size negative", &reader{}, -5, parquet.ErrNotParquet},
		{"no Parquet", &reader{b: make([]byte, 100)}, 100, parquet.ErrNotParquet},
		{"shorter than told", &reader{b: whole}, size + 1, io.ErrUnexpectedEOF},
		{"second read breaks", &reader{b: whole, err: broken}, size, broken},
		{"limit before the second read", &reader{b: whole, err: broken}, size, parquet.ErrLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := parquet.Options{Tail: 10}
			if errors.Is(tt.want, parquet.ErrLimit) {
				opts.MaxFooter = 20
			}
			_, err := parquet.ReadLayout(t.Context(), tt.r, tt.size, opts)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if len(tt.r.reads) > 2 {
				t.Errorf("reads %v", tt.r.reads)
			}
		})
	}
}

// A file whose footer has another length when it is read again is not the file
// that it was: no caller can pass more of it, so none is told to.
func TestReadLayoutOfChangingFile(t *testing.T) {
	whole := file(data, plain())
	changing := &reader{b: whole}
	changing.then = func() { binary.LittleEndian.PutUint32(whole[len(whole)-8:], uint32(len(whole)-12)) }
	_, err := parquet.ReadLayout(t.Context(), changing, int64(len(whole)), parquet.Options{Tail: 10})
	if _, short := errors.AsType[*parquet.ShortError](err); short || !errors.Is(err, parquet.ErrMalformed) || len(changing.reads) != 2 {
		t.Errorf("got %v after %d reads", err, len(changing.reads))
	}
}

func TestReadLayoutCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &reader{b: file(data, plain())}
	if _, err := parquet.ReadLayout(ctx, r, int64(len(r.b)), parquet.Options{}); !errors.Is(err, context.Canceled) || r.reads != nil {
		t.Errorf("got %v after %d reads", err, len(r.reads))
	}
}

// samples returns the files that engines wrote, see testdata/make.py.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(names) < 30 {
		t.Fatalf("%d files in testdata, %v", len(names), err)
	}
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = b
	}
	return files
}
