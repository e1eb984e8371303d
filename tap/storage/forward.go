package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// An exchange is one request to an origin and its reply, bounded in the time
// that nothing moves.
type exchange struct {
	ctx    context.Context
	beside context.Context // ends with ctx; for what is asked of others than the origin
	cancel context.CancelCauseFunc
	watch  *watch
	sent   atomic.Bool // its head went out: what it asks for may have happened
}

// newExchange begins an exchange under ctx, which may end it.
func (s *Server) newExchange(ctx context.Context) *exchange {
	ex := &exchange{}
	ctx, ex.cancel = context.WithCancelCause(ctx)
	ex.beside = ctx
	ex.ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { ex.sent.Store(true) }})
	// A little longer than the client has for its next byte, so that the
	// one who stalls is blamed.
	ex.watch = newWatch(s.opts.StallTimeout+s.opts.StallTimeout/8, ex.cancel)
	return ex
}

// end stops the watch first: what it would blame is over.
func (ex *exchange) end() {
	ex.watch.stop()
	ex.cancel(context.Canceled)
}

// send sends a request to the origin with the caller's rights. The reply's
// body must be closed, which ends the exchange; an error has ended it.
func (s *Server) send(ex *exchange, r *request, req *http.Request, p sigv4.Payload, trailer func() []laketap.Field) (*http.Response, error) {
	if r.who.signer() != nil {
		return s.sendSigned(ex, r, req, p)
	}
	keys, err := s.keysFor(ex.ctx, r)
	if err != nil {
		ex.end()
		return nil, err
	}
	if keys.AccessKeyID == "" {
		// Without keys Send does not sign, and this request is somebody's.
		ex.end()
		return nil, errors.New("credentials for the store are empty")
	}
	return s.deliver(ex, r, req, keys, p, trailer)
}

// deliver sends a request to the origin with some keys, and ends the exchange
// if there is no reply. With zero keys the request goes unsigned.
func (s *Server) deliver(ex *exchange, r *request, req *http.Request, keys sigv4.Credentials, p sigv4.Payload, trailer func() []laketap.Field) (*http.Response, error) {
	resp, err := s.opts.Send.Send(ex.ctx, r.origin, req, keys, p, trailer)
	return arrived(ex, resp, err)
}

// arrived is what becomes of an exchange with its reply, or without.
func arrived(ex *exchange, resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		if cause := context.Cause(ex.ctx); cause != nil {
			err = errors.Join(cause, err)
		}
		ex.end()
		return nil, err
	}
	ex.watch.touch()
	resp.Body = &originBody{resp.Body, ex}
	return finalReply(resp)
}

// finalReply refuses a reply that ends no request: nobody asked for another
// protocol, and what follows such a head is no body. fasthttp would even take
// 000 for 200.
func finalReply(resp *http.Response) (*http.Response, error) {
	if resp.StatusCode < http.StatusOK {
		err := fmt.Errorf("store answered with status %03d, which ends no request", resp.StatusCode)
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// keysFor returns the credentials that the request goes out with: what the
// catalog vended for the place, or the origin's own.
func (s *Server) keysFor(ctx context.Context, r *request) (sigv4.Credentials, error) {
	if r.who.session != nil {
		if keys, ok := r.who.session.KeysFor(r.subject()); ok {
			return keys, nil
		}
	}
	return s.opts.Send.OwnKeys(ctx, r.origin)
}

// subject returns the place that the request is about, for the choice among
// several credentials. What names no place of its own is about the session's.
func (r *request) subject() laketap.ObjectName {
	if r.op.kind == kindDeleteObjects && len(r.deletes) > 0 {
		return r.deletes[0]
	}
	name := r.place()
	if name.Key != "" {
		return name
	}
	for _, l := range r.who.session.Scope {
		if l.Origin == name.Origin && l.Bucket == name.Bucket {
			name.Key = l.Path
			break
		}
	}
	return name
}

// newOutgoing makes the origin's request: path style, the key encoded in S3's
// one canonical way, the query as received without the signature of a
// presigned URL.
func newOutgoing(ctx context.Context, r *request, header http.Header) *http.Request {
	u := &url.URL{Path: "/", RawPath: "/", RawQuery: r.sig.Query}
	if r.bucket != "" {
		u.Path, u.RawPath = "/"+r.bucket, "/"+encodePath(r.bucket)
		if r.key != "" || r.slash {
			u.Path, u.RawPath = u.Path+"/"+r.key, u.RawPath+"/"+encodePath(r.key)
		}
	}
	if r.auth.Presigned {
		u.RawQuery = withoutSignature(r.sig.Query)
	}
	req := &http.Request{
		Method: r.sig.Method, URL: u, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody,
	}
	return req.WithContext(ctx)
}

// encodePath percent-encodes everything but S3's unreserved characters and
// the slash.
func encodePath(key string) string {
	const hexDigits = "0123456789ABCDEF"
	clean := true
	for i := range len(key) {
		if !unreserved(key[i]) {
			clean = false
			break
		}
	}
	if clean {
		return key
	}
	b := make([]byte, 0, len(key)+len(key)/2)
	for i := range len(key) {
		if c := key[i]; unreserved(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return string(b)
}

// unreserved is RFC 3986 §2.3 with the slash, which parts keys and is never
// escaped in a path: S3 takes %2F for the same key, some stores do not.
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/", c) >= 0
}

// withoutSignature removes what signs a presigned URL. The rest keeps its
// order and spelling: the store gets a signature of ours over what it sees.
func withoutSignature(query string) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		switch name {
		case "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders",
			"X-Amz-Signature", "X-Amz-Security-Token", "X-Amz-Content-Sha256":
		default:
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}

// emptyPayload is the payload of a request whose body is not sent on, in the
// mode of the client where there is one.
func emptyPayload(p sigv4.Payload) sigv4.Payload {
	if p.Mode == sigv4.Unsigned {
		return sigv4.Payload{Mode: sigv4.Unsigned}
	}
	empty := sha256.Sum256(nil)
	return sigv4.Payload{Mode: sigv4.Signed, Hash: hex.EncodeToString(empty[:])}
}

// answerOf hands an origin's reply on as it is.
func answerOf(resp *http.Response) *answer {
	a := &answer{status: resp.StatusCode, header: replyHeaders(resp.Header), length: resp.ContentLength}
	a.body.Stream = resp.Body
	return a
}

// originFault turns the failure of an origin call into an answer that SDKs
// repeat. For a read, and a write that was never sent, that is 503. A write
// that may have happened is 500: both are repeated alike, as a broken
// connection to the store itself would be, and repeating is safe because S3's
// writes are idempotent; but 503 would say that nothing has happened.
func originFault(r *request, ex *exchange, err error) *apiError {
	if r.op.write && ex.sent.Load() {
		return errInternal.because("outcome unknown: " + err.Error())
	}
	return errUnavailable.because(err.Error())
}

// An originBody is the body of a reply. Reading it keeps its exchange alive;
// closing it ends the exchange at once, so that nothing more is fetched for a
// client that has left.
type originBody struct {
	io.ReadCloser
	ex *exchange
}

func (b *originBody) Read(p []byte) (int, error) {
	b.ex.watch.touch() // the time since the last read was the client's
	n, err := b.ReadCloser.Read(p)
	b.ex.watch.touch()
	if err != nil && !errors.Is(err, io.EOF) {
		if cause := context.Cause(b.ex.ctx); cause != nil {
			err = errors.Join(cause, err)
		}
	}
	return n, err
}

func (b *originBody) Close() error {
	b.ex.end()
	return b.ReadCloser.Close()
}
