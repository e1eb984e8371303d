package storage

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

// read answers GET and HEAD.
func (s *Server) read(r *request) *answer {
	if get, ok := plainGet(r); ok && r.covered {
		return s.readObject(r, get)
	}
	ex := s.newExchange(s.base)
	resp, err := s.send(ex, r, newOutgoing(ex.ctx, r, forwardHeaders(r)), emptyPayload(r.auth.Payload), nil) //nolint:bodyclose // whoever gets the answer closes it
	if err != nil {
		return originFault(r, ex, err).answer(r)
	}
	a := answerOf(resp)
	if r.op.kind == kindRead {
		a.object = objectOf(r.name(), resp)
	}
	return a
}

// readObject answers a plain read through Blocks. Trouble in there becomes
// plain proxying: the origin is asked as if there were no cache.
func (s *Server) readObject(r *request, get laketap.Get) *answer {
	// A cache may fetch from a goroutine of its own, and go on after this
	// request is over.
	var failed atomic.Bool
	fetch := func(ctx context.Context, get laketap.Get) (*laketap.Reply, error) {
		if get.Name != r.name() {
			return s.fetchBeside(ctx, r, get)
		}
		reply, err := s.fetch(s.newExchange(ctx), r, get)
		if err != nil {
			failed.Store(true)
		}
		return reply, err
	}
	var reply *laketap.Reply
	var err error
	if s.opts.Blocks != nil {
		s.authorizeHit(r, &get)
		reply, err = s.opts.Blocks.Get(s.base, get, s.proving(get.Right, fetch))
	}
	if s.opts.Blocks == nil || err != nil && !failed.Load() {
		if err != nil {
			s.metrics.bypassed.Inc()
		}
		reply, err = fetch(s.base, get)
		if err == nil && s.opts.Watch != nil {
			s.opts.Watch.Watch(get, reply)
		}
	}
	if err != nil {
		return errUnavailable.because(err.Error()).answer(r)
	}
	return &answer{status: reply.Status, header: identified(r, reply.Header), length: reply.Length, body: reply.Body, served: reply.Served, object: reply.Object}
}

// identified gives an answer that no store gave an id of ours: people quote it
// when they ask what happened.
func identified(r *request, header []laketap.Field) []laketap.Field {
	for _, f := range header {
		if strings.EqualFold(f.Name, "x-amz-request-id") {
			return header
		}
	}
	// A copy: the header of a record is everybody's.
	return append(slices.Clip(header), laketap.Field{Name: "x-amz-request-id", Value: r.id})
}

// authorizeHit says in the Get for whom it is: the table that the session was
// handed out for, and whether the origin has let its credentials in lately.
func (s *Server) authorizeHit(r *request, get *laketap.Get) {
	get.Right, get.Scope = s.right(r), s.prefixOf(r, get.Name)
	get.Engine = tap.EngineAtStorage(r.header("User-Agent"), r.who.engine())
	if r.who.session != nil {
		get.Table = r.who.session.Table
	}
	var renew bool
	if get.Proven, renew = s.proofs.valid(get.Right); renew {
		s.renew(r, *get)
	}
}

// fetch gets an object from the origin with the caller's credentials. What it
// asks for is get, which need not be what the client asked for; everything
// else is the client's.
func (s *Server) fetch(ex *exchange, r *request, get laketap.Get) (*laketap.Reply, error) {
	header := forwardHeaders(r)
	// An object is its stored bytes: no store may pack them for one client
	// and have them handed to another.
	header.Del("Accept-Encoding")
	if s.opts.Blocks != nil {
		// Nor append an MD5 to them, as S3 does for SDKs for Java that ask so;
		// they take a store that does not for one that cannot.
		header.Del("X-Amz-Te")
	}
	set(header, "Range", get.Range.String())
	set(header, "If-Match", get.Cond.IfMatch)
	set(header, "If-None-Match", get.Cond.IfNoneMatch)
	if !get.Checksums {
		header.Del("X-Amz-Checksum-Mode") // what is not asked for would be stored
	}
	req := newOutgoing(ex.ctx, r, header)
	req.Method = http.MethodGet
	if get.Head {
		req.Method = http.MethodHead
	}
	resp, err := s.send(ex, r, req, emptyPayload(r.auth.Payload), nil) //nolint:bodyclose // whoever gets the answer closes it
	if err != nil {
		return nil, err
	}
	return &laketap.Reply{
		Status: resp.StatusCode, Object: objectOf(get.Name, resp), Header: replyHeaders(resp.Header), Length: resp.ContentLength,
		Body: laketap.Body{Stream: resp.Body}, Served: laketap.FromOrigin,
	}, nil
}

// objectOf is the version that a reply says it is of.
func objectOf(name laketap.ObjectName, resp *http.Response) laketap.Object {
	object := laketap.Object{ObjectName: name, ETag: resp.Header.Get("ETag"), Size: resp.ContentLength}
	if total := totalOf(resp.Header.Get("Content-Range")); resp.StatusCode == http.StatusPartialContent || total >= 0 {
		object.Size = total
	}
	return object
}

// set sets a header, or removes it if the value is empty.
func set(h http.Header, name, value string) {
	if value == "" {
		h.Del(name)
		return
	}
	h.Set(name, value)
}

// apiVersion is the only one that S3 ever had; the AWS SDK for C++ names it.
const apiVersion = "2006-03-01"

// plainGet turns a read into a Get if that says all there is to say about it.
// Checksum mode asks for the whole object's checksum; with a part, which has
// none, stores answer as if it had not been asked, and the AWS SDKs always ask.
func plainGet(r *request) (laketap.Get, bool) {
	if r.op.kind != kindRead || len(r.op.marks) > 0 {
		return laketap.Get{}, false
	}
	get := laketap.Get{Name: r.name(), Head: r.sig.Method == http.MethodHead, Range: r.rng}
	for _, p := range r.params {
		if signs := r.auth.Presigned && strings.HasPrefix(p.name, "X-Amz-"); p.name != "x-id" && !signs {
			return laketap.Get{}, false
		}
	}
	for _, f := range r.sig.Header {
		if !plainHeader(r, f, &get) {
			return laketap.Get{}, false
		}
	}
	return get, true
}

// plainHeader takes a header into a Get; false if it makes the read one for the
// origin alone, as every header does that is not named here. Most change nothing
// of what a plain read answers.
func plainHeader(r *request, f laketap.Field, get *laketap.Get) bool {
	var room [32]byte // as long as the longest of the names
	if len(f.Name) > len(room) {
		return false
	}
	switch lower := lowered(room[:0], f.Name); string(lower) {
	case "accept", "accept-charset", "accept-encoding", "accept-language", "amz-sdk-invocation-id", "clickhouse-request",
		"amz-sdk-request", "amz-sdk-retry", "authorization", "cache-control", "connection", "content-length", "content-type",
		"date", "dnt", "expect", "from", "keep-alive", "origin", "pragma", "priority", "referer", "te", "traceparent",
		"tracestate", "user-agent", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token", "x-amz-user-agent",
		"x-amzn-trace-id", "x-amz-te", "x-amz-checksum-crc32", "forwarded", "via", "x-real-ip", "x-forwarded-for",
		"x-forwarded-host", "x-forwarded-port", "x-forwarded-proto":
		return true
	case "x-amz-api-version":
		return f.Value == apiVersion
	case "x-amz-checksum-mode":
		get.Checksums = true
		return r.times(f.Name) == 1 && strings.EqualFold(f.Value, "ENABLED")
	case "range":
		return r.rng.Set && r.times(f.Name) == 1
	case "if-match":
		get.Cond.IfMatch = f.Value
		return r.times(f.Name) == 1
	case "if-none-match":
		get.Cond.IfNoneMatch = f.Value
		return r.times(f.Name) == 1
	}
	return false
}

// lowered appends a name in lower case. Names of headers are ASCII.
func lowered(dst []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
