package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/laketap/laketap"
)

// Bounds of proofs of the right.
const (
	proofLasts  = 5 * time.Minute
	proofRenews = proofLasts / 2 // used at this age, it is renewed beside
	maxProofs   = 1 << 16
	maxRenewals = 16 // under way at once
)

// proofs remember which credentials the origin has let in under which prefix,
// and when. A hit of the cache is given only to who could have had the bytes
// from the origin: the scope says what a session is for, the proof that its
// credentials still open it.
type proofs struct {
	now    func() time.Time
	object bool // each object needs its own: stores with policies by object

	renewing chan struct{} // holds one for each renewal under way
	work     sync.WaitGroup

	mu   sync.Mutex
	seen map[string]proof
}

// A proof is the origin's last yes.
type proof struct {
	at      time.Time
	renewal bool // one is under way
}

func newProofs(now func() time.Time, object bool) *proofs {
	return &proofs{now: now, object: object, renewing: make(chan struct{}, maxRenewals), seen: map[string]proof{}}
}

// valid reports whether a right is proven, and whether it is time to renew it.
// Who is told so renews it.
func (p *proofs) valid(right string) (proven, renew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen, ok := p.seen[right]
	age := p.now().Sub(seen.at)
	if !ok || age < 0 || age >= proofLasts {
		return false, false
	}
	if age < proofRenews || seen.renewal {
		return true, false
	}
	seen.renewal = true
	p.seen[right] = seen
	return true, true
}

// learn takes the origin's status as a word about a right: a read that went
// well proves it, a refusal ends it, and anything else says nothing.
func (p *proofs) learn(right string, asked time.Time, status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch status {
	case http.StatusOK, http.StatusPartialContent, http.StatusNotModified:
		if _, known := p.seen[right]; !known && len(p.seen) >= maxProofs {
			p.prune()
		}
		// The time of asking: a right that was taken away while the answer was
		// on its way is not proven for longer than was said.
		if asked.After(p.seen[right].at) {
			p.seen[right] = proof{at: asked}
		}
	case http.StatusForbidden, http.StatusUnauthorized, http.StatusBadRequest: // 400: an expired token
		delete(p.seen, right)
	}
}

// prune makes room: what has run out, else any.
func (p *proofs) prune() {
	for right, seen := range p.seen {
		if p.now().Sub(seen.at) >= proofLasts {
			delete(p.seen, right)
		}
	}
	for right := range p.seen {
		if len(p.seen) < maxProofs {
			break
		}
		delete(p.seen, right)
	}
}

// renewed ends a renewal that brought no proof.
func (p *proofs) renewed(right string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if seen, ok := p.seen[right]; ok && seen.renewal {
		seen.renewal = false
		p.seen[right] = seen
	}
}

// right names the credentials that a read goes out with, and the prefix of the
// scope that it lies under. It is a hash: keys are not kept.
func (s *Server) right(r *request) string {
	h := sha256.New()
	name := r.name()
	write := func(parts ...string) {
		for _, p := range parts {
			_, _ = h.Write([]byte(p)) // never fails
			_, _ = h.Write([]byte{0})
		}
	}
	write(r.origin, r.bucket, s.prefixOf(r, name))
	if signer := r.who.signer(); signer != nil {
		write(signer.URL, signer.Authorization)
	} else if r.who.session != nil {
		if keys, ok := r.who.session.KeysFor(name); ok {
			write(keys.AccessKeyID, keys.SecretAccessKey, keys.SessionToken)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// prefixOf returns the innermost part of the caller's scope that an object lies
// in, since a write path inside the location has a right of its own; "" is that
// of a key for everything.
func (s *Server) prefixOf(r *request, name laketap.ObjectName) string {
	if s.proofs.object || r.who.signer() != nil { // a catalog that signs judges object by object
		return name.Key
	}
	innermost := ""
	for _, l := range r.who.scope() {
		if l.Contains(name) && len(l.Path) > len(innermost) {
			innermost = l.Path
		}
	}
	return innermost
}

// renew asks the origin again for what a proof is about to run out of, beside
// the request that noticed.
func (s *Server) renew(r *request, get laketap.Get) {
	p := s.proofs
	select {
	case p.renewing <- struct{}{}:
	default:
		p.renewed(get.Right) // the next one tries
		return
	}
	p.work.Go(func() {
		defer func() { <-p.renewing; p.renewed(get.Right) }()
		head := laketap.Get{Name: get.Name, Head: true, Right: get.Right}
		asked := p.now()
		reply, err := s.fetch(s.newExchange(s.base), r, head)
		if err != nil {
			return
		}
		_ = reply.Body.Close()
		p.learn(get.Right, asked, reply.Status)
	})
}

// proving makes a fetch that learns of the right from every answer.
func (s *Server) proving(right string, fetch laketap.Fetch) laketap.Fetch {
	return func(ctx context.Context, get laketap.Get) (*laketap.Reply, error) {
		asked := s.proofs.now()
		reply, err := fetch(ctx, get)
		if err == nil {
			s.proofs.learn(right, asked, reply.Status)
		}
		return reply, err
	}
}
