package parquet_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/laketap/laketap/lake/parquet"
)

// one is a file of the column a with this chunk.
func one(c value) obj { return metadata(list{root(1), leaf("a", 0)}, rowGroup(c)) }

// pairs is a file with these key-value pairs.
func pairs(all ...value) obj { return plain().with(field{5, list(all)}) }

// schemaOf is a file without row groups.
func schemaOf(elements ...value) obj { return metadata(elements) }

func TestMalformed(t *testing.T) {
	a := column(4, 40, "a")
	huge := raw{9, "\xfc\xff\xff\xff\xff\xff\xff\xff\xff\x7f"} // a list of 2^63-1 structs
	tests := []struct {
		name string
		meta value
		want string // part of the error
	}{
		{"no version", plain().without(1), "without version"},
		{"no schema", plain().without(2), "without version, schema"},
		{"no rows", plain().without(3), "num_rows"},
		{"no row groups", plain().without(4), "row_groups"},
		{"negative rows", plain().with(field{3, i64(-1)}), "negative count"},
		{"two schemas", append(plain(), plain()[1]), "given twice"},
		{"two lists of row groups", append(plain(), plain()[3]), "given twice"},
		{"version of 64 bits", plain().with(field{1, i64(1)}), "another type"},
		{"number over 64 bits", plain().with(field{3, raw{6, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"}}), "64 bits"},
		{"number without end", plain().with(field{3, raw{6, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}}), "64 bits"},
		{"number cut", raw{12, "\x36\xff"}, "varint cut short"},
		{"negative version", plain().with(field{1, i32(-1)}), "negative number"},
		{"version over 32 bits", plain().with(field{1, i32(1 << 32)}), "32 bits"},
		{"row groups no list", plain().with(field{4, i32(1)}), "another type"},
		{"row groups of numbers", plain().with(field{4, list{i32(1)}}), "another type"},
		{"orders for one column", plain().with(field{7, list{obj{{1, obj{}}}}}), "another number"},
		{"pairs no list", plain().with(field{5, i32(1)}), "another type"},
		{"pairs of numbers", pairs(i32(3), i32(3), i32(3)), "another type"},
		{"pair without a key", pairs(obj{{2, str("v")}}), "without a key"},
		{"pair with a key that is no text", pairs(obj{{1, str("k")}}, obj{{1, i32(3)}}), "another type"},
		{"pair with two values", pairs(obj{{1, str("k")}, {2, str("v")}, {2, str("w")}}), "given twice"},
		{"pair cut short", pairs(obj{{1, str("k")}, {2, raw{8, "\x7fv"}}}), "longer than the footer"},

		{"schema empty", schemaOf(), "without elements"},
		{"schema of 2^63", plain().with(field{2, huge}), "longer than the footer"},
		{"row groups of 2^63", plain().with(field{4, huge}), "longer than the footer"},
		{"columns of 2^63", metadata(list{root(1), leaf("a", 0)}, obj{{1, huge}, {3, i64(1)}}), "longer than the footer"},
		{"name of 2^63", schemaOf(root(1), obj{{1, i32(1)}, {4, raw{8, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}}}), "longer than the footer"},
		{"root with a type", schemaOf(leaf("a", 0)), "without a root"},
		{"no name", schemaOf(root(1), obj{{1, i32(1)}}), "without a name"},
		{"type 8", schemaOf(root(1), leaf("a", 0, field{1, i32(8)})), "unknown physical type"},
		{"type -1", schemaOf(root(1), leaf("a", 0, field{1, i32(-1)})), "unknown physical type"},
		{"repetition 3", schemaOf(root(1), leaf("a", 3)), "unknown repetition"},
		{"children -1", schemaOf(root(-1)), "negative number of children"},
		{"children too many", schemaOf(root(3), leaf("a", 0)), "more children"},
		{"children 2^31-1", schemaOf(root(math.MaxInt32), leaf("a", 0)), "more children"},
		{"type and children", schemaOf(root(2), leaf("a", 0, field{5, i32(1)}), leaf("b", 0)), "both a type and children"},
		{"two roots", schemaOf(root(1), leaf("a", 0), leaf("b", 0)), "more than one root"},
		{"child missing", schemaOf(root(2), leaf("a", 0), group("g", 0, 0), leaf("c", 0)), "more than one root"},
		{"group unfinished", schemaOf(root(2), group("g", 0, 2), leaf("a", 0), leaf("b", 0)), "fewer elements"},
		{"two logical types", schemaOf(root(1), leaf("a", 0, field{10, obj{{1, obj{}}, {6, obj{}}}})), "more than one member"},

		{"length -5", schemaOf(root(1), leaf("a", 0, field{1, i32(7)}, field{2, i32(-5)})), "negative length"},
		{"scale -3", schemaOf(root(1), leaf("a", 0, field{10, obj{{5, obj{{1, i32(-3)}, {2, i32(9)}}}}})), "negative length, scale"},
		{"precision -1 of old", schemaOf(root(1), leaf("a", 0, field{6, i32(5)}, field{7, i32(0)}, field{8, i32(-1)})), "negative length, scale"},
		{"integer of -8 bits", schemaOf(root(1), leaf("a", 0, field{10, obj{{10, obj{{1, raw{3, "\xf8"}}}}}})), "negative number of bits"},
		{"integer of a text of bits", schemaOf(root(1), leaf("a", 0, field{10, obj{{10, obj{{1, str("8")}}}}})), "another type"},

		{"no columns", metadata(list{root(1), leaf("a", 0)}, obj{{3, i64(1)}, {9, str(data)}}), "no columns"},
		{"no number of rows", metadata(list{root(1), leaf("a", 0)}, rowGroup(chunk(a)).without(3)), "no number of rows"},
		{"group of negative rows", metadata(list{root(1), leaf("a", 0)}, rowGroup(chunk(a)).with(field{3, i64(-5)})), "negative count"},
		{"group of negative bytes", metadata(list{root(1), leaf("a", 0)}, rowGroup(chunk(a)).with(field{2, i64(-5)})), "negative count or size"},
		{"group of negative bytes in the file", metadata(list{root(1), leaf("a", 0)}, rowGroup(chunk(a)).with(field{6, i64(-5)})), "negative count or size"},
		{"group of ordinal 2^15", metadata(list{root(1), leaf("a", 0)}, rowGroup(chunk(a)).with(field{7, i16(1 << 15)})), "16 bits"},
		{"columns twice", metadata(list{root(1), leaf("a", 0)}, append(rowGroup(chunk(a)), rowGroup(chunk(a))[0])), "given twice"},
		{"too many chunks", metadata(list{root(1), leaf("a", 0)}, rowGroup(chunk(a), chunk(a))), "2 column chunks where the schema has 1"},
		{"too few chunks", metadata(list{root(2), leaf("a", 0), leaf("b", 0)}, rowGroup(chunk(a))), "1 column chunks where the schema has 2"},

		{"no metadata", one(obj{{2, i64(4)}, {1, str("a file of some other place")}}), "no metadata"},
		{"metadata twice", one(append(chunk(a), field{3, a})), "given twice"},
		{"no size", one(chunk(a.without(7))), "without a required field"},
		{"no offset", one(chunk(a.without(9))), "without a required field"},
		{"size twice", one(chunk(append(a, field{7, i64(40)}))), "given twice"},
		{"size no number", one(chunk(a.with(field{7, str("40")}))), "another type"},
		{"another type", one(chunk(a.with(field{1, i32(2)}))), "another type than in the schema"},
		{"another path", one(chunk(column(4, 40, "b"))), "another path"},
		{"deeper path", one(chunk(column(4, 40, "a", "a"))), "another depth"},
		{"codec 256", one(chunk(a.with(field{4, i32(256)}))), "unknown codec"},
		{"statistics no struct", one(chunk(a.with(field{12, i32(1)}))), "another type"},

		{"before the data", one(chunk(column(3, 40, "a"))), "outside of the file"},
		{"offset negative", one(chunk(column(-1, 40, "a"))), "outside of the file"},
		{"into the footer", one(chunk(column(65, 40, "a"))), "outside of the file"},
		{"offset 2^63-1", one(chunk(column(math.MaxInt64, 40, "a"))), "outside of the file"},
		{"size 2^63-1", one(chunk(column(4, math.MaxInt64, "a"))), "outside of the file"},
		{"dictionary and size 2^63-1", one(chunk(column(0, math.MaxInt64, "a").with(field{5, i64(0)}, field{11, i64(4)}))), "outside of the file"},
		{"size negative", one(chunk(column(4, -40, "a"))), "negative count or size"},
		{"size -2^63", one(chunk(column(4, math.MinInt64, "a"))), "negative count or size"},
		{"values negative", one(chunk(a.with(field{5, i64(-1)}))), "negative count or size"},
		{"data page behind its chunk", one(chunk(column(80, 10, "a").with(field{11, i64(4)}))), "first data page outside"},
		{
			"chunks over one another",
			metadata(list{root(2), leaf("a", 0), leaf("b", 0)}, rowGroup(chunk(column(50, 10, "a")), chunk(column(41, 10, "b")))),
			"over one another",
		},
		{"chunk twice", metadata(list{root(1), leaf("a", 0)}, rowGroup(chunk(a)), rowGroup(chunk(a))), "over one another"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := file(data, tt.meta)
			_, err := parse(b, parquet.Options{})
			var format *parquet.FormatError
			if !errors.As(err, &format) || !errors.Is(err, parquet.ErrMalformed) {
				t.Fatalf("got %v, want a FormatError", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want it to tell %q", err, tt.want)
			}
			if format.Offset < 0 || format.Offset > int64(len(b)) {
				t.Errorf("offset %d outside of the file", format.Offset)
			}
		})
	}
}

// The error says where: a person looks there with a hex viewer.
func TestFormatErrorSaysWhere(t *testing.T) {
	c := func(off int64) value { return chunk(column(off, 10, "a")) }
	b := file(data, metadata(list{root(1), leaf("a", 0)}, rowGroup(c(4)), rowGroup(c(14)), rowGroup(c(-9))))
	_, err := parse(b, parquet.Options{})
	if err == nil || !strings.Contains(err.Error(), "row group 2: column 0: chunk outside") {
		t.Errorf("got %v", err)
	}
}

// What is odd in files that engines read is no error.
func TestTolerated(t *testing.T) {
	a := column(4, 40, "a")
	tests := []struct {
		name string
		meta value
	}{
		{"no path", one(chunk(a.without(3)))},
		{"no encodings", one(chunk(a.without(2)))},
		{"another version", plain().with(field{1, i32(7)})},
		{"no columns at all", metadata(list{root(0)}, rowGroup())},
		{"a group without children", metadata(list{root(2), group("g", 1, 0), leaf("a", 0)}, rowGroup(chunk(a)))},
		{"unknown codec", one(chunk(a.with(field{4, i32(99)})))},
		{"unknown encoding", one(chunk(a.with(field{2, list{i32(77), i32(-1)}})))},
		{"unknown logical type", metadata(list{root(1), leaf("a", 0, field{10, obj{{99, obj{}}}})}, rowGroup(chunk(a)))},
		{"unknown converted type", metadata(list{root(1), leaf("a", 0, field{6, i32(99)})}, rowGroup(chunk(a)))},
		{"chunk without bytes anywhere", one(chunk(column(math.MaxInt64, 0, "a")))},
		{"chunk in another file", one(chunk(column(1<<40, 1<<40, "a"), field{1, str("part-0.parquet")}))},
		{"dictionary at 0", one(chunk(a.with(field{11, i64(0)})))},
		{"dictionary behind", one(chunk(a.with(field{11, i64(1 << 50)})))},
		{"dictionary negative", one(chunk(a.with(field{11, i64(-4)})))},
		{"dictionary and no data", one(chunk(column(0, 40, "a").with(field{5, i64(0)}, field{11, i64(4)})))},
		{"a list where the filter's length should be", one(chunk(a.with(field{15, list{obj{{1, i32(0)}}}})))},
		{"row group at a wrong offset", metadata(list{root(1), leaf("a", 0)}, rowGroup(chunk(a)).with(field{5, i64(-7)}, field{7, i16(3)}))},
		{"length -1 where it means nothing", schemaOf(root(1), leaf("a", 0, field{2, i32(-1)}, field{7, i32(-1)}, field{8, i32(-1)}))},
		{"more row groups than ordinals", metadata(list{root(1), leaf("a", 0)}, rowGroup(chunk(a)).with(field{7, i16(-1 << 15)}))},
		{"rows of another number", plain().with(field{3, i64(1 << 40)})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := mustParse(t, file(data, tt.meta), parquet.Options{})
			checkLayout(t, l)
		})
	}
}
