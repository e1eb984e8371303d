package storage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

func TestOpenedSessionsAreBounded(t *testing.T) {
	var o recent[sessionKey, *tap.Session]
	hot := &tap.Session{Principal: "hot"}
	o.put(sessionKey{"id", "hot"}, hot)
	for i := range 10 * recentGeneration {
		o.put(sessionKey{"id", strconv.Itoa(i)}, &tap.Session{})
		if got, ok := o.get(sessionKey{"id", "hot"}); !ok || got != hot {
			t.Fatalf("after %d others the session in use is gone", i)
		}
		if n := len(o.now) + len(o.old); n > 2*recentGeneration {
			t.Fatalf("%d sessions are held", n)
		}
	}
	if _, ok := o.get(sessionKey{"id", "0"}); ok {
		t.Error("a session of long ago is still held")
	}
	if _, ok := o.get(sessionKey{"other", "hot"}); ok {
		t.Error("a token is held for another key")
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Value
		w := newWatch(time.Minute, func(err error) { ended.Store(err) })
		for range 10 {
			time.Sleep(50 * time.Second)
			w.touch()
		}
		synctest.Wait()
		if ended.Load() != nil {
			t.Fatal("ended although something moved")
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if got, _ := ended.Load().(error); !errors.Is(got, errStalled) {
			t.Errorf("got %v, want %v", got, errStalled)
		}
		w.stop()

		w = newWatch(time.Minute, func(error) { t.Error("ended after it was stopped") })
		w.stop()
		time.Sleep(time.Hour)
		synctest.Wait()
	})
}

func TestClientBody(t *testing.T) {
	t.Run("short", func(t *testing.T) {
		b := &clientBody{stream: strings.NewReader("abc"), left: 5}
		got, err := io.ReadAll(b)
		if string(got) != "abc" || !errors.Is(err, io.ErrUnexpectedEOF) || b.failure() == nil || b.detach() {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("whole", func(t *testing.T) {
		b := &clientBody{stream: strings.NewReader("abc"), left: 3}
		got, err := io.ReadAll(b)
		if string(got) != "abc" || err != nil || !b.detach() || b.count.Load() != 3 {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("after it is over", func(t *testing.T) {
		b := &clientBody{stream: strings.NewReader("abc"), left: 3}
		if b.detach() {
			t.Error("an unread body is whole")
		}
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, errDetached) {
			t.Errorf("got %v", err)
		}
	})
}

func outgoingTo(body laketap.Body, length int64) (*outgoing, *error) {
	var end error
	o := &outgoing{body: body, length: length, done: func(_ int64, err error) { end = err }}
	o.buffers = &sync.Pool{New: func() any { b := make([]byte, 10); return &b }}
	return o, &end
}

func TestOutgoingBodies(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("..0123456789.."), 0o600); err != nil {
		t.Fatal(err)
	}
	file := func() *os.File {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(2, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		return f
	}
	stream := func(s string, err error) io.ReadCloser {
		return io.NopCloser(io.MultiReader(strings.NewReader(s), failing{err}))
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		body   laketap.Body
		length int64
		want   string
		err    error
	}{
		{"bytes", laketap.Body{Bytes: []byte("0123456789")}, 10, "0123456789", nil},
		{"a part of a file", laketap.Body{File: file()}, 10, "0123456789", nil},
		{"a file that ends early", laketap.Body{File: file()}, 100, "0123456789..", io.ErrUnexpectedEOF},
		{"stream", laketap.Body{Stream: stream("0123456789", io.EOF)}, 10, "0123456789", nil},
		{"stream of unknown length", laketap.Body{Stream: stream("0123456789", io.EOF)}, -1, "0123456789", nil},
		{"short stream", laketap.Body{Stream: stream("0123", io.EOF)}, 10, "0123", io.ErrUnexpectedEOF},
		{"broken stream", laketap.Body{Stream: stream("0123", broken)}, 10, "0123", broken},
		{"stream cut by its source", laketap.Body{Stream: stream("0123", io.ErrUnexpectedEOF)}, -1, "0123", io.ErrUnexpectedEOF},
		{"nothing", laketap.Body{}, 0, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, end := outgoingTo(c.body, c.length)
			var got bytes.Buffer
			n, err := o.WriteTo(&got)
			if got.String() != c.want || n != int64(len(c.want)) || !errors.Is(err, c.err) {
				t.Errorf("wrote %q, %v; want %q, %v", got.String(), err, c.want, c.err)
			}
			if err := o.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if !errors.Is(*end, c.err) || c.err == nil && *end != nil {
				t.Errorf("ended with %v, want %v", *end, c.err)
			}
			if c.body.File != nil {
				if err := c.body.File.Close(); !errors.Is(err, os.ErrClosed) {
					t.Error("the file is still open")
				}
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// fasthttp is given the file itself, bounded by the length of the answer.
func TestOutgoingFileThroughFasthttp(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, bytes.Repeat([]byte("x"), 9<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	const length = 8<<20 + 5
	o, end := outgoingTo(laketap.Body{File: f}, length)
	var resp fasthttp.Response
	resp.SetBodyStream(o, length)
	var got bytes.Buffer
	w := bufio.NewWriter(&got)
	if err := resp.Write(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	_, body, _ := bytes.Cut(got.Bytes(), []byte("\r\n\r\n"))
	if len(body) != length || *end != nil {
		t.Errorf("wrote %d bytes, ended with %v", len(body), *end)
	}
}

func TestHeadThatCannotBeWritten(t *testing.T) {
	o, end := outgoingTo(laketap.Body{Bytes: []byte("x")}, 1)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(*end, errClientLeft) {
		t.Errorf("ended with %v", *end)
	}
	if err := o.Close(); err != nil {
		t.Error("a second close fails")
	}
}

func TestReplyHeaders(t *testing.T) {
	got := map[string][]string{}
	for _, f := range replyHeaders(http.Header{
		"Etag": {`"e"`}, "X-Amz-Meta-Owner": {"me"}, "Content-Length": {"5"}, "Date": {"x"}, "Connection": {"close, X-Hop"}, "X-Hop": {"1"},
		"Transfer-Encoding": {"chunked"}, "Alt-Svc": {"h3"}, "Vary": {"A", "B"}, "Server": {"AmazonS3"},
	}) {
		got[f.Name] = append(got[f.Name], f.Value)
	}
	for name, want := range map[string]string{"ETag": `["e"]`, "x-amz-meta-owner": "[me]", "Vary": "[A B]", "Server": "[AmazonS3]"} {
		if fmt.Sprint(got[name]) != want {
			t.Errorf("%s is %v, want %s", name, got[name], want)
		}
	}
	if len(got) != 4 {
		t.Errorf("too much passes: %v", got)
	}
}

func TestWithoutChunked(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "aws-chunked": "", "aws-chunked, gzip": "gzip", "gzip,AWS-Chunked": "gzip", "gzip, br": "gzip,br", ",": "",
	} {
		if got := withoutChunked(in); got != want {
			t.Errorf("withoutChunked(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWithoutSignature(t *testing.T) {
	const in = "X-Amz-Algorithm=A&versionId=1&X-Amz-Credential=B&X-Amz-Date=C&x-id=Get%20x&X-Amz-Expires=1&X%2DAmz-Signature=s&X-Amz-SignedHeaders=host&X-Amz-Security-Token=t&x-amz-acl=private"
	if got, want := withoutSignature(in), "versionId=1&x-id=Get%20x&x-amz-acl=private"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
