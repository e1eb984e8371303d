package remember

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laketap/laketap"
)

// ErrTooMany is that no more denials are taken.
var ErrTooMany = fmt.Errorf("there are %d denials, which is the most there can be; lift some", MaxDenials)

// DenyOptions configure a DenyList.
type DenyOptions struct {
	Memory Options       // shared by all nodes; opened again for as long as it cannot be
	File   string        // the last known list, for a start without the memory; required
	Every  time.Duration // between looks into the memory; 0 is 500 ms
	Log    *slog.Logger  // nil: silent
}

// syncTimeout bounds one look into the memory.
const syncTimeout = 5 * time.Second

// A DenyList is who and what is denied. It is asked without I/O; a change
// holds here when the call returns, whatever becomes of the memory, and on
// other nodes when they look next. [DenyList.Run] must run beside it. It is
// safe for concurrent use.
type DenyList struct {
	opts DenyOptions
	set  atomic.Pointer[denySet] // what holds; never nil

	turn  sync.Mutex // held through a look into the memory
	store *Store     // nil: not open; guarded by turn

	mu      sync.Mutex // guards what follows; never held through I/O on the memory
	shared  []laketap.Denial
	pending []denialChange // made here and not in the memory yet, oldest first
	problem string         // with the memory or the file; "" is none
}

// A denialChange is a denial that is added or, lifted, taken away.
type denialChange struct {
	Denial laketap.Denial `json:"denial"`
	Lift   bool           `json:"lift,omitempty"`
}

// denialKey is what denials are looked up by.
type denialKey struct{ kind, subject string }

type denySet struct {
	all   []laketap.Denial // by kind and subject
	index map[denialKey]struct{}
}

// OpenDenyList returns the list as it was last known here. It does not touch
// the memory, so that a server starts without. A file that cannot be read is
// told as a problem.
func OpenDenyList(o DenyOptions) *DenyList {
	o.Every = cmp.Or(o.Every, 500*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &DenyList{opts: o}
	known, err := readDenyFile(o.File)
	d.shared, d.pending = known.Denials, known.Pending
	if err != nil {
		d.problem = err.Error()
		o.Log.Warn("last known deny list cannot be read", "err", err)
	}
	d.publish()
	return d
}

// Denied reports whether any of what a request comes with is denied.
func (d *DenyList) Denied(principal, key string, table laketap.TableID, name string) bool {
	set := d.set.Load()
	if len(set.index) == 0 {
		return false
	}
	for _, k := range [...]denialKey{
		{laketap.DenyPrincipal, principal},
		{laketap.DenyKey, key},
		{laketap.DenyTable, table.UUID},
		{laketap.DenyTable, table.Catalog + "." + name},
	} {
		if _, denied := set.index[k]; denied {
			return true
		}
	}
	return false
}

// Denials returns all, by kind and subject.
func (d *DenyList) Denials() []laketap.Denial { return slices.Clone(d.set.Load().all) }

// Problem tells what is wrong with the memory; "" is nothing.
func (d *DenyList) Problem() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.problem
}

// Deny adds a denial, or replaces one of the same subject.
func (d *DenyList) Deny(ctx context.Context, denial laketap.Denial) error {
	if err := denial.Check(); err != nil {
		return err
	}
	if set := d.set.Load(); len(set.all) >= MaxDenials {
		return ErrTooMany
	}
	// As the memory keeps it, so that both are one.
	denial.Since = denial.Since.UTC().Truncate(time.Microsecond)
	d.change(ctx, denialChange{Denial: denial})
	return nil
}

// Allow lifts a denial; found is false if there was none.
func (d *DenyList) Allow(ctx context.Context, kind, subject string) (found bool) {
	if _, found = d.set.Load().index[denialKey{kind, subject}]; !found {
		return false
	}
	d.change(ctx, denialChange{Denial: laketap.Denial{Kind: kind, Subject: subject}, Lift: true})
	return true
}

// change makes a change hold here, then everywhere.
func (d *DenyList) change(ctx context.Context, c denialChange) {
	d.mu.Lock()
	d.pending = append(d.pending, c)
	d.publish()
	d.mu.Unlock()
	d.Sync(ctx)
}

// Run looks into the memory again and again until ctx ends.
func (d *DenyList) Run(ctx context.Context) error {
	tick := time.NewTicker(d.opts.Every)
	defer tick.Stop()
	for {
		d.Sync(ctx)
		select {
		case <-ctx.Done():
			d.turn.Lock()
			defer d.turn.Unlock()
			if err := d.hangUp(); err != nil {
				d.opts.Log.WarnContext(ctx, "memory was not closed in good order", "err", err)
			}
			return nil
		case <-tick.C:
		}
	}
}

// Sync writes what changed here to the memory and reads what holds everywhere.
// What goes wrong is kept as the problem.
func (d *DenyList) Sync(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	before := d.known()
	err := d.exchange(ctx)
	if ctx.Err() != nil {
		return // the caller's end and not the memory's
	}
	if err != nil {
		// A new connection heals what an old one may be stuck in.
		err = errors.Join(fmt.Errorf("memory %s: %w", d.opts.Memory.Name(), err), d.hangUp())
	}
	if now := d.known(); err != nil || !now.equal(before) || !fileExists(d.opts.File) {
		err = errors.Join(err, now.write(d.opts.File))
	}
	d.tell(err)
}

// exchange is one look into the memory; the caller has the turn.
func (d *DenyList) exchange(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	if d.store == nil {
		store, err := Open(ctx, d.opts.Memory)
		if err != nil {
			return err
		}
		d.store = store
	}
	for _, c := range d.known().Pending {
		if err := d.write(ctx, c); err != nil {
			return err
		}
		// One by one: a change that is written is not written again over a later
		// one of another node.
		d.mu.Lock()
		d.shared, d.pending = applied(d.shared, d.pending[:1]), d.pending[1:]
		d.mu.Unlock()
	}
	all, err := d.store.Denials(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shared = all
	d.publish()
	return nil
}

// write makes a change in the memory; the caller has the turn.
func (d *DenyList) write(ctx context.Context, c denialChange) error {
	if c.Lift {
		return d.store.Allow(ctx, c.Denial.Kind, c.Denial.Subject)
	}
	return d.store.Deny(ctx, c.Denial)
}

// hangUp gives the connection up; the caller has the turn.
func (d *DenyList) hangUp() error {
	if d.store == nil {
		return nil
	}
	store := d.store
	d.store = nil
	return store.Close()
}

// tell keeps a problem and logs when one comes and goes.
func (d *DenyList) tell(err error) {
	text := ""
	if err != nil {
		text = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	d.mu.Lock()
	before := d.problem
	d.problem = text
	d.mu.Unlock()
	switch {
	case text != "" && before == "":
		d.opts.Log.Warn("deny list is not shared", "err", text)
	case text == "" && before != "":
		d.opts.Log.Info("deny list is shared again")
	}
}

// known returns what is known, for the file.
func (d *DenyList) known() denyFile {
	d.mu.Lock()
	defer d.mu.Unlock()
	return denyFile{Denials: d.shared, Pending: slices.Clone(d.pending)}
}

// publish makes what is known hold; the caller holds mu, or nobody else has d.
func (d *DenyList) publish() {
	set := &denySet{all: applied(d.shared, d.pending), index: map[denialKey]struct{}{}}
	for _, denial := range set.all {
		set.index[denialKey{denial.Kind, denial.Subject}] = struct{}{}
	}
	d.set.Store(set)
}

// applied returns the list after some changes, by kind and subject.
func applied(list []laketap.Denial, changes []denialChange) []laketap.Denial {
	list = slices.Clone(list)
	for _, c := range changes {
		list = slices.DeleteFunc(list, func(d laketap.Denial) bool {
			return d.Kind == c.Denial.Kind && d.Subject == c.Denial.Subject
		})
		if !c.Lift {
			list = append(list, c.Denial)
		}
	}
	slices.SortFunc(list, func(a, b laketap.Denial) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subject, b.Subject))
	})
	return list
}
