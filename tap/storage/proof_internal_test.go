package storage

import (
	"strconv"
	"testing"
	"time"
)

// C13: a proof is of one right, and ends.
func TestProofs(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := newProofs(func() time.Time { return now }, false)
	want := func(proven, renew bool) {
		t.Helper()
		if gotProven, gotRenew := p.valid("a"); gotProven != proven || gotRenew != renew {
			t.Errorf("proven %v, renew %v; want %v, %v", gotProven, gotRenew, proven, renew)
		}
	}
	want(false, false)
	for _, status := range []int{404, 412, 416, 500, 503} { // say nothing about the right
		p.learn("a", now, status)
		want(false, false)
	}
	p.learn("a", now, 206)
	want(true, false)
	if proven, _ := p.valid("b"); proven {
		t.Error("one's proof is another's")
	}
	now = now.Add(proofRenews)
	want(true, true)
	want(true, false) // somebody renews it
	p.renewed("a")    // in vain
	want(true, true)
	p.learn("a", now, 304)
	want(true, false)
	now = now.Add(proofLasts)
	want(false, false)

	for _, status := range []int{400, 401, 403} {
		p.learn("a", now, 200)
		p.learn("a", now, status)
		want(false, false)
	}
	// An answer to what was asked long ago is no newer for having come late.
	p.learn("a", now.Add(-proofLasts), 200)
	want(false, false)
	now = now.Add(-time.Hour) // a clock that was set back proves nothing
	p.learn("a", now.Add(time.Hour), 200)
	want(false, false)
}

func TestProofsAreBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := newProofs(func() time.Time { return now }, false)
	for i := range maxProofs + 100 {
		if i == maxProofs/2 {
			now = now.Add(proofLasts)
		}
		p.learn(strconv.Itoa(i), now, 200)
	}
	if len(p.seen) > maxProofs {
		t.Errorf("%d proofs, want at most %d", len(p.seen), maxProofs)
	}
	if proven, _ := p.valid(strconv.Itoa(maxProofs + 99)); !proven {
		t.Error("the latest proof was pruned and those that had run out were not")
	}
}
