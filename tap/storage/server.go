// Package storage is the S3 tap: it proves who signed a request, decides
// whether it may be sent on, answers reads through Blocks, and forwards
// everything else to the origin, signed again with the rights of the caller.
// It refuses to have opinions about objects: bytes, statuses and headers pass
// as the origin sent them. fasthttp stays in server.go and respond.go.
package storage

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"github.com/laketap/laketap/internal/sigv4"
)

// copyBuffer is how much of a body is in memory on its way to a client. Half
// of it costs a fifth more CPU at 1 MiB (make bench-pass), twice of it saves
// nothing that could be measured.
const copyBuffer = 128 << 10

// A Server serves the S3 API.
type Server struct {
	opts    Options
	log     *slog.Logger
	ops     operations
	auth    *authenticator
	metrics *metrics
	http    *fasthttp.Server
	buffers sync.Pool
	proofs  *proofs
	hosts   map[string]string // of each origin by its name, as clients write it; "": it has none of its own

	base   context.Context // of every origin call; ends with Shutdown
	cancel context.CancelFunc

	boot   [4]byte // begins every request id
	number atomic.Uint32

	mu   sync.Mutex
	ln   *listener // nil until Serve
	down bool      // Shutdown was called
}

// New returns a server. It does nothing until [Server.Serve].
func New(opts Options) (*Server, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, log: opts.Log, ops: newOperations(), auth: newAuthenticator(&opts)}
	if s.metrics, err = newMetrics(opts.Registerer, s.ops); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(opts.Rand, s.boot[:]); err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	s.hosts = map[string]string{}
	for _, o := range opts.Origins {
		s.hosts[o.Name] = hostOf(o.Endpoint)
	}
	s.proofs = newProofs(opts.Now, opts.ProofByObject)
	s.buffers.New = func() any { b := make([]byte, copyBuffer); return &b }
	s.base, s.cancel = context.WithCancel(context.Background())
	s.http = s.fasthttp()
	return s, nil
}

// fasthttp configures the HTTP server: nothing decoded, nothing added, no
// body gathered, and all of a head in one buffer.
func (s *Server) fasthttp() *fasthttp.Server {
	return &fasthttp.Server{
		Handler:       s.handle,
		ExpectHandler: s.expect,
		ErrorHandler:  s.unreadable,
		ConnState:     s.connState,

		Concurrency:        s.opts.MaxConns,
		ReadBufferSize:     s.opts.MaxHeader,
		WriteBufferSize:    16 << 10, // a small object goes out in one write
		ReadTimeout:        s.opts.HeaderTimeout,
		WriteTimeout:       s.opts.StallTimeout, // begun again with every piece of a body
		IdleTimeout:        s.opts.IdleTimeout,
		MaxRequestBodySize: math.MaxInt, // bodies are streamed

		StreamRequestBody:             true,
		DisablePreParseMultipartForm:  true,
		DisableHeaderNamesNormalizing: true,
		NoDefaultServerHeader:         true,
		NoDefaultContentType:          true,
		SecureErrorLogMessage:         true,
		CloseOnShutdown:               true,
		Logger:                        quietLogger{s.log},
	}
}

// Serve serves a listener, which it closes in the end, until
// [Server.Shutdown]; it is called once. The listener is one of plain TCP:
// Options.TLS says whether it is encrypted.
func (s *Server) Serve(ln net.Listener) error {
	if err := refuseLoop(s.opts.Origins, ln.Addr()); err != nil {
		return err
	}
	s.mu.Lock()
	if s.down {
		s.mu.Unlock()
		return ln.Close()
	}
	s.ln = newListener(ln, s.opts.TLS)
	wrapped := s.ln
	s.mu.Unlock()
	return s.http.Serve(wrapped)
}

// Shutdown stops accepting and waits for the requests under way. When ctx
// ends first, it breaks them off.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.proofs.work.Wait()
	defer s.cancel()
	s.mu.Lock()
	s.down = true
	ln := s.ln
	s.mu.Unlock()
	if ln == nil {
		return nil
	}
	// fasthttp does not know the listener yet if Serve has only just begun.
	_ = ln.Close()
	err := s.http.ShutdownWithContext(ctx)
	if err != nil {
		s.cancel()
		ln.closeAll()
	}
	if errors.Is(err, net.ErrClosed) {
		err = nil // the listener, by ourselves
	}
	return err
}

// connState counts connections and forgets those that are closed. A hijacked
// one would never be told of here; nothing hijacks.
func (s *Server) connState(c net.Conn, state fasthttp.ConnState) {
	switch state {
	case fasthttp.StateNew:
		s.metrics.conns.Inc()
	case fasthttp.StateClosed:
		s.metrics.conns.Dec()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ln.forget(c)
	}
}

// expected is where the handler of an Expect leaves a request that it let in.
type expected struct{}

// expect decides about "Expect: 100-continue" before the client sends its
// body: a request that is refused anyway is refused at once.
func (s *Server) expect(ctx *fasthttp.RequestCtx) int {
	r, err := s.receive(ctx)
	if err != nil {
		// fasthttp closes the connection, and the client may have begun to
		// send: it should still be able to read why not.
		a := asAPIError(err).answer(r)
		a.drop = true
		s.finish(ctx, r, a)
		return ctx.Response.StatusCode()
	}
	ctx.SetUserValue(expected{}, r)
	return fasthttp.StatusContinue
}

// handle serves one request. A panic in it would end the process.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	r, ok := ctx.UserValue(expected{}).(*request)
	var err error
	if !ok {
		r, err = s.receive(ctx)
	}
	s.attachBody(ctx, r)
	var a *answer
	if err != nil {
		a = asAPIError(err).answer(r)
	} else {
		a = s.serve(r)
	}
	s.finish(ctx, r, a)
}

// serve answers a request that may be sent on.
func (s *Server) serve(r *request) (a *answer) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("request panicked", "request_id", r.id, "op", r.op.name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			a = errInternal.because("panic").answer(r)
			a.drop = true
		}
	}()
	if r.who.anonymous {
		return s.passAnonymous(r)
	}
	if r.sig.Method == http.MethodGet || r.sig.Method == http.MethodHead {
		if refusal := s.begin(r); refusal != nil {
			return refusal
		}
		return s.read(r)
	}
	return s.change(r)
}

// receive copies a request out of fasthttp's buffers and decides about it.
// The request is never nil.
func (s *Server) receive(ctx *fasthttp.RequestCtx) (r *request, err error) {
	h := &ctx.Request.Header
	s.metrics.inFlight.Inc()
	r = &request{
		id: s.requestID(), at: s.opts.Now(), length: int64(h.ContentLength()), http10: !h.IsHTTP11(),
		sig: sigv4.Request{Method: string(h.Method())}, body: &clientBody{},
	}
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("request panicked", "request_id", r.id, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errInternal.because("panic")
		}
	}()
	if r.sig.Header, r.sig.Host, err = parseHead(string(h.RawHeaders())); err != nil {
		return r, errBadRequest.because(err.Error())
	}
	// Other versions frame otherwise, or nobody knows how.
	if r.http10 && string(h.Protocol()) != "HTTP/1.0" {
		return r, errBadRequest.because("version " + string(h.Protocol()))
	}
	if r.times("Content-Length")+r.times("Transfer-Encoding") == 0 {
		r.length = lengthNone // fasthttp calls it 0
	}
	return r, s.admit(r, string(h.RequestURI()))
}

// admit finds out what a request asks for, who asks, and whether it may.
func (s *Server) admit(r *request, target string) error {
	// RFC 9110 §10.1.1: an expectation that is not met is 417, not ignored.
	if e := r.header("Expect"); e != "" && !strings.EqualFold(e, "100-continue") {
		return errExpectation
	}
	// After an answer to CONNECT a client may speak another protocol, and
	// TRACE would tell what a proxy added. S3 has neither.
	if r.sig.Method == http.MethodConnect || r.sig.Method == http.MethodTrace {
		return errMethod
	}
	if err := r.locate(target, s.opts.Domain); err != nil {
		return err
	}
	r.op, r.known = s.ops.classify(r)
	// A range that is no range is ignored (RFC 9110 §14.2) or, where our
	// grammar is narrower than S3's, left to the origin.
	r.rng, _ = parseRange(r.header("Range"))
	if s.opts.Anonymous && sigv4.Anonymous(&r.sig) {
		if err := s.admitAnonymous(r); err != nil {
			return err
		}
		return s.refuseDenied(r)
	}
	auth, err := sigv4.Parse(&r.sig)
	if err != nil {
		return err
	}
	if s.looped(s.base, r, auth.AccessKeyID) {
		return errLoop
	}
	who, err := s.auth.authenticate(auth, r)
	if err != nil {
		return err
	}
	r.auth, r.who = auth, who
	if err := s.authorize(r); err != nil {
		return err
	}
	return s.refuseDenied(r)
}

// attachBody connects the request with its body, which fasthttp has only
// after the client was told to continue.
func (s *Server) attachBody(ctx *fasthttp.RequestCtx, r *request) {
	r.body = &clientBody{conn: ctx.Conn(), stall: s.opts.StallTimeout, stream: ctx.RequestBodyStream(), left: r.length}
	if r.length == lengthNone {
		r.body.stream, r.body.left = nil, 0
	}
}

// finish writes the answer and sees to what is left of the request's body.
func (s *Server) finish(ctx *fasthttp.RequestCtx, r *request, a *answer) {
	if whole := r.body.detach(); !whole || r.body.stream == nil && r.length != lengthNone && r.length != 0 {
		// fasthttp reads a little on and then closes; the client should
		// neither use the connection again nor lose the answer.
		a.drop = a.drop || r.length < 0 || r.length-r.body.count.Load() > maxDrain
		if a.drop {
			linger(ctx.Conn())
		}
	}
	respond(ctx, r, a, &outgoing{
		conn: ctx.Conn(), buffers: &s.buffers, stall: s.opts.StallTimeout,
		done: func(written int64, err error) {
			if a.after != nil {
				a.after()
			}
			s.record(r, a, written, err)
			s.metrics.inFlight.Dec()
		},
	})
}

// maxDrain is how much of an unread body fasthttp reads before it closes.
const maxDrain = 256 << 10

// unreadable answers what is no HTTP request.
func (s *Server) unreadable(ctx *fasthttp.RequestCtx, err error) {
	if unshaken(ctx.Conn()) {
		answerPlain(err)
		ctx.SetStatusCode(http.StatusBadRequest) // for nobody: there is no way to send it
		ctx.SetConnectionClose()
		return
	}
	s.metrics.inFlight.Inc()
	r := &request{id: s.requestID(), at: s.opts.Now(), body: &clientBody{}, length: lengthNone}
	e := errBadRequest
	var small *fasthttp.ErrSmallBuffer
	var timeout net.Error
	switch {
	case errors.As(err, &small):
		e = errHeaderTooLarge
	case errors.As(err, &timeout) && timeout.Timeout():
		e = errRequestTimeout
	}
	linger(ctx.Conn())
	// Without the cause: it may quote a header.
	s.finish(ctx, r, e.answer(r))
}

// requestID returns 16 hexadecimal digits that no other request has.
func (s *Server) requestID() string {
	var id [8]byte
	copy(id[:], s.boot[:])
	binary.BigEndian.PutUint32(id[4:], s.number.Add(1))
	return strings.ToUpper(hex.EncodeToString(id[:]))
}

// quietLogger takes fasthttp's own lines, which are about single connections.
type quietLogger struct{ log *slog.Logger }

func (l quietLogger) Printf(format string, args ...any) {
	l.log.Debug("http server", "text", fmt.Sprintf(format, args...))
}

var _ fasthttp.BodyWriterTo = (*outgoing)(nil)
