package storage

import (
	"errors"
	"io"
	"strings"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
)

// Requests without any signature are somebody's whom we know nothing of. With
// Options.Anonymous they go to the store as they came, unsigned and byte for
// byte: a public bucket, a browser's form, which carries its signature inside,
// or a preflight of CORS. The store says yes or no to them; our own keys and the
// cache have no part in it.

// admitAnonymous finds the store of a request that nobody signed.
func (s *Server) admitAnonymous(r *request) error {
	r.who, r.auth = &caller{anonymous: true}, &sigv4.Auth{}
	if r.times("X-Amz-Security-Token") > 0 {
		return errAccessDenied.because("token without a signature")
	}
	origin, ok := tap.OriginOf(s.opts.Origins, r.bucket, "")
	if !ok {
		return errNoOrigin
	}
	// A store that sends its own requests here would get them back for ever.
	for _, o := range s.opts.Origins {
		if strings.EqualFold(s.hosts[o.Name], r.sig.Host) && r.sig.Host != "" {
			return errLoop
		}
	}
	r.origin = origin.Name
	return nil
}

// passAnonymous sends a request on without a signature.
func (s *Server) passAnonymous(r *request) *answer {
	if refusal := s.begin(r); refusal != nil {
		return refusal
	}
	ex := s.newExchange(s.base)
	req := newOutgoing(ex.ctx, r, endToEndHeaders(r, connectionOnly))
	body := &rawUpload{src: r.body, watch: ex.watch}
	if r.length != lengthNone && r.length != 0 {
		req.Body, req.ContentLength = body, r.length
	}
	var names []laketap.ObjectName
	if r.op.level == object && r.op.write {
		names = []laketap.ObjectName{r.name()}
	}
	s.forget(names)
	resp, err := s.deliver(ex, r, req, sigv4.Credentials{}, sigv4.Payload{}, nil) //nolint:bodyclose // whoever gets the answer closes it
	r.body.detach()
	if err != nil {
		s.forget(names)
		if fault := r.body.failure(); fault != nil {
			return clientFault(fault).answer(r)
		}
		return originFault(r, ex, err).answer(r)
	}
	a := s.answerOf(r, resp)
	a.after = func() { s.forget(names) }
	return a
}

// A rawUpload is a body that is sent on as it is. One that is short breaks the
// origin's request off.
type rawUpload struct {
	src   io.Reader
	watch *watch
}

func (u *rawUpload) Read(p []byte) (int, error) {
	u.watch.touch()
	n, err := u.src.Read(p)
	u.watch.touch()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return n, errIncompleteBody
	}
	return n, err
}

// Close does nothing: the client's connection outlives its body.
func (u *rawUpload) Close() error { return nil }
