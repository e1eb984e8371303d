// Command bench measures how long reading a Parquet footer takes beside
// arrow-go and parquet-go, in interleaved rounds of one run, and prints a line
// a figure; those with a target end in ok or short. It exits 1 if one is short.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/laketap/laketap/lake/parquet/oracletest"
)

// The targets.
const (
	rounds    = 9
	maxRatio  = 0.2 // of arrow-go's time
	maxAllocs = 100
)

// shapes are columns × row groups, and how often a round reads each footer.
var shapes = []struct{ columns, groups, times int }{{20, 4, 200}, {1000, 50, 4}}

func main() {
	short := false
	for _, s := range shapes {
		file, err := oracletest.Wide(s.columns, s.groups)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		name := fmt.Sprintf("parquet footer %dx%d", s.columns, s.groups)
		fmt.Printf("%s: %d bytes, medians of %d interleaved rounds of %d\n", name, len(oracletest.Metadata(file)), rounds, s.times)
		if !report(name, file, s.times) {
			short = true
		}
	}
	if short {
		os.Exit(1)
	}
}

// report measures all readers on a file, prints what came out and returns
// whether the targets are met.
func report(name string, file []byte, times int) bool {
	readers := oracletest.Readers()
	spent := make([][]time.Duration, len(readers))
	for range rounds {
		for i, r := range readers {
			spent[i] = append(spent[i], measure(r, file, times))
		}
	}
	medians := make([]time.Duration, len(readers))
	allocs := make([]float64, len(readers))
	for i, r := range readers {
		slices.Sort(spent[i])
		medians[i] = spent[i][rounds/2]
		allocs[i] = testing.AllocsPerRun(3, func() { read(r, file) })
		fmt.Printf("%s %s: %v, %.0f allocations\n", name, r.Name, medians[i].Round(100*time.Nanosecond), allocs[i])
	}
	ratio := float64(medians[0]) / float64(medians[1])
	fast, lean := ratio <= maxRatio, allocs[0] <= maxAllocs
	fmt.Printf("%s time / arrow-go's: %.3f, at most %.2f: %s\n", name, ratio, maxRatio, verdict(fast))
	fmt.Printf("%s time / parquet-go's: %.3f\n", name, float64(medians[0])/float64(medians[2]))
	fmt.Printf("%s allocations: %.0f, at most %d: %s\n", name, allocs[0], maxAllocs, verdict(lean))
	return fast && lean
}

// measure returns the mean time of one read. The garbage of the reader before
// is collected first; what a reader leaves itself is collected on its account.
func measure(r oracletest.Reader, file []byte, times int) time.Duration {
	runtime.GC()
	start := time.Now()
	for range times {
		read(r, file)
	}
	return time.Since(start) / time.Duration(times)
}

// read reads the footer once; all files here are in order.
func read(r oracletest.Reader, file []byte) {
	if err := r.Read(file); err != nil {
		panic(r.Name + ": " + err.Error())
	}
}

// verdict is the word at the end of a line.
func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "short"
}
