package laketap_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/laketap/laketap"
)

var start = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func TestHeatHalves(t *testing.T) {
	h := laketap.Heat{}.Add(start, 8)
	for days, want := range map[int]float64{0: 8, 7: 4, 14: 2, 21: 1} {
		if got := h.At(start.AddDate(0, 0, days)); math.Abs(got-want) > 1e-12 {
			t.Errorf("after %d days: %v, want %v", days, got, want)
		}
	}
	if got := (laketap.Heat{}).At(start); got != 0 {
		t.Errorf("no heat is %v", got)
	}
}

// The formula against the sum that it stands for, over uses in any order and
// in any grouping.
func TestHeatIsTheSumOfItsUses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var all, left, right laketap.Heat
		now := start.AddDate(0, 3, 0)
		sum := 0.0
		for range 1 + rnd.IntN(50) {
			at, v := start.Add(time.Duration(rnd.Int64N(int64(90*24*time.Hour)))), rnd.Float64()*10
			sum += v * math.Exp2(-float64(now.Sub(at))/float64(laketap.HalfLife))
			all = all.Add(at, v)
			if rnd.IntN(2) == 0 {
				left = left.Add(at, v)
			} else {
				right = right.Add(at, v)
			}
		}
		for how, got := range map[string]float64{
			"one by one": all.At(now), "grouped": left.Plus(right).At(now), "the other way round": right.Plus(left).At(now),
			"half and half": all.Times(0.5).Plus(all.Times(0.5)).At(now),
		} {
			if math.Abs(got-sum) > 1e-9*(1+sum) {
				t.Fatalf("%s: %v, want %v", how, got, sum)
			}
		}
	}
}
