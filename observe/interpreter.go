package observe

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

// A Memory is handed what was understood. Remember must not block: it queues,
// or drops and counts.
type Memory interface {
	Remember(batch laketap.Batch)
}

// InterpreterOptions configure an [Interpreter].
type InterpreterOptions struct {
	Held       Held                  // bytes that passed: of the block cache or, without one, of Glimpses; required
	Memory     Memory                // nil: what is understood is counted and forgotten
	Every      time.Duration         // between batches, at most; 0: 2 s
	Batch      int                   // observations of one, at most; 0: 1,000
	Pending    int                   // accesses that wait for their meaning, at most; 0: 10,000
	Patience   time.Duration         // how long they wait; 0: 15 s
	Registerer prometheus.Registerer // nil: no metrics
	Log        *slog.Logger          // nil: discarded
	Now        func() time.Time      // for tests; nil: time.Now
	Rand       *rand.Rand            // for tests, what is sampled at overload; nil: seeded by chance
}

func (o InterpreterOptions) withDefaults() InterpreterOptions {
	o.Every = cmp.Or(o.Every, 2*time.Second)
	o.Batch = cmp.Or(o.Batch, 1000)
	o.Pending = cmp.Or(o.Pending, 10_000)
	o.Patience = cmp.Or(o.Patience, 15*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) //nolint:gosec // a sample is no secret
	}
	return o
}

// An Interpreter gives accesses their meaning. It reads them off an
// [Observer]'s ring at its own pace, so that a tap waits for nothing here; when
// it cannot keep up it takes a sample, and what passes is counted. What it
// understood it hands to a [Memory] in batches.
//
// One goroutine runs it. Table and Report may be called by any.
type Interpreter struct {
	opts    InterpreterOptions
	feed    *feed
	live    *Live
	layouts *layouts
	waiting *waiting
	queries *queries
	batch   batch
	one     waiter // that is looked at; reused
	totals  *totals
}

var _ laketap.Recorder = (*Interpreter)(nil)

// NewInterpreter returns one that reads what an observer is told from now on.
func NewInterpreter(o *Observer, opts InterpreterOptions) *Interpreter {
	opts = opts.withDefaults()
	in := &Interpreter{
		opts: opts, feed: newFeed(o.ring, opts.Rand), layouts: newLayouts(opts.Held), waiting: newWaiting(opts.Pending), totals: newTotals(),
	}
	in.live = NewLive(LiveOptions{Held: opts.Held, Facts: in.batch.facts, Change: in.batch.change, Log: opts.Log})
	in.queries = newQueries(in.live)
	if opts.Registerer != nil {
		opts.Registerer.MustRegister(newMeaningCollector(in))
	}
	return in
}

// Live returns what it knows of the files of tables.
func (in *Interpreter) Live() *Live { return in.live }

// Access implements [laketap.Recorder]; the observer has the access already.
func (in *Interpreter) Access(a laketap.Access) { in.live.Access(a) }

// Table takes in what a catalog answered about a table.
func (in *Interpreter) Table(t laketap.TableSeen) { in.live.Table(t) }

// Report takes in what an engine told of itself.
func (in *Interpreter) Report(r laketap.Report) { in.queries.report(r) }

// pace is how often the ring is looked at. Waking up for every access would
// cost more than all the rest.
const pace = 100 * time.Millisecond

// Run interprets until ctx ends, and then what is left.
func (in *Interpreter) Run(ctx context.Context) error {
	var learning sync.WaitGroup
	learning.Go(func() { _ = in.live.Run(ctx) }) // it has no errors
	defer learning.Wait()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	handed := in.opts.Now()
	for {
		select {
		case <-ctx.Done():
			in.Interpret()
			in.waiting.expire(in.opts.Now(), 0, in.giveUp)
			in.queries.close(in.opts.Now(), 0, in.batch.query)
			in.hand()
			return nil
		case <-tick.C:
		}
		in.Interpret()
		if now := in.opts.Now(); now.Sub(handed) >= in.opts.Every {
			in.hand()
			handed = now
		}
	}
}

// Interpret interprets what has come since the last time, in the caller's
// goroutine. Only one may be at it.
func (in *Interpreter) Interpret() {
	now := in.opts.Now()
	for accesses, weight := in.feed.next(); len(accesses) > 0; accesses, weight = in.feed.next() {
		for i := range accesses {
			if a := &accesses[i]; reads(a) {
				in.access(a, weight, now)
			}
		}
	}
	in.waiting.retry(now, in.resolve)
	in.waiting.expire(now, in.opts.Patience, in.giveUp)
	in.queries.run(now, in.batch.query)
}

// reads reports whether an access moved bytes of an object to an engine.
func reads(a *laketap.Access) bool {
	return a.Tap == laketap.StorageTap && a.Op == "GetObject" && a.BytesOut > 0 &&
		(a.Status == http.StatusOK || a.Status == http.StatusPartialContent)
}

// access gives an access its meaning, or has it wait.
func (in *Interpreter) access(a *laketap.Access, weight float64, now time.Time) {
	in.one = waiter{access: *a, weight: weight, since: now}
	if !in.resolve(&in.one, now) && !in.waiting.add(in.one) {
		in.totals.drop(dropFull)
		in.giveUp(&in.one)
	}
}

// grace is how long a file that its table does not name yet may wait to be
// named: the manifest that does has often just passed.
const grace = 3 * time.Second

// resolve gives an access its meaning if all that it takes is known.
func (in *Interpreter) resolve(w *waiter, now time.Time) bool {
	a := &w.access
	f, named := in.live.file(a.Table, a.Object)
	if !named || f.file.Object.Size >= 0 && a.Size > 0 && f.file.Object.Size != a.Size {
		f = guess(a.Object, a.Size)
		if f.part == laketap.DataPart && in.live.knows(a.Table) && now.Sub(w.since) < grace {
			return false
		}
	}
	f.file.Object.ETag, f.file.Object.Size = a.ETag, max(f.file.Object.Size, a.Size)
	if f.part != laketap.DataPart || f.file.Format != parquetFormat.String() || a.Size <= 0 {
		in.tell(w, &f, split(extentOf(a), a.BytesOut, &f, nil))
		return true
	}
	got := extentOf(a)
	entry := in.layouts.of(layoutKey{a.Object, a.ETag, a.Size}, in.live.mapping(a.Table), got.Off+got.Len == a.Size, now)
	if !entry.done {
		return false
	}
	if entry.layout == nil {
		f.part = entry.opaque
	}
	in.tell(w, &f, split(got, a.BytesOut, &f, entry.layout))
	return true
}

// extentOf returns which bytes of the object an access was for.
func extentOf(a *laketap.Access) laketap.Extent {
	if a.Status == http.StatusOK {
		return laketap.Extent{Len: max(a.Size, a.BytesOut)} // whatever was asked for
	}
	return a.Range.Resolve(a.Size)
}

// giveUp tells of an access whose meaning did not come.
func (in *Interpreter) giveUp(w *waiter) {
	a := &w.access
	f, named := in.live.file(a.Table, a.Object)
	if !named {
		f = guess(a.Object, a.Size)
	}
	f.file.Object.ETag, f.file.Object.Size = a.ETag, max(f.file.Object.Size, a.Size)
	if f.part == laketap.DataPart && f.file.Format == parquetFormat.String() {
		f.part = laketap.UnknownPart
	}
	in.totals.drop(dropUnresolved)
	in.tell(w, &f, split(extentOf(a), a.BytesOut, &f, nil))
}

// tell notes an observation.
func (in *Interpreter) tell(w *waiter, f *namedFile, parts []laketap.PartBytes) {
	a := &w.access
	o := laketap.Observation{
		At: a.At, Latency: a.Latency, Engine: a.Engine, Principal: a.Principal, Session: a.Session, Table: a.Table,
		Snapshot: f.snapshot, File: f.file, Served: a.Served, Asked: extentOf(a).Len, Bytes: a.BytesOut, Parts: parts, Weight: w.weight,
	}
	in.totals.add(&o, a.TableName)
	in.queries.observe(&o)
	if in.batch.observe(o) >= in.opts.Batch {
		in.hand()
	}
}

// hand gives the memory what there is.
func (in *Interpreter) hand() {
	b, any := in.batch.take()
	if any && in.opts.Memory != nil {
		in.opts.Memory.Remember(b)
	}
}
