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
	fmt.Fprintf(&b, `# Cold reads

What the first read of something costs through the cache: the end of a file, as
engines ask for a Parquet footer, and a range in its midst, as for a column chunk.
Each read is of another file of %s, on one connection, one after the other; the
files are those of a table that the server knows. Directly, the same are read from
the same origin, which has them in memory and waits before its first byte as the
table says. All programs run on this machine and share its processors.

    make bench-cold

prints these figures, writes this file, and fails if a target is missed. Targets:
bytes at most %.1f times those asked for; added at most %.0f %% or %s. For comparison,
an 8 KiB read costs an nginx with slices of 1 MiB 128 times its bytes, and Varnish,
which fetches the whole of it, as many times as the file is larger.

## Figures

%s; %s; %s.
Medians of %d interleaved rounds in one run.

| read | origin waits | bytes | | direct | through | added | |
|---|---|---|---|---|---|---|---|
`, side.Size(fileSize), maxBytes, 100*maxShare, side.Millis(maxAdded), time.Now().UTC().Format(time.DateOnly), side.Machine(), version, rounds)
	for _, r := range results {
		fmt.Fprintf(&b, "| %s, %s | %d ms | %.3f | %s | %s | %s | %s (%+.1f %%) | %s |\n", r.what, side.Size(r.length), r.delay.Milliseconds(),
			r.bytes, side.Verdict(r.bytesOK()), side.Millis(r.direct), side.Millis(r.through), side.Millis(r.added()), 100*r.share(), side.Verdict(r.timeOK()))
	}
	return os.WriteFile(filepath.Join("docs", "bench", "cold.md"), b.Bytes(), 0o644) //nolint:gosec // documentation is for everybody
}
