package catalog

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/laketap/laketap/internal/certs"
)

// checkTimeout bounds [Handler.Check].
const checkTimeout = 5 * time.Second

// An UpstreamStatus is what the tap has seen of an upstream since it started:
// the material for doctor.
type UpstreamStatus struct {
	Name string
	URL  string

	Edited int64 // answers that led an engine to the storage tap
	Passed int64 // answers with a table in them that passed byte for byte

	// Why the last one passed: for programs, for people, which table, when.
	// Empty if none did.
	LastReason string
	LastFix    string
	LastTable  string
	LastPassed time.Time

	// SignedFor names the AWS service that clients signed requests for, or are
	// told by /v1/config to sign for ("glue"); such a catalog cannot be
	// proxied. "" if neither was seen.
	SignedFor string
	// DelegationRefused is when the upstream last refused the header that asks
	// for credentials. Zero: never.
	DelegationRefused time.Time
}

// Upstreams returns the status of every upstream, in the order configured.
func (h *Handler) Upstreams() []UpstreamStatus {
	all := make([]UpstreamStatus, 0, len(h.upstreams))
	for _, up := range h.upstreams {
		up.mu.Lock()
		all = append(all, up.status)
		up.mu.Unlock()
	}
	return all
}

// note changes the status under its lock.
func (u *upstream) note(change func(*UpstreamStatus)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change(&u.status)
}

// Check reports whether an upstream answers: any HTTP answer of GET /v1/config
// but a server's error will do, since it may ask for a warehouse or a token.
func (h *Handler) Check(ctx context.Context, name string) error {
	up := h.upstream(name)
	if up == nil {
		return fmt.Errorf("catalog %q is not configured", name)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, up.url()+"/v1/config", http.NoBody)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	resp, err := up.transport.RoundTrip(req)
	if certs.Distrusted(err) {
		return fmt.Errorf("reach catalog %s at %s: its certificate is not trusted; set catalogs[%s].ca to the PEM file of its authority: %w", name, up.url(), name, err)
	}
	if err != nil {
		return fmt.Errorf("reach catalog %s at %s (is its url right, and is it up?): %w", name, up.url(), err)
	}
	defer resp.Body.Close()
	// What is left unread costs a connection, not an answer.
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	if resp.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("catalog %s at %s answers /v1/config with %s", name, up.url(), resp.Status)
	}
	return nil
}

// upstream returns an upstream by name; nil if there is none.
func (h *Handler) upstream(name string) *upstream {
	for _, up := range h.upstreams {
		if up.name == name {
			return up
		}
	}
	return nil
}
