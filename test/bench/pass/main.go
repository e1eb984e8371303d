// Command pass measures what the storage tap adds to a read that it passes on:
// the same requests to a minimal origin directly and through the tap, in
// interleaved rounds of one run. It prints a line a figure, each with a target
// ending in ok or short, writes docs/bench/pass.md, and exits 1 if one is
// short. Run it in the repository after make build, on a quiet machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/laketap/laketap/test/bench/side"
)

// rounds are interleaved: what disturbs one side disturbs the other.
const rounds = 9

// The target: so much may be added, whichever allows more.
const (
	maxShare = 0.05
	maxAdded = 300 * time.Microsecond
)

// A cell is a line of the table.
type cell struct {
	size     int
	delay    time.Duration // of the origin, before its first byte
	requests int           // in a round, by either way
}

func cells() []cell {
	delays, sizes := []time.Duration{0, 20 * time.Millisecond}, []int{4 << 10, 1 << 20, 64 << 20}
	all := make([]cell, 0, len(delays)*len(sizes))
	for _, delay := range delays {
		for _, size := range sizes {
			all = append(all, cell{size, delay, requests(size, delay)})
		}
	}
	return all
}

// requests is how many make a median of a round: a second of them, about.
func requests(size int, delay time.Duration) int {
	switch {
	case size > 1<<20:
		return 7
	case delay > 0:
		return 30
	case size == 1<<20:
		return 300
	}
	return 1500
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	short, err := run(ctx)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case short:
		os.Exit(1)
	}
}

// run measures, prints, and writes the table.
func run(ctx context.Context) (short bool, err error) {
	began := time.Now()
	origin, err := side.StartOrigin(ctx)
	if err != nil {
		return false, err
	}
	defer origin.Close()
	tap, err := side.Start(ctx, origin.Address, origin.Address, nil)
	if err != nil {
		return false, err
	}
	defer tap.Close()
	var results []result
	for _, c := range cells() {
		r, err := measure(ctx, c, origin.Address, tap)
		if err != nil {
			return false, fmt.Errorf("%s: %w", c, err)
		}
		fmt.Println(r)
		short = short || !r.ok()
		results = append(results, r)
	}
	fmt.Printf("took %v\n", time.Since(began).Round(time.Second))
	return short, write(results, tap.Version)
}

// String names a cell.
func (c cell) String() string {
	return fmt.Sprintf("pass %s, origin %d ms", side.Size(c.size), c.delay.Milliseconds())
}

// A result is what came of a cell: medians of the rounds' medians, and CPU of
// the tap's process.
type result struct {
	cell

	direct, through, cpu time.Duration
}

func (r result) added() time.Duration { return r.through - r.direct }
func (r result) share() float64       { return float64(r.added()) / float64(r.direct) }
func (r result) ok() bool             { return r.added() <= maxAdded || r.share() <= maxShare }

// String is the line of a figure.
func (r result) String() string {
	return fmt.Sprintf("%-28s direct %9s  through %9s  added %8s (%+.1f %%)  cpu of the tap %8s  %s",
		r.cell, side.Millis(r.direct), side.Millis(r.through), side.Millis(r.added()), 100*r.share(), side.Millis(r.cpu), side.Verdict(r.ok()))
}

// measure goes through the rounds of a cell.
func measure(ctx context.Context, c cell, origin string, t *side.Server) (result, error) {
	ask := side.Request{Path: fmt.Sprintf("/bench/%d/%d", c.delay.Milliseconds(), c.size), Length: c.size, Keys: side.Static()}
	ask.Address = origin
	direct, err := side.Dial(ctx, ask)
	if err != nil {
		return result{}, err
	}
	defer direct.Close()
	ask.Address = t.Storage
	through, err := side.Dial(ctx, ask)
	if err != nil {
		return result{}, err
	}
	defer through.Close()
	// What is made at the first request is made before the first round.
	for _, w := range []*side.Client{direct, through} {
		w.Check = true
		if _, err := w.MedianOf(3); err != nil {
			return result{}, err
		}
		w.Check = false
	}
	// Wrong bytes would be quick, too.
	if direct.Sum != through.Sum {
		return result{}, errors.New("the tap answers other bytes than the origin")
	}
	var spent [3][]time.Duration
	for range rounds {
		d, err := direct.MedianOf(c.requests)
		if err != nil {
			return result{}, err
		}
		before, err := t.CPU()
		if err != nil {
			return result{}, err
		}
		th, err := through.MedianOf(c.requests)
		if err != nil {
			return result{}, err
		}
		after, err := t.CPU()
		if err != nil {
			return result{}, err
		}
		for i, v := range []time.Duration{d, th, (after - before) / time.Duration(c.requests)} {
			spent[i] = append(spent[i], v)
		}
	}
	return result{c, side.Median(spent[0]), side.Median(spent[1]), side.Median(spent[2])}, nil
}
