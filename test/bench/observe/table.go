package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/laketap/laketap/test/bench/side"
)

// write writes the table of the figures.
func write(results []result, version string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Observing

What it costs to observe a read that is answered from memory: processor time of
the process for one signed request, %d connections asking one thing after the
other, with observation and without. Without is the same program built so that
nobody is told of accesses. What is done beside the requests counts: recording,
giving each access its meaning, gathering observations; 0.3 s after each round are
measured too.

    make bench-observe

prints these figures, writes this file, and fails if a target is missed.

## Figures

%s; %s; %s.
%d interleaved rounds in one run: the median of the rounds' ratios and their
quartiles; medians of the times.

| object | without | with | ratio | quartiles | target | |
|---|---|---|---|---|---|---|
`, connections, time.Now().UTC().Format(time.DateOnly), side.Machine(), version, rounds)
	for _, r := range results {
		low, high := r.quartiles()
		fmt.Fprintf(&b, "| %s | %s | %s | %.3f | %.3f to %.3f | %.2f | %s |\n",
			side.Size(r.size), side.Millis(r.without), side.Millis(r.with), r.ratio(), low, high, r.target, side.Verdict(r.ok()))
	}
	b.WriteString(says)
	return os.WriteFile(filepath.Join("docs", "bench", "observe.md"), b.Bytes(), 0o644) //nolint:gosec // documentation is for everybody
}

// says is what the figures say to who reads them.
const says = `
## What they say

What observing costs is about a microsecond and a half of processor time for an
access (BenchmarkInterpret in observe: 0.4 to record it, 1 to give it its meaning),
which on a machine with other work is lost among what the rounds differ by. A ratio
below 1 is no gain of observing as such: the ring of accesses makes the heap larger,
and a larger heap is collected less often.
`
