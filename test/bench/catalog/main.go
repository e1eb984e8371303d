// Command catalog measures what the catalog tap adds to a LoadTable and to a
// commit: the same requests to a minimal catalog directly and through the tap,
// in interleaved rounds of one run. It prints a line a figure, each with a target
// ending in ok or short, writes docs/bench/catalog.md, and exits 1 if one is
// short. Run it in the repository after make build, on a quiet machine.
package main

import (
	"context"
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
	maxAdded = 500 * time.Microsecond
)

// A cell is a line of the table.
type cell struct {
	name     string
	commit   bool
	metadata int           // bytes of table metadata in the answer, about
	think    time.Duration // of the catalog, before its answer
	requests int           // in a round, by either way
}

func cells() []cell {
	all := make([]cell, 0, 8)
	for _, think := range []time.Duration{0, 20 * time.Millisecond} {
		for _, size := range []int{4 << 10, 10 << 20} {
			requests := 300
			if size > 1<<20 || think > 0 {
				requests = 15
			}
			all = append(all, cell{"load", false, size, think, requests}, cell{"commit", true, size, think, requests})
		}
	}
	return all
}

// String names a cell.
func (c cell) String() string {
	return fmt.Sprintf("catalog %s %s, catalog %d ms", c.name, side.Size(c.metadata), c.think.Milliseconds())
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
	up, err := startUpstream(ctx)
	if err != nil {
		return false, err
	}
	defer up.close()
	tap, err := side.Start(ctx, up.address, up.address, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tap.Close() }()
	var results []result
	for _, c := range cells() {
		r, err := measure(c, up.address, tap)
		if err != nil {
			return false, fmt.Errorf("%s: tap %s: %w", c, tap.Catalog, err)
		}
		fmt.Println(r)
		short = short || !r.ok()
		results = append(results, r)
	}
	return short, write(results, tap.Version)
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
	return fmt.Sprintf("%-38s direct %10s  through %10s  added %9s (%+.1f %%)  cpu of the tap %9s  %s",
		r.cell, side.Millis(r.direct), side.Millis(r.through), side.Millis(r.added()), 100*r.share(), side.Millis(r.cpu), side.Verdict(r.ok()))
}

// measure goes through the rounds of a cell.
func measure(c cell, upstream string, tap *side.Server) (result, error) {
	direct, through := newClient(c, upstream), newClient(c, tap.Catalog)
	defer direct.close()
	defer through.close()
	for _, w := range []*client{direct, through} {
		if err := w.begin(w == through); err != nil {
			return result{}, fmt.Errorf("%s: %w", w.url, err)
		}
	}
	var spent [3][]time.Duration
	for range rounds {
		d, err := direct.medianOf(c.requests)
		if err != nil {
			return result{}, err
		}
		before, err := tap.CPU()
		if err != nil {
			return result{}, err
		}
		th, err := through.medianOf(c.requests)
		if err != nil {
			return result{}, err
		}
		after, err := tap.CPU()
		if err != nil {
			return result{}, err
		}
		for i, v := range []time.Duration{d, th, (after - before) / time.Duration(c.requests)} {
			spent[i] = append(spent[i], v)
		}
	}
	return result{c, side.Median(spent[0]), side.Median(spent[1]), side.Median(spent[2])}, nil
}
