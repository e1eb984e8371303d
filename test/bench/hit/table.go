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
	fmt.Fprintf(&b, `# Hits

What a read costs that is answered from what is held: processor time of the
answering process for one request, %d connections asking one thing after the
other. The floor is the cheapest responder in each line, mostly one that reads a
request line and writes bytes that it has in memory. nginx has slices on disk and
sendfile, Varnish objects in memory; both get requests without signatures and
verify none. Laketap's are signed: each is verified, its session unsealed, its
right to the object proved. All programs run on this machine and share its
processors.

    make bench-hit

prints these figures, writes this file, and fails if a target is missed.

## Figures

%s; %s; %s.
Medians of %d interleaved rounds in one run. CPU for one request, and as many
times the floor's; below it, requests in a second of the floor's.

| object | floor | Laketap, signed | nginx | Varnish | net/http | target | |
|---|---|---|---|---|---|---|---|
`, connections, time.Now().UTC().Format(time.DateOnly), side.Machine(), version, rounds)
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %s | %s (%.2f) | %.2f | %.2f | %.2f | %.2f | %s |\n", side.Size(r.size), side.Millis(r.floor()),
			side.Millis(r.cpu["laketap"]), r.ratio("laketap"), r.ratio("nginx"), r.ratio("varnish"), r.ratio("net/http"), r.target, side.Verdict(r.ok()))
		of := r.rate["floor"]
		fmt.Fprintf(&b, "| throughput | %.0f/s | %.2f | %.2f | %.2f | %.2f | | |\n", of, r.rate["laketap"]/of, r.rate["nginx"]/of, r.rate["varnish"]/of, r.rate["net/http"]/of)
	}
	b.WriteString(says)
	return os.WriteFile(filepath.Join("docs", "bench", "hit.md"), b.Bytes(), 0o644) //nolint:gosec // documentation is for everybody
}

// says is what the figures say to who reads them.
const says = `
## What they say

Large hits cost what moving bytes costs; small ones are short of their target, the
more the smaller they are. Where the time of a signed hit of 4 KiB goes, by a
profile of the process (2026-12-01):

| share | what |
|---|---|
| 32 % | the two system calls, which is nearly all that the floor does |
| 18 % | who signed: parsing the claim, the canonical request and its SHA-256 (1 KiB, most of it the session token), five HMACs of which four make the key of the day |
| 11 % | what is asked for: head and target read by our own rules besides fasthttp's, which is a second pass over the same bytes |
| 11 % | the right: scope, proof, which table, whether the request came from ourselves |
| 10 % | fasthttp: its own parsing, and writing head and body |
| 5 % | handing over the access to be observed |
| 7 % | allocation and collection, in all of the above |

nginx and Varnish verify nothing and know no sessions. Next to try, by what it would
bring: keys of the day kept by session (9 %), heads parsed once (8 %), the lookups of
table and proof kept with the session (5 %).
`
