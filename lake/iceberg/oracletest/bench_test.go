package oracletest_test

import (
	"testing"

	"github.com/laketap/laketap/lake/iceberg/oracletest"
)

func BenchmarkManifest(b *testing.B) {
	s, err := oracletest.Wide(4000, 10)
	if err != nil {
		b.Fatal(err)
	}
	for what, readers := range map[string][2]oracletest.Reader{"full": oracletest.Full(), "projected": oracletest.Projected()} {
		for _, r := range readers {
			b.Run(what+"/"+r.Name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.Read(s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
