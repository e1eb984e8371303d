package storage

import (
	"context"
	"fmt"

	"github.com/laketap/laketap"
)

// fetchBeside gets another object than the client asked for, with its
// credentials: what Blocks thinks that it will ask for next. It is the client's
// to have under the very right that it came with, or it is not fetched. Whoever
// kept the request may come late, so that it is looked at again who it is from.
func (s *Server) fetchBeside(ctx context.Context, r *request, get laketap.Get) (*laketap.Reply, error) {
	other := *r
	other.bucket, other.key, other.slash, other.rng = get.Name.Bucket, get.Name.Key, false, get.Range
	if reason := s.mayBeside(&other, get); reason != "" {
		return nil, fmt.Errorf("fetch %s/%s: %w: %s", get.Name.Bucket, get.Name.Key, laketap.ErrNoRight, reason)
	}
	return s.fetch(s.newExchange(ctx), &other, get)
}

// mayBeside returns why a request may not be made of a session; "" is that it may.
func (s *Server) mayBeside(r *request, get laketap.Get) string {
	switch {
	case get.Name.Origin != r.origin:
		return "it is in another store"
	case r.who.session != nil && r.who.session.Expired(s.opts.Now()):
		return "the session has ended"
	case !r.who.covers(get.Name, s.opts.Tables):
		return "outside the scope of the key"
	case s.right(r) != get.Right:
		return "another right is needed"
	}
	if err := s.refuseDenied(r); err != nil {
		return err.Error()
	}
	return ""
}
