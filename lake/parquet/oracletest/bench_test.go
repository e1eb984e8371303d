package oracletest_test

import (
	"fmt"
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
	"github.com/laketap/laketap/lake/parquet/oracletest"
)

// shapes are the files of the benchmarks: columns × row groups.
var shapes = [][2]int{{20, 4}, {1000, 50}}

// wide writes a file of the shape.
func wide(tb testing.TB, shape [2]int) []byte {
	tb.Helper()
	b, err := oracletest.Wide(shape[0], shape[1])
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func BenchmarkFooter(b *testing.B) {
	for _, shape := range shapes {
		file := wide(b, shape)
		for _, r := range oracletest.Readers() {
			b.Run(fmt.Sprintf("%dx%d/%s", shape[0], shape[1], r.Name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := r.Read(file); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkPartAt(b *testing.B) {
	file := wide(b, shapes[1])
	l, err := parquet.ParseFooter(file, int64(len(file)), parquet.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	off := int64(0)
	for b.Loop() {
		off = (off + 999_983) % l.Size()
		l.PartAt(off)
	}
}

func BenchmarkExtents(b *testing.B) {
	file := wide(b, shapes[1])
	l, err := parquet.ParseFooter(file, int64(len(file)), parquet.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var got []laketap.Extent
	for b.Loop() {
		got = l.Extents([]int{7, 8, 9, 500})
	}
	if len(got) != 100 {
		b.Errorf("%d extents", len(got))
	}
}
