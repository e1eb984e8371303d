package remember

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

// WriterOptions configure a Writer.
type WriterOptions struct {
	Memory Options       // opened again for as long as it cannot be
	Every  time.Duration // between writes; 0 is 2 s
	Bounds Bounds        // of what is kept; zero fields are their defaults
	// Literal replaces values of the data itself, of which partitions' are all
	// that is kept; nil keeps them.
	Literal    func(string) string
	Registerer prometheus.Registerer // nil: no metrics
	Now        func() time.Time      // nil: time.Now
	Log        *slog.Logger          // nil: silent
}

// Bounds of what waits to be written. Past them it is dropped and counted.
const (
	maxQueued = 100_000 // observations and the like
	maxDigest = 200_000 // rows
)

// The time that one write may take, and between tries when the memory is in
// trouble at most.
const (
	writeTimeout = 30 * time.Second
	maxBackoff   = time.Minute
)

// tendEvery is how often what is too old or too much is removed.
const tendEvery = 10 * time.Minute

// Counts are what a Writer has done since the process started.
type Counts struct {
	Remembered int64 // observations, queries and the like that were written
	QueueFull  int64 // that were dropped since they came faster than they are summed up
	MemoryFull int64 // that were dropped since the memory has not taken any for too long
	Writes     int64
	Failures   int64 // writes that have to be tried again
}

// A Writer takes what was observed and writes it, summed up, to the memory.
// [Writer.Run] must run beside it. It is safe for concurrent use.
type Writer struct {
	opts WriterOptions
	news chan struct{} // holds one if there is something in the queue
	asks chan ask      // what Run is to do between writes

	mu      sync.Mutex // guards what follows; never held through I/O
	queue   []laketap.Batch
	queued  int // in all of them
	counts  Counts
	store   *Store // nil: not open
	problem string // with the memory; "" is none
}

// NewWriter returns a Writer. The memory is opened beside the requests, in Run.
func NewWriter(o WriterOptions) *Writer {
	o.Every = cmp.Or(o.Every, 2*time.Second)
	o.Bounds = o.Bounds.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	w := &Writer{opts: o, news: make(chan struct{}, 1), asks: make(chan ask)}
	if o.Registerer != nil {
		o.Registerer.MustRegister(newCollector(w))
	}
	return w
}

// Remember takes a batch. It never blocks: what cannot be taken is dropped and
// counted.
func (w *Writer) Remember(b laketap.Batch) {
	n := length(&b)
	if n == 0 {
		return
	}
	w.mu.Lock()
	if w.queued > 0 && w.queued+n > maxQueued {
		w.counts.QueueFull += int64(n)
		w.mu.Unlock()
		return
	}
	w.queue = append(w.queue, b)
	w.queued += n
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default: // Run is told already
	}
}

func length(b *laketap.Batch) int {
	return len(b.Tables) + len(b.Changes) + len(b.Observations) + len(b.Queries)
}

// Counts returns what was done so far.
func (w *Writer) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts
}

// Problem tells what is wrong with the memory; "" is nothing.
func (w *Writer) Problem() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.problem
}

// Store returns the memory to read. It is an error while it is not open.
func (w *Writer) Store() (*Store, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.store == nil {
		return nil, errors.New("memory is not open: " + cmp.Or(w.problem, "it is about to be"))
	}
	return w.store, nil
}

// Run writes until ctx ends, and what is left then.
func (w *Writer) Run(ctx context.Context) error {
	d, open := newDigest(), openings{}
	tick := time.NewTicker(w.opts.Every)
	defer tick.Stop()
	var backoff time.Duration
	var retry, tended time.Time
	taken := int64(0) // in d
	w.prepare(ctx)
	for {
		ended := false
		select {
		case <-ctx.Done():
			ended = true
		case <-w.news:
			taken += w.digest(d, open)
			continue
		case a := <-w.asks:
			taken += w.digest(d, open)
			err := w.flush(ctx, d, taken)
			if err == nil {
				d, taken = newDigest(), 0
				err = w.forget(a)
			}
			a.done <- err
			continue
		case <-tick.C:
		}
		taken += w.digest(d, open)
		now := w.opts.Now()
		open.expire(now)
		if !ended && now.Before(retry) {
			continue
		}
		err := w.flush(ctx, d, taken)
		if err == nil { // whatever becomes of tending: what is written is not written again
			if taken = 0; d.size() > 0 {
				d = newDigest()
			}
			if !ended && now.Sub(tended) >= tendEvery {
				tended, err = now, w.tend(ctx, now)
			}
		}
		w.tell(err)
		if ended {
			return w.close()
		}
		if err != nil {
			backoff = min(max(2*backoff, w.opts.Every), maxBackoff)
			retry = now.Add(backoff)
			continue
		}
		backoff, retry = 0, time.Time{}
	}
}

// prepare opens the memory early, so that it can be read before anything is
// written.
func (w *Writer) prepare(ctx context.Context) {
	_, err := w.open(ctx)
	w.tell(err)
}

// digest sums up what is in the queue and returns how much it was.
func (w *Writer) digest(d *digest, open openings) (taken int64) {
	w.mu.Lock()
	queue := w.queue
	w.queue, w.queued = nil, 0
	w.mu.Unlock()
	for i := range queue {
		n := int64(length(&queue[i]))
		if d.size() >= maxDigest {
			w.mu.Lock()
			w.counts.MemoryFull += n
			w.mu.Unlock()
			continue
		}
		d.add(&queue[i], open)
		taken += n
	}
	return taken
}

// flush writes a digest. It may take a while although ctx has ended, so that
// the last of it is kept.
func (w *Writer) flush(ctx context.Context, d *digest, taken int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	store, err := w.open(ctx)
	if err != nil {
		return err
	}
	if d.size() == 0 {
		return nil
	}
	err = store.write(ctx, d, w.opts.Literal)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.counts.Failures++
		return err
	}
	w.counts.Writes++
	w.counts.Remembered += taken
	return nil
}

// open returns the memory; once it is open, it stays so: its pool connects
// again by itself.
func (w *Writer) open(ctx context.Context) (*Store, error) {
	if store, err := w.Store(); err == nil {
		return store, nil
	}
	store, err := Open(ctx, w.opts.Memory)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.store = store
	return store, nil
}

// tend removes what is too old or too much.
func (w *Writer) tend(ctx context.Context, now time.Time) error {
	store, err := w.open(ctx)
	if err != nil {
		return err
	}
	return store.Tend(ctx, now, w.opts.Bounds)
}

// close gives the memory up.
func (w *Writer) close() error {
	w.mu.Lock()
	store := w.store
	w.store = nil
	w.mu.Unlock()
	if store == nil {
		return nil
	}
	if err := store.Close(); err != nil {
		w.opts.Log.Warn("memory was not closed in good order", "err", err)
	}
	return nil
}

// tell keeps a problem and logs when one comes and goes.
func (w *Writer) tell(err error) {
	text := ""
	if err != nil {
		text = strings.ReplaceAll(fmt.Sprintf("memory %s: %v", w.opts.Memory.Name(), err), "\n", "; ")
	}
	w.mu.Lock()
	before := w.problem
	w.problem = text
	w.mu.Unlock()
	switch {
	case text != "" && before == "":
		w.opts.Log.Warn("what engines do is not remembered; it is tried again", "err", text)
	case text == "" && before != "":
		w.opts.Log.Info("what engines do is remembered again")
	}
}
