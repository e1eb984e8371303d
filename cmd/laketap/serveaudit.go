package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/audit"
	"github.com/laketap/laketap/tap/storage"
)

// openAudit opens the record of accesses, if there is to be one. It stands
// between the storage tap and all others who are told.
func (n *node) openAudit() (err error) {
	if n.cfg.Audit.File == "" {
		return nil
	}
	n.trail, err = audit.Open(audit.Options{
		File: n.cfg.Audit.File, Required: n.cfg.Audit.Required, Next: n.recorder,
		Log: n.log.With("step", "audit"), Registerer: n.registry,
	})
	if err != nil {
		return fmt.Errorf("%w; give this user the right to append to it, or name another with audit.file", err)
	}
	return nil
}

// audited is who the storage tap tells of every access.
func (n *node) audited() laketap.Recorder {
	if n.trail != nil {
		return n.trail
	}
	return n.recorder
}

// auditor is who the storage tap asks before every access; nil: nobody.
func (n *node) auditor() storage.Auditor {
	if n.trail == nil || !n.cfg.Audit.Required {
		return nil
	}
	return n.trail
}

// auditReason tells what is wrong with the record; ok is false if nothing is.
func (n *node) auditReason() (r admin.Reason, ok bool) {
	if n.trail == nil {
		return r, false
	}
	s := n.trail.State()
	switch {
	case s.Problem != "" && s.Required:
		return admin.Reason{Kind: "audit", Reason: s.Problem + "; requests are refused until it can be written: make room, or correct audit.file"}, true
	case s.Problem != "":
		return admin.Reason{Kind: "audit", Reason: fmt.Sprintf("%s; %s so far: make room, or correct audit.file", s.Problem, counted(int(s.Lost), "line")+" lost")}, true
	case s.Lost > 0:
		return admin.Reason{Kind: "audit", Reason: fmt.Sprintf("%s lost since the start; lines of event gap in %s tell where", counted(int(s.Lost), "line"), s.File)}, true
	}
	return r, false
}

// auditProbe makes a server unready that would refuse every request.
func (n *node) auditProbe() admin.Probe {
	return admin.Probe{Kind: "audit", Check: func(context.Context) error {
		if r, ok := n.auditReason(); ok && n.trail.State().Problem != "" {
			return errors.New(r.Reason)
		}
		return nil
	}}
}
