package decide

import (
	"time"

	"github.com/laketap/laketap"
)

// A Credit bounds what a habit costs that may no longer hold: each object that a
// column is brought of takes one, each that turns out to be used gives some back.
// So it lasts as long as enough of what is brought is used, and when a workload
// turns to other columns at once, no more than [CreditLimits].Objects are brought
// in vain, however many files are opened how fast. It grows slowly by itself,
// which is the next try.
type Credit struct {
	left float64
	at   time.Time // of left
}

// CreditLimits say how much a credit is.
type CreditLimits struct {
	Objects float64 // at most, and at first
	Back    float64 // for each object that is used
	Hourly  float64 // by itself
}

// limitsOf returns the limits of a policy: what is brought when a file is opened
// is used within the query or not at all, while files of a commit are many and
// wait for whoever comes.
func limitsOf(p laketap.Policy, floor float64) CreditLimits {
	if p == laketap.WarmPolicy {
		return CreditLimits{Objects: 512, Back: 1 / floor, Hourly: 64}
	}
	return CreditLimits{Objects: 32, Back: 1 / floor, Hourly: 4}
}

// Spend takes one; ok is false if there is none left.
func (c *Credit) Spend(now time.Time, l CreditLimits) (ok bool) {
	c.grow(now, l)
	if c.left < 1 {
		return false
	}
	c.left--
	return true
}

// Used gives back what one use is worth.
func (c *Credit) Used(now time.Time, l CreditLimits) {
	c.grow(now, l)
	c.left = min(l.Objects, c.left+l.Back)
}

// grow brings it up to now. Time that goes back gives nothing.
func (c *Credit) grow(now time.Time, l CreditLimits) {
	switch {
	case c.at.IsZero():
		c.left, c.at = l.Objects, now
	case now.After(c.at):
		c.left = min(l.Objects, c.left+now.Sub(c.at).Hours()*l.Hourly)
		c.at = now
	}
}

// full reports whether it is as good as one that was never used.
func (c *Credit) full(l CreditLimits) bool { return c.left >= l.Objects }
