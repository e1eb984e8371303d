package block_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/reuse/block"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An origin is a small store in memory that answers as S3 does.
type origin struct {
	mu      sync.Mutex
	objects map[string]stored
	version int
	calls   []string // "GET key 0-9 if-match" and so on, one each
	sent    int64    // bytes of bodies that were read

	// Faults, all optional. hold is waited for before the head is sent.
	hold   chan struct{}
	pause  chan struct{} // waited for before each byte after the first half
	answer func(laketap.Get) *laketap.Reply
	broken int64 // bodies end with an error after so many bytes; 0: they do not
}

type stored struct {
	data   []byte
	etag   string
	header []laketap.Field
}

func newOrigin() *origin { return &origin{objects: map[string]stored{}} }

func name(key string) laketap.ObjectName {
	return laketap.ObjectName{Origin: "main", Bucket: "lake", Key: key}
}

// put stores an object, and returns its bytes.
func (s *origin) put(key string, data []byte, header ...laketap.Field) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.objects[key] = stored{data, fmt.Sprintf(`"v%d"`, s.version), header}
	return data
}

// taken returns what was asked since the last call.
func (s *origin) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

func (s *origin) fetch(ctx context.Context, get laketap.Get) (*laketap.Reply, error) {
	s.mu.Lock()
	call := "GET " + get.Name.Key
	if get.Head {
		call = "HEAD " + get.Name.Key
	}
	if get.Range.Set {
		call += fmt.Sprintf(" %d-%d", get.Range.From, get.Range.To)
		if get.Range.Suffix > 0 {
			call = fmt.Sprintf("GET %s -%d", get.Name.Key, get.Range.Suffix)
		}
	}
	if get.Cond.IfMatch != "" {
		call += " match"
	}
	if get.Cond.IfNoneMatch != "" {
		call += " none"
	}
	s.calls = append(s.calls, call)
	hold, answer := s.hold, s.answer
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if answer != nil {
		if reply := answer(get); reply != nil {
			return reply, nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reply(get), nil
}

// reply answers by RFC 9110. s.mu is held.
func (s *origin) reply(get laketap.Get) *laketap.Reply {
	o, ok := s.objects[get.Name.Key]
	switch {
	case !ok:
		return failure(http.StatusNotFound)
	case get.Cond.IfMatch != "" && get.Cond.IfMatch != o.etag:
		return failure(http.StatusPreconditionFailed)
	case get.Cond.IfNoneMatch == o.etag:
		return &laketap.Reply{Status: http.StatusNotModified, Header: []laketap.Field{{Name: "ETag", Value: o.etag}}, Body: laketap.Body{Stream: http.NoBody}}
	}
	size := int64(len(o.data))
	off, end, status := int64(0), size, http.StatusOK
	header := append([]laketap.Field{{Name: "ETag", Value: o.etag}, {Name: "Content-Type", Value: "text/x"}, {Name: "X-Amz-Request-Id", Value: strconv.Itoa(len(s.calls))}}, o.header...)
	if r := get.Range; r.Set {
		switch {
		case r.Suffix > 0:
			off = max(0, size-r.Suffix)
		case r.From >= size:
			return failure(http.StatusRequestedRangeNotSatisfiable)
		default:
			off = r.From
			if r.To >= 0 && r.To < size {
				end = r.To + 1
			}
		}
		status = http.StatusPartialContent
		header = append(header, laketap.Field{Name: "Content-Range", Value: fmt.Sprintf("bytes %d-%d/%d", off, end-1, size)})
	}
	reply := &laketap.Reply{Status: status, Header: header, Length: end - off, Served: laketap.FromOrigin}
	reply.Object = laketap.Object{ObjectName: get.Name, ETag: o.etag, Size: size}
	if !get.Head {
		reply.Body.Stream = &body{s: s, Reader: bytes.NewReader(o.data[off:end]), half: (end - off) / 2, closed: make(chan struct{})}
	}
	return reply
}

func failure(status int) *laketap.Reply {
	text := http.StatusText(status)
	return &laketap.Reply{Status: status, Length: int64(len(text)), Body: laketap.Body{Stream: io.NopCloser(bytes.NewReader([]byte(text)))}}
}

var errReset = errors.New("connection reset")

// A body is an origin's, with its faults.
type body struct {
	*bytes.Reader
	s      *origin
	n      int64
	half   int64
	once   sync.Once
	closed chan struct{}
}

func (b *body) Read(p []byte) (int, error) {
	b.s.mu.Lock()
	pause, broken := b.s.pause, b.s.broken
	b.s.mu.Unlock()
	if pause != nil {
		if b.n < b.half {
			p = p[:min(int64(len(p)), b.half-b.n)]
		} else {
			select {
			case <-pause:
			case <-b.closed:
				return 0, io.ErrClosedPipe
			}
		}
	}
	if broken > 0 {
		if b.n >= broken {
			return 0, errReset
		}
		p = p[:min(int64(len(p)), broken-b.n)]
	}
	n, err := b.Reader.Read(p)
	b.n += int64(n)
	b.s.mu.Lock()
	b.s.sent += int64(n)
	b.s.mu.Unlock()
	return n, err
}

func (b *body) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// bytesOf returns n bytes that tell where they are and whose.
func bytesOf(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>8 ^ i*7 ^ seed*31)
	}
	return b
}

// everything is a contract that says yes to all that the origin holds.
type everything struct{ s *origin }

func (c everything) Version(_ laketap.TableID, name laketap.ObjectName) (laketap.Object, bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	o, ok := c.s.objects[name.Key]
	return laketap.Object{ObjectName: name, Size: int64(len(o.data))}, ok
}

func open(t testing.TB, opts block.Options) *block.Cache {
	t.Helper()
	c, err := block.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// An outcome is how a read ended.
type outcome struct {
	status int
	data   []byte
	reply  *laketap.Reply
	err    error
}

func read(c *block.Cache, s *origin, get laketap.Get) outcome {
	reply, err := c.Get(context.Background(), get, s.fetch)
	if err != nil {
		return outcome{err: err}
	}
	defer reply.Body.Close()
	out := outcome{status: reply.Status, reply: reply, data: reply.Body.Bytes}
	if reply.Body.Stream != nil {
		out.data, out.err = io.ReadAll(reply.Body.Stream)
	}
	if out.err == nil && !get.Head && int64(len(out.data)) != reply.Length {
		out.err = fmt.Errorf("%d bytes with length %d", len(out.data), reply.Length)
	}
	return out
}

func proven(key string) laketap.Get { return laketap.Get{Name: name(key), Proven: true} }

func part(key string, from, to int64) laketap.Get {
	get := proven(key)
	get.Range = laketap.Range{From: from, To: to, Set: true}
	return get
}

// want reads, and checks the bytes and what the origin was asked.
func want(t *testing.T, c *block.Cache, s *origin, get laketap.Get, data []byte, calls ...string) *laketap.Reply {
	t.Helper()
	got := read(c, s, get)
	if got.err != nil || got.status/100 != 2 {
		t.Fatalf("%+v: status %d, %v", get, got.status, got.err)
	}
	if !bytes.Equal(got.data, data) {
		t.Fatalf("%+v: %d bytes that differ from the %d of the origin", get, len(got.data), len(data))
	}
	if asked := s.taken(); fmt.Sprint(asked) != fmt.Sprint(calls) {
		t.Fatalf("%+v: origin was asked %q, want %q", get, asked, calls)
	}
	return got.reply
}

// eventually polls, for what another goroutine does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}
