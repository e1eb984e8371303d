package storage

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

var (
	errDetached = errors.New("request is over")
	errStalled  = errors.New("no byte moved for too long")
)

// A clientBody is the body of a request as it comes from the client. It may
// be read from another goroutine than the one that serves the request, but
// only until detach: what it reads from belongs to the connection.
type clientBody struct {
	conn  net.Conn // nil in tests
	stall time.Duration
	count atomic.Int64 // bytes read

	mu     sync.Mutex
	stream io.Reader // nil: there is no body
	left   int64     // of a known length; < 0: ends by itself
	over   bool
	err    error // first failure of the client
}

// Read reads from the client, for at most the stall timeout. The end of the
// connection is not the end of a body whose length is known: who trusted it
// would store half an object.
func (b *clientBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.over:
		return 0, errDetached
	case b.err != nil:
		return 0, b.err
	case b.stream == nil || b.left == 0:
		return 0, io.EOF
	}
	if b.conn != nil {
		if err := b.conn.SetReadDeadline(time.Now().Add(b.stall)); err != nil {
			b.err = err
			return 0, err
		}
	}
	n, err := b.stream.Read(p)
	b.count.Add(int64(n))
	if b.left > 0 {
		b.left -= int64(n)
		if errors.Is(err, io.EOF) {
			err = nil
			if b.left > 0 {
				err = io.ErrUnexpectedEOF
			}
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		b.left = 0
	case err != nil:
		b.err = err
	}
	return n, err
}

// detach ends reading and waits for a Read that is under way. It returns
// whether the body was read to its end.
func (b *clientBody) detach() bool {
	if !b.mu.TryLock() {
		if b.conn != nil {
			// Wake a Read that waits for a client which waits for us.
			_ = b.conn.SetReadDeadline(time.Unix(1, 0))
		}
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	b.over = true
	return b.stream == nil || b.left == 0
}

// failure returns what the client did wrong while its body was read.
func (b *clientBody) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// clientFault turns a failure of the client into a refusal. There is often
// nobody left to read it.
func clientFault(err error) *apiError {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errRequestTimeout
	}
	return errIncompleteBody.because(err.Error())
}

// An upload is the verified body of a request on its way to the origin. A
// body that is short, stalls or does not verify ends in an error, which
// breaks the origin's request off: the origin then stores nothing.
type upload struct {
	src   *sigv4.Reader
	watch *watch

	mu    sync.Mutex
	taken int64 // bytes handed to the origin's request
	ended bool  // all of them
	err   error
}

func (u *upload) Read(p []byte) (int, error) {
	u.watch.touch()
	n, err := u.src.Read(p)
	u.watch.touch()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.taken += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		u.ended = true
	case err != nil:
		u.err = err
	}
	return n, err
}

// whole reports whether the origin can have the whole body: its length, if
// that is known, else its end. The end of a known length is read only after
// the last byte has gone out, when the reply may be there already.
func (u *upload) whole(length int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended || length >= 0 && u.taken >= length
}

// Close does nothing: the client's connection outlives its body.
func (u *upload) Close() error { return nil }

// trailer returns the verified trailing headers.
func (u *upload) trailer() []laketap.Field { return u.src.Trailer() }

// failure returns why the body could not be read to its end.
func (u *upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// A watch cancels an origin call when nothing has moved for a while, however
// long the call takes as a whole.
type watch struct {
	limit  time.Duration
	cancel func(error)
	begin  time.Time
	last   atomic.Int64 // nanoseconds after begin

	mu    sync.Mutex
	timer *time.Timer // nil: stopped
}

func newWatch(limit time.Duration, cancel func(error)) *watch {
	w := &watch{limit: limit, cancel: cancel, begin: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, w.look)
	return w
}

// touch says that something moved.
func (w *watch) touch() { w.last.Store(int64(time.Since(w.begin))) }

func (w *watch) look() {
	idle := time.Since(w.begin) - time.Duration(w.last.Load())
	if idle >= w.limit {
		w.cancel(errStalled)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Reset(w.limit - idle)
	}
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}
