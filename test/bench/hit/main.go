// Command hit measures what a repeated read costs the one who answers it: CPU of
// the process for one request, beside the least that a responder can do and
// beside what people use today, in interleaved rounds of one run. It prints a
// line a figure, each with a target ending in ok or short, writes
// docs/bench/hit.md, and exits 1 if one is short. Run it in the repository after
// make build, on a quiet machine, with nginx and varnish installed.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/laketap/laketap/test/bench/side"
)

// rounds are interleaved: what disturbs one disturbs all.
const rounds = 7

// connections ask at the same time, each one thing after the other.
const connections = 4

// A cell is a size of objects.
type cell struct {
	size     int
	requests int     // in a round, of each responder
	target   float64 // of CPU, of the floor's
}

func cells() []cell {
	return []cell{{4 << 10, 3000, 1.6}, {64 << 10, 1000, 1.2}, {1 << 20, 160, 1.1}, {8 << 20, 24, 1.05}}
}

// path is where the origin has an object of the size.
func (c cell) path() string { return fmt.Sprintf("/bench/0/%d", c.size) }

func main() {
	if len(os.Args) == 2 { // one of the responders that are ours
		fmt.Fprintln(os.Stderr, respond(os.Args[1]))
		os.Exit(2)
	}
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
	all, version, stop, err := start(ctx, origin, table)
	defer stop()
	if err != nil {
		return false, err
	}
	var results []result
	for _, c := range cells() {
		r, err := measure(ctx, c, all, origin)
		if err != nil {
			return false, fmt.Errorf("%s: %w", side.Size(c.size), err)
		}
		fmt.Print(r)
		short = short || !r.ok()
		results = append(results, r)
	}
	return short, write(results, version)
}

// A result is what came of a cell: medians over the rounds, by responder.
type result struct {
	cell

	cpu  map[string]time.Duration // for one request
	rate map[string]float64       // requests in a second
}

// floor is the cheapest responder of the cell: the least there is to pay.
func (r result) floor() (least time.Duration) {
	for _, d := range r.cpu {
		if least == 0 || d < least {
			least = d
		}
	}
	return least
}

func (r result) ratio(of string) float64 { return float64(r.cpu[of]) / float64(r.floor()) }
func (r result) ok() bool                { return r.ratio("laketap") <= r.target }

// String is the lines of a figure.
func (r result) String() string {
	return fmt.Sprintf("P1 cpu %s signed=yes ratio=%.2f target=%.2f floor=%s nginx=%.2f varnish=%.2f net/http=%.2f %s\n"+
		"P1 throughput %s laketap=%.2f nginx=%.2f varnish=%.2f net/http=%.2f of the floor's %.0f/s reported\n",
		side.Size(r.size), r.ratio("laketap"), r.target, side.Millis(r.floor()), r.ratio("nginx"), r.ratio("varnish"), r.ratio("net/http"), side.Verdict(r.ok()),
		side.Size(r.size), r.rate["laketap"]/r.rate["floor"], r.rate["nginx"]/r.rate["floor"], r.rate["varnish"]/r.rate["floor"], r.rate["net/http"]/r.rate["floor"], r.rate["floor"])
}

// measure goes through the rounds of a cell.
func measure(ctx context.Context, c cell, all []*responder, origin *side.Origin) (result, error) {
	cpu, rate := map[string][]time.Duration{}, map[string][]time.Duration{}
	for _, r := range all { // what is made at the first requests is made before
		if err := r.warm(ctx, c); err != nil {
			return result{}, fmt.Errorf("%s: %w", r.name, err)
		}
	}
	for range rounds {
		for _, r := range all {
			before, _ := origin.Served()
			spent, took, err := r.round(ctx, c)
			if after, _ := origin.Served(); after-before > 1 { // one may be a proof of the right, renewed
				return result{}, fmt.Errorf("%s asked the origin %d times: these are no hits", r.name, after-before)
			}
			if err != nil {
				return result{}, fmt.Errorf("%s: %w", r.name, err)
			}
			cpu[r.name] = append(cpu[r.name], spent/time.Duration(c.requests))
			rate[r.name] = append(rate[r.name], took)
		}
	}
	out := result{c, map[string]time.Duration{}, map[string]float64{}}
	for name := range cpu {
		out.cpu[name] = side.Median(cpu[name])
		out.rate[name] = float64(c.requests) / side.Median(rate[name]).Seconds()
	}
	return out, nil
}
