package decide

import (
	"sync"
	"time"

	"github.com/laketap/laketap"
)

// A Board shows what stands, for those who carry decisions out, many times a
// second, and keeps the credit of each habit. It asks nobody.
type Board struct {
	floor float64

	mu       sync.Mutex
	paused   bool
	standing map[place]*laketap.Decision
	credits  map[creditOf]*Credit
	pruned   time.Time // when all of them were last looked at
}

// A place is where a decision is found. Of a policy there is one a table, but for
// commits, which have one each.
type place struct {
	policy   laketap.Policy
	table    laketap.TableID
	snapshot int64
}

type creditOf struct {
	policy laketap.Policy
	table  laketap.TableID
	field  int
}

// maxCredits bounds the credits that are kept.
const maxCredits = 100_000

// NewBoard returns a board on which nothing stands. floor is that of [Settings].
func NewBoard(floor float64) *Board {
	if floor <= 0 {
		floor = Settings{}.withDefaults().Floor
	}
	return &Board{floor: floor, standing: map[place]*laketap.Decision{}, credits: map[creditOf]*Credit{}}
}

// Show replaces what stands. Advice is not shown: nobody is to act on it. While
// paused nothing stands.
func (b *Board) Show(decisions []laketap.Decision, paused bool) {
	standing := make(map[place]*laketap.Decision, len(decisions))
	for i := range decisions {
		if d := decisions[i]; !d.Advice && d.Undone.IsZero() {
			standing[place{d.Policy, d.Target.Table, d.Target.Snapshot}] = &d
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.standing, b.paused = standing, paused
}

// Standing returns the decision of a policy about a table, or about a commit to it
// if the policy has those; nil if there is none. It must not be changed.
func (b *Board) Standing(p laketap.Policy, table laketap.TableID, snapshot int64, now time.Time) *laketap.Decision {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.standing[place{p, table, snapshot}]
	if b.paused || d == nil || !d.Stands(now) {
		return nil
	}
	return d
}

// All returns what stands of a policy at a time.
func (b *Board) All(p laketap.Policy, now time.Time) []*laketap.Decision {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*laketap.Decision
	for at, d := range b.standing {
		if at.policy == p && d.Stands(now) && !b.paused {
			all = append(all, d)
		}
	}
	return all
}

// Spend reports whether a column of one more object may be brought.
func (b *Board) Spend(d *laketap.Decision, field int, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := creditOf{d.Policy, d.Target.Table, field}
	c := b.credits[of]
	if c == nil {
		if len(b.credits) >= maxCredits && !b.prune(now) {
			return false
		}
		c = &Credit{}
		b.credits[of] = c
	}
	return c.Spend(now, limitsOf(d.Policy, b.floor))
}

// Used notes that what was brought of a column was used.
func (b *Board) Used(d *laketap.Decision, field int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.credits[creditOf{d.Policy, d.Target.Table, field}]; c != nil {
		c.Used(now, limitsOf(d.Policy, b.floor))
	}
}

// pruneEvery is how often all credits are looked at, for who waits for it reads.
const pruneEvery = time.Minute

// prune drops credits that say nothing by now, and reports whether there is room.
func (b *Board) prune(now time.Time) bool {
	if since := now.Sub(b.pruned); since >= 0 && since < pruneEvery {
		return false
	}
	b.pruned = now
	for of, c := range b.credits {
		limits := limitsOf(of.policy, b.floor)
		if c.grow(now, limits); c.full(limits) {
			delete(b.credits, of)
		}
	}
	return len(b.credits) < maxCredits
}
