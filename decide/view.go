package decide

import (
	"time"

	"github.com/laketap/laketap"
)

// A View is the memory as policies see it at a time.
type View struct {
	Tables    []laketap.TableFacts
	Habits    []laketap.Habit
	Changes   []laketap.Change   // of lately; those that were decided about may be among them
	Came      []Came             // of lately
	Decisions []laketap.Decision // that stand, and those that were undone, however old
}

// Came is what came of a policy for one column of a table, summed up over the
// last while: how many objects it was brought of, and used or not.
type Came struct {
	Policy       laketap.Policy
	Table        laketap.TableID
	Field        int
	Used, Wasted int64 // objects
	Last         time.Time
}

// precision is the share of what was brought that was used. Little evidence says
// nothing: 1.
func (c *Came) precision() float64 {
	if c.Used+c.Wasted < minJudged {
		return 1
	}
	return float64(c.Used) / float64(c.Used+c.Wasted)
}

// minJudged is how many objects have to be judged before their share counts.
const minJudged = 16
