package storage

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// change answers everything but GET and HEAD. The objects it is about are
// forgotten before, so that nobody reads the old one out of a cache after the
// new one is there, and again when it is done, since a read in between may
// have brought the old one back.
func (s *Server) change(r *request) *answer {
	if r.length == lengthNone && (r.op.name == "PutObject" || r.op.name == "UploadPart") {
		return errMissingLength.answer(r)
	}
	ex := s.newExchange(s.base)
	up := &upload{src: r.auth.Body(r.body, r.who.secret), watch: ex.watch}
	req := newOutgoing(ex.ctx, r, forwardHeaders(r))
	var err error
	if r.op.kind == kindDeleteObjects {
		err = s.deleteBody(r, req, up)
	} else {
		err = s.uploadBody(r, req, up)
	}
	if err != nil {
		ex.end()
		return bodyFault(r, up, err).answer(r)
	}
	// Now that all objects are known, and before the first byte goes out.
	if refusal := s.begin(r); refusal != nil {
		ex.end()
		return refusal
	}
	names := r.deletes
	if r.op.level == object {
		names = []laketap.ObjectName{r.name()}
	}
	s.forget(names)
	resp, err := s.send(ex, r, req, r.payload(), up.trailer)
	r.body.detach()
	if err != nil {
		s.forget(names)
		if fault := up.failure(); fault != nil {
			return bodyFault(r, up, fault).answer(r)
		}
		return originFault(r, ex, err).answer(r)
	}
	if resp.StatusCode < http.StatusMultipleChoices && !up.whole(r.payload().Length) {
		_ = resp.Body.Close() // breaks off what is under way
		s.forget(names)
		return errInternal.because("store said yes before it had the whole body").answer(r)
	}
	a := s.answerOf(r, resp)
	if resp.StatusCode < http.StatusMultipleChoices {
		// The write is done when the reply has ended: completing an upload
		// answers 200 at once and works on while it sends white space.
		a.after = func() { s.forget(names) }
	}
	return a
}

// payload is how the origin's request is signed: in the client's own mode, so
// that what is stored with the object is what the client computed.
func (r *request) payload() sigv4.Payload {
	p := r.auth.Payload
	if p.Length < 0 && r.length == lengthNone {
		p.Length = 0
	}
	return p
}

// uploadBody makes the client's body the origin's. An empty one is verified
// here, since there is nothing to send that could be held back.
func (s *Server) uploadBody(r *request, req *http.Request, up *upload) error {
	p := r.payload()
	if framed := p.Mode != sigv4.Signed && p.Mode != sigv4.Unsigned; p.Length == 0 && !framed {
		n, err := io.Copy(io.Discard, up)
		if err == nil && n > 0 {
			err = errIncompleteBody
		}
		return err
	}
	req.Body, req.ContentLength = up, p.Length
	return nil
}

// deleteBody reads and checks the keys of a DeleteObjects, then sends the
// document on byte for byte, with its own hash, digest and checksums.
func (s *Server) deleteBody(r *request, req *http.Request, up *upload) error {
	doc, err := s.readDelete(r, up)
	if err != nil {
		return err
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(doc)), int64(len(doc))
	return nil
}

// bodyFault turns the failure of a body into a refusal: the client's
// connection, its claim about the body, or what the body says.
func bodyFault(r *request, up *upload, err error) *apiError {
	if fault := r.body.failure(); fault != nil {
		return clientFault(fault)
	}
	if fault := up.failure(); fault != nil {
		err = fault
	}
	e := *asAPIError(err)
	// What is left of a wrong body is not worth reading.
	e.drop = e.drop || !errors.Is(err, errAccessDenied)
	return &e
}

// forget tells Blocks that objects change.
func (s *Server) forget(names []laketap.ObjectName) {
	if s.opts.Blocks == nil {
		return
	}
	for _, name := range names {
		s.opts.Blocks.Forget(name)
	}
}
