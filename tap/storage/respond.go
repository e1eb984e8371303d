package storage

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/laketap/laketap"
)

// maxUnframed is how much of a body of unknown length is gathered for a
// client that speaks HTTP/1.0 and so cannot be sent chunks.
const maxUnframed = 8 << 20

var errClientLeft = errors.New("client left before the answer")

// respond hands an answer to fasthttp, which writes it after the handler has
// returned. done is called once, when the last byte has been handed to the
// connection or the answer has broken off.
func respond(ctx *fasthttp.RequestCtx, r *request, a *answer, out *outgoing) {
	if r.http10 && a.length < 0 && a.body.Stream != nil {
		gather(r, a)
	}
	resp := &ctx.Response
	resp.SetStatusCode(a.status)
	for _, f := range a.header {
		resp.Header.Add(f.Name, f.Value)
	}
	if a.drop {
		resp.SetConnectionClose()
	}
	out.body, out.length, out.silent = a.body, a.length, r.sig.Method == http.MethodHead || bodiless(a.status)
	// One kind of body for everything, so that there is one place where an
	// answer ends.
	resp.SetBodyStream(out, int(a.length))
}

// bodiless reports whether no body may follow a status.
func bodiless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified || status < 200
}

// gather reads a body to learn its length.
func gather(r *request, a *answer) {
	all, err := io.ReadAll(io.LimitReader(a.body.Stream, maxUnframed+1))
	_ = a.body.Close()
	if err == nil && len(all) > maxUnframed {
		err = errors.New("answer of unknown length is too large for HTTP/1.0")
	}
	if err != nil {
		after := a.after
		*a = *errInternal.because(err.Error()).answer(r)
		a.after = after
		return
	}
	a.body, a.length = laketap.Body{Bytes: all}, int64(len(all))
}

// outgoing is the body of an answer on its way to the client, in bounded
// memory and at the client's pace.
type outgoing struct {
	conn    net.Conn
	buffers *sync.Pool // of *[]byte
	stall   time.Duration
	done    func(written int64, err error)

	body   laketap.Body
	length int64
	silent bool // only the head is sent

	written int64
	err     error
	begun   bool
	closed  bool
}

// SupportsBodyWriteTo tells fasthttp to use WriteTo, whose buffers are larger
// than its own.
func (o *outgoing) SupportsBodyWriteTo() bool { return true }

// Read is not used: fasthttp asks for it by its interface only.
func (o *outgoing) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// WriteTo writes the body. An error, or a body shorter than its length, makes
// fasthttp close the connection, so that the client can tell a part from the
// whole.
func (o *outgoing) WriteTo(w io.Writer) (int64, error) {
	o.begun = true
	switch {
	case o.body.File != nil:
		o.err = o.writeFile(w)
	case o.body.Stream != nil:
		o.err = o.writeStream(w)
	default:
		o.err = o.writeBytes(w)
	}
	if o.err == nil && o.length >= 0 && o.written != o.length {
		o.err = io.ErrUnexpectedEOF
	}
	return o.written, o.err
}

// writeBytes writes what is in memory, as it is, in steps like those of a file:
// one deadline over all of a large block would cut off slow clients.
func (o *outgoing) writeBytes(w io.Writer) error {
	for rest := o.body.Bytes; len(rest) > 0; {
		if err := o.extend(); err != nil {
			return err
		}
		n, err := w.Write(rest[:min(len(rest), fileStep)])
		o.written += int64(n)
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// fileStep is how much of a file goes out under one deadline: little enough
// for a slow line, much enough for sendfile to pay.
const fileStep = 4 << 20

// writeFile gives the writer the file itself, so that it can use sendfile.
func (o *outgoing) writeFile(w io.Writer) error {
	for o.written < o.length {
		if err := o.extend(); err != nil {
			return err
		}
		part := &io.LimitedReader{R: o.body.File, N: min(o.length-o.written, fileStep)}
		n, err := io.Copy(w, part)
		o.written += n
		switch {
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// writeStream copies through one buffer, so that a slow client slows the
// origin down instead of filling our memory.
func (o *outgoing) writeStream(w io.Writer) error {
	buf, ok := o.buffers.Get().(*[]byte)
	if !ok {
		return errors.ErrUnsupported // cannot be: the pool makes nothing else
	}
	defer o.buffers.Put(buf)
	for {
		n, err := o.body.Stream.Read(*buf)
		if n > 0 {
			if err := o.extend(); err != nil {
				return err
			}
			m, err := w.Write((*buf)[:n])
			o.written += int64(m)
			if err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// extend gives the client another stall timeout to take the next bytes.
func (o *outgoing) extend() error {
	if o.conn == nil {
		return nil
	}
	return o.conn.SetWriteDeadline(time.Now().Add(o.stall))
}

// Close ends the answer: the origin stops sending, and the access is recorded.
func (o *outgoing) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	err := o.body.Close()
	if !o.begun && !o.silent && o.err == nil {
		o.err = errClientLeft // not even the head could be written
	}
	o.done(o.written, o.err)
	return err
}
