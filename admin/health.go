package admin

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	probeTimeout = 3 * time.Second
	probeEvery   = 5 * time.Second // results are used for so long, so that nobody can hammer with our hands
)

// A Probe asks whether something behind us can be reached.
type Probe struct {
	Kind  string // "upstream" or "origin"
	Name  string // as configured
	Check func(context.Context) error
}

// A Reason says why the server is not ready, or what it warns of.
type Reason struct {
	Kind   string `json:"kind"` // "upstream", "origin", "server", "certificate", "cluster_key", "audit", "memory" or "cache"
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason"`
}

// Readiness is the answer of /readyz.
type Readiness struct {
	Ready    bool     `json:"ready"`
	Reasons  []Reason `json:"reasons"`
	Warnings []Reason `json:"warnings,omitempty"` // to be seen to, though engines are served
}

// healthz answers for as long as the process lives.
func (h *handler) healthz(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]bool{"alive": true})
}

// readyz answers 503 with the reasons while something behind us is out of
// reach or the server is about to end.
func (h *handler) readyz(w http.ResponseWriter, r *http.Request) {
	ready := h.readiness(r.Context())
	status := http.StatusOK
	if !ready.Ready {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, ready)
}

func (h *handler) readiness(ctx context.Context) Readiness {
	reasons := []Reason{}
	if h.Draining() {
		reasons = append(reasons, Reason{Kind: "server", Reason: "is shutting down"})
	} else {
		reasons = append(reasons, h.prober.reasons(ctx)...)
	}
	return Readiness{Ready: len(reasons) == 0, Reasons: reasons, Warnings: h.Warnings()}
}

// A prober runs probes and remembers what they said for a while.
type prober struct {
	probes []Probe
	now    func() time.Time

	mu   sync.Mutex // held while probing: whoever comes meanwhile shares the result
	at   time.Time  // when last was found; zero: never
	last []Reason
}

func newProber(probes []Probe, now func() time.Time) *prober {
	return &prober{probes: probes, now: now}
}

// reasons returns why the server is not ready, in the order of the probes. The
// probing does not end with the first client that asked for it.
func (p *prober) reasons(ctx context.Context) []Reason {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.now(); !p.at.IsZero() && now.Sub(p.at) < probeEvery {
		return p.last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	found := make([]error, len(p.probes))
	var wg sync.WaitGroup
	for i, probe := range p.probes {
		wg.Go(func() { found[i] = probe.Check(ctx) })
	}
	wg.Wait()
	p.last = nil
	for i, err := range found {
		if err != nil {
			p.last = append(p.last, Reason{Kind: p.probes[i].Kind, Name: p.probes[i].Name, Reason: err.Error()})
		}
	}
	p.at = p.now()
	return p.last
}
