package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/laketap/laketap"
)

// Denials is who and what is shut out. A change holds on this node when the
// call returns.
type Denials interface {
	Denials() []laketap.Denial
	Deny(ctx context.Context, d laketap.Denial) error
	// Allow lifts a denial; found is false if there was none.
	Allow(ctx context.Context, kind, subject string) (found bool)
	// Problem tells why other nodes may not hear of a change; "" is that they do.
	Problem() string
}

// A DenialPage is the answer of /api/v1/denials: what holds now.
type DenialPage struct {
	Denials []laketap.Denial `json:"denials"`
	// Problem is why other nodes may not hear of a change yet.
	Problem string `json:"problem,omitempty"`
}

// A NewDenial is what is posted to /api/v1/denials.
type NewDenial struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	By      string `json:"by,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// maxBody bounds a posted body; bodyTimeout is how long it may take.
const (
	maxBody     = 16 << 10
	bodyTimeout = 10 * time.Second
)

// listDenials answers what holds.
func (h *handler) listDenials(w http.ResponseWriter, _ *http.Request) {
	page := DenialPage{Denials: h.Denials.Denials(), Problem: h.Denials.Problem()}
	if page.Denials == nil {
		page.Denials = []laketap.Denial{}
	}
	answer(w, http.StatusOK, page)
}

// deny adds a denial.
func (h *handler) deny(w http.ResponseWriter, r *http.Request) {
	// JSON only: a form of any web page could post the rest without asking.
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "send Content-Type: application/json")
		return
	}
	var posted NewDenial
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields() // a misspelt field would be a denial of less than was meant
	if err := dec.Decode(&posted); err != nil {
		refuse(w, http.StatusBadRequest, "body is no denial: "+err.Error())
		return
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		refuse(w, http.StatusBadRequest, "body has more in it than a denial")
		return
	}
	d := laketap.Denial{Kind: posted.Kind, Subject: posted.Subject, By: posted.By, Reason: posted.Reason, Since: h.Now().UTC()}
	if err := h.Denials.Deny(r.Context(), d); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	h.Log.InfoContext(r.Context(), "denied", "kind", d.Kind, "subject", d.Subject, "by", d.By, "reason", d.Reason)
	h.listDenials(w, r)
}

// allow lifts a denial.
func (h *handler) allow(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	kind, subject := query.Get("kind"), query.Get("subject")
	if !h.Denials.Allow(r.Context(), kind, subject) {
		refuse(w, http.StatusNotFound, "no such denial; see GET /api/v1/denials")
		return
	}
	h.Log.InfoContext(r.Context(), "allowed again", "kind", kind, "subject", subject)
	h.listDenials(w, r)
}

// change is a handler that changes something: no page of another site may have
// the browser of somebody here call it.
func change(serve http.HandlerFunc) http.HandlerFunc {
	sites := http.NewCrossOriginProtection()
	return func(w http.ResponseWriter, r *http.Request) {
		if err := sites.Check(r); err != nil {
			refuse(w, http.StatusForbidden, "the request comes from a page of another site")
			return
		}
		serve(w, r)
	}
}

// none is the deny list of a server without.
type none struct{}

func (none) Denials() []laketap.Denial { return nil }
func (none) Deny(context.Context, laketap.Denial) error {
	return errors.New("this server has no deny list")
}
func (none) Allow(context.Context, string, string) bool { return false }
func (none) Problem() string                            { return "" }
