package catalog

import (
	"context"
	"encoding/base32"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

// requestIDHeader tells a client the id that its request has in our records.
const requestIDHeader = "X-Laketap-Request-Id"

// passedHeader names the servers of ours that a request went through, so that
// one which comes back is not sent round again: each round costs a connection,
// and they would go on until there are none left.
const passedHeader = "X-Laketap-Passed"

// captureMax bounds what is kept of a request's body to learn from.
const captureMax = 8 << 20

// An exchange is one request and its answer. It is the transport of its own
// reverse proxy, so that requests of our own (a load repeated without our
// header) happen where answers are edited.
type exchange struct {
	h      *Handler
	in     *http.Request
	w      *writer
	up     *upstream // nil: none is named
	route  route
	path   string // raw, below the upstream
	query  string // raw
	hasQ   bool
	prefix string // "/name" if the client named the upstream
	claim  string // the principal, not yet believed
	sent   *capture
	held   holding // of the budget for bodies
	access laketap.Access
}

// newExchange reads a request as far as its target and headers tell. It does
// not fail: what it cannot read is a request that it knows nothing of.
func (h *Handler) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	h.metrics.inFlight.Inc()
	x := &exchange{h: h, in: r, w: &writer{ResponseWriter: w}, route: route{op: opUnknown}, held: holding{budget: &h.bodies}}
	x.access = laketap.Access{
		At: h.opts.Now(), RequestID: h.newID(), Tap: laketap.CatalogTap,
		Engine: tap.EngineAtCatalog(r.UserAgent(), r.Header.Get("X-Client-Version")),
	}
	path, query, hasQuery := target(r)
	up, below, named, ok := h.route(path)
	if !ok {
		return x
	}
	x.up, x.path, x.query, x.hasQ = up, below, query, hasQuery
	if named {
		x.prefix = "/" + up.name
	}
	x.route = parseRoute(r.Method, below)
	x.claim = h.principalOf(up.name, r.Header)
	x.access.Catalog = up.name
	if x.route.table != "" {
		x.setName(x.route.table)
	}
	return x
}

// setName says which table the request is about, and finds its identity if
// that is known.
func (x *exchange) setName(table string) {
	x.route.table = table
	x.access.TableName = x.nameOf(x.route.namespace, table)
	x.access.Table, _ = x.h.ids.of(x.key(x.access.TableName))
}

// nameOf spells a table for people, by the separator that the upstream uses.
func (x *exchange) nameOf(namespace, table string) string {
	separator, _ := x.up.told()
	return dotted(namespace, table, separator)
}

// key is a table's name as this exchange's upstream and prefix know it.
func (x *exchange) key(name string) idKey { return idKey{x.up.name, x.route.prefix, name} }

// newID makes a request id; requests are served even without randomness.
func (h *Handler) newID() string {
	var b [10]byte
	if _, err := io.ReadFull(h.opts.Rand, b[:]); err != nil {
		return "unknown"
	}
	return base32.StdEncoding.EncodeToString(b[:])
}

// serve answers: by itself where no upstream is meant, else through a proxy
// that lives as long as the request, so that what it needs to know of the
// request stands in the exchange and not in a context.
func (x *exchange) serve() {
	if x.up == nil {
		x.refuse(refusal{
			http.StatusNotFound, "NotFoundException",
			"no catalog of that name: begin the path with one of " + x.h.catalogNames(),
		})
		return
	}
	if x.passed() {
		x.refuse(refusal{
			http.StatusLoopDetected, "ServiceFailureException",
			fmt.Sprintf("the request came back from %s: the url of catalog %s leads to this server; set it to the address of the catalog itself", x.up.url(), x.up.name),
		})
		return
	}
	if leavesBase(x.path) {
		x.refuse(refusal{
			http.StatusBadRequest, "BadRequestException",
			`the path leads out of the catalog with "..": ask for paths below the catalog's URI`,
		})
		return
	}
	if x.denied() {
		x.refuse(refusalDenied())
		return
	}
	r := x.in
	if mutates(r.Method) {
		// A mutation that was sent is left to finish when its client leaves,
		// so that its outcome is known and nothing upstream is cut short.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), x.h.opts.MutationTimeout)
		defer cancel()
		r = r.WithContext(ctx)
	}
	if r.Body != nil {
		x.sent = &capture{ReadCloser: r.Body, limit: x.captureLimit(), room: &x.held, settled: make(chan struct{})}
		r = r.WithContext(r.Context()) // a copy: the server's own stays as it is
		r.Body = x.sent
	}
	if x.route.op == opMetrics && x.swallows() {
		x.swallow(r)
		return
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:      x.rewrite,
		Transport:    x,
		ErrorHandler: x.fail,
		BufferPool:   x.h.buffers,
		ErrorLog:     slog.NewLogLogger(x.h.log.Handler(), slog.LevelDebug),
	}
	proxy.ServeHTTP(x.w, r)
}

// captureLimit is how much of the request's body is needed to learn from it.
func (x *exchange) captureLimit() int {
	switch x.route.op {
	case opMetrics:
		return reportMax
	case opToken:
		return tokenMax
	case opCreateTable, opRegister, opRename, opTransaction:
		return captureMax
	}
	return 0
}

// rewrite turns the request to the upstream. The path, the query and every
// header but those that end at a hop stay as they came.
func (x *exchange) rewrite(pr *httputil.ProxyRequest) {
	pr.Out.URL = x.up.at(x.path, x.query, x.hasQ)
	pr.Out.Host = ""
	// Go's transport sends a request without a body again over a new
	// connection if the old one breaks and the request carries this header.
	// It looks it up by the canonical name, so under another it does not see
	// it; on the wire case means nothing.
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := pr.Out.Header[name]; ok {
			delete(pr.Out.Header, name)
			pr.Out.Header[strings.ToLower(name)] = values
		}
	}
}

// RoundTrip carries the request to the upstream and edits the answer where
// its operation asks for it.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := x.carry(req)
	if err != nil {
		return nil, err
	}
	if service, signed := signedService(x.in.Header.Get("Authorization")); signed &&
		(resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusUnauthorized) {
		x.up.note(func(s *UpstreamStatus) { s.SignedFor = service })
		x.explain(resp, explainSigned(resp.StatusCode, x.up, service))
	}
	if led, ok := x.redirect(resp.Header.Get("Location")); ok {
		resp.Header.Set("Location", led)
	}
	resp.Header.Set(requestIDHeader, x.access.RequestID)
	return resp, nil
}

// carry sends the request in the way that its operation asks for.
func (x *exchange) carry(req *http.Request) (*http.Response, error) {
	switch x.route.op {
	case opConfig:
		return x.config(req)
	case opToken:
		return x.token(req)
	case opLoadTable:
		return x.load(req)
	case opCreateTable, opRegister:
		return x.create(req)
	case opCredentials, opPlan, opFetchPlan:
		return x.credentials(req)
	case opUpdateTable, opDropTable, opUnregister, opRename, opTransaction:
		return x.change(req)
	case opMetrics:
		return x.report(req)
	}
	return x.send(req)
}

// passed reports whether the request went through this server before.
func (x *exchange) passed() bool {
	return slices.Contains(x.in.Header.Values(passedHeader), x.h.instance)
}

// send carries a request as it is, marked as passed.
func (x *exchange) send(req *http.Request) (*http.Response, error) {
	if !slices.Contains(req.Header.Values(passedHeader), x.h.instance) { // it may be sent again
		req.Header.Add(passedHeader, x.h.instance)
	}
	resp, err := x.up.transport.RoundTrip(req)
	if err == nil && req.Body != nil && x.in.ContentLength != 0 {
		// The upstream may answer while the body still arrives. As soon as we
		// answer, Go's server takes the rest of it for itself, and the upstream
		// would get a body with bytes missing.
		x.sent.settle(req.Context())
	}
	return resp, err
}

// explain replaces an answer by a refusal of ours with the same status.
func (x *exchange) explain(resp *http.Response, r refusal) {
	discard(resp)
	replace(resp, r.body(x.access.RequestID))
	resp.Header.Set("Content-Type", "application/json")
	x.access.Err = r.message
}

// fail answers when the upstream did not.
func (x *exchange) fail(_ http.ResponseWriter, _ *http.Request, err error) {
	x.h.log.DebugContext(x.in.Context(), "upstream gave no answer",
		"catalog", x.up.name, "op", x.route.op, "request_id", x.access.RequestID, "err", err)
	if x.in.Context().Err() != nil && !mutates(x.in.Method) {
		x.access.Err = "client left"
		panic(http.ErrAbortHandler) // anything written would look like an answer
	}
	x.refuse(refusalFor(x.in.Method, x.up, err))
}

// refuse answers with a refusal of the tap's own.
func (x *exchange) refuse(r refusal) {
	x.access.Served = laketap.FromTap
	x.access.Err = r.message
	x.w.Header().Set(requestIDHeader, x.access.RequestID)
	r.write(x.w, x.in.Method, x.access.RequestID)
}

// done records the request, now that its answer has been written.
func (x *exchange) done() {
	a := &x.access
	a.Op, a.Status, a.BytesOut = x.route.op, x.w.status, x.w.bytes
	a.Latency = x.h.opts.Now().Sub(a.At)
	if x.sent != nil {
		a.BytesIn = x.sent.count()
	}
	if x.w.err != nil && a.Err == "" {
		a.Err = "client left"
	}
	// Only now is it known that the upstream let this caller in.
	if a.Served == laketap.FromOrigin && (a.Status/100 == 2 || a.Status == http.StatusNotModified) {
		a.Principal = x.claim
	}
	x.held.end()
	m := x.h.metrics
	m.inFlight.Dec()
	m.requests.WithLabelValues(a.Catalog, a.Op, class(a.Status)).Inc()
	m.latency.WithLabelValues(a.Op).Observe(a.Latency.Seconds())
	x.h.opts.Recorder.Access(*a)
}

// endpoint is the address of the storage tap for this client, with the slash
// at its end that ClickHouse needs. "" if there is none to give.
func (x *exchange) endpoint() string {
	o := x.h.opts
	if o.Advertise != "" {
		return strings.TrimRight(o.Advertise, "/") + "/"
	}
	host := x.in.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if host == "" {
		return ""
	}
	scheme := "http"
	if o.StorageTLS {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s/", scheme, net.JoinHostPort(host, strconv.Itoa(o.StoragePort)))
}

// redirect leads a redirect within the upstream through us; ok is false if it
// goes anywhere else or finds its way by itself.
func (x *exchange) redirect(location string) (led string, ok bool) {
	if strings.HasPrefix(location, "/") && !strings.HasPrefix(location, "//") {
		return reroute(location, x.up.base, x.prefix)
	}
	return reroute(location, x.up.url(), x.ours())
}

// ours is the URL at which the client reaches the upstream through us.
func (x *exchange) ours() string {
	scheme := "http"
	if x.in.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + x.in.Host + x.prefix
}
