//go:build bench

package block

import (
	"fmt"
	"math/rand/v2"

	"github.com/laketap/laketap"
)

// A touch is one read of one page in a trace. Pages have one size, so that
// Belady's policy is the best there is.
type touch struct {
	page    int
	subject Subject
	after   bool // in the minute after a compaction
}

// page is the size of all pages of a trace.
const tracePage = 64 << 10

// A lakeTrace makes reads of a lake as engines do them: dashboards that read the
// same columns of the newest partitions again and again, people who look at
// something once, one-off scans of whole tables, commits that add files, and
// compactions that replace them. The seed decides everything.
type lakeTrace struct {
	rand    *rand.Rand
	tables  []*traceTable
	pages   map[Subject]int
	touched []touch
	files   int
	after   int // touches that still count as just after a compaction
}

// A traceTable has partitions of files; dashboards read some columns of it.
type traceTable struct {
	name       string
	partitions [][]traceFile
	columns    int
	habit      []int // columns that dashboards read
	commits    int
}

type traceFile struct{ key string }

func newTrace(seed uint64) *lakeTrace {
	t := &lakeTrace{rand: rand.New(rand.NewPCG(seed, 7)), pages: map[Subject]int{}}
	for i := range 12 {
		table := &traceTable{name: fmt.Sprintf("t%d", i), columns: 12 + t.rand.IntN(20)}
		for c := 0; c < table.columns; c += 3 + t.rand.IntN(4) {
			table.habit = append(table.habit, c)
		}
		for range 20 {
			table.partitions = append(table.partitions, nil)
			for range 1 + t.rand.IntN(4) {
				t.commit(table, len(table.partitions)-1)
			}
		}
		t.tables = append(t.tables, table)
	}
	return t
}

// commit adds a file to a partition.
func (t *lakeTrace) commit(table *traceTable, partition int) {
	t.files++
	table.commits++
	table.partitions[partition] = append(table.partitions[partition], traceFile{fmt.Sprintf("wh/%s/data/%d.parquet", table.name, t.files)})
}

// read touches a page of an object.
func (t *lakeTrace) read(key string, n, of int) {
	s := Subject{
		Object: laketap.Object{ObjectName: laketap.ObjectName{Bucket: "lake", Key: key}, Size: int64(of) * tracePage},
		Off:    int64(n) * tracePage, Len: tracePage,
	}
	page, ok := t.pages[s]
	if !ok {
		page = len(t.pages)
		t.pages[s] = page
	}
	t.touched = append(t.touched, touch{page, s, t.after > 0})
	t.after--
}

// plan reads what every query reads: metadata, and the manifests of the
// partitions that it wants.
func (t *lakeTrace) plan(table *traceTable, partitions []int) {
	t.read(fmt.Sprintf("wh/%s/metadata/snap-%d.avro", table.name, table.commits), 0, 1)
	for _, p := range partitions {
		t.read(fmt.Sprintf("wh/%s/metadata/%d-%d-m0.avro", table.name, p, len(table.partitions[p])), 0, 1)
	}
}

// query reads columns of partitions.
func (t *lakeTrace) query(table *traceTable, partitions, columns []int) {
	t.plan(table, partitions)
	for _, p := range partitions {
		for _, f := range table.partitions[p] {
			t.read(f.key, table.columns, table.columns+1) // footer
			for _, c := range columns {
				t.read(f.key, c, table.columns+1)
			}
		}
	}
}

// run makes a trace of so many touches.
func (t *lakeTrace) run(touches int) []touch {
	for len(t.touched) < touches {
		table := t.tables[min(t.rand.IntN(len(t.tables)), t.rand.IntN(len(t.tables)))] // some are read more
		n := len(table.partitions)
		switch roll := t.rand.IntN(1000); {
		case roll < 700: // a dashboard over the newest partitions
			last := 2 + t.rand.IntN(3)
			t.query(table, span3(n-last, n), table.habit)
		case roll < 880: // somebody looks something up, once
			p := t.rand.IntN(n)
			columns := []int{t.rand.IntN(table.columns), t.rand.IntN(table.columns)}
			t.query(table, []int{p}, columns)
		case roll < 900: // a scan of everything
			t.query(table, span3(0, n), span3(0, table.columns))
		case roll < 980: // new data, mostly in the newest partition
			p := n - 1
			if t.rand.IntN(4) == 0 {
				p = t.rand.IntN(n)
			}
			t.commit(table, p)
		case roll < 990:
			table.partitions = append(table.partitions[1:], nil) // a day passes, the oldest expires
			t.commit(table, n-1)
		default: // compaction: the same rows in other files
			for _, p := range span3(n-4, n) {
				if len(table.partitions[p]) > 1 {
					table.partitions[p] = nil
					t.commit(table, p)
				}
			}
			t.after = 400
		}
	}
	return t.touched[:touches]
}

// span3 lists the whole numbers from a to b.
func span3(a, b int) []int {
	var all []int
	for ; a < b; a++ {
		all = append(all, a)
	}
	return all
}
