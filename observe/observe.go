// Package observe is told of every access and keeps what people and later
// steps ask about: a bounded ring of recent accesses, counters by engine and by
// table, and the last reports of engines. It refuses to make a tap wait: it
// does no I/O, takes a lock only for as long as a copy lasts, and past its
// bounds it drops or folds together, and counts that.
package observe

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

// Options bound what an [Observer] keeps.
type Options struct {
	Accesses    int                   // recent accesses kept; 0: 65,536
	AccessBytes int64                 // memory they may take; 0: 64 MiB
	Engines     int                   // engines counted apart; 0: 64
	Tables      int                   // tables counted apart; 0: 10,000
	TableUses   int                   // pairs of table and engine counted apart; 0: 20,000
	Reports     int                   // reports kept; 0: 256
	ReportBytes int64                 // memory they may take; 0: 8 MiB
	Registerer  prometheus.Registerer // nil: no metrics
	Now         func() time.Time      // for tests; nil: time.Now
}

// withDefaults returns o with every zero replaced.
func (o Options) withDefaults() Options {
	o.Accesses = cmp.Or(o.Accesses, 65_536)
	o.AccessBytes = cmp.Or(o.AccessBytes, 64<<20)
	o.Engines = cmp.Or(o.Engines, 64)
	o.Tables = cmp.Or(o.Tables, 10_000)
	o.TableUses = cmp.Or(o.TableUses, 20_000)
	o.Reports = cmp.Or(o.Reports, 256)
	o.ReportBytes = cmp.Or(o.ReportBytes, 8<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// An Observer implements [laketap.Recorder]. It is safe for concurrent use and
// starts no goroutines.
type Observer struct {
	ring    *ring
	ledger  *ledger
	reports *reports
	now     func() time.Time
}

var _ laketap.Recorder = (*Observer)(nil)

// New returns an observer that has seen nothing. It panics if its metrics are
// already registered, as [prometheus.Registerer].MustRegister does.
func New(opts Options) *Observer {
	opts = opts.withDefaults()
	o := &Observer{
		ring:    newRing(opts.Accesses, opts.AccessBytes),
		ledger:  newLedger(opts.Engines, opts.Tables, opts.TableUses),
		reports: newReports(opts.Reports, opts.ReportBytes),
		now:     opts.Now,
	}
	if opts.Registerer != nil {
		opts.Registerer.MustRegister(newCollector(o))
	}
	return o
}

// Access records one request. It never blocks on anything but a short lock.
func (o *Observer) Access(a laketap.Access) {
	if a.At.IsZero() {
		a.At = o.now()
	}
	a.Also = nil // up to a thousand keys, which the ring's bound does not count
	o.ledger.add(&a)
	o.ring.add(&a)
}

// Table records what a catalog answered about a table.
func (o *Observer) Table(t laketap.TableSeen) { o.ledger.see(&t) }

// Report keeps what an engine told of itself.
func (o *Observer) Report(r laketap.Report) {
	if r.At.IsZero() {
		r.At = o.now()
	}
	o.reports.add(r)
}

// Reports returns the reports that are kept, oldest first.
func (o *Observer) Reports() []laketap.Report { return o.reports.all() }

// Engines returns the use of every engine, by name and version. Engines past
// the bound are summed up as "other".
func (o *Observer) Engines() []laketap.EngineUse { return o.ledger.engineUses() }

// Tables returns the use of every table, by catalog and name, each with its
// engines in order. Tables and engines past their bounds are summed up as
// "other".
func (o *Observer) Tables() []laketap.TableUse { return o.ledger.tableUses() }
