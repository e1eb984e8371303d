package observe_test

import (
	"os"
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

// BenchmarkInterpret is what an access to a column costs beside its request,
// from the tap's call to the batch.
func BenchmarkInterpret(b *testing.B) {
	file, err := os.ReadFile("../lake/parquet/testdata/duckdb_ids.parquet")
	if err != nil {
		b.Fatal(err)
	}
	s := newScene(func(o *observe.InterpreterOptions) { o.Batch, o.Memory = 1000, nil })
	s.held["wh/db/t/data/00000-0-5d1b6a1c-0000.parquet"] = file
	a := laketap.Access{
		At: s.now, Tap: laketap.StorageTap, Op: "GetObject", Engine: laketap.Engine{Name: "spark", Version: "4.1"}, Principal: "alice", Session: "LT1",
		Table:  laketap.TableID{Catalog: "c", UUID: "u"},
		Object: laketap.ObjectName{Origin: "main", Bucket: "b", Key: "wh/db/t/data/00000-0-5d1b6a1c-0000.parquet"}, ETag: `"1"`, Size: int64(len(file)),
		Range: laketap.Range{Set: true, From: 4, To: 103}, Status: 206, BytesOut: 100,
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		s.observer.Access(a)
		s.Access(a)
		if n++; n%1000 == 0 {
			s.Interpret()
		}
	}
}
