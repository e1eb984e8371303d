package storage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
)

// A message is one request of a connection as a server understood it.
type message struct {
	Method, Target, Host string
	Header               []string // "name: value", sorted; without Host
	Body                 string
	Broken               bool // the body did not end well
}

// A script is a connection whose client has sent everything already.
type script struct {
	net.Conn // panics where a test forgot something

	in  io.Reader
	out bytes.Buffer
}

func (c *script) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c *script) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c *script) Close() error                { return nil }
func (c *script) LocalAddr() net.Addr         { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (c *script) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }
func (c *script) SetDeadline(time.Time) error      { return nil }
func (c *script) SetReadDeadline(time.Time) error  { return nil }
func (c *script) SetWriteDeadline(time.Time) error { return nil }

// A wireServer is a Server whose HTTP half is as in production and which notes
// what it takes for a request instead of asking whose it is.
type wireServer struct {
	s     *Server
	http  *fasthttp.Server
	reads bool // requests' bodies are read by the handler, else left to fasthttp
	got   []message
}

// noStore is never asked: nobody signs what a fuzzer sends.
type noStore struct{}

func (noStore) Send(context.Context, string, *http.Request, sigv4.Credentials, sigv4.Payload, func() []laketap.Field) (*http.Response, error) {
	return nil, errors.ErrUnsupported
}

func (noStore) SendSigned(context.Context, string, *http.Request, func(*http.Request) error, sigv4.Payload) (*http.Response, error) {
	return nil, errors.ErrUnsupported
}

func (noStore) OwnKeys(context.Context, string) (sigv4.Credentials, error) {
	return sigv4.Credentials{}, errors.ErrUnsupported
}

func newWireServer(t testing.TB) *wireServer {
	keys, err := tap.NewKeyring(strings.NewReader(strings.Repeat("k", 100)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Origins: []tap.Origin{{Name: "main"}}, Send: noStore{}, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	s.ln = newListener(nil, nil)
	l := &wireServer{s: s, http: s.fasthttp()}
	l.http.Handler, l.http.ExpectHandler = l.handle, l.expect
	return l
}

// expect lets every request in that can be read.
func (l *wireServer) expect(ctx *fasthttp.RequestCtx) int {
	r, err := l.s.receive(ctx)
	if refused(err) {
		l.s.finish(ctx, r, asAPIError(err).answer(r))
		return ctx.Response.StatusCode()
	}
	return fasthttp.StatusContinue
}

// handle notes a request that can be read, whoever sent it.
func (l *wireServer) handle(ctx *fasthttp.RequestCtx) {
	r, err := l.s.receive(ctx)
	l.s.attachBody(ctx, r)
	if refused(err) {
		l.s.finish(ctx, r, asAPIError(err).answer(r))
		return
	}
	m := message{Method: r.sig.Method, Target: string(ctx.Request.Header.RequestURI()), Host: r.sig.Host}
	for _, f := range r.sig.Header {
		m.Header = append(m.Header, strings.ToLower(f.Name)+": "+f.Value)
	}
	slices.Sort(m.Header)
	if l.reads {
		body, err := io.ReadAll(r.body)
		m.Body, m.Broken = string(body), err != nil
	}
	l.got = append(l.got, m)
	a := errAccessDenied.answer(r)
	a.drop = m.Broken
	l.s.finish(ctx, r, a)
}

// refused reports whether a request was refused for its form, not its sender.
func refused(err error) bool {
	for _, form := range []*apiError{errBadRequest, errMethod, errExpectation, errInvalidURI} {
		if e, ok := errors.AsType[*apiError](err); ok && e.code == form.code {
			return true
		}
	}
	return false
}

// serve serves a connection and returns what it took for requests, and what
// the client got.
func (l *wireServer) serve(in io.Reader) (got []message, out string) {
	l.got = nil
	c := &script{in: in}
	_ = l.http.ServeConn(c) // what it says of a broken connection is in its answer
	return l.got, c.out.String()
}

// judge reads the same bytes as net/http does.
func judge(wire string, n int) ([]message, error) {
	r := bufio.NewReaderSize(strings.NewReader(wire), 1<<20)
	var all []message
	for len(all) < n {
		skipEmptyLines(r)
		req, err := http.ReadRequest(r)
		if err != nil {
			return all, err
		}
		m := message{Method: req.Method, Target: req.RequestURI, Host: req.Host}
		for name, values := range req.Header {
			for _, v := range values {
				m.Header = append(m.Header, strings.ToLower(name)+": "+v)
			}
		}
		for _, coding := range req.TransferEncoding {
			m.Header = append(m.Header, "transfer-encoding: "+coding)
		}
		slices.Sort(m.Header)
		body, broken := io.ReadAll(req.Body)
		m.Body, m.Broken = string(body), broken != nil
		all = append(all, m)
		if m.Broken {
			break
		}
	}
	return all, nil
}

// skipEmptyLines skips what RFC 9112 §2.2 has a server ignore before a
// request; http.ReadRequest leaves that to its caller.
func skipEmptyLines(r *bufio.Reader) {
	for {
		b, _ := r.Peek(2)
		switch {
		case bytes.HasPrefix(b, []byte("\n")):
			_, _ = r.Discard(1)
		case bytes.HasPrefix(b, []byte("\r\n")):
			_, _ = r.Discard(2)
		default:
			return
		}
	}
}

// compare fails when what we took for requests differs from what net/http
// takes for them. We may refuse, and then end the connection, where it does not.
func compare(t *testing.T, how, wire string, got []message, reads bool) {
	t.Helper()
	want, err := judge(wire, len(got))
	if err != nil {
		t.Fatalf("%s: request %d was taken, net/http refuses it: %v\nwire %q\ngot %+v", how, len(want), err, wire, got)
	}
	if len(want) < len(got) {
		t.Fatalf("%s: took %d requests, net/http %d\nwire %q\ngot %+v", how, len(got), len(want), wire, got)
	}
	for i := range got {
		if !reads {
			want[i].Body, want[i].Broken = "", false
		}
		// Of a broken body nobody makes an object; how much of it arrived
		// before the break is the reader's affair.
		if got[i].Broken {
			got[i].Body, want[i].Body, want[i].Broken = "", "", true
		}
		// net/http takes the length out of the header where it has used it,
		// and joins what it does not use; framing is compared by the body.
		got[i].Header, want[i].Header = unframed(got[i].Header), unframed(want[i].Header)
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Fatalf("%s: request %d is understood differently (-net/http +ours):\n%s\nwire %q", how, i, diff, wire)
		}
	}
}

// unframed returns header lines without those that net/http consumes.
func unframed(lines []string) []string {
	var kept []string
	for _, line := range lines {
		if name, _, _ := strings.Cut(line, ":"); !listed(" content-length transfer-encoding trailer pragma cache-control ", name) {
			kept = append(kept, line)
		}
	}
	return kept
}

// answers checks that a client can tell the answers apart, and that a refusal
// for form is 400 and the last of them.
func answers(t *testing.T, how, wire, out string, got []message) {
	t.Helper()
	r := bufio.NewReader(strings.NewReader(out))
	for i := 0; ; i++ {
		if _, err := r.Peek(1); err != nil {
			return
		}
		method := http.MethodGet
		if i < len(got) {
			method = got[i].Method
		}
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%s: answer %d is none: %v\nwire %q\nout %q", how, i, err, wire, out)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusContinue {
			i--
			continue
		}
		if err != nil && method != http.MethodHead {
			t.Fatalf("%s: answer %d: %v\nout %q", how, i, err, out)
		}
		if i >= len(got) && (resp.StatusCode/100 != 4 || !resp.Close) {
			t.Fatalf("%s: what was no request got %d, closed %v\nwire %q\nout %q", how, resp.StatusCode, resp.Close, wire, out)
		}
	}
}

// Ambiguous framing is refused and ends the connection, so that what follows
// is never taken for a request.
func TestShapesOfRequests(t *testing.T) {
	l := newWireServer(t)
	l.reads = true
	for _, c := range shapes() {
		t.Run(c.name, func(t *testing.T) {
			_, out := l.serve(strings.NewReader(c.wire))
			var got []string
			for answer := range strings.SplitSeq(out, "HTTP/1.1 ") {
				if len(answer) < 3 {
					continue
				}
				status := answer[:3]
				if strings.Contains(answer, "Connection: close\r\n") {
					status += "!"
				}
				got = append(got, status)
			}
			if got := strings.Join(got, " "); got != c.answers {
				t.Errorf("got %s, want %s", got, c.answers)
			}
		})
	}
}

// Whatever we take for requests, net/http takes for the same requests: a
// server behind or before us that reads HTTP by the book sees no other.
func FuzzRequestsAreUnderstoodAlike(f *testing.F) {
	for _, c := range shapes() {
		f.Add(c.wire)
	}
	l := newWireServer(f)
	f.Fuzz(func(t *testing.T, wire string) {
		if len(wire) > 16<<10 {
			return // heads are bounded; nothing else depends on size
		}
		for _, reads := range []bool{true, false} {
			for how, in := range map[string]io.Reader{"at once": strings.NewReader(wire), "byte by byte": iotest.OneByteReader(strings.NewReader(wire))} {
				l.reads = reads
				how = fmt.Sprintf("%s, reads %v", how, reads)
				got, out := l.serve(in)
				answers(t, how, wire, out, got)
				compare(t, how, wire, got, reads)
			}
		}
	})
}
