package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/audit"
	"github.com/laketap/laketap/internal/certs"
	"github.com/laketap/laketap/lake/s3"
	"github.com/laketap/laketap/observe"
	"github.com/laketap/laketap/remember"
	"github.com/laketap/laketap/reuse/block"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/catalog"
	"github.com/laketap/laketap/tap/storage"
)

// A node is one running server. Its fields are filled in the order in which a
// query meets them, and given up in reverse.
type node struct {
	cfg     Config
	opts    serveOptions
	log     *slog.Logger
	started time.Time

	cert        *certs.Pair // nil: no TLS
	ports       *listeners
	keys        *tap.Keyring
	lake        *lake // nil: the catalogs and stores are other people's
	registry    *prometheus.Registry
	observer    *observe.Observer
	interpreter *observe.Interpreter
	recent      *observe.Recent // what it understood lately
	denials     *remember.DenyList
	memory      *remember.Writer
	trail       *audit.Trail // nil: no record is kept
	origins     []tap.Origin
	stores      s3.Stores
	blocks      *block.Cache      // nil: nothing is reused
	glimpses    *observe.Glimpses // nil: blocks has what passes
	tables      *tap.Tables
	recorder    laketap.Recorder // all who are told of every access
	catalog     *catalog.Handler
	storage     *storage.Server
	admin       http.Handler
	draining    atomic.Bool

	keysProblem atomic.Value // string: why the cluster key file was not taken again; "": it was
}

// serveOptions are what serve needs beside the configuration.
type serveOptions struct {
	Lake  string // directory of a local lake to run and serve; "": none
	Log   *slog.Logger
	Ready func(admin.Addresses) // called once, when all ports answer; nil: nobody waits
	// Reload tells that files are to be read again: a signal, SIGHUP. nil: never.
	Reload <-chan os.Signal
}

// serve runs a server until ctx ends, and then for as long as its requests
// take to end. It returns nil after a shutdown in good order.
func serve(ctx context.Context, cfg *Config, opts serveOptions) error {
	// A copy: startLake adds to it what is the lake's, and the caller's is the
	// caller's.
	n := &node{cfg: *cfg, opts: opts, log: opts.Log, started: time.Now()}
	defer n.close()
	for _, step := range []func(context.Context) error{
		n.openPorts,    // first: a port in use must refuse before anything is made
		n.openKeys,     // what sessions are sealed with
		n.openMemory,   // who is denied
		n.startLake,    // the catalog and the store, if they are ours
		n.refuseLoops,  // what is behind us must not be us
		n.startObserve, // who is told of every access
		n.reachOrigins, // the stores behind us
		n.openReuse,    // what engines get back
		n.openTaps,     // where engines enter
		n.openAdmin,    // where people look
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return n.run(ctx)
}

// openPorts checks the configuration and takes the ports. Connections wait in
// the listeners' queues until the taps serve, so nobody is refused meanwhile.
func (n *node) openPorts(ctx context.Context) (err error) {
	// Check is here and not before, so that no way to start a server is without.
	if err := n.cfg.Check(); err != nil {
		return err
	}
	if len(n.cfg.Catalogs) == 0 && n.opts.Lake == "" {
		return errors.New("catalogs: is empty; name the catalog to stand in front of (--catalog http://host:port, or catalogs in laketap.yml), or a local lake (--lake DIR)")
	}
	if n.cfg.TLS.Cert != "" {
		if n.cert, err = certs.Open(n.cfg.TLS.Cert, n.cfg.TLS.Key, certs.Options{Log: n.log}); err != nil {
			return err
		}
	}
	n.ports, err = listen(ctx, &n.cfg)
	return err
}

// openKeys reads what sessions are sealed with. A new key is worth a line in the
// log: sessions from before it are refused, and engines load their tables again.
func (n *node) openKeys(context.Context) error {
	keys, made, err := openKeyring(&n.cfg)
	if err != nil {
		return err
	}
	if made {
		n.log.Info("made a cluster key", "data", n.cfg.Data)
	}
	n.keys = keys
	n.keysProblem.Store("")
	return nil
}

// startLake runs the local lake, if there is one, and adds it to what the server
// stands in front of.
func (n *node) startLake(ctx context.Context) (err error) {
	if n.opts.Lake == "" {
		return nil
	}
	if n.lake, err = startLake(ctx, n.opts.Lake, n.log); err != nil {
		return err
	}
	n.cfg.Catalogs = append(n.cfg.Catalogs, n.lake.upstream())
	if len(n.cfg.Catalogs) == 1 {
		n.cfg.Storage.Origins = nil // nothing but the lake can be meant
	}
	n.cfg.Storage.Origins = append(n.cfg.Storage.Origins, n.lake.origin())
	return n.cfg.Check()
}

// startObserve makes the registry, which all of a server's metrics are in, and
// the observer, which both taps tell of every access.
func (n *node) startObserve(context.Context) error {
	n.registry = prometheus.NewRegistry()
	n.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	n.startMemory()
	n.observer = observe.New(observe.Options{Registerer: n.registry})
	n.recorder = n.observer
	return nil
}

// reachOrigins sets up the ways to the stores. None is contacted: a store that
// is down makes a server not ready, and does not keep it from starting.
func (n *node) reachOrigins(context.Context) error {
	origins, err := s3Origins(n.cfg.Storage.Origins, n.lake)
	if err != nil {
		return err
	}
	n.origins = tapOrigins(n.cfg.Storage.Origins)
	if n.stores, err = s3.NewStores(origins, s3.Options{}); err != nil {
		return fmt.Errorf("storage.origins: %w", err)
	}
	return nil
}

// openTaps makes the two taps.
func (n *node) openTaps(context.Context) error {
	upstreams, err := upstreamsOf(n.cfg.Catalogs)
	if err != nil {
		return err
	}
	static, err := staticKeys(n.cfg.Keys, n.origins)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(portOf(n.ports.storage))
	if err != nil {
		return fmt.Errorf("storage.listen: %w", err)
	}
	// What connects the two taps: the catalog tap notes where each table lies,
	// and the storage tap tells by that whose file is read.
	n.tables = tap.NewTables(0)
	n.catalog, err = catalog.New(catalog.Options{
		Upstreams: upstreams, Origins: n.origins, Keys: n.keys, Tables: n.tables, Recorder: n.recorder, Deny: n.denials,
		Authority: catalog.Authority{Mode: n.cfg.Storage.Authority, Roots: n.cfg.Storage.Roots, Write: n.cfg.Storage.Write},
		Advertise: n.cfg.Storage.Advertise, StoragePort: port, StorageTLS: n.cfg.TLS.on("storage"), Region: n.cfg.Storage.Region,
		Log: n.log.With("tap", "catalog"), Registerer: n.registry,
	})
	if err != nil {
		return err
	}
	if err := n.openAudit(); err != nil {
		return err
	}
	n.storage, err = storage.New(storage.Options{
		Origins: n.origins, Send: n.stores, Keys: n.keys, Static: static, Tables: n.tables, Recorder: n.audited(), Audit: n.auditor(), Deny: n.denials,
		Sign: n.signatory(), Blocks: n.cache(), Watch: n.watcher(), Anonymous: n.cfg.Storage.Anonymous, ProofByObject: n.cfg.Cache.Proof == "object",
		Region: n.cfg.Storage.Region, Domain: n.cfg.Storage.Domain, TLS: n.tls("storage", "http/1.1"),
		Log: n.log.With("tap", "storage"), Registerer: n.registry,
	})
	return err
}

// openAdmin makes the admin API, which is given functions and no parts of the
// server: it can look and, but for the deny list and the cache, cannot touch.
func (n *node) openAdmin(context.Context) error {
	n.admin = admin.New(admin.Deps{
		Observer: n.observer, Status: n.status, Probes: n.probes(), Draining: n.draining.Load, Warnings: n.warnings, Denials: n.denials, Observations: n.recent,
		Blocks: cacheView{n.blocks, n.tables}, Memory: memoryView{n.memory}, Gatherer: n.registry, Hosts: n.cfg.Admin.Hosts, Log: n.log.With("step", "admin"),
	})
	return nil
}

// run serves until ctx ends or something that must live does not.
func (n *node) run(ctx context.Context) error {
	// What answers people and learns from the last requests ends after them.
	late, endLate := context.WithCancel(context.WithoutCancel(ctx))
	defer endLate()
	catalogs, people := n.server(n.catalog, context.WithoutCancel(ctx)), n.server(n.admin, late)

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return served("catalog", n.serve("catalog", catalogs, n.ports.catalog)) })
	g.Go(func() error { return served("storage", n.storage.Serve(n.ports.storage)) })
	g.Go(func() error { return served("admin", n.serve("admin", people, n.ports.admin)) })
	g.Go(func() error { return served("catalog", n.catalog.Run(late)) })
	// The memory's writer ends after the interpreter, whose last batch it takes.
	remembering, endRemembering := context.WithCancel(context.WithoutCancel(ctx))
	defer endRemembering()
	g.Go(func() error { defer endRemembering(); return n.interpreter.Run(late) })
	g.Go(func() error { n.reload(ctx); return nil })
	g.Go(func() error { return n.denials.Run(late) })
	g.Go(func() error { return n.memory.Run(remembering) })
	if n.lake != nil {
		g.Go(func() error { return n.lake.wait(ctx) })
	}
	if n.trail != nil {
		g.Go(func() error { return n.trail.Run(late) })
	}
	// The one goroutine that ends all others, whatever the reason: a signal, a
	// server that failed, or a lake that died.
	g.Go(func() error {
		<-ctx.Done()
		n.drain(context.Cause(ctx), catalogs)
		endLate()
		n.shut(people, 5*time.Second)
		n.ports.close() // whoever still serves one returns
		return nil
	})
	n.log.InfoContext(ctx, "ready", "catalog", n.addresses().Catalog, "storage", n.addresses().Storage, "admin", n.addresses().Admin)
	if n.opts.Ready != nil {
		n.opts.Ready(n.addresses())
	}
	err := g.Wait()
	n.log.InfoContext(ctx, "ended")
	return err
}

// drain stops accepting and waits for the requests under way, within bounds.
func (n *node) drain(cause error, catalogs *http.Server) {
	// First, so that load balancers that ask /readyz stop sending.
	n.draining.Store(true)
	n.log.Info("shutting down; a second signal ends at once", "cause", cause, "at_most", n.cfg.Drain)
	var g errgroup.Group
	g.Go(func() error { n.shut(catalogs, n.cfg.Drain); return nil })
	g.Go(func() error { n.shut(n.storage, n.cfg.Drain); return nil })
	_ = g.Wait() // they log what goes wrong
}

// shut ends a server in good order, and after a while in any.
func (n *node) shut(server interface{ Shutdown(context.Context) error }, within time.Duration) {
	// Not from the server's context, which has ended: it would allow no time.
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		n.log.Warn("broke requests off", "after", within, "error", err)
		if c, ok := server.(*http.Server); ok {
			_ = c.Close() // its connections are all there is
		}
	}
}

// server returns an HTTP server whose requests live in ctx. Bodies may take as
// long as they need, heads may not.
func (n *node) server(h http.Handler, ctx context.Context) *http.Server { //nolint:revive // the context is a field's value, not the call's
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       3 * time.Minute,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
	}
}

// close gives up what the steps opened, in reverse.
func (n *node) close() {
	if n.blocks != nil {
		if err := n.blocks.Close(); err != nil {
			n.log.Warn("cache was not closed in good order, its objects will be asked for again", "error", err)
		}
	}
	n.stores.Close()
	if n.lake != nil {
		n.lake.stop()
	}
	if n.ports != nil {
		n.ports.close()
	}
}
