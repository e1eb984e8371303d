package observe_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

// model is a ring as anybody would write it: everything, in a slice.
type model struct {
	all  []laketap.NumberedAccess
	size int
}

func (m *model) kept() []laketap.NumberedAccess { return m.all[max(0, len(m.all)-m.size):] }

// answer is what a query must return.
func (m *model) answer(q laketap.AccessQuery) laketap.AccessPage {
	kept := m.kept()
	last := uint64(len(m.all))
	if q.Newest {
		var found []laketap.NumberedAccess
		for i := len(kept) - 1; i >= 0 && len(found) < q.Limit; i-- {
			if matches(kept[i].Access, q) {
				found = append([]laketap.NumberedAccess{kept[i]}, found...)
			}
		}
		return laketap.AccessPage{Accesses: found, Next: last}
	}
	if q.After > last {
		q.After = 0
	}
	page := laketap.AccessPage{Next: q.After}
	for _, a := range kept {
		if a.Seq <= q.After || len(page.Accesses) == q.Limit {
			continue
		}
		if page.Next+1 < kept[0].Seq {
			page.Missed = kept[0].Seq - 1 - page.Next
		}
		page.Next = a.Seq
		if matches(a.Access, q) {
			page.Accesses = append(page.Accesses, a)
		}
	}
	return page
}

func matches(a laketap.Access, q laketap.AccessQuery) bool {
	return (q.Tap == "" || q.Tap == a.Tap) && (q.Op == "" || q.Op == a.Op) &&
		(q.Engine == "" || q.Engine == a.Engine.Name || q.Engine == a.Engine.String()) &&
		(q.Table == "" || q.Table == a.TableName || q.Table == a.Table.UUID)
}

func TestRingIsLikeASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 7, 100, 1023, 1024, 1025, 2100}).Draw(t, "size")
		m := &model{size: size}
		o := observe.New(observe.Options{Accesses: size})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.IntRange(1, 300).Draw(t, "count") {
					n := len(m.all) % 5
					a := get([]laketap.Engine{spark, duckdb}[n%2], n)
					a.Tap = []laketap.Tap{laketap.CatalogTap, laketap.StorageTap}[n%3%2]
					o.Access(a)
					m.all = append(m.all, laketap.NumberedAccess{Seq: uint64(len(m.all) + 1), Access: a})
				}
			},
			"query": func(t *rapid.T) {
				q := laketap.AccessQuery{
					After:  rapid.Uint64Range(0, uint64(len(m.all)+10)).Draw(t, "after"),
					Newest: rapid.Bool().Draw(t, "newest"),
					Limit:  rapid.IntRange(1, 3000).Draw(t, "limit"),
					Tap:    rapid.SampledFrom([]laketap.Tap{"", laketap.CatalogTap, laketap.StorageTap}).Draw(t, "tap"),
					Op:     rapid.SampledFrom([]string{"", "GetObject", "PutObject"}).Draw(t, "op"),
					Engine: rapid.SampledFrom([]string{"", "spark", "duckdb/1.5.5", "trino"}).Draw(t, "engine"),
					Table:  rapid.SampledFrom([]string{"", "tpch.t1", tableID(2).UUID, "none"}).Draw(t, "table"),
				}
				got, want := o.Accesses(q), m.answer(q)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("query %+v of %d accesses (-want +got):\n%s", q, len(m.all), diff)
				}
			},
		})
	})
}

func TestRingPagesThroughEverything(t *testing.T) {
	o := observe.New(observe.Options{Accesses: 5000})
	for n := range 4321 {
		o.Access(get(spark, n))
	}
	var seen int
	for after := uint64(0); ; {
		page := o.Accesses(laketap.AccessQuery{After: after, Limit: 100})
		if len(page.Accesses) == 0 {
			break
		}
		for _, a := range page.Accesses {
			seen++
			if a.Seq != uint64(seen) {
				t.Fatalf("got number %d, want %d", a.Seq, seen)
			}
		}
		after = page.Next
	}
	if seen != 4321 {
		t.Errorf("saw %d accesses, want 4321", seen)
	}
}

func TestRingDefaultLimit(t *testing.T) {
	o := observe.New(observe.Options{})
	for n := range 1500 {
		o.Access(get(spark, n))
	}
	if got := len(o.Accesses(laketap.AccessQuery{}).Accesses); got != 1000 {
		t.Errorf("got %d accesses without a limit, want 1000", got)
	}
}

func TestRingIsBoundedInBytes(t *testing.T) {
	const limit = 64 << 10
	o := observe.New(observe.Options{Accesses: 10_000, AccessBytes: limit})
	a := get(spark, 1)
	a.Object.Key = strings.Repeat("k", 1000)
	for range 1000 {
		o.Access(a)
	}
	page := o.Accesses(laketap.AccessQuery{Limit: 10_000})
	if got := len(page.Accesses); got < 20 || got*1000 > limit {
		t.Errorf("kept %d accesses of more than 1,000 bytes each in %d bytes", got, limit)
	}
	if page.Missed+uint64(len(page.Accesses)) != 1000 {
		t.Errorf("missed %d and got %d, want 1000 together", page.Missed, len(page.Accesses))
	}
}

func TestRingKeepsOneThatIsTooLarge(t *testing.T) {
	o := observe.New(observe.Options{AccessBytes: 1})
	for n := range 3 {
		o.Access(get(spark, n))
	}
	page := o.Accesses(laketap.AccessQuery{})
	if len(page.Accesses) != 1 || page.Accesses[0].Seq != 3 {
		t.Errorf("got %+v, want access 3 alone", page)
	}
}

func TestStringsAreClipped(t *testing.T) {
	o := observe.New(observe.Options{})
	a := get(spark, 1)
	a.Object.Key = strings.Repeat("ü", 10_000)
	a.Err = strings.Repeat("e", 10_000)
	a.Principal = "\xff" + strings.Repeat("p", 10_000)
	o.Access(a)
	got := o.Accesses(laketap.AccessQuery{}).Accesses[0]
	for name, s := range map[string]string{"key": got.Object.Key, "err": got.Err, "principal": got.Principal} {
		if len(s) > 2100 {
			t.Errorf("%s: kept %d bytes, want about 2,048", name, len(s))
		}
		if !strings.HasPrefix(s, strings.ToValidUTF8(s, "\uFFFD")) {
			t.Errorf("%s: is no valid text", name)
		}
	}
}

func TestTimeOfAnAccessIsFilledIn(t *testing.T) {
	o := observe.New(observe.Options{Now: func() time.Time { return start }})
	o.Access(laketap.Access{})
	if got := o.Accesses(laketap.AccessQuery{}).Accesses[0].At; !got.Equal(start) {
		t.Errorf("got %v, want %v", got, start)
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe.New(observe.Options{})
		woken := make(chan error, 3)
		for range 3 {
			go func() { woken <- o.Wait(t.Context(), 0) }()
		}
		synctest.Wait()
		if len(woken) != 0 {
			t.Fatal("woke up without an access")
		}
		o.Access(get(spark, 1))
		for range 3 {
			if err := <-woken; err != nil {
				t.Errorf("Wait: %v", err)
			}
		}
	})
}

func TestWaitReturnsAtOnce(t *testing.T) {
	o := observe.New(observe.Options{})
	o.Access(get(spark, 1))
	o.Access(get(spark, 2))
	for _, after := range []uint64{0, 1, 99} { // 99: from before a restart
		if err := o.Wait(t.Context(), after); err != nil {
			t.Errorf("Wait after %d: %v", after, err)
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe.New(observe.Options{})
		why := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { done <- o.Wait(ctx, 0) }()
		synctest.Wait()
		cancel(why)
		if err := <-done; !errors.Is(err, why) {
			t.Errorf("got %v, want %v", err, why)
		}
	})
}

// A follower that waits and reads sees every access exactly once while taps
// record from many sides.
func TestFollowSeesEverything(t *testing.T) {
	const writers, each = 8, 500
	o := observe.New(observe.Options{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				o.Access(get(spark, w*each+n))
			}
		})
	}
	seen := map[string]int{}
	for after := uint64(0); after < writers*each; {
		if err := o.Wait(t.Context(), after); err != nil {
			t.Fatal(err)
		}
		page := o.Accesses(laketap.AccessQuery{After: after, Limit: 64})
		if page.Missed != 0 {
			t.Fatalf("missed %d", page.Missed)
		}
		for _, a := range page.Accesses {
			seen[a.RequestID]++
		}
		after = page.Next
	}
	wg.Wait()
	if len(seen) != writers*each {
		t.Errorf("saw %d different accesses, want %d", len(seen), writers*each)
	}
}
