package catalog

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// read reads an answer to be edited. It returns the body decoded, and leaves
// resp so that it can still be forwarded as it came. why says that the body
// cannot be edited; an error is that the upstream broke off.
func (x *exchange) read(resp *http.Response) (body []byte, why reason, err error) {
	return x.readUpTo(resp, x.h.opts.MaxEdit)
}

// readUpTo is [exchange.read] with a limit of its own.
func (x *exchange) readUpTo(resp *http.Response, limit int64) (body []byte, why reason, err error) {
	if resp.ContentLength > limit {
		return nil, tooLarge, nil
	}
	raw, whole, err := x.held.readAll(resp.Body, limit, resp.ContentLength)
	if err != nil {
		resp.Body.Close()
		return nil, "", fmt.Errorf("read answer: %w", err)
	}
	if !whole {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(raw), resp.Body), resp.Body}
		return nil, tooLarge, nil
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	body, why = x.decode(raw, resp.Header.Get("Content-Encoding"), limit)
	return body, why, nil
}

// decode undoes a Content-Encoding within the budget.
func (x *exchange) decode(raw []byte, encoding string, limit int64) (body []byte, why reason) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return raw, ""
	case "gzip", "x-gzip":
	default:
		return nil, unreadable
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, unreadable
	}
	body, whole, err := x.held.readAll(z, limit, -1)
	switch {
	case err != nil:
		return nil, unreadable
	case !whole:
		return nil, tooLarge
	}
	return body, ""
}

// inflate undoes a Content-Encoding; ok is false if it is unknown, damaged or
// more than limit bytes come out of it.
func inflate(raw []byte, encoding string, limit int64) (body []byte, ok bool) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return raw, true
	case "gzip", "x-gzip":
	default:
		return nil, false
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, false
	}
	body, err = io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil || int64(len(body)) > limit {
		return nil, false
	}
	return body, true
}

// replace gives an answer another body, in pieces. What described the old one
// goes.
func replace(resp *http.Response, pieces ...[]byte) {
	length := 0
	readers := make([]io.Reader, 0, len(pieces))
	for _, piece := range pieces {
		length += len(piece)
		readers = append(readers, bytes.NewReader(piece))
	}
	resp.Body = io.NopCloser(io.MultiReader(readers...))
	resp.ContentLength = int64(length)
	resp.TransferEncoding = nil
	resp.Trailer = nil
	for _, name := range []string{
		"Content-Encoding", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest",
		"Etag", "Last-Modified", "Accept-Ranges", "Trailer",
	} {
		resp.Header.Del(name)
	}
	resp.Header.Set("Content-Length", strconv.Itoa(length))
}

// acceptGzip asks the upstream for an encoding that can be undone, if it is to
// use one: an answer that may be edited must be read.
func acceptGzip(header http.Header) {
	for token := range strings.SplitSeq(strings.ToLower(header.Get("Accept-Encoding")), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(token), ";")
		if strings.TrimSpace(name) == "gzip" && strings.ReplaceAll(params, " ", "") != "q=0" {
			header.Set("Accept-Encoding", "gzip")
			return
		}
	}
	header.Del("Accept-Encoding")
}

// discard drops an answer; a short one is read so that its connection lives.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	resp.Body.Close()
}

// A capture counts what is read of a body and keeps its beginning, as far as
// limit and the room for all bodies go.
type capture struct {
	io.ReadCloser
	limit int
	room  *holding
	// length is what the body is said to have; 0 or less: nothing is said.
	length int64
	// settled, if set, is closed when nobody will read the body any more: at its
	// end, or when who read it has closed it.
	settled chan struct{}
	once    sync.Once
	// ended, if set, gets a body that was read to its end within limit.
	ended func(body []byte)

	// The transport may still read a request's body when its answer is here.
	mu    sync.Mutex
	n     int64
	kept  []byte
	lost  bool // more than is kept was read
	whole bool
}

// Read passes on what it reads and keeps it while all of it fits. What has
// ended stays so: Go's transport looks for the end of a request's body again,
// and by then the server, having begun to answer, may have closed it. An error
// there would end the connection that the upstream's answer comes over.
func (c *capture) Read(p []byte) (int, error) {
	if c.over() {
		return 0, io.EOF
	}
	n, err := c.ReadCloser.Read(p)
	c.mu.Lock()
	c.n += int64(n)
	if c.n > int64(c.limit) || !c.lost && !c.room.grow(len(c.kept)+n, cap(c.kept), c.length) {
		c.lost = true
	}
	if c.lost {
		c.room.give(cap(c.kept))
		c.kept = nil
	} else {
		c.kept = append(roomFor(c.kept, n, c.length), p[:n]...)
	}
	first := err == io.EOF && !c.whole
	c.whole = c.whole || err == io.EOF
	fits := !c.lost
	c.mu.Unlock()
	if first && fits && c.ended != nil {
		c.ended(c.kept)
	}
	if err != nil {
		c.settles()
	}
	return n, err
}

// Close closes the body.
func (c *capture) Close() error {
	c.settles()
	return c.ReadCloser.Close()
}

// settles says that nobody reads any more.
func (c *capture) settles() {
	if c.settled != nil {
		c.once.Do(func() { close(c.settled) })
	}
}

// settle waits until nobody reads the body any more.
func (c *capture) settle(ctx context.Context) {
	select {
	case <-c.settled:
	case <-ctx.Done():
	}
}

// over reports whether the body was read to its end.
func (c *capture) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.whole
}

// count returns how many bytes were read so far.
func (c *capture) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// body returns what was captured; ok is false if it is not all of the body.
// A transport that knows the length does not ask for the end, so length (-1:
// unknown) counts as well.
func (c *capture) body(length int64) (body []byte, ok bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ok = !c.lost && (c.whole || c.n == length)
	return c.kept, ok
}

// A writer notes what was sent to the client.
type writer struct {
	http.ResponseWriter
	status int
	bytes  int64
	err    error
}

// WriteHeader notes the final status; an informational one is none.
func (w *writer) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write counts what the server took. That is a little ahead of the wire: the
// server buffers 4 KiB.
func (w *writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// Unwrap lets the proxy flush and hijack.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
