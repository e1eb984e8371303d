// Package audit keeps a record for those who must be able to tell who read or
// wrote which object when: reads that are answered here never appear in the
// store's own log. It owns one append-only file of JSON lines; it refuses to
// hold a secret, to make an engine wait (unless it is told that no request may
// go unrecorded), and to keep silent about a line that was lost.
package audit

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

// Options configure a [Trail]. File is required.
type Options struct {
	File string
	// Required: an object is not touched before a line that says so has been
	// written; see [Trail.Begin].
	Required bool
	Next     laketap.Recorder // is told everything, too; nil: nobody

	Queue int           // accesses that may wait to be written; 0: 16,384
	Retry time.Duration // between tries while the file cannot be written; 0: 1 s

	Log        *slog.Logger          // nil: silent
	Registerer prometheus.Registerer // nil: not measured
	Now        func() time.Time      // nil: time.Now
}

// batchBytes is how much is gathered for one write, about.
const batchBytes = 64 << 10

// A Trail writes the record. It implements [laketap.Recorder] and is safe for
// concurrent use; [Trail.Run] must run beside it.
type Trail struct {
	opts  Options
	queue chan laketap.Access
	full  atomic.Int64 // accesses that found no room in the queue, not yet told of
	out   *file

	lines, lost, refused prometheus.Counter
}

// A State is what people want to know of a trail.
type State struct {
	File     string
	Required bool
	Problem  string // why nothing is written; "" is none
	Lost     int64  // lines that were not written since the start
}

// Open opens the file for appending. One that cannot be opened is an error if
// the record is required; else it is tried again and told of in the state.
func Open(opts Options) (*Trail, error) {
	opts.Queue = cmp.Or(opts.Queue, 16_384)
	opts.Retry = cmp.Or(opts.Retry, time.Second)
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Registerer == nil {
		opts.Registerer = prometheus.NewRegistry()
	}
	if opts.Next == nil {
		opts.Next = nobody{}
	}
	t := &Trail{opts: opts, queue: make(chan laketap.Access, opts.Queue), out: newFile(opts)}
	if err := t.measure(opts.Registerer); err != nil {
		return nil, err
	}
	if err := t.out.open(); err != nil && opts.Required {
		return nil, err
	}
	return t, nil
}

// measure registers what is counted.
func (t *Trail) measure(reg prometheus.Registerer) error {
	for _, c := range []struct {
		to         *prometheus.Counter
		name, help string
	}{
		{&t.lines, "laketap_audit_lines_total", "The number of lines written to the audit file."},
		{&t.lost, "laketap_audit_lost_total", "The number of audit lines that could not be written."},
		{&t.refused, "laketap_audit_refused_total", "The number of requests that were refused because their audit line could not be written."},
	} {
		*c.to = prometheus.NewCounter(prometheus.CounterOpts{Name: c.name, Help: c.help})
		if err := reg.Register(*c.to); err != nil {
			return err
		}
	}
	t.out.count = func(written, lost int64) {
		t.lines.Add(float64(written))
		t.lost.Add(float64(lost))
	}
	return nil
}

// Access records a request at the storage tap, and tells Next. It never waits:
// past the bound of the queue a line is lost and counted.
func (t *Trail) Access(a laketap.Access) {
	if a.Tap == laketap.StorageTap {
		select {
		case t.queue <- a:
		default:
			t.full.Add(1)
		}
	}
	t.opts.Next.Access(a)
}

// Table tells Next.
func (t *Trail) Table(s laketap.TableSeen) { t.opts.Next.Table(s) }

// Report tells Next.
func (t *Trail) Report(r laketap.Report) { t.opts.Next.Report(r) }

// Begin writes that a request is about to be served, if a record is required,
// and returns once the operating system has the line: it survives the end of
// this process, though not a loss of power. On an error the request must be
// refused.
func (t *Trail) Begin(a laketap.Access) error {
	if !t.opts.Required {
		return nil
	}
	err := t.out.write(encode(nil, intent, &a), 0)
	if err != nil {
		t.refused.Inc()
	}
	return err
}

// Run writes what was recorded until ctx ends, and then what is left.
func (t *Trail) Run(ctx context.Context) error {
	retry := time.NewTicker(t.opts.Retry)
	defer retry.Stop()
	for {
		select {
		case a := <-t.queue:
			t.writeFrom(&a)
		case <-retry.C:
			t.tellFull()
			t.out.retry()
		case <-ctx.Done():
			for len(t.queue) > 0 {
				a := <-t.queue
				t.writeFrom(&a)
			}
			t.tellFull()
			t.out.retry()
			return t.out.close()
		}
	}
}

// writeFrom writes an access and those that wait behind it, in one write.
func (t *Trail) writeFrom(a *laketap.Access) {
	lines, n := encode(nil, access, a), int64(1)
	for len(lines) < batchBytes {
		select {
		case next := <-t.queue:
			lines, n = encode(lines, access, &next), n+1
			continue
		default:
		}
		break
	}
	_ = t.out.write(lines, n) // it counts, logs and keeps what goes wrong
}

// tellFull counts what found no room in the queue.
func (t *Trail) tellFull() {
	if n := t.full.Swap(0); n > 0 {
		t.out.lose(n, errors.New("requests came faster than their lines could be written"))
	}
}

// Reopen opens the file anew, as after it was renamed by a program that rotates
// logs. On an error the one from before goes on.
func (t *Trail) Reopen() error { return t.out.reopen() }

// State returns what people want to know.
func (t *Trail) State() State {
	problem, lost := t.out.state()
	return State{File: t.opts.File, Required: t.opts.Required, Problem: problem, Lost: lost + t.full.Load()}
}

// nobody is a Recorder that forgets.
type nobody struct{}

func (nobody) Access(laketap.Access)   {}
func (nobody) Table(laketap.TableSeen) {}
func (nobody) Report(laketap.Report)   {}

var _ laketap.Recorder = (*Trail)(nil)
