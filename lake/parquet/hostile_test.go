package parquet_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
)

// isOurs reports whether an error is one this package may give for bad bytes.
func isOurs(err error) bool {
	var short *parquet.ShortError
	return errors.Is(err, parquet.ErrNotParquet) || errors.Is(err, parquet.ErrMalformed) ||
		errors.Is(err, parquet.ErrEncrypted) || errors.Is(err, parquet.ErrLimit) || errors.As(err, &short)
}

// try parses bad bytes: an error of ours, or a layout that holds what every
// layout must.
func try(t *testing.T, what string, b []byte, size int64) {
	t.Helper()
	l, err := parquet.ParseFooter(b, size, parquet.Options{})
	switch {
	case err != nil && !isOurs(err):
		t.Errorf("%s: %v", what, err)
	case err == nil:
		checkLayout(t, l)
	}
}

// small returns samples short enough to try every byte of their footers.
func small(t *testing.T) map[string][]byte {
	t.Helper()
	files := samples(t)
	for name, b := range files {
		if n, err := parquet.FooterLength(b); err != nil || n > 1300 {
			delete(files, name)
		}
	}
	if len(files) < 12 {
		t.Fatalf("%d small samples", len(files))
	}
	return files
}

func TestEveryBitFlipped(t *testing.T) {
	t.Parallel()
	for name, b := range small(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, _ := parquet.FooterLength(b)
			for at := len(b) - int(n); at < len(b); at++ {
				was := b[at]
				for bit := range 8 {
					if testing.Short() && (at+bit)%5 != 0 {
						continue
					}
					b[at] = was ^ 1<<bit
					try(t, "flipped", b, int64(len(b)))
				}
				for _, v := range []byte{0, 0x7f, 0x80, 0xff} {
					b[at] = v
					try(t, "overwritten", b, int64(len(b)))
				}
				b[at] = was
			}
		})
	}
}

func TestEveryTruncation(t *testing.T) {
	t.Parallel()
	for name, b := range small(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := range b {
				// The file's end is missing, or the end alone is there.
				try(t, "cut", b[:n], int64(n))
				try(t, "tail", b[n:], int64(len(b)))
				try(t, "tail as a file", b[n:], int64(len(b)-n))
			}
			length, _ := parquet.FooterLength(b)
			meta := b[len(b)-int(length) : len(b)-8]
			for n := range meta {
				// The metadata is cut and the length says so.
				c := append([]byte("PAR1"), b[4:len(b)-int(length)]...)
				c = append(c, meta[:n]...)
				c = binary.LittleEndian.AppendUint32(c, uint32(n))
				_, err := parse(append(c, "PAR1"...), parquet.Options{})
				if err == nil || !isOurs(err) {
					// The last fields may be optional, but the struct must end.
					t.Errorf("metadata cut at %d of %d: %v", n, len(meta), err)
				}
			}
		})
	}
}

// spend returns what f takes: time, and memory allocated in all.
func spend(f func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}

// count is the header of a list of n structs.
func count(n uint64) string {
	return string(binary.AppendUvarint([]byte{0xfc}, n))
}

// Footers that claim or nest what they cannot hold. Field case P15.
func TestBombs(t *testing.T) {
	const most = 8 << 20 // bytes of each footer
	zeros := strings.Repeat("\x00", most)
	tenMillion := uint64(10_000_000)
	nest := func(head string, n int) raw { return raw{12, strings.Repeat(head, n)} }
	deep := append(list{root(1)}, slices.Repeat(list{group("g", 1, 1)}, 100_000)...)
	wide := append(list{root(100_000)}, slices.Repeat(list{leaf("c", 0)}, 100_000)...)
	tests := []struct {
		name string
		meta value
		want error
	}{
		{"schema of 10 M elements, claimed", obj{{2, raw{9, count(tenMillion)}}}, parquet.ErrMalformed},
		{"schema of 10 M elements, of zeros", obj{{2, raw{9, count(tenMillion/10) + zeros}}}, parquet.ErrLimit},
		{"schema of elements without names", obj{{2, raw{9, count(100_000) + zeros}}}, parquet.ErrMalformed},
		{"schema deeper than any", schemaOf(deep...), parquet.ErrMalformed},
		{"structs without end", obj{{99, nest("\x1c", most)}}, parquet.ErrMalformed},
		{"lists without end", obj{{99, raw{9, strings.Repeat("\x19", most)}}}, parquet.ErrMalformed},
		{"maps without end", obj{{99, raw{11, strings.Repeat("\x01\xbb", most/2)}}}, parquet.ErrMalformed},
		{"list of 8 M booleans", obj{{99, raw{9, "\xf1" + string(binary.AppendUvarint(nil, most/2)) + zeros}}}, parquet.ErrMalformed},
		{"list of lists of nothing", obj{{99, raw{9, "\xf9" + string(binary.AppendUvarint(nil, most/2)) + zeros}}}, parquet.ErrMalformed},
		{"row groups of no columns", metadata(list{root(0)}).with(field{4, raw{9, count(most/2) + zeros}}), parquet.ErrLimit},
		{"1 M row groups of no columns", metadata(list{root(0)}).with(field{4, raw{9, count(1<<20) + zeros}}), parquet.ErrMalformed},
		{"row groups of 100,000 columns", metadata(wide).with(field{4, raw{9, count(1000) + zeros}}), parquet.ErrMalformed},
		{"2 M column chunks", metadata(wide).with(field{4, raw{9, count(20) + strings.Repeat(zeros, 5)}}), parquet.ErrLimit},
		{"pairs of nothing", plain().with(field{5, raw{9, count(most/4) + zeros}}), parquet.ErrMalformed},
		{"pairs of empty keys", plain().with(field{5, raw{9, count(most/4) + strings.Repeat("\x18\x00\x00", most/4)}}), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := file(data, tt.meta)
			var err error
			took, allocated := spend(func() {
				var l *parquet.Layout
				if l, err = parse(b, parquet.Options{}); err == nil {
					for range l.KeyValues() {
						continue
					}
				}
			})
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if took > 5*time.Second || allocated > 200<<20 {
				t.Errorf("took %v and %d MiB for %d MiB", took, allocated>>20, len(b)>>20)
			}
		})
	}
}

// All that a footer's bytes can buy: as many chunks as the limit allows, in
// opposite order, each with everything over something.
func TestWorstOrder(t *testing.T) {
	const groups = 20_000
	all := make([]value, groups)
	for g := range all {
		at := int64(4 + 10*(groups-g))
		all[g] = rowGroup(chunk(
			column(at, 10, "a").with(field{14, i64(at)}, field{15, i32(500)}),
			field{4, i64(at + 3)}, field{5, i32(90)}, field{6, i64(at + 5)}, field{7, i32(5)}))
	}
	b := file(string(make([]byte, 10*groups+1000)), metadata(list{root(1), leaf("a", 0)}, all...))
	took, allocated := spend(func() {
		l := mustParse(t, b, parquet.Options{})
		for p := range l.Parts(laketap.Extent{Off: 14, Len: 10 * groups}) {
			if p.Kind != parquet.ColumnChunk {
				t.Errorf("got %v", p)
				break
			}
		}
		if l.Ignored() != 3*groups {
			t.Errorf("ignored %d", l.Ignored())
		}
	})
	if took > 5*time.Second || allocated > 100<<20 {
		t.Errorf("took %v and %d MiB", took, allocated>>20)
	}
}

func TestLimits(t *testing.T) {
	b := indexed()
	tests := []struct {
		name string
		opts parquet.Options
		want string
	}{
		{"footer", parquet.Options{MaxFooter: 100}, "footer bytes, at most 100"},
		{"schema", parquet.Options{MaxSchema: 2}, "3 schema elements, at most 2"},
		{"chunks", parquet.Options{MaxChunks: 3}, "4 column chunks, at most 3"},
	}
	for _, tt := range tests {
		_, err := parse(b, tt.opts)
		if !errors.Is(err, parquet.ErrLimit) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	if _, err := parse(b, parquet.Options{MaxFooter: int64(len(b)), MaxSchema: 3, MaxChunks: 4}); err != nil {
		t.Errorf("at the limits: %v", err)
	}
}
