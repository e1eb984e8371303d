package catalog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// read reads an answer to be edited. It returns the body decoded, and leaves
// resp so that it can still be forwarded as it came. why says that the body
// cannot be edited; an error is that the upstream broke off.
func (x *exchange) read(resp *http.Response) (body []byte, why reason, err error) {
	limit := x.h.opts.MaxEdit
	if resp.ContentLength > limit {
		return nil, tooLarge, nil
	}
	budget := &budgeted{Reader: io.LimitReader(resp.Body, limit+1), used: &x.h.editing, most: editsAtOnce * limit}
	raw, err := io.ReadAll(budget)
	x.held += budget.n
	if err != nil {
		resp.Body.Close()
		return nil, "", fmt.Errorf("read answer: %w", err)
	}
	if budget.spent || int64(len(raw)) > limit {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(raw), resp.Body), resp.Body}
		return nil, tooLarge, nil
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	body, ok := inflate(raw, resp.Header.Get("Content-Encoding"), limit)
	if !ok {
		return nil, unreadable, nil
	}
	if grown := int64(len(body)) - int64(len(raw)); grown > 0 { // what was packed takes of the budget what it became
		x.held += grown
		if x.h.editing.Add(grown) > editsAtOnce*limit {
			return nil, tooLarge, nil
		}
	}
	return body, "", nil
}

// editsAtOnce times the limit for one is what all answers that are being edited
// may take of memory; one that finds no room passes.
const editsAtOnce = 8

// A budgeted reader takes what it reads from a budget that all share, and ends
// early when that is spent.
type budgeted struct {
	io.Reader
	used  *atomic.Int64
	most  int64
	n     int64
	spent bool
}

// Read takes from the budget what it got. Looking before reading lets each
// reader go over by one buffer, which is less than a lock on every read costs.
func (b *budgeted) Read(p []byte) (int, error) {
	if b.used.Load() > b.most {
		b.spent = true
		return 0, io.EOF
	}
	n, err := b.Reader.Read(p)
	b.n += int64(n)
	b.used.Add(int64(n))
	return n, err
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

// replace gives an answer another body. What described the old one goes.
func replace(resp *http.Response, body []byte) {
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	resp.TransferEncoding = nil
	resp.Trailer = nil
	for _, name := range []string{
		"Content-Encoding", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest",
		"Etag", "Last-Modified", "Accept-Ranges", "Trailer",
	} {
		resp.Header.Del(name)
	}
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
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

// A capture counts what is read of a body and keeps its beginning.
type capture struct {
	io.ReadCloser
	limit int
	// ended, if set, gets a body that was read to its end within limit.
	ended func(body []byte)

	// The transport may still read a request's body when its answer is here.
	mu    sync.Mutex
	n     int64
	kept  []byte
	whole bool
}

// Read passes on what it reads and keeps it while all of it fits.
func (c *capture) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.mu.Lock()
	c.n += int64(n)
	if c.n <= int64(c.limit) {
		c.kept = append(c.kept, p[:n]...)
	} else {
		c.kept = nil
	}
	first := err == io.EOF && !c.whole
	c.whole = c.whole || err == io.EOF
	fits := c.n <= int64(c.limit)
	c.mu.Unlock()
	if first && fits && c.ended != nil {
		c.ended(c.kept)
	}
	return n, err
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
	ok = c.n <= int64(c.limit) && (c.whole || c.n == length)
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
