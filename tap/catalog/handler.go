package catalog

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

// Options configure a [Handler]. Upstreams, Keys and Tables are required.
type Options struct {
	Upstreams []Upstream
	Origins   []tap.Origin // what may be led through the storage tap; none: nothing is
	Authority Authority
	Keys      *tap.Keyring
	Tables    *tap.Tables
	Recorder  laketap.Recorder // nil: nobody is told
	Deny      Denier           // nil: nobody is denied

	// Advertise is the address at which engines reach the storage tap. "" is
	// the host of the catalog request with StoragePort, over https if
	// StorageTLS.
	Advertise   string
	StoragePort int // 0 is 9191
	StorageTLS  bool
	Region      string // engines sign for it; "" is us-east-1

	MaxEdit         int64         // bytes of an answer that may be edited; 0 is 64 MiB
	MutationTimeout time.Duration // how long a mutation may take, client or no client; 0 is 10 minutes

	Log        *slog.Logger          // nil: silent
	Registerer prometheus.Registerer // nil: metrics are kept and not shown
	Now        func() time.Time      // nil is time.Now
	Rand       io.Reader             // nil is crypto/rand; must be safe for concurrent use
}

// A Handler is the catalog tap. It is safe for concurrent use; [Handler.Run]
// must run beside it, or nothing is learned from answers that pass unedited.
type Handler struct {
	opts      Options
	instance  string // tells this server from others
	roots     []tap.Location
	upstreams []*upstream
	clients   *clients
	ids       *ids
	lessons   *lessons
	metrics   *metrics
	bodies    budget // of the bodies that are held
	log       *slog.Logger
	buffers   httputil.BufferPool
}

// New returns the catalog tap.
func New(opts Options) (*Handler, error) {
	switch {
	case len(opts.Upstreams) == 0:
		return nil, errors.New("no catalog is configured: set catalogs with a name and a url")
	case opts.Keys == nil || opts.Tables == nil:
		return nil, errors.New("catalog tap needs Keys and Tables")
	}
	opts.setDefaults()
	h := &Handler{opts: opts, clients: newClients(), ids: newIDs(), lessons: newLessons(), log: opts.Log, buffers: &buffers{}}
	h.bodies.most = editsAtOnce * opts.MaxEdit
	h.instance = h.newID()
	for _, u := range opts.Upstreams {
		up, err := newUpstream(u)
		if err != nil {
			return nil, err
		}
		if h.upstream(up.name) != nil {
			return nil, fmt.Errorf("catalogs: the name %q is used twice: give each catalog a name of its own", up.name)
		}
		h.upstreams = append(h.upstreams, up)
	}
	if err := h.parseRoots(); err != nil {
		return nil, err
	}
	var err error
	h.metrics, err = newMetrics(opts.Registerer, h.upstreams)
	return h, err
}

// setDefaults fills in what the zero values stand for.
func (o *Options) setDefaults() {
	o.StoragePort = cmp.Or(o.StoragePort, 9191)
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.MaxEdit = cmp.Or(o.MaxEdit, 64<<20)
	o.MutationTimeout = cmp.Or(o.MutationTimeout, 10*time.Minute)
	if o.Recorder == nil {
		o.Recorder = nobody{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
}

// parseRoots checks the authority and finds the origin of each root.
func (h *Handler) parseRoots() error {
	a := h.opts.Authority
	switch a.Mode {
	case "", ModeUpstream, ModeSigner:
		return nil
	case ModeCatalog:
	default:
		return fmt.Errorf("storage.authority %q: use %s, %s or %s", a.Mode, ModeUpstream, ModeCatalog, ModeSigner)
	}
	if len(a.Roots) == 0 {
		return errors.New("storage.authority: catalog needs roots, such as s3://lake/warehouse")
	}
	for _, uri := range a.Roots {
		bucket, _, ok := laketap.SplitS3(uri)
		if !ok {
			return fmt.Errorf("storage.roots: %q is no s3:// URI with a bucket", uri)
		}
		origin, ok := tap.OriginOf(h.opts.Origins, bucket, "")
		if !ok {
			return fmt.Errorf("storage.roots: the bucket of %q belongs to no origin: name it under storage.origins", uri)
		}
		root, ok := tap.LocationOf(origin.Name, uri)
		if !ok {
			return fmt.Errorf("storage.roots: %q has a \".\" or \"..\" segment", uri)
		}
		h.roots = append(h.roots, root)
	}
	return nil
}

// Run learns from answers that passed unedited, off the path of requests,
// until ctx ends.
func (h *Handler) Run(ctx context.Context) error { return h.lessons.run(ctx, h.learn) }

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := h.newExchange(w, r)
	defer x.done() // also when the proxy gives up with a panic
	x.serve()
}

// route finds the upstream of a raw path and the path below it: /{name}/…, or
// anything if there is only one. ok is false if no upstream is named.
func (h *Handler) route(path string) (up *upstream, below string, named, ok bool) {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if up := h.upstream(first); up != nil && strings.HasPrefix(path, "/") {
		return up, path[1+len(first):], true, true
	}
	if len(h.upstreams) == 1 {
		return h.upstreams[0], path, false, true
	}
	return nil, "", false, false
}

// catalogNames lists what may stand first in a path.
func (h *Handler) catalogNames() string {
	all := make([]string, 0, len(h.upstreams))
	for _, up := range h.upstreams {
		all = append(all, "/"+up.name)
	}
	return strings.Join(all, ", ")
}

// nobody is a Recorder that forgets.
type nobody struct{}

func (nobody) Access(laketap.Access)   {}
func (nobody) Table(laketap.TableSeen) {}
func (nobody) Report(laketap.Report)   {}

// buffers lends the proxy its copy buffers.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return *buf
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(buf []byte) { b.pool.Put(&buf) }
