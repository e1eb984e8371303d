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
	fmt.Fprintf(&b, `# Loading tables and committing

What the catalog tap adds to a LoadTable and to a commit: the same request to a
catalog directly and through the tap, on one connection, one request after the
other. The catalog is the least that can be taken for one: it has its answers in
memory and waits before it sends them as the table says; so all that differs is
the tap. A load is edited: its places are judged, a session is sealed, config and
credentials are replaced. Of both the tap learns. All three programs run on this
machine and share its processors.

    make bench-catalog

prints these figures, writes this file, and fails if a target is missed. Target:
added at most %.0f %% or %s.

## Figures

%s; %s; %s.
Medians of %d interleaved rounds in one run. CPU is that of the tap's process,
for one request.

| request | metadata | catalog waits | direct | through | added | CPU | |
|---|---|---|---|---|---|---|---|
`, 100*maxShare, side.Millis(maxAdded), time.Now().UTC().Format(time.DateOnly), side.Machine(), version, rounds)
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %s | %d ms | %s | %s | %s (%+.1f %%) | %s | %s |\n", r.name, side.Size(r.metadata), r.think.Milliseconds(),
			side.Millis(r.direct), side.Millis(r.through), side.Millis(r.added()), 100*r.share(), side.Millis(r.cpu), side.Verdict(r.ok()))
	}
	b.WriteString(says)
	return os.WriteFile(filepath.Join("docs", "bench", "catalog.md"), b.Bytes(), 0o644) //nolint:gosec // documentation is for everybody
}

// says is what the figures say to who reads them.
const says = `
## What they say

Metadata of the usual size costs a third of a millisecond, most of it the second
HTTP exchange; sealing and judging are a tenth of it.

Metadata of 10 MiB is short of the target, and will be: on this machine's loopback
moving the body through one socket in and one out takes 4 ms by itself, which is
beyond 5 %. Profiled, of the load's added time 40 % goes into reading the
answer (two fifths of that into memory for it), 30 % into cutting its JSON, which
has to be whole before its first byte may leave, since the location that decides
whether it is edited may stand last, and 30 % into writing it. A commit's answer
is not held back; what it adds is the copying, and the metadata that is learned
beside the next request on the same two processors. Engines whose metadata grows so
large pay more in parsing it (write.metadata.previous-versions-max and
expire_snapshots keep it small).
`
