// Command observe measures what observing costs a repeated read: CPU of the
// process for one request with observation and without, in interleaved rounds of
// one run. The one without is the same program built so that nobody is told of
// accesses. It prints a line a figure, each ending in ok or short, writes
// docs/bench/observe.md, and exits 1 if one is short. Run it in the repository
// by make bench-observe, on a quiet machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/laketap/laketap/test/bench/side"
)

// rounds are interleaved: what disturbs one disturbs the other.
const rounds = 21

// connections ask at the same time, each one thing after the other.
const connections = 4

// A cell is a size of objects.
type cell struct {
	size     int
	requests int     // in a round, of each server
	target   float64 // of CPU, of that without observation
}

func cells() []cell { return []cell{{4 << 10, 8000, 1.08}, {64 << 10, 4000, 1.03}} }

// path is where the origin has an object of the size.
func (c cell) path() string { return fmt.Sprintf("/bench/0/%d", c.size) }

// A server is the product, with observation or without.
type server struct {
	*side.Server

	keys aws.Credentials
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
		table.Files[c.path()] = c.size
	}
	if err := table.Start(ctx, origin); err != nil {
		return false, err
	}
	defer table.Close()
	var both [2]server // without, with
	for i, program := range []string{"bin/laketap-unobserved", "bin/laketap"} {
		s, err := side.StartProgram(ctx, program, table.Address, origin.Address, func(config map[string]any) { config["mode"] = "accelerate" })
		if err != nil {
			return false, err
		}
		defer s.Close()
		keys, err := table.Load(ctx, s, origin)
		if err != nil {
			return false, err
		}
		both[i] = server{s, keys}
	}
	var results []result
	for _, c := range cells() {
		r, err := measure(ctx, c, &both)
		if err != nil {
			return false, fmt.Errorf("%s: %w", side.Size(c.size), err)
		}
		fmt.Print(r)
		short = short || !r.ok()
		results = append(results, r)
	}
	return short, write(results, both[1].Version)
}

// A result is what came of a cell.
type result struct {
	cell

	without, with time.Duration // medians, for one request
	ratios        []float64     // of each round, ascending
}

// ratio is the median of the rounds' ratios: both of a round had the same
// neighbours on the machine.
func (r result) ratio() float64 { return r.ratios[len(r.ratios)/2] }
func (r result) ok() bool       { return r.ratio() <= r.target }

// quartiles say how far the rounds lie apart.
func (r result) quartiles() (low, high float64) {
	return r.ratios[len(r.ratios)/4], r.ratios[len(r.ratios)*3/4]
}

// String is the line of a figure.
func (r result) String() string {
	low, high := r.quartiles()
	return fmt.Sprintf("observe cpu %s ratio=%.3f quartiles=%.3f-%.3f target=%.2f without=%s with=%s %s\n",
		side.Size(r.size), r.ratio(), low, high, r.target, side.Millis(r.without), side.Millis(r.with), side.Verdict(r.ok()))
}

// measure goes through the rounds of a cell. Who begins changes from round to
// round.
func measure(ctx context.Context, c cell, both *[2]server) (result, error) {
	var spent [2][]time.Duration
	r := result{cell: c}
	for round := range rounds + 1 {
		var now [2]time.Duration
		for k := range both {
			i := (round + k) % 2
			d, err := both[i].round(ctx, c)
			if err != nil {
				return result{}, err
			}
			now[i] = d
		}
		if round == 0 {
			continue // what is made at the first requests is made before
		}
		for i := range now {
			spent[i] = append(spent[i], now[i])
		}
		r.ratios = append(r.ratios, float64(now[1])/float64(now[0]))
	}
	slices.Sort(r.ratios)
	r.without, r.with = side.Median(spent[0]), side.Median(spent[1])
	return r, nil
}

// settle is how long after its requests a server's work for them is waited for:
// accesses get their meaning beside the requests, and observations are handed on
// every two seconds. Both servers are given it, and what they do when nobody asks
// is in both figures.
const settle = 300 * time.Millisecond

// round has all connections ask, and returns the processor time for one request,
// what is done for it afterwards included.
func (s *server) round(ctx context.Context, c cell) (time.Duration, error) {
	var g errgroup.Group
	clients := make([]*side.Client, connections)
	for i := range clients {
		var err error
		if clients[i], err = side.Dial(ctx, side.Request{Address: s.Storage, Path: c.path(), Length: c.size, Keys: s.keys}); err != nil {
			return 0, err
		}
		defer clients[i].Close()
	}
	before, err := s.CPU()
	if err != nil {
		return 0, err
	}
	for _, client := range clients {
		g.Go(func() error {
			for range c.requests / connections {
				if err := client.Get(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = g.Wait()
	time.Sleep(settle)
	after, cpuErr := s.CPU()
	return (after - before) / time.Duration(c.requests), errors.Join(err, cpuErr)
}
