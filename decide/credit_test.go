package decide_test

import (
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/decide"
)

var limits = decide.CreditLimits{Objects: 32, Back: 2.5, Hourly: 4}

// A workload that turns to other columns at once costs no more than a credit, at
// whatever pace files are opened.
func TestFlipStopsCosting(t *testing.T) {
	var c decide.Credit
	at := now
	for range 10_000 { // while it holds, nothing is in its way
		if !c.Spend(at, limits) {
			t.Fatal("a habit that holds has no credit")
		}
		c.Used(at, limits)
		at = at.Add(time.Second)
	}
	wasted := 0
	for range 3600 {
		if c.Spend(at, limits) {
			wasted++
		}
		at = at.Add(time.Second)
	}
	if most := int(limits.Objects + limits.Hourly); wasted > most {
		t.Errorf("%d objects were brought in vain within an hour, at most %d", wasted, most)
	}
}

// A habit half of which holds goes on, if the floor is at or below it.
func TestFloor(t *testing.T) {
	for every, goesOn := range map[int]bool{2: true, 4: false} { // one of so many is used; back is 1/0.4
		var c decide.Credit
		brought := 0
		for range 1000 {
			if c.Spend(now, limits) {
				if brought++; brought%every == 0 {
					c.Used(now, limits)
				}
			}
		}
		if (brought == 1000) != goesOn {
			t.Errorf("one of %d used: %d of 1000 brought", every, brought)
		}
	}
}

// Time that goes back gives nothing, and a long time no more than all.
func TestCreditOverTime(t *testing.T) {
	var c decide.Credit
	for c.Spend(now, limits) {
		continue
	}
	if c.Spend(now.Add(-time.Hour), limits) {
		t.Error("time that goes back gives credit")
	}
	if !c.Spend(now.Add(15*time.Minute), limits) || c.Spend(now.Add(15*time.Minute), limits) {
		t.Error("a quarter of an hour gives another credit than one")
	}
	n := 0
	for later := now.Add(10_000 * time.Hour); c.Spend(later, limits); n++ {
		continue
	}
	if n != 32 {
		t.Errorf("a long time gives %d", n)
	}
}

func TestBoard(t *testing.T) {
	table := laketap.TableID{Catalog: "lake", UUID: "u"}
	d := laketap.Decision{ID: "1", Policy: laketap.PrefetchPolicy, Target: laketap.Target{Table: table, Fields: []int{1}}, Until: now.Add(time.Hour)}
	advice, undone, warm := d, d, d
	advice.Advice, advice.Target.Table.UUID = true, "v"
	undone.Undone, undone.Target.Table.UUID = now, "w"
	warm.Policy, warm.Target.Snapshot = laketap.WarmPolicy, 7
	all := []laketap.Decision{d, advice, undone, warm}
	b := decide.NewBoard(0)
	standing := func(p laketap.Policy, uuid string, snapshot int64, at time.Time) bool {
		of := table
		of.UUID = uuid
		return b.Standing(p, of, snapshot, at) != nil
	}
	if standing(laketap.PrefetchPolicy, "u", 0, now) {
		t.Error("something stands on an empty board")
	}
	b.Show(all, false)
	for name, tt := range map[string]struct {
		got, want bool
	}{
		"stands":             {standing(laketap.PrefetchPolicy, "u", 0, now), true},
		"of another policy":  {standing(laketap.KeepPolicy, "u", 0, now), false},
		"advice":             {standing(laketap.PrefetchPolicy, "v", 0, now), false},
		"undone":             {standing(laketap.PrefetchPolicy, "w", 0, now), false},
		"over":               {standing(laketap.PrefetchPolicy, "u", 0, now.Add(time.Hour)), false},
		"commit":             {standing(laketap.WarmPolicy, "u", 7, now), true},
		"another commit":     {standing(laketap.WarmPolicy, "u", 8, now), false},
		"all of a policy":    {len(b.All(laketap.WarmPolicy, now)) == 1, true},
		"none of it is over": {len(b.All(laketap.WarmPolicy, now.Add(time.Hour))) == 0, true},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v", name, tt.got)
		}
	}
	b.Show(all, true)
	if standing(laketap.PrefetchPolicy, "u", 0, now) || len(b.All(laketap.WarmPolicy, now)) > 0 {
		t.Error("something stands while paused")
	}
}

// Credits of habits of long ago make room for others, and those of now do not.
func TestBoardForgetsOldCredits(t *testing.T) {
	d := &laketap.Decision{Policy: laketap.PrefetchPolicy, Target: laketap.Target{Table: laketap.TableID{UUID: "u"}}}
	b := decide.NewBoard(0)
	full := 0
	for ; b.Spend(d, full, now); full++ {
		if full > 1_000_000 {
			t.Fatal("credits are not bounded")
		}
	}
	if b.Spend(d, full, now.Add(2*time.Minute)) {
		t.Error("there is room though all credits are in use")
	}
	if !b.Spend(d, full, now.AddDate(1, 0, 0)) {
		t.Errorf("after a year there is no room beside %d habits that spent once", full)
	}
}

// The board keeps the credit of a column over what is shown anew, apart for each
// column, and in bounds.
func TestBoardsCredit(t *testing.T) {
	d := &laketap.Decision{Policy: laketap.PrefetchPolicy, Target: laketap.Target{Table: laketap.TableID{UUID: "u"}}}
	b := decide.NewBoard(0.5)
	n := 0
	for ; b.Spend(d, 1, now); n++ {
		b.Show(nil, false)
	}
	if n != 32 {
		t.Errorf("%d objects without one that is used", n)
	}
	if !b.Spend(d, 2, now) {
		t.Error("another column has no credit of its own")
	}
	b.Used(d, 1, now)
	b.Used(d, 99, now) // that nothing was brought of
	n = 0
	for b.Spend(d, 1, now) {
		n++
	}
	if n != 2 {
		t.Errorf("a use at a floor of one half gives back %d", n)
	}
}
