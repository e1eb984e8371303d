//go:build bench

// Package second measures what the first engine's run saves the next one: bytes
// from the origin and seconds of an engine's first run after another one has read
// the same, beside its first run with nothing held and its second run.
package second

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/laketap/laketap/test/bench/side"
	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
)

const (
	rounds = 5
	delay  = 20 * time.Millisecond // of the origin, for each request
	files  = 12

	minShare = 0.9  // of an engine's own gain
	maxBytes = 1.05 // of the origin, for two engines as many times those for one
)

// A pair is two engines that read the same, one after the other.
type pair struct{ first, second string }

// A slow is a store that takes its time, and counts what it sends.
type slow struct {
	url   string
	bytes atomic.Int64
}

// slowDown stands in front of a lake's store. What is signed stays as it is.
func slowDown(t *testing.T, l *lake.Lake) *slow {
	t.Helper()
	s := &slow{}
	host := strings.TrimPrefix(l.S3.Endpoint, "http://")
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", host
			r.Out.URL.Opaque = "//" + host + strings.SplitN(r.In.RequestURI, "?", 2)[0]
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		ModifyResponse: func(resp *http.Response) error {
			s.bytes.Add(max(0, resp.ContentLength))
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// A bench is a lake of one table, read through servers that hold nothing yet.
type bench struct {
	*testing.T
	lake  *lake.Lake
	store *slow
}

// server starts one.
func (b *bench) server(t *testing.T) *laketap.Server {
	t.Helper()
	config := laketap.InFrontOf(t, b.lake)
	config.Mode = "accelerate"
	store := &config.Storage.Origins[0]
	store.Endpoint, store.Buckets = b.store.url, []string{b.lake.S3.Bucket}
	store.AccessKeyID, store.SecretFile = b.lake.Keys.ID, laketap.Secret(t, b.lake.Keys.Secret)
	config.Storage.Authority, config.Storage.Roots, config.Storage.Write = "catalog", []string{b.lake.Warehouse}, true
	return laketap.Start(t, config)
}

// run has an engine that has just started do the queries, and returns what that
// took.
func (b *bench) run(t *testing.T, server *laketap.Server, name string) (took time.Duration, bytes int64) {
	t.Helper()
	engine := engines.Start(t, name, server.Catalog)
	defer engine.Close()
	// What an engine makes of itself at its first query is not what is measured.
	if got := engine.Do(engines.Step{Read: &engines.Read{Table: "s.other"}}); got.Error != "" {
		t.Fatalf("%s: %s", name, got.Error)
	}
	before, began := b.store.bytes.Load(), time.Now()
	for _, read := range []engines.Read{
		{Table: "s.t", Columns: "id, price", Where: "price > 100", Order: "id"},
		{Table: "s.t", Columns: "id, name", Where: "id < 1000", Order: "id"},
		{Table: "s.t", Columns: "id, code", Where: "price < 10", Order: "id"},
	} {
		if got := engine.Do(engines.Step{Read: &read}); got.Error != "" || len(got.Rows) == 0 {
			t.Fatalf("%s: %d rows, %s", name, len(got.Rows), got.Error)
		}
	}
	took = time.Since(began)
	if b.store.bytes.Load() == 0 {
		t.Fatal("nothing has come from the slow store: this proves nothing")
	}
	return took, b.store.bytes.Load() - before
}

// TestBenchSecond prints a line a figure and writes docs/bench/second.md.
func TestBenchSecond(t *testing.T) {
	b := &bench{T: t, lake: lake.Start(t, "--vend=none")} // so that no keys lead around the slow store
	b.store = slowDown(t, b.lake)
	writer := engines.Start(t, engines.PyIceberg, b.server(t).Catalog)
	if got := writer.Do(engines.Step{Run: fmt.Sprintf(`catalog.create_namespace("s")
  def batch(n):
    ids = range(n * 20000, (n + 1) * 20000)
    return pa.table({"id": pa.array(ids, pa.int64()), "price": [i %% 997 * 0.25 for i in ids],
      "name": ["name of %%d" %% i for i in ids], "code": [("%%x" %% (i * 2654435761))[-12:] for i in ids]})
  catalog.create_table("s.other", schema=batch(0).schema).append(batch(0))
  t = catalog.create_table("s.t", schema=batch(0).schema)
  for n in range(%d):
    t.append(batch(n))`, files)}); got.Error != "" {
		t.Fatal(got.Error)
	}
	writer.Close()
	var lines bytes.Buffer
	for _, p := range []pair{{engines.DuckDB, engines.PyIceberg}, {engines.PyIceberg, engines.DuckDB}, {engines.DuckDB, engines.Spark}} {
		r := b.measure(p)
		fmt.Print(r)
		fmt.Fprintf(&lines, "| %s | %s | %.2f s | %.2f s | %.2f s | %.2f | %s | %d KiB | %d KiB | %.3f | %s |\n", p.first, p.second,
			r.cold.Seconds(), r.after.Seconds(), r.warm.Seconds(), r.share(), side.Verdict(r.shareOK()), r.one>>10, r.two>>10, r.ratio(), side.Verdict(r.bytesOK()))
	}
	write(t, lines.String())
}

// A result is the medians of a pair.
type result struct {
	pair

	cold, after, warm time.Duration // of the second engine's runs
	one, two          int64         // bytes of the origin: for the first engine, for both
}

func (r result) share() float64 { return float64(r.cold-r.after) / float64(r.cold-r.warm) }
func (r result) ratio() float64 { return float64(r.two) / float64(r.one) }
func (r result) shareOK() bool  { return r.share() >= minShare }
func (r result) bytesOK() bool  { return r.ratio() <= maxBytes }

// String is the lines of a figure.
func (r result) String() string {
	return fmt.Sprintf("P5 gain %s after %s cold=%.2fs after=%.2fs warm=%.2fs share=%.2f target=%.1f %s\nP5 bytes %s after %s one=%d two=%d ratio=%.3f target=%.2f %s\n",
		r.second, r.first, r.cold.Seconds(), r.after.Seconds(), r.warm.Seconds(), r.share(), minShare, side.Verdict(r.shareOK()),
		r.second, r.first, r.one, r.two, r.ratio(), maxBytes, side.Verdict(r.bytesOK()))
}

// measure goes through the rounds of a pair.
func (b *bench) measure(p pair) result {
	var cold, after, warm []time.Duration
	r := result{pair: p}
	for n := range rounds {
		b.Run(fmt.Sprintf("%s after %s, round %d", p.second, p.first, n), func(t *testing.T) {
			alone := b.server(t)
			c, _ := b.run(t, alone, p.second)
			w, _ := b.run(t, alone, p.second)
			alone.Process.Close()
			shared := b.server(t)
			_, first := b.run(t, shared, p.first)
			a, second := b.run(t, shared, p.second)
			cold, warm, after = append(cold, c), append(warm, w), append(after, a)
			r.one, r.two = first, first+second
		})
	}
	r.cold, r.after, r.warm = side.Median(cold), side.Median(after), side.Median(warm)
	return r
}

// write writes the table of the figures.
func write(t *testing.T, lines string) {
	t.Helper()
	text := fmt.Sprintf(`# The second engine

What an engine's first run over a table costs after another engine has read the
same: three queries over %d files, of some columns each; %d ms for each request that
reaches the store. Each run is of an engine that has just started, on a server that
held nothing before the pair. Cold is the second engine's first run with nothing
held, warm its next one.

    make bench-second

prints these figures and writes this file. Targets: at least %.1f of the gain that
the engine would have had from its own first run, and at most %.2f times the store's
bytes of the first engine alone.

## Figures

%s; %s.
Medians of %d interleaved rounds in one run.

| first | second | cold | after the first | warm | share of the gain | | bytes of the first | of both | ratio | |
|---|---|---|---|---|---|---|---|---|---|---|
%s
Engines do not read the same bytes for the same query. DuckDB reads the chunks of the
columns that it needs; Arrow, which PyIceberg reads by, also what lies between them,
and Spark's reader other ends of files. What the first one did not read comes from the
store, once. Where they read the same, the store is asked for nothing:
TestSecondEngineAsksForTheRightAlone. What an engine will read, though none has read
it yet, is for decisions to bring.
`, files, delay.Milliseconds(), minShare, maxBytes, time.Now().UTC().Format(time.DateOnly), side.Machine(), rounds, lines)
	if err := os.WriteFile(filepath.Join(process.Root(t), "docs", "bench", "second.md"), []byte(text), 0o644); err != nil { //nolint:gosec // documentation is for everybody
		t.Fatal(err)
	}
}
