package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/certs"
	"github.com/laketap/laketap/internal/sigv4"
)

// Send signs a request, unless keys are zero, and sends it to the origin, once.
// req's URL carries "/bucket/key", escaped in RawPath or Opaque, and the query;
// its body is the object's bytes, which leave in the payload mode of p. trailer is asked for
// the trailing headers when the body has been read; it may be nil. Send owns
// req, and closes its body in any case.
//
// The reply is the origin's, whatever its status: redirects are not followed
// and errors not judged. A GET or HEAD may be sent again by the transport when
// a kept connection turns out to be dead; nothing else ever is.
func (s *Store) Send(ctx context.Context, req *http.Request, keys sigv4.Credentials, p sigv4.Payload,
	trailer func() []laketap.Field,
) (*http.Response, error) {
	return s.send(ctx, req, p, func(req *http.Request) error {
		if keys == (sigv4.Credentials{}) {
			// Nobody's request: sent as it is. What an origin's own credentials are
			// is found out by who calls, and never empty.
			return nil
		}
		return sigv4.Sign(req, keys, p, s.origin.Region, s.now(), trailer)
	})
}

// SendSigned is Send with a signature from elsewhere: sign is called once, with
// the request as it will be sent, absolute URL and all, and adds to its headers.
// p must be [sigv4.Payload.Plain].
func (s *Store) SendSigned(ctx context.Context, req *http.Request, sign func(*http.Request) error, p sigv4.Payload) (*http.Response, error) {
	return s.send(ctx, req, p, func(req *http.Request) error {
		sigv4.Prepare(req, p)
		return sign(req)
	})
}

// send prepares and sends a request.
func (s *Store) send(ctx context.Context, req *http.Request, p sigv4.Payload, sign func(*http.Request) error) (*http.Response, error) {
	req = req.WithContext(ctx)
	if err := s.prepare(req, p, sign); err != nil {
		if req.Body != nil {
			err = errors.Join(err, req.Body.Close())
		}
		return nil, fmt.Errorf("send to origin %s: %w", s.origin.Name, err)
	}
	transport := s.writes
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		transport = s.reads
	}
	resp, err := transport.RoundTrip(req)
	if certs.Distrusted(err) {
		return nil, fmt.Errorf("send to origin %s: its certificate is not trusted; set storage.origins[%s].ca to the PEM file of its authority: %w", s.origin.Name, s.origin.Name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("send to origin %s: %w", s.origin.Name, err)
	}
	return resp, nil
}

// prepare turns req into what goes over the wire.
func (s *Store) prepare(req *http.Request, p sigv4.Payload, sign func(*http.Request) error) error {
	if err := s.address(req); err != nil {
		return err
	}
	req.Proto, req.ProtoMajor, req.ProtoMinor = "HTTP/1.1", 1, 1
	req.RequestURI = ""
	if req.Body == nil {
		req.Body = http.NoBody
	}
	if req.Body != http.NoBody && req.ContentLength <= 0 && p.Length >= 0 {
		req.ContentLength = p.Length
	}
	hideIdempotencyKeys(req.Header)
	if err := sign(req); err != nil {
		return err
	}
	// A body that could be had again is one that could be sent again.
	req.GetBody = nil
	return nil
}

// hideIdempotencyKeys keeps net/http from taking an Idempotency-Key as leave to
// repeat a request. It looks for two names in their canonical spelling; header
// names go over the wire as they are spelled in the map, and no server cares.
func hideIdempotencyKeys(h http.Header) {
	for shown, hidden := range map[string]string{"Idempotency-Key": "idempotency-key", "X-Idempotency-Key": "x-idempotency-key"} {
		if values, ok := h[shown]; ok {
			h[hidden] = append(h[hidden], values...)
			delete(h, shown)
		}
	}
}
