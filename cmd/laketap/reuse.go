package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
	"github.com/laketap/laketap/reuse/block"
	"github.com/laketap/laketap/tap/catalog"
	"github.com/laketap/laketap/tap/storage"
)

// openReuse opens what engines get back, the block cache, and what gives
// accesses their meaning. In the modes that reuse nothing there is no cache, and
// what tells of other bytes is taken as it passes.
func (n *node) openReuse(context.Context) (err error) {
	if n.cfg.Mode != "accelerate" && n.cfg.Mode != "maintain" {
		n.glimpses = observe.NewGlimpses()
		n.interpret(n.glimpses.Held)
		return nil
	}
	opts, err := blockOptions(&n.cfg)
	if err != nil {
		return err
	}
	// The two need each other: the cache asks which objects are immutable, and
	// that is learned from manifests that the cache holds.
	held := func(name laketap.ObjectName, off, size int64) ([]byte, laketap.Object, bool) {
		return n.blocks.Held(name, off, size)
	}
	n.interpret(held)
	opts.Contract, opts.Log, opts.Registerer = n.interpreter.Live(), n.log.With("step", "reuse"), n.registry
	n.blocks, err = block.Open(opts)
	switch {
	case errors.Is(err, block.ErrInUse):
		return fmt.Errorf("cache.dir: %w; end that, or name a directory for each by cache.dir (LAKETAP_CACHE_DIR) or data", err)
	case err != nil:
		return fmt.Errorf("cache.dir: %w", err)
	}
	return nil
}

// interpret makes what gives accesses their meaning from bytes at hand.
func (n *node) interpret(held observe.Held) {
	n.recent = observe.NewRecent(n.memory)
	n.interpreter = observe.NewInterpreter(n.observer, observe.InterpreterOptions{
		Held: held, Memory: n.recent, Registerer: n.registry, Log: n.log.With("step", "observe"),
	})
	n.recorder = recorders{n.recorder, n.interpreter}
	if !observed {
		n.recorder = n.interpreter.Live() // what the cache trusts is learned all the same
	}
}

// watcher is who takes what tells of other bytes, where there is no cache.
func (n *node) watcher() storage.Watcher {
	if n.glimpses == nil {
		return nil
	}
	return n.glimpses
}

// cache is the block cache as the storage tap wants it; nil if there is none.
func (n *node) cache() storage.Blocks {
	if n.blocks == nil {
		return nil
	}
	return n.blocks
}

// signatory is who has requests signed by catalogs; nil if nobody shall.
func (n *node) signatory() storage.Signatory {
	if n.cfg.Storage.Authority != catalog.ModeSigner {
		return nil
	}
	return n.catalog
}

// blockOptions turns the configuration into the cache's options.
func blockOptions(c *Config) (opts block.Options, err error) {
	if opts.MaxDisk, err = parseSize(c.Cache.Disk); err != nil {
		return opts, err
	}
	if opts.MaxRAM, err = parseSize(c.Cache.Memory); err != nil {
		return opts, err
	}
	if opts.MaxDisk > 0 {
		opts.Dir = cmp.Or(c.Cache.Dir, filepath.Join(c.Data, "cache"))
	}
	opts.Encrypted = c.Cache.Encrypted
	return opts, nil
}

// recorders tell several of everything, in order.
type recorders []laketap.Recorder

func (r recorders) Access(a laketap.Access) {
	for _, one := range r {
		one.Access(a)
	}
}

func (r recorders) Table(t laketap.TableSeen) {
	for _, one := range r {
		one.Table(t)
	}
}

func (r recorders) Report(p laketap.Report) {
	for _, one := range r {
		one.Report(p)
	}
}
