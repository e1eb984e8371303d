package laketap

import (
	"math"
	"time"
)

// HalfLife is how long it takes heat to halve when nothing is added.
const HalfLife = 7 * 24 * time.Hour

// Heat is how often and how lately something was used: the sum of all uses,
// each halved once for every [HalfLife] that has passed since. It is kept as
// its value at a time and is exact: however uses are grouped, and in whatever
// order they are added, the sum is the same up to rounding. The zero value has
// no heat.
type Heat struct {
	Value float64   // at Time
	Time  time.Time // of the latest use
}

// At returns the heat at a time. Before the latest use it is what that use
// and the ones before it will have been worth, so that times of several nodes
// can be compared.
func (h Heat) At(t time.Time) float64 {
	if h.Value == 0 {
		return 0
	}
	return h.Value * decay(t.Sub(h.Time))
}

// Add returns the heat with a use of weight v at t.
func (h Heat) Add(t time.Time, v float64) Heat { return h.Plus(Heat{v, t}) }

// Plus returns the sum of two heats.
func (h Heat) Plus(other Heat) Heat {
	switch {
	case other.Value == 0:
		return h
	case h.Value == 0:
		return other
	case other.Time.After(h.Time):
		h, other = other, h
	}
	h.Value += other.At(h.Time)
	return h
}

// Times returns the heat of a share of the uses.
func (h Heat) Times(share float64) Heat { return Heat{h.Value * share, h.Time} }

// decay is what is left of 1 after d.
func decay(d time.Duration) float64 { return math.Exp2(-float64(d) / float64(HalfLife)) }
