// Command cold measures what the first read of something costs through the
// cache: bytes that the origin sends for those that were asked for, and the time
// that is added to asking the origin itself, in interleaved rounds of one run.
// Nothing is read twice. It prints a line a figure, each with a target ending in
// ok or short, writes docs/bench/cold.md, and exits 1 if one is short. Run it in
// the repository after make build, on a quiet machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/laketap/laketap/test/bench/side"
)

const (
	rounds   = 9
	perRound = 40      // reads, each of a file of its own
	fileSize = 8 << 20 // bytes
)

// The targets: bytes as many times those asked for; time added, whichever allows
// more.
const (
	maxBytes = 1.1
	maxShare = 0.05
	maxAdded = 300 * time.Microsecond
)

// A cell is a line of the table.
type cell struct {
	what   string
	span   string // as in a Range header
	length int
	delay  time.Duration // of the origin, before its first byte
}

func cells() []cell {
	all := make([]cell, 0, 4)
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		all = append(all,
			cell{"footer", "bytes=-8192", 8 << 10, delay},
			cell{"column chunk", "bytes=1000000-2048575", 1 << 20, delay})
	}
	return all
}

// path is where the origin has a file that only one read of a cell is of.
func (c cell) path(read int) string {
	return fmt.Sprintf("/bench/%d/%d/%d-%d", c.delay.Milliseconds(), fileSize, c.length, read)
}

// String names a cell.
func (c cell) String() string {
	return fmt.Sprintf("%s of %s, origin %d ms", c.what, side.Size(c.length), c.delay.Milliseconds())
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
	origin, err := side.StartOrigin(ctx)
	if err != nil {
		return false, err
	}
	defer origin.Close()
	table := &side.Table{Files: map[string]int{}}
	for _, c := range cells() {
		for read := range (rounds + 1) * perRound {
			table.Files[c.path(read)] = fileSize
		}
	}
	const known = "/bench/0/4096" // by which is seen that the server knows the table
	table.Known = known
	table.Files[known] = 4 << 10
	if err := table.Start(ctx, origin); err != nil {
		return false, err
	}
	defer table.Close()
	tap, err := side.Start(ctx, table.Address, origin.Address, func(config map[string]any) { config["mode"] = "accelerate" })
	if err != nil {
		return false, err
	}
	defer tap.Close()
	keys, err := table.Load(ctx, tap, origin)
	if err != nil {
		return false, err
	}
	var results []result
	for _, c := range cells() {
		r, err := measure(ctx, c, origin, tap, keys)
		if err != nil {
			return false, fmt.Errorf("%s: %w", c, err)
		}
		fmt.Print(r)
		short = short || !r.bytesOK() || !r.timeOK()
		results = append(results, r)
	}
	return short, write(results, tap.Version)
}

// A result is what came of a cell: medians of the rounds' medians, and the
// origin's bytes for one that was asked for.
type result struct {
	cell

	direct, through time.Duration
	bytes           float64
}

func (r result) added() time.Duration { return r.through - r.direct }
func (r result) share() float64       { return float64(r.added()) / float64(r.direct) }
func (r result) bytesOK() bool        { return r.bytes <= maxBytes }
func (r result) timeOK() bool         { return r.added() <= maxAdded || r.share() <= maxShare }

// String is the lines of a figure.
func (r result) String() string {
	return fmt.Sprintf("P2 bytes %s ratio=%.3f target=%.1f %s\nP2 latency %s direct=%s through=%s added=%s (%+.1f %%) %s\n",
		r.cell, r.bytes, maxBytes, side.Verdict(r.bytesOK()),
		r.cell, side.Millis(r.direct), side.Millis(r.through), side.Millis(r.added()), 100*r.share(), side.Verdict(r.timeOK()))
}

// measure goes through the rounds of a cell. The one before the first is for
// what is made once.
func measure(ctx context.Context, c cell, origin *side.Origin, tap *side.Server, keys aws.Credentials) (result, error) {
	var direct, through []time.Duration
	var asked, sent int64
	for round := range rounds + 1 {
		d, err := reads(ctx, c, round, origin.Address, aws.Credentials{})
		if err != nil {
			return result{}, err
		}
		_, before := origin.Served()
		t, err := reads(ctx, c, round, tap.Storage, keys)
		if err != nil {
			return result{}, err
		}
		if _, after := origin.Served(); round > 0 {
			direct, through = append(direct, d), append(through, t)
			asked, sent = asked+int64(c.length)*perRound, sent+after-before
		}
	}
	if sent == 0 {
		return result{}, errors.New("the origin sent nothing: these are no cold reads")
	}
	return result{c, side.Median(direct), side.Median(through), float64(sent) / float64(asked)}, nil
}

// reads reads from as many files and returns the median of the times it took.
func reads(ctx context.Context, c cell, round int, address string, keys aws.Credentials) (time.Duration, error) {
	all := make([]time.Duration, perRound)
	var conn *side.Client
	for i := range all {
		next, err := side.Dial(ctx, side.Request{Address: address, Path: c.path(round*perRound + i), Range: c.span, Length: c.length, Keys: keys})
		if err != nil {
			return 0, err
		}
		if conn != nil {
			next.Use(conn) // one connection for all
		} else {
			defer next.Close()
			conn = next
		}
		began := time.Now()
		if err := next.Get(); err != nil {
			return 0, err
		}
		all[i] = time.Since(began)
	}
	return side.Median(all), nil
}
