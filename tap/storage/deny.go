package storage

import (
	"github.com/laketap/laketap"
)

// A Denier knows who and what is shut out. It is asked on the path of every
// request, so it answers without I/O.
type Denier interface {
	// Denied reports whether any of what a request comes with is denied; what
	// it does not have is empty.
	Denied(principal, key string, table laketap.TableID, name string) bool
}

// deniedMessage says in the access log what the client is not told.
const deniedMessage = "on the deny list"

// refuseDenied refuses who is denied, or whose table is: the session's own,
// and whatever table the request reaches, since engines use one key for
// several.
func (s *Server) refuseDenied(r *request) error {
	if s.opts.Deny == nil {
		return nil
	}
	principal := r.who.principal()
	if r.who.anonymous {
		principal = "anonymous" // as the catalog tap calls it
	}
	var own laketap.TableID
	var ownName string
	if r.who.session != nil {
		own, ownName = r.who.session.Table, r.who.session.TableName
	}
	if s.opts.Deny.Denied(principal, r.who.keyID, own, ownName) {
		return errAccessDenied.because(deniedMessage)
	}
	return s.refuseDeniedObjects(r.place(), r.source)
}

// refuseDeniedObjects refuses objects that belong to a denied table.
func (s *Server) refuseDeniedObjects(names ...laketap.ObjectName) error {
	if s.opts.Deny == nil || s.opts.Tables == nil {
		return nil
	}
	for _, name := range names {
		if t, ok := s.opts.Tables.At(name); ok && s.opts.Deny.Denied("", "", t.ID, t.Name) {
			return errAccessDenied.because("table " + t.Name + " is " + deniedMessage)
		}
	}
	return nil
}
