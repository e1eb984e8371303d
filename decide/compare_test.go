package decide_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/laketap/laketap/decide"
)

func sampleOf(values []float64) decide.Sample {
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum, squares = sum+v, squares+v*v
	}
	return decide.SampleOf(int64(len(values)), sum, squares)
}

// The interval of a textbook's example: Welch's test of two samples, computed with
// R's t.test(held, treated).
func TestCompareIsWelchs(t *testing.T) {
	treated := sampleOf([]float64{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4})
	held := sampleOf([]float64{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.1})
	d := decide.Compare(treated, held)
	// Means 23.63 and 20.82, df 27.98 by Welch and Satterthwaite: t 2.0485.
	if math.Abs(d.Mean-2.8133) > 1e-3 || math.Abs(d.Low-0.77) > 0.05 || math.Abs(d.High-4.86) > 0.05 || !d.Known {
		t.Errorf("%+v", d)
	}
}

// Of many intervals, 95 of 100 have the true difference in them.
func TestCompareCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	const rounds, gain = 4000, 3.0
	for _, n := range [][2]int{{5, 5}, {20, 6}, {200, 10}} {
		covered := 0
		for range rounds {
			treated, held := make([]float64, n[0]), make([]float64, n[1])
			for i := range treated {
				treated[i] = 10 + r.NormFloat64()
			}
			for i := range held {
				held[i] = 10 + gain + 4*r.NormFloat64()
			}
			if d := decide.Compare(sampleOf(treated), sampleOf(held)); d.Low <= gain && gain <= d.High {
				covered++
			}
		}
		if share := float64(covered) / rounds; share < 0.93 || share > 0.97 {
			t.Errorf("%d and %d values: %.1f %% of the intervals cover the difference", n[0], n[1], 100*share)
		}
	}
}

// Too little is no ground for a claim, and no spread is no interval.
func TestCompareLittle(t *testing.T) {
	same := []float64{1, 1, 1, 1, 1}
	if d := decide.Compare(sampleOf(same[:4]), sampleOf(same)); d.Known || !math.IsInf(d.Low, -1) || !math.IsInf(d.High, 1) {
		t.Errorf("of four: %+v", d)
	}
	if mean, low, high := decide.Compare(sampleOf(same), sampleOf([]float64{3, 3, 3, 3, 3})).Wait(); mean != 2*time.Second || low != mean || high != mean {
		t.Errorf("of no spread: %v, %v to %v", mean, low, high)
	}
	if _, low, high := decide.Compare(decide.Sample{}, decide.Sample{}).Wait(); low != 0 || high != 0 {
		t.Errorf("of nothing: %v to %v", low, high)
	}
	// Rounding makes no negative variance.
	if s := decide.SampleOf(3, 3e9, 3e18); s.Var < 0 || s.Mean != 1e9 {
		t.Errorf("%+v", s)
	}
}
