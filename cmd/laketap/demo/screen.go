package demo

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// How often a step that takes long says so: a terminal's line is rewritten, a
// log gets another one.
const (
	tickTerminal = time.Second
	tickLog      = 15 * time.Second
)

// A screen tells a person what happens. On a terminal the running step's line
// is rewritten in place; elsewhere every line is final.
type screen struct {
	out      io.Writer
	terminal bool

	mu        sync.Mutex // guards out and transient
	transient bool       // the line under the cursor is to be rewritten
}

// line writes a line that stays.
func (s *screen) line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	fmt.Fprintf(s.out, format+"\n", args...)
}

// now writes a line that the next one replaces, or a final one in a log.
func (s *screen) now(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	if s.transient = s.terminal; s.terminal {
		fmt.Fprint(s.out, text)
		return
	}
	fmt.Fprintln(s.out, text)
}

// erase clears a transient line. The caller holds mu.
func (s *screen) erase() {
	if s.transient {
		fmt.Fprint(s.out, "\r\x1b[K")
		s.transient = false
	}
}

// A step is a part of the demo that may take long.
type step struct {
	screen  *screen
	started time.Time
	stop    chan struct{}
	stopped sync.WaitGroup

	mu   sync.Mutex
	what string // what it is at
}

// step announces a part and keeps telling how long it takes until it ends.
func (s *screen) step(format string, args ...any) *step {
	s.line("\n"+format, args...)
	st := &step{screen: s, started: time.Now(), stop: make(chan struct{})}
	every := tickLog
	if s.terminal {
		every = tickTerminal
	}
	// Ends with the step; end waits for it, so nothing is written after done.
	st.stopped.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				st.mu.Lock()
				what := st.what
				st.mu.Unlock()
				s.now(strings.TrimRight(fmt.Sprintf("  … %s %s", st.elapsed(), what), " "))
			case <-st.stop:
				return
			}
		}
	})
	return st
}

// at says what the step is doing, for its next line of progress.
func (st *step) at(what string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.what = what
}

// line writes a finished part of the step.
func (st *step) line(format string, args ...any) { st.screen.line("  "+format, args...) }

// end ends the step; it may be called more than once.
func (st *step) end() {
	select {
	case <-st.stop:
	default:
		close(st.stop)
	}
	st.stopped.Wait()
	st.screen.mu.Lock()
	defer st.screen.mu.Unlock()
	st.screen.erase()
}

// done ends the step with what came of it.
func (st *step) done(format string, args ...any) {
	st.end()
	st.line("✓ %s  %s", st.elapsed(), fmt.Sprintf(format, args...))
}

// elapsed spells how long the step has taken so far.
func (st *step) elapsed() string { return spellSeconds(time.Since(st.started).Seconds()) }

// A grid is a table of text; its first row is the head. Columns in right are
// aligned to the right.
type grid struct {
	rows  [][]string
	right map[int]bool
}

// add adds a row.
func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// lines renders the grid, two spaces between columns.
func (g *grid) lines() []string {
	var width []int
	for _, row := range g.rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, 0, len(g.rows))
	for _, row := range g.rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if g.right[i] {
				b.WriteString("  " + pad + cell)
			} else {
				b.WriteString("  " + cell + pad)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// spellSeconds writes a time so that people can compare it.
func spellSeconds(s float64) string {
	switch {
	case s < 10:
		return fmt.Sprintf("%.2f s", s)
	case s < 100:
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f s", s)
}

// spellBytes writes a size with three digits.
func spellBytes(n int64) string {
	f, units := float64(n), []string{"B", "kB", "MB", "GB", "TB"}
	// 999.5 and not 1000: three digits are shown, and 1000 has four.
	for len(units) > 1 && f >= 999.5 {
		f, units = f/1000, units[1:]
	}
	if f < 9.995 && units[0] != "B" {
		return fmt.Sprintf("%.2f %s", f, units[0])
	}
	if f < 99.95 && units[0] != "B" {
		return fmt.Sprintf("%.1f %s", f, units[0])
	}
	return fmt.Sprintf("%.0f %s", f, units[0])
}

// spellCount writes a whole number with its thousands apart.
func spellCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// stopwatch returns a function that spells the time since now.
func stopwatch() func() string {
	start := time.Now()
	return func() string { return spellSeconds(time.Since(start).Seconds()) }
}
