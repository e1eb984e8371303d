package decide_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/decide"
)

// invent makes up a memory, whatever it may say.
func invent(t *rapid.T) *decide.View {
	odd := rapid.SampledFrom([]float64{0, 0.5, 3, 5, 100, 1e300, math.Inf(1), math.NaN(), -4})
	size := rapid.SampledFrom([]int64{-1, 0, 1, 4096, 1 << 20, 1 << 40, math.MaxInt64})
	id := func() laketap.TableID {
		return laketap.TableID{Catalog: "lake", UUID: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "uuid")}
	}
	at := func() time.Time {
		return now.Add(time.Duration(rapid.Int64Range(-200, 200).Draw(t, "hours")) * time.Hour / 4)
	}
	field := rapid.IntRange(-1, 80)
	v := &decide.View{}
	for range rapid.IntRange(0, 4).Draw(t, "tables") {
		facts := laketap.TableFacts{ID: id(), Name: rapid.SampledFrom([]string{"n.a", "", "odd [name"}).Draw(t, "name")}
		for range rapid.IntRange(0, 80).Draw(t, "columns") {
			facts.Columns = append(facts.Columns, laketap.Column{Field: field.Draw(t, "field"), Name: "c", Dropped: rapid.Bool().Draw(t, "dropped")})
		}
		v.Tables = append(v.Tables, facts)
	}
	kinds := rapid.SampledFrom([]laketap.HabitKind{laketap.TableHabit, laketap.TableHabit, laketap.ColumnHabit, laketap.ColumnHabit, laketap.PartitionHabit, laketap.HourHabit, "odd"})
	for range rapid.IntRange(0, 60).Draw(t, "habits") {
		v.Habits = append(v.Habits, laketap.Habit{
			Table: id(), Kind: kinds.Draw(t, "kind"), Field: field.Draw(t, "field"), Value: rapid.SampledFrom([]string{"", "1=a", "1=b"}).Draw(t, "value"),
			Engine: engine(rapid.SampledFrom([]string{"spark", "duckdb", ""}).Draw(t, "engine")),
			Uses:   laketap.Heat{Value: odd.Draw(t, "uses"), Time: at()}, Bytes: size.Draw(t, "bytes"), First: at(), Last: at(),
		})
	}
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		c := laketap.Change{At: at(), Table: id(), To: rapid.Int64Range(0, 5).Draw(t, "to")}
		for i := range rapid.IntRange(0, 8).Draw(t, "files") {
			f := laketap.File{Content: laketap.DataContent, Partition: rapid.SampledFrom([]string{"", "1=a", "1=z"}).Draw(t, "partition")}
			f.Object.Key, f.Object.Size = strconv.Itoa(i), size.Draw(t, "size")
			c.Added = append(c.Added, f)
		}
		v.Changes = append(v.Changes, c)
	}
	policies := rapid.SampledFrom([]laketap.Policy{laketap.KeepPolicy, laketap.PrefetchPolicy, laketap.WarmPolicy})
	for range rapid.IntRange(0, 6).Draw(t, "decisions") {
		d := laketap.Decision{ID: "x", Policy: policies.Draw(t, "policy"), Made: at(), Until: at(), Gain: laketap.Gain{Bytes: size.Draw(t, "gain")}}
		d.Target = laketap.Target{Table: id(), Fields: []int{field.Draw(t, "field")}, Snapshot: rapid.Int64Range(0, 5).Draw(t, "snapshot")}
		if rapid.Bool().Draw(t, "undone") {
			d.Undone = at()
		}
		v.Decisions = append(v.Decisions, d)
	}
	for range rapid.IntRange(0, 6).Draw(t, "came") {
		v.Came = append(v.Came, decide.Came{Policy: policies.Draw(t, "policy"), Table: id(), Field: field.Draw(t, "field"), Used: size.Draw(t, "used"), Wasted: size.Draw(t, "wasted"), Last: at()})
	}
	return v
}

// Whatever the memory says: budgets hold, nothing that a person undid comes back,
// what is named exists, and the same memory gives the same decisions.
func TestDecisionsOfAnyMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := invent(t)
		s := decide.Settings{Cache: rapid.SampledFrom([]int64{0, 1 << 20, 1 << 40}).Draw(t, "cache")}
		all := decide.Decide(v, now, s)
		room := int64(10 << 30)
		if s.Cache != 0 {
			room = s.Cache
		}
		var warmed int64
		for i := range all {
			check(t, v, &all[i])
			if all[i].Policy == laketap.WarmPolicy {
				warmed += all[i].Gain.Bytes
			}
		}
		if warmed > room/4 {
			t.Fatalf("%d bytes are to be brought unasked, of a cache of %d", warmed, room)
		}
		if again := decide.Decide(v, now, s); fmt.Sprint(all) != fmt.Sprint(again) {
			t.Fatalf("the same memory gives\n%v\nand\n%v", all, again)
		}
	})
}

// check looks at one decision.
func check(t *rapid.T, v *decide.View, d *laketap.Decision) {
	for i := range v.Decisions {
		if old := &v.Decisions[i]; !old.Undone.IsZero() && old.Fingerprint() == d.Fingerprint() {
			t.Fatalf("%+v was undone and comes back", d)
		}
	}
	known := slices.IndexFunc(v.Tables, func(f laketap.TableFacts) bool { return f.ID == d.Target.Table })
	switch {
	case d.Target.Table.UUID == "" || known < 0:
		t.Fatalf("%+v is about a table that nobody knows", d)
	case len(d.Target.Fields) > 64 || len(d.Target.Partitions) > 64 || len(d.Evidence) > 16:
		t.Fatalf("%+v names too much", d)
	case !slices.IsSorted(d.Target.Fields) || len(d.Target.Fields) != len(d.Target.Columns):
		t.Fatalf("%+v has columns in disorder", d)
	case d.Gain.Bytes < 0 || d.Gain.Wait < 0 || math.IsNaN(d.Gain.Requests) || d.Gain.Requests < 0:
		t.Fatalf("%+v gains less than nothing", d)
	case !d.Until.After(d.Made) || !d.Made.Equal(now) || d.Reason == "":
		t.Fatalf("%+v has no time or no reason", d)
	case d.Control != 0.05:
		t.Fatalf("%+v leaves another share alone than was asked for", d)
	}
	for _, f := range d.Target.Fields {
		if !slices.ContainsFunc(v.Tables[known].Columns, func(c laketap.Column) bool { return c.Field == f && !c.Dropped }) {
			t.Fatalf("%+v is about a column that is not there: %d", d, f)
		}
	}
}

// What is written down follows what is wanted: new under an id of its own, going
// on under the old one, ended where other columns are wanted or none.
func TestReconcile(t *testing.T) {
	made := func(policy laketap.Policy, uuid string, fields ...int) laketap.Decision {
		return laketap.Decision{Policy: policy, Target: laketap.Target{Table: laketap.TableID{UUID: uuid}, Fields: fields}, Made: now, Until: now.Add(24 * time.Hour)}
	}
	old := func(d laketap.Decision, id string, left time.Duration) laketap.Decision {
		d.ID, d.Made, d.Until = id, now.Add(-time.Hour), now.Add(left)
		return d
	}
	n := 0
	newID := func() string { n++; return fmt.Sprint("new", n) }
	known := []laketap.Decision{
		old(made(laketap.PrefetchPolicy, "same", 1), "same", 20*time.Hour),
		old(made(laketap.PrefetchPolicy, "ends soon", 1), "ends soon", time.Hour),
		old(made(laketap.PrefetchPolicy, "other columns", 1), "other columns", 20*time.Hour),
		old(made(laketap.PrefetchPolicy, "no more", 1), "no more", 20*time.Hour),
		old(made(laketap.WarmPolicy, "commit", 1), "commit", time.Hour),
		old(made(laketap.PrefetchPolicy, "over", 1), "over", -time.Minute),
	}
	wanted := []laketap.Decision{
		made(laketap.PrefetchPolicy, "same", 1), made(laketap.PrefetchPolicy, "ends soon", 1), made(laketap.PrefetchPolicy, "other columns", 1, 2),
		made(laketap.PrefetchPolicy, "over", 1), made(laketap.KeepPolicy, "same", 1),
	}
	got := map[string]string{}
	for _, d := range decide.Reconcile(known, wanted, now, newID) {
		got[d.ID] = fmt.Sprint(d.Target.Table.UUID, " ", d.Target.Fields, " made ", d.Made.Sub(now), " until ", d.Until.Sub(now))
	}
	want := map[string]string{
		"ends soon":     "ends soon [1] made -1h0m0s until 24h0m0s",
		"other columns": "other columns [1] made -1h0m0s until 0s",
		"no more":       "no more [1] made -1h0m0s until 0s",
		"new1":          "other columns [1 2] made 0s until 24h0m0s",
		"new2":          "over [1] made 0s until 24h0m0s",
		"new3":          "same [1] made 0s until 24h0m0s",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}
