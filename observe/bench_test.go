package observe_test

import (
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

func BenchmarkAccess(b *testing.B) {
	o := observe.New(observe.Options{})
	a := get(spark, 1)
	b.ReportAllocs()
	for b.Loop() {
		o.Access(a)
	}
}

func BenchmarkAccessParallel(b *testing.B) {
	o := observe.New(observe.Options{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for n := 0; pb.Next(); n++ {
			o.Access(get(spark, n%4))
		}
	})
}

// BenchmarkSearchEverything looks for an engine that never came.
func BenchmarkSearchEverything(b *testing.B) {
	o := observe.New(observe.Options{})
	for n := range 65_536 {
		o.Access(get(spark, n%100))
	}
	for b.Loop() {
		o.Accesses(laketap.AccessQuery{Engine: "trino"})
	}
}
