package storage

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/laketap/laketap"
)

// answerOf hands an origin's reply on as it is, but for the place where the
// store says that a new object is: a client would be told an address that it
// did not ask and may not reach.
func (s *Server) answerOf(r *request, resp *http.Response) *answer {
	a := answerOf(resp)
	base, theirs := s.baseOf(r)
	if theirs == nil || resp.StatusCode/100 != 2 || r.sig.Method != http.MethodPost {
		return a
	}
	for i, f := range a.header {
		if rest, ok := cutAny(f.Value, theirs); ok && strings.EqualFold(f.Name, "Location") {
			a.header[i].Value = base + rest
		}
	}
	if strings.Contains(resp.Header.Get("Content-Type"), "xml") {
		a.body = laketap.Body{Stream: &relocated{src: resp.Body, theirs: theirs, ours: base}}
		a.length = -1
	}
	return a
}

// baseOf returns how the client addresses the store, and how the origin may
// address itself: by path, or with the bucket in its host.
func (s *Server) baseOf(r *request) (ours string, theirs []string) {
	for _, o := range s.opts.Origins {
		if o.Name != r.origin || o.Endpoint == "" {
			continue
		}
		u, err := url.Parse(o.Endpoint)
		if err != nil {
			return "", nil
		}
		scheme := "http://"
		if s.opts.TLS != nil {
			scheme = "https://"
		}
		bucket, hosted := bucketOfHost(r.sig.Host, s.opts.Domain)
		ours = scheme + r.sig.Host + "/"
		if !hosted {
			return ours, []string{u.Scheme + "://" + u.Host + "/"}
		}
		return ours, []string{u.Scheme + "://" + u.Host + "/" + bucket + "/", u.Scheme + "://" + bucket + "." + u.Host + "/"}
	}
	return "", nil
}

func cutAny(text string, prefixes []string) (rest string, ok bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(text, p); ok {
			return rest, true
		}
	}
	return text, false
}

// relocated is a document in which the first Location element begins with
// another address. It passes on at once what cannot be part of one: stores send
// white space to keep a client waiting.
type relocated struct {
	src    io.ReadCloser
	theirs []string
	ours   string

	held []byte // may be the beginning of an element; or, once done, what is to be given out
	done bool   // nothing is looked for any more
	err  error
}

const locationElement = "<Location>"

// Read passes on what is known to be right.
func (l *relocated) Read(p []byte) (int, error) {
	for {
		if n := l.ready(); n > 0 {
			n = copy(p, l.held[:n])
			l.held = l.held[n:]
			return n, nil
		}
		if l.err != nil {
			return 0, l.err
		}
		if l.done {
			return l.src.Read(p)
		}
		buf := make([]byte, 4096)
		n, err := l.src.Read(buf)
		l.held, l.err = append(l.held, buf[:n]...), err
	}
}

// ready returns how many of the held bytes can be given out.
func (l *relocated) ready() int {
	if l.done || l.err != nil && !bytes.Contains(l.held, []byte(locationElement)) {
		return len(l.held)
	}
	start := bytes.Index(l.held, []byte(locationElement))
	if start < 0 {
		// The tail may be the beginning of the element.
		for n := min(len(locationElement)-1, len(l.held)); n > 0; n-- {
			if bytes.HasSuffix(l.held, []byte(locationElement[:n])) {
				return len(l.held) - n
			}
		}
		return len(l.held)
	}
	text := start + len(locationElement)
	longest := 0
	for _, t := range l.theirs {
		longest = max(longest, len(t))
		if bytes.HasPrefix(l.held[text:], []byte(t)) {
			l.held = append(append(append([]byte(nil), l.held[:text]...), l.ours...), l.held[text+len(t):]...)
			l.done = true
			return len(l.held)
		}
	}
	if len(l.held)-text >= longest || l.err != nil {
		l.done = true // another address: not ours to change
		return len(l.held)
	}
	return start
}

// Close closes the origin's body.
func (l *relocated) Close() error { return l.src.Close() }
