package parquet_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/laketap/laketap/lake/parquet"
)

func le32(v uint32) str  { return str(binary.LittleEndian.AppendUint32(nil, v)) }
func le64(v uint64) str  { return str(binary.LittleEndian.AppendUint64(nil, v)) }
func f32(v float32) str  { return le32(math.Float32bits(v)) }
func f64(v float64) str  { return le64(math.Float64bits(v)) }
func physical(n int) obj { return leaf("a", 0, field{1, i32(n)}) }

// Only bounds with a meaning are told: not those that lie (field case P7), whose
// order is not the type's (P11), or that old writers got wrong (P14).
func TestBounds(t *testing.T) {
	const none = "none"
	old := func(lo, hi str) obj { return obj{{1, hi}, {2, lo}} }
	minMax := func(lo, hi str) obj { return obj{{5, hi}, {6, lo}} }
	unsigned := field{10, obj{{10, obj{{1, raw{3, "\x20"}}, {2, flag(false)}}}}}
	decimal := field{10, obj{{5, obj{{1, i32(2)}, {2, i32(9)}}}}}
	nan32, nan64 := f32(float32(math.NaN())), f64(math.NaN())
	tests := []struct {
		name   string
		column obj
		order  int // 0: the file has no column orders
		stats  obj
		lo, hi str
	}{
		{"int32", physical(1), 1, minMax(le32(math.MaxUint32), le32(7)), le32(math.MaxUint32), le32(7)},
		{"int32 without an order", physical(1), 0, minMax(le32(1), le32(7)), none, none},
		{"int32 in an order of the future", physical(1), 9, minMax(le32(1), le32(7)), none, none},
		{"int32 in the order of floats", physical(1), 2, minMax(le32(1), le32(7)), none, none},
		{"old int32", physical(1), 0, old(le32(1), le32(7)), le32(1), le32(7)},
		{"both int32", physical(1), 1, append(old(le32(0), le32(9)), minMax(le32(1), le32(7))...), le32(1), le32(7)},
		{"lower alone", physical(1), 1, obj{{6, le32(1)}}, le32(1), none},
		{"inverted", physical(1), 1, minMax(le32(8), le32(7)), none, none},
		{"of another width", physical(1), 1, minMax(le64(1), le32(7)), none, le32(7)},
		{"unsigned", physical(1).with(unsigned), 1, minMax(le32(1), le32(1<<31)), le32(1), le32(1 << 31)},
		{"old unsigned", physical(1).with(unsigned), 0, old(le32(1), le32(7)), none, none},
		{"unsigned, sorted as signed", physical(1).with(unsigned), 1, minMax(le32(1<<31), le32(1)), none, none},
		{"int64", physical(2), 1, minMax(le64(1), le64(7)), le64(1), le64(7)},
		{"inverted int64", physical(2), 1, minMax(le64(1), le64(math.MaxUint64)), none, none},
		{"unsigned int64", physical(2).with(converted(14)), 1, minMax(le64(1), le64(math.MaxUint64)), le64(1), le64(math.MaxUint64)},
		{"decimal in int64", physical(2).with(decimal), 0, old(le64(1), le64(7)), le64(1), le64(7)},
		{"int96 by type", physical(3), 1, minMax("123456789012", "223456789012"), none, none},
		{"int96 by time", physical(3), 3, minMax("123456789012", "223456789012"), "123456789012", "223456789012"},
		{"int96 too short", physical(3), 3, minMax("1", "2"), none, none},
		{"boolean", physical(0), 1, minMax("\x00", "\x01"), "\x00", "\x01"},
		{"inverted boolean", physical(0), 1, minMax("\x01", "\x00"), none, none},
		{"float", physical(4), 2, minMax(f32(-1), f32(2)), f32(-1), f32(2)},
		{"float with NaN", physical(4), 1, minMax(nan32, f32(2)), none, f32(2)},
		{"inverted float", physical(4), 1, minMax(f32(2), f32(-2)), none, none},
		{"double with NaN", physical(5), 1, minMax(f64(1), nan64), f64(1), none},
		{"double", physical(5), 0, old(f64(-1), f64(2)), f64(-1), f64(2)},
		{"inverted double", physical(5), 1, minMax(f64(2), f64(1)), none, none},
		{"half", physical(7).with(kind(15), field{2, i32(2)}), 1, minMax("\x00\x3c", "\x01\x7c"), "\x00\x3c", none},
		{"infinite half", physical(7).with(kind(15), field{2, i32(2)}), 2, minMax("\x00\xfc", "\x00\x7c"), "\x00\xfc", "\x00\x7c"},
		{"text", physical(6).with(kind(1)), 1, minMax("", "z\xff"), "", "z\xff"},
		{"old text", physical(6).with(kind(1)), 1, old("a", "z"), none, none},
		{"inverted text", physical(6), 1, minMax("z", "a"), none, none},
		{"decimal in bytes", physical(6).with(decimal), 1, minMax("\xff", "\x01"), "\xff", "\x01"},
		{"fixed", physical(7).with(field{2, i32(2)}), 1, minMax("aa", "b"), "aa", none},
		{"interval", physical(7).with(converted(21), field{2, i32(2)}), 1, minMax("aa", "bb"), none, none},
		{"geometry", physical(6).with(kind(17)), 1, minMax("a", "b"), none, none},
		{"logical type of the future", physical(1).with(kind(99)), 1, append(minMax(le32(1), le32(2)), old(le32(1), le32(2))...), none, none},
		{"nothing", physical(1), 1, obj{}, none, none},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunkMeta := column(4, 40, "a").with(tt.column[0], field{12, tt.stats})
			meta := metadata(list{root(1), tt.column}, rowGroup(chunk(chunkMeta)))
			if tt.order != 0 {
				meta = meta.with(field{7, list{obj{{tt.order, obj{}}}}})
			}
			lo, hi, err := mustParse(t, file(data, meta), parquet.Options{}).Bounds(0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range []struct {
				got  []byte
				want str
			}{{lo, tt.lo}, {hi, tt.hi}} {
				got := str(b.got)
				if b.got == nil {
					got = none
				}
				if got != b.want {
					t.Errorf("got %q to %q, want %q to %q", lo, hi, tt.lo, tt.hi)
				}
			}
		})
	}
}

func TestBoundsOfMalformedStats(t *testing.T) {
	meta := column(4, 40, "a").with(field{12, obj{{3, str("x")}, {5, le32(1)}}})
	lo, hi, err := mustParse(t, file(data, one(chunk(meta))), parquet.Options{}).Bounds(0, 0)
	if err == nil || lo != nil || hi != nil {
		t.Errorf("got %q, %q, %v", lo, hi, err)
	}
}
