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
	fmt.Fprintf(&b, `# Passing a read on

What the storage tap adds to a read that it passes on: the same GET of the same
object, directly to the origin and through the tap, on one connection, one
request after the other. The origin is the least that can be taken for a store:
it verifies nothing, has the bytes in memory, and waits before it answers as the
table says; so all that differs is the tap. The tap verifies the signature,
checks the right, signs again and records the access. All three run on this
machine and share its processors.

    make bench-pass

prints these figures, writes this file, and fails if a target is missed. Target:
added at most %.0f %% or %s.

## Figures

%s; %s; %s.
Medians of %d interleaved rounds in one run. CPU is that of the tap's process,
for one request.

| object | origin waits | direct | through | added | CPU | |
|---|---|---|---|---|---|---|
`, 100*maxShare, side.Millis(maxAdded), time.Now().UTC().Format(time.DateOnly), side.Machine(), version, rounds)
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %d ms | %s | %s | %s (%+.1f %%) | %s | %s |\n", side.Size(r.size), r.delay.Milliseconds(),
			side.Millis(r.direct), side.Millis(r.through), side.Millis(r.added()), 100*r.share(), side.Millis(r.cpu), side.Verdict(r.ok()))
	}
	b.WriteString(`
## What they say

The fixed price of a request is its CPU at 4 KiB. What grows with the size is
the kernel copying the body twice more, about 0.5 ms a MiB: without a network
the direct way is as fast as memory, and with two processors for three programs
nothing hides that. On a line of 10 Gbit/s a MiB takes 0.8 ms and the copies run
beside it. After a wait all programs sleep, and waking them is dear on a virtual
machine: the same 4 KiB cost several times the CPU.
`)
	return os.WriteFile(filepath.Join("docs", "bench", "pass.md"), b.Bytes(), 0o644) //nolint:gosec // documentation is for everybody
}
