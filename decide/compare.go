package decide

import (
	"math"
	"time"
)

// A Sample is what was measured of some targets: how many, their mean, and how
// far they lie apart.
type Sample struct {
	N    int64
	Mean float64
	Var  float64 // of the sample, with N-1; 0 if N < 2
}

// SampleOf returns the sample of n values from their sum and the sum of their
// squares, which is how a memory keeps them.
func SampleOf(n int64, sum, squares float64) Sample {
	s := Sample{N: n}
	if n > 0 {
		s.Mean = sum / float64(n)
	}
	if n > 1 {
		// Rounding may leave a little less than nothing.
		s.Var = max(0, (squares-sum*s.Mean)/float64(n-1))
	}
	return s
}

// A Difference is what targets that were left alone cost more than the others, a
// target: the gain.
type Difference struct {
	Mean      float64
	Low, High float64 // 95 % of such intervals have the true difference in them
	Known     bool    // there is enough to say so
}

// minSample is how many targets each side needs. Below it an interval of a
// quantity as skewed as a wait would be a claim without ground.
const minSample = 5

// Compare returns by how much held is above treated, with Welch's interval: the
// two sides have neither the same size nor the same spread, and nothing ties one
// target to another, since which are held out is decided by a hash of their names.
func Compare(treated, held Sample) Difference {
	d := Difference{Mean: held.Mean - treated.Mean}
	d.Low, d.High = math.Inf(-1), math.Inf(1)
	if treated.N < minSample || held.N < minSample {
		return d
	}
	a, b := treated.Var/float64(treated.N), held.Var/float64(held.N)
	d.Known = true
	if a+b == 0 {
		d.Low, d.High = d.Mean, d.Mean
		return d
	}
	// Degrees of freedom by Welch and Satterthwaite.
	df := (a + b) * (a + b) / (a*a/float64(treated.N-1) + b*b/float64(held.N-1))
	half := student(df) * math.Sqrt(a+b)
	d.Low, d.High = d.Mean-half, d.Mean+half
	return d
}

// student returns the 97.5 % quantile of Student's t distribution: the normal
// one's, expanded in 1/df (Cornish and Fisher; Abramowitz and Stegun 26.7.5). From
// 3 degrees of freedom on it is right to 1 %; what is below, which minSample rules
// out, is taken as 2's.
func student(df float64) float64 {
	const z = 1.959964
	if df < 3 {
		return 4.303
	}
	const z3, z5, z7 = z * z * z, z * z * z * z * z, z * z * z * z * z * z * z
	return z + (z3+z)/(4*df) + (5*z5+16*z3+3*z)/(96*df*df) + (3*z7+19*z5+17*z3-15*z)/(384*df*df*df)
}

// Wait returns a difference of seconds as durations.
func (d Difference) Wait() (mean, low, high time.Duration) {
	to := func(s float64) time.Duration {
		if math.IsInf(s, 0) {
			return 0
		}
		return time.Duration(s * float64(time.Second))
	}
	return to(d.Mean), to(d.Low), to(d.High)
}
