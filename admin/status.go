package admin

import (
	"net/http"
	"time"
)

// Status is the answer of /api/v1/status: what runs, where, and in front of
// what.
type Status struct {
	Version   string     `json:"version"`
	Started   time.Time  `json:"started"`
	Mode      string     `json:"mode"`
	Authority string     `json:"authority"` // what lets engines read: upstream or catalog
	Roots     []string   `json:"roots,omitempty"`
	Region    string     `json:"region"` // that engines sign for
	Addresses Addresses  `json:"addresses"`
	Upstreams []Upstream `json:"upstreams"`
	Origins   []Origin   `json:"origins"`
	// Certificate is what the ports with TLS show; nil: none has TLS.
	Certificate *Certificate `json:"certificate,omitempty"`
	// Cache is what is held for reuse; nil: nothing is.
	Cache *Cache `json:"cache,omitempty"`
	Readiness
}

// Certificate is what the ports with TLS show.
type Certificate struct {
	File    string    `json:"file"`
	Names   []string  `json:"names"` // that it is good for
	Expires time.Time `json:"expires"`
	Ports   []string  `json:"ports"`             // that have TLS
	Problem string    `json:"problem,omitempty"` // why what the files hold now is not used
}

// Addresses is where the server is reached.
type Addresses struct {
	Catalog string `json:"catalog"` // base URL of the catalog tap
	Storage string `json:"storage"` // base URL of the storage tap, as engines get it
	Admin   string `json:"admin"`
	// StorageListen is where the storage tap listens: host and port, where an
	// empty or unspecified host is every address of the machine.
	StorageListen string `json:"storage_listen"`
	// Advertised is storage.advertise; "": the host of the catalog request.
	Advertised string `json:"advertised,omitempty"`
}

// An Upstream is a catalog behind the server, and what is known of it.
type Upstream struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	URI    string `json:"uri"` // what engines set as their catalog URI
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"` // why it is not ready
	// Vends says whether the catalog vends storage credentials: yes, no, or
	// unknown before the first table was loaded.
	Vends     string `json:"vends"`
	Rewritten int64  `json:"rewritten"` // answers that sent an engine to the storage tap
	Passed    int64  `json:"passed"`    // answers with a table in them, passed on byte for byte
	// LastPassed tells of the last of these, and what a person can do about it.
	LastPassed *Passed `json:"last_passed,omitempty"`
	// SignedFor names the service that clients signed requests to this catalog
	// for; such a catalog cannot be proxied.
	SignedFor string `json:"signed_for,omitempty"`
	// DelegationRefused is when the catalog last refused the header that asks
	// for credentials.
	DelegationRefused time.Time `json:"delegation_refused,omitzero"`
}

// Passed is an answer that was passed on byte for byte.
type Passed struct {
	At     time.Time `json:"at"`
	Table  string    `json:"table"`
	Reason string    `json:"reason"`
	Fix    string    `json:"fix"`
}

// An Origin is a store behind the server.
type Origin struct {
	Name     string   `json:"name"`
	Endpoint string   `json:"endpoint,omitempty"` // "": AWS by region
	Region   string   `json:"region"`
	Buckets  []string `json:"buckets,omitempty"`
	Ready    bool     `json:"ready"`
	Reason   string   `json:"reason,omitempty"`
}

func (h *handler) status(w http.ResponseWriter, r *http.Request) {
	s := h.Status()
	s.Readiness = h.readiness(r.Context())
	why := map[[2]string]string{}
	for _, reason := range h.prober.reasons(r.Context()) {
		why[[2]string{reason.Kind, reason.Name}] = reason.Reason
	}
	s.Upstreams = append([]Upstream{}, s.Upstreams...)
	for i := range s.Upstreams {
		u := &s.Upstreams[i]
		u.Reason = why[[2]string{"upstream", u.Name}]
		u.Ready = u.Reason == ""
	}
	s.Origins = append([]Origin{}, s.Origins...)
	for i := range s.Origins {
		o := &s.Origins[i]
		o.Reason = why[[2]string{"origin", o.Name}]
		o.Ready = o.Reason == ""
	}
	answer(w, http.StatusOK, s)
}

func (h *handler) engines(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, Engines{engineUsesOf(h.Observer.Engines())})
}

func (h *handler) tables(w http.ResponseWriter, _ *http.Request) {
	uses := h.Observer.Tables()
	told := Tables{Tables: make([]TableUse, 0, len(uses))}
	for i := range uses {
		told.Tables = append(told.Tables, tableUseOf(&uses[i]))
	}
	answer(w, http.StatusOK, told)
}
