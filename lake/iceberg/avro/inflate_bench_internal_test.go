package avro

import (
	"bytes"
	stdlib "compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/flate"
)

// entries is bytes like those of a manifest's block: paths that differ in a few
// places, and counts and bounds of fifty columns behind each.
func entries() []byte {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	var b []byte
	for i := range 700 {
		b = fmt.Appendf(b, "s3://warehouse/db/table/data/day=2026-01-%02d/region=north/00000-%d-7b0c3f5e.parquet", i%28, i)
		for c := range 50 {
			b = binary.AppendVarint(b, int64(c))
			b = binary.AppendVarint(b, int64(1000*c+i))
			b = binary.AppendVarint(b, r.Int64N(1<<20))
			b = binary.LittleEndian.AppendUint64(b, uint64(i*c))
		}
	}
	return b
}

// BenchmarkInflate is the reason for an inflater of our own; see decision 9.
func BenchmarkInflate(b *testing.B) {
	text := entries()
	in := packed(b, text, 6)
	run := func(name string, unpack func() (int, error)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if n, err := unpack(); err != nil || n != len(text) {
					b.Fatalf("%d bytes, %v", n, err)
				}
			}
		})
	}
	f := new(inflater)
	var out []byte
	run("ours", func() (int, error) {
		var err error
		out, _, err = f.run(context.Background(), out, in, 1<<30)
		return len(out), err
	})
	from, to := bytes.NewReader(in), new(bytes.Buffer)
	library := func(z io.ReadCloser) func() (int, error) {
		return func() (int, error) {
			from.Reset(in)
			to.Reset()
			if err := z.(stdlib.Resetter).Reset(from, nil); err != nil {
				return 0, err
			}
			_, err := to.ReadFrom(z)
			return to.Len(), err
		}
	}
	run("klauspost", library(flate.NewReader(from)))
	run("standard library", library(stdlib.NewReader(from)))
}
