package storage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/laketap/laketap/internal/sigv4"
)

// Some catalogs vend no keys but sign their clients' requests to the store one
// by one (Iceberg's remote signing). With storage.authority: signer a session
// holds where that is done and what its client shows there, so what goes to the
// store is signed as it would be without us, and the catalog says yes or no to
// each. One more trip per request is what that costs.

// A signRequest asks a catalog to sign (s3-signer-open-api, S3SignRequest).
type signRequest struct {
	Region     string              `json:"region"`
	Method     string              `json:"method"`
	URI        string              `json:"uri"`
	Headers    map[string][]string `json:"headers"`
	Properties map[string]string   `json:"properties"`
	Body       string              `json:"body,omitempty"` // of a DeleteObjects
	Provider   string              `json:"provider"`
}

// A signResponse is its answer (S3SignResponse).
type signResponse struct {
	URI     string              `json:"uri"`
	Headers map[string][]string `json:"headers"`
}

// errNotSigned is that the catalog does not sign a request for the caller.
var errNotSigned = errors.New("catalog does not sign the request")

// sendSigned sends a request to the origin with a signature of the catalog's.
func (s *Server) sendSigned(ex *exchange, r *request, req *http.Request, p sigv4.Payload) (*http.Response, error) {
	if len(p.Trailers) > 0 {
		// Verified here, and there is no trailer to promise any more.
		req.Header.Del("X-Amz-Sdk-Checksum-Algorithm")
	}
	var document []byte
	if r.op.kind == kindDeleteObjects && req.Body != nil {
		// The catalog reads which keys it says yes to. It is bounded, and here.
		var err error
		if document, err = io.ReadAll(req.Body); err != nil {
			ex.end()
			return nil, fmt.Errorf("read body to be signed: %w", err)
		}
		req.Body = io.NopCloser(bytes.NewReader(document))
	}
	resp, err := s.opts.Send.SendSigned(ex.ctx, r.origin, req, func(req *http.Request) error {
		return s.sign(ex.beside, r, req, document)
	}, p.Plain())
	if errors.Is(err, errNotSigned) {
		ex.end()
		return s.refusedSignature(err), nil
	}
	return arrived(ex, resp, err)
}

// sign has the catalog sign a request and takes what it adds.
func (s *Server) sign(ctx context.Context, r *request, req *http.Request, document []byte) error {
	if s.opts.Sign == nil {
		return errors.New("session is signed for by a catalog, and storage.authority is not signer any more")
	}
	ask := signRequest{
		Region: s.regionOf(r.origin), Method: req.Method, URI: req.URL.String(), Headers: signedHeaders(req),
		Properties: map[string]string{}, Body: string(document), Provider: "s3",
	}
	text, err := json.Marshal(ask)
	if err != nil {
		return fmt.Errorf("write request to sign: %w", err)
	}
	status, answer, err := s.opts.Sign.Sign(ctx, r.who.session.Catalog, *r.who.signer(), text)
	switch {
	case err != nil:
		return fmt.Errorf("ask the catalog to sign: %w", err)
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusTooManyRequests:
		return fmt.Errorf("%w: it answered status %d", errNotSigned, status)
	case status != http.StatusOK:
		return fmt.Errorf("ask the catalog to sign: it answered status %d", status)
	}
	return takeSignature(req, ask.URI, answer)
}

// signedHeaders are the headers that a signature may cover: those that nobody
// on the way to the store changes.
func signedHeaders(req *http.Request) map[string][]string {
	headers := map[string][]string{"Host": {req.Host}}
	for name, values := range req.Header {
		switch lower := strings.ToLower(name); {
		case strings.HasPrefix(lower, "x-amz-"), lower == "content-type", lower == "content-md5", lower == "range":
			headers[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	return headers
}

// takeSignature adds what a catalog signed with to a request. An answer for
// another request is refused, and so is a changed header: what goes to the
// store is what the client asked for.
func takeSignature(req *http.Request, uri string, answer []byte) error {
	var signed signResponse
	if err := json.Unmarshal(answer, &signed); err != nil {
		return errors.New("the catalog's signature cannot be read")
	}
	if !sameURI(signed.URI, uri) {
		return errors.New("the catalog signed another request")
	}
	has := false
	for name, values := range signed.Headers {
		lower := strings.ToLower(name)
		switch {
		case lower == "authorization" && len(values) == 1 && values[0] != "":
			has = true
		case lower == "x-amz-date", lower == "x-amz-security-token":
		case lower == "host" && slices.Equal(values, []string{req.Host}):
			continue
		case lower == "x-amz-content-sha256" && slices.Equal(values, []string{"UNSIGNED-PAYLOAD"}):
			// Some sign no other. The body was verified on its way in.
		case strings.HasPrefix(lower, "x-amz-") && !slices.Equal(values, req.Header.Values(name)):
			return fmt.Errorf("the catalog signed header %s with another value", lower)
		default:
			continue
		}
		req.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	if !has {
		return errors.New("the catalog's answer has no signature")
	}
	return nil
}

// sameURI reports whether two addresses are one to a signature, which covers the
// path decoded and the query sorted.
func sameURI(a, b string) bool {
	one, err := url.Parse(a)
	other, err2 := url.Parse(b)
	if err != nil || err2 != nil {
		return false
	}
	first, err := url.ParseQuery(one.RawQuery)
	second, err2 := url.ParseQuery(other.RawQuery)
	return err == nil && err2 == nil && one.Scheme == other.Scheme && one.Host == other.Host && one.Path == other.Path &&
		maps.EqualFunc(first, second, slices.Equal)
}

// regionOf returns the region that a store is signed for.
func (s *Server) regionOf(origin string) string {
	for _, o := range s.opts.Origins {
		if o.Name == origin {
			return cmp.Or(o.Region, "us-east-1")
		}
	}
	return "us-east-1"
}

// refusedSignature is the catalog's no in the words of a store, so that whatever
// takes a store's no takes this one.
func (s *Server) refusedSignature(err error) *http.Response {
	s.log.Debug("catalog does not sign", "error", err)
	const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/xml"}},
		ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
	}
}
