// Package admin owns the API that people, scripts and the console use: JSON
// about engines, tables and accesses, metrics and health. Every answer is read
// from what the steps hand it. Of all that it could change it changes the deny
// list alone, and empties the cache; it refuses to decide anything, and no secret
// passes through it. openapi.yaml beside this file describes it.
package admin

import (
	"context"
	_ "embed"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/laketap/laketap"
)

//go:embed openapi.yaml
var openAPI []byte

// An Observer knows what engines did.
type Observer interface {
	// Accesses answers a query; Wait returns when there is one after a number.
	Accesses(laketap.AccessQuery) laketap.AccessPage
	Wait(ctx context.Context, after uint64) error
	Engines() []laketap.EngineUse
	Tables() []laketap.TableUse
}

// Deps is what the API tells about. Observer and Status are required.
type Deps struct {
	Observer Observer
	// Status describes the server; whether its upstreams and origins can be
	// reached is filled in from Probes of the same kind and name.
	Status func() Status
	Probes []Probe
	// Draining reports that the server is about to end, so that balancers send
	// no more; nil: never.
	Draining func() bool
	// Warnings are what a person should see to although engines are served; nil:
	// none ever.
	Warnings     func() []Reason
	Denials      Denials             // nil: nobody can be denied
	Blocks       Blocks              // nil: nothing is kept
	Observations Observations        // nil: there are none
	Memory       Memory              // nil: nothing is remembered
	Gatherer     prometheus.Gatherer // nil: no metrics
	// Hosts are names that the API may be called by, besides localhost and IP
	// addresses. Any other is refused: a web page can make a browser resolve a
	// name of its own to a loopback address (DNS rebinding).
	Hosts []string
	Log   *slog.Logger     // nil: discards
	Now   func() time.Time // nil: time.Now
}

// maxFollowers bounds the requests that wait for accesses at one time.
const maxFollowers = 64

// handler serves the API.
type handler struct {
	Deps

	prober    *prober
	followers chan struct{} // holds one for every request that waits
}

// A route is a path with who serves it: serve for GET and HEAD, nil for neither,
// and what changes something by its method.
type route struct {
	path    string
	serve   http.HandlerFunc
	changes map[string]http.HandlerFunc
}

// New returns the API.
func New(d Deps) http.Handler {
	if d.Draining == nil {
		d.Draining = func() bool { return false }
	}
	if d.Warnings == nil {
		d.Warnings = func() []Reason { return nil }
	}
	if d.Denials == nil {
		d.Denials = none{}
	}
	if d.Blocks == nil {
		d.Blocks = nothing{}
	}
	if d.Observations == nil {
		d.Observations = unseen{}
	}
	if d.Memory == nil {
		d.Memory = oblivion{}
	}
	if d.Gatherer == nil {
		d.Gatherer = prometheus.NewRegistry()
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	h := &handler{Deps: d, prober: newProber(d.Probes, d.Now), followers: make(chan struct{}, maxFollowers)}
	mux := http.NewServeMux()
	for _, r := range h.routes() {
		if r.serve != nil {
			mux.HandleFunc("GET "+r.path, r.serve) // and HEAD, says net/http
		}
		for method, serve := range r.changes {
			mux.HandleFunc(method+" "+r.path, change(serve))
		}
		// Without this, what catches the rest would call the path unknown.
		mux.HandleFunc(r.path, r.noSuchMethod)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "no such path; see /api/v1/openapi.yaml")
	})
	return h.guard(mux)
}

// noSuchMethod refuses every method but those that a path has (RFC 9110
// §15.5.6).
func (r route) noSuchMethod(w http.ResponseWriter, _ *http.Request) {
	var methods []string
	if r.serve != nil {
		methods = append(methods, http.MethodGet, http.MethodHead)
	}
	methods = append(methods, slices.Sorted(maps.Keys(r.changes))...)
	allowed := strings.Join(methods, ", ")
	w.Header().Set("Allow", allowed)
	if len(r.changes) == 0 {
		refuse(w, http.StatusMethodNotAllowed, "this path only reads: use GET or HEAD")
		return
	}
	refuse(w, http.StatusMethodNotAllowed, "use "+allowed)
}

// denialsPath is the one path that takes a body.
const denialsPath = "/api/v1/denials"

// routes lists what there is; a test holds openapi.yaml to it.
func (h *handler) routes() []route {
	metrics := promhttp.HandlerFor(h.Gatherer, promhttp.HandlerOpts{})
	return []route{
		{path: "/api/v1/status", serve: h.status},
		{path: "/api/v1/accesses", serve: h.accesses},
		{path: "/api/v1/observations", serve: h.observations},
		{path: "/api/v1/engines", serve: h.engines},
		{path: "/api/v1/tables", serve: h.tables},
		{path: denialsPath, serve: h.listDenials, changes: map[string]http.HandlerFunc{"POST": h.deny, "DELETE": h.allow}},
		{path: "/api/v1/cache", serve: h.cache},
		{path: "/api/v1/cache/forget", changes: map[string]http.HandlerFunc{"POST": h.forget}},
		{path: "/api/v1/cache/verify", changes: map[string]http.HandlerFunc{"POST": h.verify(&sync.Mutex{})}},
		{path: "/api/v1/memory/tables", serve: h.knownTables},
		{path: "/api/v1/memory/columns", serve: h.knownColumns},
		{path: "/api/v1/memory/files", serve: h.knownFiles},
		{path: "/api/v1/memory/unused", serve: h.unused},
		{path: "/api/v1/memory/forget", changes: map[string]http.HandlerFunc{"POST": h.forgetSubject}},
		{path: "/api/v1/openapi.yaml", serve: h.openAPI},
		{path: "/metrics", serve: metrics.ServeHTTP},
		{path: "/healthz", serve: h.healthz},
		{path: "/readyz", serve: h.readyz},
	}
}

// guard refuses foreign host names and sets the headers that every answer has.
func (h *handler) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		if r.ContentLength != 0 {
			// net/http would wait for ever for a body that never comes, and only a
			// denial has one. Not every ResponseWriter has deadlines.
			until := time.Unix(1, 0)
			if r.Method == http.MethodPost && r.URL.Path == denialsPath {
				until = time.Now().Add(bodyTimeout)
			}
			header.Set("Connection", "close")
			_ = http.NewResponseController(w).SetReadDeadline(until)
		}
		if !h.knows(r.Host) {
			refuse(w, http.StatusForbidden, "the admin API is not known by this host name; add it to admin.hosts, or use localhost or an IP address")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// knows reports whether the API may be called by a host.
func (h *handler) knows(host string) bool {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
		return true
	}
	return slices.ContainsFunc(h.Hosts, func(known string) bool { return strings.EqualFold(known, host) })
}

func (h *handler) openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI) // the client left: nobody to tell
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the client left: nobody to tell
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, Refusal{Error: why})
}
