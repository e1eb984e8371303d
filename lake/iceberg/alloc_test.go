package iceberg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/laketap/laketap/lake/iceberg"
)

// What reading costs is of the file and its blocks, not of its entries: their
// texts share chunks, their lists are used again.
func TestAllocations(t *testing.T) {
	pairs := `{"type":"array","items":` + rec("%s", field(0, "key", tInt), field(0, "value", "%s")) + `}`
	schema := minimalEntry(minimalFile(
		field(102, "partition", rec("r102", field(1000, "day", opt(tInt)), field(1001, "kind", opt(tText)))),
		field(108, "column_sizes", opt(fmt.Sprintf(pairs, "a", tLong))),
		field(125, "lower_bounds", opt(fmt.Sprintf(pairs, "b", tBytes))),
		field(132, "split_offsets", opt(`{"type":"array","items":"long"}`))))
	const entries = 5000
	values := make([]string, entries)
	for i := range values {
		values[i] = long(1) + text(fmt.Sprintf("s3://b/t/data/%s/%d.parquet", strings.Repeat("x", 60), i)) + text("PARQUET") +
			long(int64(i)) + long(int64(i)) + some(long(int64(i))) + some(text("kind")) +
			some(long(2)+long(1)+long(5)+long(2)+long(6)+long(0)) + some(long(1)+long(1)+text("bound")+long(0)) + some(long(1)+long(4)+long(0))
	}
	open := files{"x": container(schema, nil, values...)}
	for _, want := range []iceberg.Want{0, iceberg.WantAll} {
		n := 0
		allocs := testing.AllocsPerRun(2, func() {
			n = 0
			m := listed()
			m.Path = "x"
			for e, err := range iceberg.ReadManifest(t.Context(), m, nil, open, iceberg.Options{Want: want}) {
				if err != nil || e.Records != int64(n) || want != 0 && len(e.ColumnSizes) != 2 {
					t.Fatalf("entry %d: %+v, %v", n, e, err)
				}
				n++
			}
		})
		if n != entries || allocs/entries > 0.1 {
			t.Errorf("%d entries, %.2f allocations each", n, allocs/entries)
		}
	}
}
