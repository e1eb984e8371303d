package observe

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/laketap/laketap"
)

// The layouts that are kept are bounded in bytes, the latest used ones stay, and
// one that was forgotten is read again.
func TestLayoutsAreBounded(t *testing.T) {
	b, err := os.ReadFile("../lake/parquet/testdata/duckdb_ids.parquet")
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	l := newLayouts(func(name laketap.ObjectName, off, n int64) ([]byte, laketap.Object, bool) {
		reads++
		return b[off : off+n], laketap.Object{ObjectName: name, Size: int64(len(b))}, true
	})
	key := func(i int) layoutKey {
		return layoutKey{name: laketap.ObjectName{Key: strconv.Itoa(i)}, size: int64(len(b))}
	}
	one := l.of(key(0), nil, false, time.Time{})
	if !one.done || one.layout == nil {
		t.Fatalf("entry %+v", one)
	}
	l.max = 10 * one.cost
	for i := range 50 {
		l.of(key(i), nil, false, time.Time{})
		l.of(key(0), nil, false, time.Time{})
		if l.bytes > l.max || l.order.Len() != len(l.byKey) || l.order.Len() > 10 {
			t.Fatalf("%d layouts of %d bytes, at most %d", l.order.Len(), l.bytes, l.max)
		}
	}
	reads = 0
	l.of(key(0), nil, false, time.Time{})
	l.of(key(49), nil, false, time.Time{})
	if reads != 0 {
		t.Errorf("%d reads for what was used last", reads)
	}
	if l.of(key(1), nil, false, time.Time{}); reads == 0 {
		t.Error("nothing was forgotten")
	}
}

// A footer that is not at hand is looked for once a second, and at once when the
// end of the file passes; bytes of another version do not count.
func TestLayoutsThatAreNotAtHand(t *testing.T) {
	b, err := os.ReadFile("../lake/parquet/testdata/duckdb_ids.parquet")
	if err != nil {
		t.Fatal(err)
	}
	asked, etag, held := 0, `"1"`, false
	l := newLayouts(func(name laketap.ObjectName, off, n int64) ([]byte, laketap.Object, bool) {
		asked++
		return b[off : off+n], laketap.Object{ObjectName: name, Size: int64(len(b)), ETag: etag}, held
	})
	key := layoutKey{size: int64(len(b)), etag: `"1"`}
	now := time.Unix(1, 0)
	for range 100 {
		l.of(key, nil, false, now)
	}
	if asked != 1 {
		t.Errorf("asked %d times within a moment", asked)
	}
	l.of(key, nil, true, now)
	l.of(key, nil, false, now.Add(retryAfter))
	if asked != 3 {
		t.Errorf("asked %d times, want 3", asked)
	}
	etag, held = `"2"`, true
	if l.of(key, nil, true, now).done {
		t.Error("a footer of another version is taken")
	}
	etag = `"1"`
	if e := l.of(key, nil, true, now); !e.done || e.layout == nil {
		t.Errorf("entry %+v", e)
	}
}

// A feed gives every access once and in order, as long as the reader keeps up;
// whatever it does, those that it gave and did not are all that there were.
func TestFeedLosesNothingUnseen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRing(rapid.IntRange(100, 30_000).Draw(t, "ring"), 1<<30)
		f := newFeed(r, rand.New(rand.NewPCG(1, 2))) //nolint:gosec // a test's
		var recorded, given, skipped int64
		last := int64(0)
		for range rapid.IntRange(1, 5).Draw(t, "turns") {
			for range rapid.IntRange(0, 12_000).Draw(t, "accesses") {
				recorded++
				r.add(&laketap.Access{BytesOut: recorded})
			}
			for page, weight := f.next(); len(page) > 0; page, weight = f.next() {
				for i := range page {
					if page[i].BytesOut <= last {
						t.Fatalf("access %d comes after %d", page[i].BytesOut, last)
					}
					last = page[i].BytesOut
				}
				given += int64(len(page))
				if weight < 1 {
					t.Fatalf("weight %v", weight)
				}
			}
		}
		skipped = f.missed.Load() + f.sampled.Load()
		if given+skipped != recorded {
			t.Fatalf("%d given, %d missed, %d sampled of %d", given, f.missed.Load(), f.sampled.Load(), recorded)
		}
	})
}

// A batch has the latest facts of each table once, and is bounded.
func TestBatchIsBounded(t *testing.T) {
	var b batch
	for i := range 3 {
		b.facts(laketap.TableFacts{ID: laketap.TableID{UUID: "a"}, Snapshot: int64(i)})
	}
	for i := range maxGathered + 10 {
		b.facts(laketap.TableFacts{ID: laketap.TableID{UUID: fmt.Sprint("t", i)}})
		b.change(laketap.Change{To: int64(i)})
		b.query(laketap.Query{Snapshot: int64(i)})
	}
	got, any := b.take()
	if !any || len(got.Tables) != maxGathered || len(got.Changes) != maxGathered || len(got.Queries) != maxGathered {
		t.Errorf("%d tables, %d changes, %d queries", len(got.Tables), len(got.Changes), len(got.Queries))
	}
	if got.Tables[0].Snapshot != 2 {
		t.Errorf("facts of snapshot %d, want the latest", got.Tables[0].Snapshot)
	}
	if b.lost != 31 {
		t.Errorf("%d are counted as lost, want 31", b.lost)
	}
	if _, any := b.take(); any {
		t.Error("a batch is taken twice")
	}
}

// However many engines and tables there are, metrics have so many rows, and the
// bytes of all of them.
func TestTotalsAreBounded(t *testing.T) {
	o := New(Options{})
	registry := prometheus.NewRegistry()
	in := NewInterpreter(o, InterpreterOptions{
		Registerer: registry, Held: func(laketap.ObjectName, int64, int64) ([]byte, laketap.Object, bool) {
			return nil, laketap.Object{}, false
		},
	})
	const n = 3000
	for i := range n {
		o.Access(laketap.Access{
			Tap: laketap.StorageTap, Op: "GetObject", Engine: laketap.Engine{Name: "e" + strconv.Itoa(i%7)}, TableName: "t" + strconv.Itoa(i),
			Object: laketap.ObjectName{Key: "a.metadata.json"}, Size: 10, Status: 200, BytesOut: 10,
		})
	}
	in.Interpret()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "laketap_observe_part_bytes_total" {
			continue
		}
		sum, others := 0.0, 0
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue()
			if m.GetLabel()[0].GetValue() == other {
				others++
			}
		}
		if rows := len(f.GetMetric()); rows != maxTotals+1 || others != 1 || sum != 10*n {
			t.Errorf("%d rows, %d of them other, of %v bytes", rows, others, sum)
		}
		return
	}
	t.Error("no bytes are counted")
}

// Those that wait are tried in the order in which they came, and none is tried
// when the one before it on the same object had to go on waiting.
func TestWaitingInLine(t *testing.T) {
	w := newWaiting(5)
	for i := range 7 {
		one := waiter{access: laketap.Access{Object: laketap.ObjectName{Key: strconv.Itoa(i % 2)}, BytesOut: int64(i)}, since: time.Unix(int64(i), 0)}
		if added := w.add(one); added != (i < 5) {
			t.Errorf("waiter %d: added %v", i, added)
		}
	}
	var tried []int64
	w.retry(time.Unix(10, 0), func(one *waiter, _ time.Time) bool {
		if one.access.Object.Key == "0" {
			tried = append(tried, one.access.BytesOut)
		}
		return one.access.BytesOut < 2
	})
	if fmt.Sprint(tried) != "[0 2]" || w.n != 3 {
		t.Errorf("tried %v; %d wait", tried, w.n)
	}
	w.retry(time.Unix(10, 0), func(*waiter, time.Time) bool { t.Error("tried again at once"); return true })
	var gone []int64
	w.expire(time.Unix(10, 0), 7*time.Second, func(one *waiter) { gone = append(gone, one.access.BytesOut) })
	if len(gone) != 2 || w.n != 1 || len(w.objects) != 1 {
		t.Errorf("%v are given up; %d wait", gone, w.n)
	}
}
