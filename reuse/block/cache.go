package block

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

// maxExtent is the most bytes of one extent: what a fill holds in memory at a
// time, and what is read, checked and dropped as one.
const maxExtent = 8 << 20

// Contract knows what never changes: Version returns the version that a live
// snapshot of the table states for an object. Its ETag is empty, for a
// manifest knows none, and its Size is -1 where the format states none
// (manifest lists, table metadata). It must not block.
type Contract interface {
	Version(table laketap.TableID, name laketap.ObjectName) (laketap.Object, bool)
}

// Options configure a Cache.
type Options struct {
	Dir     string // where extents are kept; "": in memory only
	MaxDisk int64  // bytes of files in Dir; 0 is 10 GiB
	MaxRAM  int64  // bytes of extents in memory; 0 is 256 MiB

	MaxObjects int   // versions known; 0 is 1,000,000
	MaxExtents int   // 0 is 2,000,000
	MaxFilling int64 // bytes in memory on their way from the origin; 0 is 512 MiB

	MaxRequests int // under way at one origin; 0 is 256

	Contract  Contract      // nil: nothing is immutable
	Trust     time.Duration // for how long a contract is taken at its word; 0 is 24 h
	Encrypted bool          // also keep objects that the store encrypts with keys of KMS

	// Weigh returns how much more an extent is worth than column data of
	// which nothing is known; nil is [Prior].
	Weigh func(Subject) float64

	Files      Files                 // what Dir lies in; nil: the system's
	Log        *slog.Logger          // nil: discarded
	Registerer prometheus.Registerer // nil: not measured
	Now        func() time.Time      // nil: time.Now
	Jitter     func() float64        // in [0, 1), from any goroutine; nil: rand.Float64
}

// withDefaults fills in what zero stands for.
func (o Options) withDefaults() Options {
	if o.MaxDisk == 0 {
		o.MaxDisk = 10 << 30
	}
	if o.MaxRAM == 0 {
		o.MaxRAM = 256 << 20
	}
	if o.MaxObjects == 0 {
		o.MaxObjects = 1_000_000
	}
	if o.MaxExtents == 0 {
		o.MaxExtents = 2_000_000
	}
	if o.MaxFilling == 0 {
		o.MaxFilling = 512 << 20
	}
	if o.MaxRequests == 0 {
		o.MaxRequests = 256
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Trust == 0 {
		o.Trust = 24 * time.Hour
	}
	if o.Weigh == nil {
		o.Weigh = Prior
	}
	if o.Files == nil {
		o.Files = SystemFiles{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// A Cache holds extents of objects.
type Cache struct {
	opts    Options
	log     *slog.Logger
	piece   int64 // bytes of an extent at most: maxExtent, less in tests
	metrics *metrics
	disk    *disk // nil: in memory only

	base   context.Context // of every fill; ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // fills, and the disk's writer

	mu      sync.Mutex
	objects map[laketap.ObjectName]*object
	asks    map[laketap.ObjectName][]*ask
	gates   map[string]*gate // by origin
	nextID  uint64
	extents int
	filling int64 // bytes that fills may have in memory
	ram     ram
	order   order
	closed  bool
}

// ErrClosed is returned by a cache after Close.
var ErrClosed = errors.New("block cache is closed")

// Open opens the cache of a directory, or makes one. What is wrong with the
// setting is an error: a directory of another version, or one in use by
// another process. What is wrong with the disk is not: the cache then works
// in memory alone, and says so in [Cache.Stats].
func Open(opts Options) (*Cache, error) { return openPieces(opts, maxExtent) }

// openPieces opens a cache whose extents have piece bytes at most.
func openPieces(opts Options, piece int64) (*Cache, error) {
	c := &Cache{
		opts:    opts.withDefaults(),
		piece:   piece,
		objects: map[laketap.ObjectName]*object{},
		asks:    map[laketap.ObjectName][]*ask{},
		gates:   map[string]*gate{},
	}
	c.log = c.opts.Log
	c.ram, c.order = newRAM(c.opts.MaxRAM), newOrder()
	c.base, c.cancel = context.WithCancel(context.Background())
	var err error
	if c.metrics, err = newMetrics(c.opts.Registerer, c); err != nil {
		return nil, err
	}
	if c.opts.Dir != "" {
		if err = openDisk(c); err != nil {
			c.cancel()
			return nil, fmt.Errorf("open block cache %s: %w", c.opts.Dir, err)
		}
		c.work.Go(c.disk.run)
	}
	return c, nil
}

// Close ends the fills under way, writes what is still to be written, and
// closes the files. Answers that are being read break off.
func (c *Cache) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	for _, g := range c.gates {
		g.close()
	}
	c.mu.Unlock()
	c.cancel()
	if c.disk == nil {
		c.work.Wait()
		return nil
	}
	c.disk.stop()
	c.work.Wait()
	return c.disk.close()
}

// Forget drops what is held of an object, and what is on its way. It is
// called before and after every change.
func (c *Cache) Forget(name laketap.ObjectName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.asks[name] {
		a.dead = true // its reply may be older than the change
	}
	if o := c.objects[name]; o != nil {
		c.drop(o)
	}
}

// ForgetAll drops every object that match says yes to, and returns how many. It
// does not hold readers up meanwhile.
func (c *Cache) ForgetAll(match func(laketap.Object) bool) int {
	c.mu.Lock()
	all := make([]*object, 0, len(c.objects))
	for _, o := range c.objects {
		all = append(all, o)
	}
	c.mu.Unlock()
	n := 0
	for _, o := range all {
		if match(o.Object) && c.dropOne(o) {
			n++
		}
	}
	return n
}

// dropOne drops a version unless that has happened already.
func (c *Cache) dropOne(o *object) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.dead.Load() {
		return false
	}
	c.drop(o)
	return true
}

// Pin keeps an object from being evicted, or no longer does. It reports
// whether the object is known.
func (c *Cache) Pin(name laketap.ObjectName, pinned bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.objects[name]
	if o != nil {
		o.pinned = pinned
	}
	return o != nil
}

// drop removes a record and all that hangs on it. c.mu is held.
func (c *Cache) drop(o *object) {
	if o.dead.Swap(true) {
		return
	}
	for _, e := range o.extents {
		c.release(e)
	}
	o.extents = nil
	if c.objects[o.ObjectName] == o {
		delete(c.objects, o.ObjectName)
	}
	if c.disk != nil {
		c.disk.forget(o)
	}
}
