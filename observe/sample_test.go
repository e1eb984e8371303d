package observe_test

import (
	"fmt"
	"time"

	"github.com/laketap/laketap"
)

// start is when the samples' first request arrived.
var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// tableID returns the id of the sample table n.
func tableID(n int) laketap.TableID {
	return laketap.TableID{Catalog: "prod", UUID: fmt.Sprintf("00000000-0000-0000-0000-%012d", n)}
}

// get returns a sample access to the store: 100 bytes of a file of table n, in
// 2 ms, at the second n after start.
func get(engine laketap.Engine, n int) laketap.Access {
	return laketap.Access{
		At:        start.Add(time.Duration(n) * time.Second),
		Latency:   2 * time.Millisecond,
		RequestID: fmt.Sprintf("req-%d", n),
		Tap:       laketap.StorageTap,
		Op:        "GetObject",
		Engine:    engine,
		Principal: "alice",
		Session:   "LTABCDEFGH",
		Catalog:   "prod",
		Table:     tableID(n),
		TableName: fmt.Sprintf("tpch.t%d", n),
		Object:    laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: fmt.Sprintf("t%d/data/f.parquet", n)},
		Range:     laketap.Range{From: 0, To: 99, Set: true},
		Status:    206,
		BytesOut:  100,
	}
}

var (
	spark  = laketap.Engine{Name: "spark", Version: "4.1"}
	duckdb = laketap.Engine{Name: "duckdb", Version: "1.5.5"}
)
