// Command bench measures how long reading a manifest takes an entry beside
// iceberg-go, in interleaved rounds of one run, and prints a line a figure;
// those with a target end in ok or short. It exits 1 if one is short.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/laketap/laketap/lake/iceberg/oracletest"
)

// The targets.
const (
	rounds    = 9
	entries   = 4000
	maxRatio  = 0.35 // of iceberg-go's time
	maxAllocs = 1    // an entry
)

func main() {
	short := false
	for _, columns := range []int{10, 50} {
		s, err := oracletest.Wide(entries, columns)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		name := fmt.Sprintf("iceberg manifest of %d columns", columns)
		fmt.Printf("%s: %d entries in %d bytes, medians of %d interleaved rounds\n",
			name, entries, s.Manifest.Length(), rounds)
		full := report(name+", full", s, oracletest.Full())
		projected := report(name+", projected", s, oracletest.Projected())
		short = short || !full || !projected
	}
	if short {
		os.Exit(1)
	}
}

// report measures the readers, prints what came out and returns whether the
// targets are met.
func report(name string, s *oracletest.Sample, readers [2]oracletest.Reader) bool {
	var spent [2][]time.Duration
	for range rounds {
		for i, r := range readers {
			runtime.GC()
			start := time.Now()
			read(r, s)
			spent[i] = append(spent[i], time.Since(start))
		}
	}
	var medians, allocs [2]float64
	for i, r := range readers {
		slices.Sort(spent[i])
		medians[i] = float64(spent[i][rounds/2].Nanoseconds()) / entries
		allocs[i] = testing.AllocsPerRun(2, func() { read(r, s) }) / entries
		fmt.Printf("%s, %s: %.2f µs and %.2f allocations an entry\n", name, r.Name, medians[i]/1000, allocs[i])
	}
	ratio := medians[0] / medians[1]
	fast, lean := ratio <= maxRatio, allocs[0] <= maxAllocs
	fmt.Printf("%s, time / iceberg-go's: %.3f, at most %.2f: %s\n", name, ratio, maxRatio, verdict(fast))
	fmt.Printf("%s, allocations an entry: %.3f, at most %d: %s\n", name, allocs[0], maxAllocs, verdict(lean))
	return fast && lean
}

// read reads the manifest once; it is in order.
func read(r oracletest.Reader, s *oracletest.Sample) {
	if n, err := r.Read(s); err != nil || n != entries {
		panic(fmt.Sprintf("%s: %d entries, %v", r.Name, n, err))
	}
}

// verdict is the word at the end of a line.
func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "short"
}
