package storage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap/storage"
)

// bulk is how much the tests of bounded memory move.
const bulk = 256 << 20

// zeros reads as many zero bytes as it says.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.left)
	clear(p[:n])
	z.left -= n
	return int(n), nil
}

// heapGrowth returns by how much the heap in use grew at most while f ran.
func heapGrowth(f func()) uint64 {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		peak := before.HeapInuse
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				done <- peak - before.HeapInuse
				return
			case <-tick.C:
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapInuse)
			}
		}
	}()
	f()
	close(stop)
	return <-done
}

func TestDownloadInBoundedMemory(t *testing.T) {
	f := start(t, nil)
	f.origin.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Length", strconv.Itoa(bulk))
		_, _ = io.Copy(w, &zeros{bulk})
		return true
	})
	req := f.request(call{method: "GET", target: "/lake/wh/t/big", keys: f.session(nil)})
	grown := heapGrowth(func() {
		resp, err := f.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if n, err := io.Copy(io.Discard, resp.Body); n != bulk || err != nil {
			t.Errorf("got %d bytes, %v", n, err)
		}
	})
	if grown > 32<<20 {
		t.Errorf("heap grew by %d MiB", grown>>20)
	}
	if a := f.access(); a.BytesOut != bulk {
		t.Errorf("recorded %d bytes", a.BytesOut)
	}
}

func TestUploadInBoundedMemory(t *testing.T) {
	f := start(t, nil)
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			var got atomic.Int64
			f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
				body, _, err := f.origin.verify(r)
				if err == nil {
					var n int64
					n, err = io.Copy(io.Discard, body)
					got.Store(n)
				}
				if err != nil {
					w.WriteHeader(http.StatusBadRequest)
				}
				return true
			})
			p := m.payload
			p.Length = bulk
			if p.Mode == sigv4.Signed {
				p.Hash = "a6d72ac7690f53be6ae46ba88506bd97302a093f7108472bd9efc3cefda06484" // of 256 MiB of zeros
			}
			req := f.request(call{method: "PUT", target: "/lake/wh/t/big", keys: f.session(nil)})
			req.Body, req.ContentLength = io.NopCloser(&zeros{bulk}), bulk
			err := sigv4.Sign(req, f.session(nil), p, "us-east-1", time.Now(), func() []laketap.Field {
				return []laketap.Field{{Name: "x-amz-checksum-crc32", Value: "Kg59uw=="}}
			})
			if err != nil {
				t.Fatal(err)
			}
			grown := heapGrowth(func() {
				resp, err := f.http.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				answer, _ := io.ReadAll(resp.Body)
				if resp.StatusCode != http.StatusOK || got.Load() != bulk {
					t.Errorf("got %d %s, origin has %d bytes", resp.StatusCode, answer, got.Load())
				}
			})
			if grown > 32<<20 {
				t.Errorf("heap grew by %d MiB", grown>>20)
			}
		})
	}
}

// A client that leaves in mid-body ends the origin's reply at once.
func TestClientAbortEndsTheOriginsReply(t *testing.T) {
	f := start(t, nil)
	ended := make(chan struct{})
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		defer close(ended)
		w.Header().Set("Content-Length", strconv.Itoa(bulk))
		for range bulk / (1 << 20) {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return true
			}
		}
		t.Error("the whole object was fetched")
		return true
	})
	conn := f.dial()
	fmt.Fprintf(conn, "%s\r\n", f.head(call{method: "GET", target: "/lake/wh/t/big", keys: f.session(nil)}))
	_, _ = io.CopyN(io.Discard, conn, 100<<10)
	conn.Close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the origin is still sending")
	}
	if a := f.access(); a.Err == "" || a.BytesOut >= bulk || a.Status != 200 {
		t.Errorf("recorded %d, %d bytes, %q", a.Status, a.BytesOut, a.Err)
	}
}

// breakAfter makes the origin send some bytes of a body and cut the line.
func breakAfter(n, length int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return false
		}
		defer conn.Close()
		framing := "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n", n+10)
		if length >= 0 {
			framing = fmt.Sprintf("Content-Length: %d\r\n\r\n", length)
		}
		_, _ = buf.WriteString("HTTP/1.1 200 OK\r\n" + framing + strings.Repeat("b", n))
		_ = buf.Flush()
		return true
	}
}

func TestBrokenReplyBreaksTheClientsToo(t *testing.T) {
	f := start(t, nil)
	for _, c := range []struct{ sent, length int }{{0, 1000}, {10, 1000}, {999, 1000}, {300 << 10, 1 << 20}, {0, -1}, {10, -1}, {300 << 10, -1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			f.origin.intercept(breakAfter(c.sent, c.length))
			for _, target := range []string{"/lake/wh/t/x", "/lake/wh/t/x?versionId=1"} {
				resp, err := f.http.Do(f.request(call{method: "GET", target: target, keys: f.session(nil)}))
				if err != nil {
					continue // broken before the head was flushed: as good
				}
				if n, err := io.Copy(io.Discard, resp.Body); err == nil {
					t.Errorf("%s: %d bytes ended cleanly", target, n)
				}
				resp.Body.Close()
				if a := f.access(); a.Err == "" {
					t.Errorf("%s: the access says nothing of it", target)
				}
			}
		})
	}
}

func TestSilentOriginEnds(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.StallTimeout = 200 * time.Millisecond })
	release := make(chan struct{})
	defer close(release)
	for _, c := range []struct {
		name string
		call call
		code string
	}{
		{"read", call{method: "GET", target: "/lake/wh/t/x"}, "ServiceUnavailable"},
		{"forwarded read", call{method: "GET", target: "/lake?list-type=2&prefix=wh/t/"}, "ServiceUnavailable"},
		{"write", call{method: "DELETE", target: "/lake/wh/t/x"}, "InternalError"},
		{"upload", call{method: "PUT", target: "/lake/wh/t/x", body: "data"}, "InternalError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
				skim(r.Body)
				select {
				case <-r.Context().Done():
				case <-release:
				}
				return true
			})
			c.call.keys = f.session(nil)
			got := f.do(c.call)
			if got.code() != c.code {
				t.Errorf("got %d %s, want %s", got.status, got.body, c.code)
			}
			if got.status == 503 && got.header.Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
			if n := f.origin.sent(); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

func TestStallInMidBodyBreaksOff(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.StallTimeout = 200 * time.Millisecond })
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", "1000000")
		write(t, w, strings.Repeat("s", 300000))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	})
	got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)})
	if got.status != 200 || got.err == nil {
		t.Errorf("got %d, %d bytes, %v", got.status, len(got.body), got.err)
	}
	if a := f.access(); !strings.Contains(a.Err, "no byte moved") {
		t.Errorf("recorded %q", a.Err)
	}
}

// Completing an upload may take minutes of white space and end in an error.
func TestWhiteSpacePassesAsItComes(t *testing.T) {
	f := start(t, nil)
	next := make(chan struct{})
	f.origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		skim(r.Body)
		flush := func(s string) {
			write(t, w, s)
			http.NewResponseController(w).Flush()
		}
		flush("<?xml version=\"1.0\"?>\n")
		for range 3 {
			<-next
			flush(" ")
		}
		<-next
		flush("<Error><Code>InternalError</Code></Error>")
		return true
	})
	conn := f.dial()
	body := "<CompleteMultipartUpload/>"
	fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", f.head(call{method: "POST", target: "/lake/wh/t/x?uploadId=u", body: body, keys: f.session(nil)}), len(body), body)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	p := make([]byte, 100)
	n, err := resp.Body.Read(p)
	if err != nil || string(p[:n]) != "<?xml version=\"1.0\"?>\n" {
		t.Fatalf("got %q, %v", p[:n], err)
	}
	for range 3 {
		next <- struct{}{}
		if n, err = resp.Body.Read(p); err != nil || string(p[:n]) != " " {
			t.Fatalf("got %q, %v", p[:n], err)
		}
	}
	next <- struct{}{}
	rest, err := io.ReadAll(resp.Body)
	if err != nil || string(rest) != "<Error><Code>InternalError</Code></Error>" {
		t.Errorf("got %q, %v", rest, err)
	}
	if n := f.origin.sent(); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

func TestUnreachableOrigin(t *testing.T) {
	f := start(t, nil)
	f.origin.server.CloseClientConnections()
	f.origin.server.Listener.Close()
	for _, c := range []call{
		{method: "GET", target: "/lake/wh/t/x"},
		{method: "HEAD", target: "/lake/wh/t/x"},
		{method: "PUT", target: "/lake/wh/t/x", body: "data"},
	} {
		c.keys = f.session(nil)
		if got := f.do(c); got.status != 503 || got.header.Get("Retry-After") == "" || got.header.Get("X-Amz-Request-Id") == "" {
			t.Errorf("%s: got %d %s", c.method, got.status, got.body)
		}
		if a := f.access(); a.Status != 503 || a.Err == "" {
			t.Errorf("%s: recorded %d %q", c.method, a.Status, a.Err)
		}
	}
}

func TestHTTP10GetsALength(t *testing.T) {
	f := start(t, nil)
	f.origin.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		write(t, w, "part one, ")
		http.NewResponseController(w).Flush()
		write(t, w, "part two")
		return true
	})
	head := strings.Replace(f.head(call{method: "GET", target: "/lake?prefix=wh/t/", keys: f.session(nil)}), "HTTP/1.1", "HTTP/1.0", 1)
	got := f.raw(head + "\r\n")
	if !strings.Contains(got, "Content-Length: 18\r\n") || strings.Contains(got, "chunked") || !strings.HasSuffix(got, "\r\n\r\npart one, part two") {
		t.Errorf("got %q", got)
	}
}

func TestShutdownDrains(t *testing.T) {
	f := start(t, nil)
	entered, release := make(chan struct{}), make(chan struct{})
	f.origin.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		close(entered)
		<-release
		write(t, w, "late")
		return true
	})
	answer := make(chan result, 1)
	go func() { answer <- f.do(call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)}) }()
	<-entered
	down := make(chan error, 1)
	go func() { down <- f.server.Shutdown(context.Background()) }()
	// No new connection is taken while the old request goes on.
	for deadline := time.Now().Add(5 * time.Second); ; {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", f.addr)
		if err != nil {
			break
		}
		conn.Close()
		if time.Now().After(deadline) {
			t.Fatal("still accepting")
		}
	}
	close(release)
	if got := <-answer; got.body != "late" {
		t.Errorf("got %d %q", got.status, got.body)
	}
	if err := <-down; err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

func TestShutdownBreaksOffInTheEnd(t *testing.T) {
	f := start(t, nil)
	entered, ended := make(chan struct{}), make(chan struct{})
	f.origin.intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		close(entered)
		<-r.Context().Done()
		close(ended)
		return true
	})
	conn := f.dial()
	fmt.Fprintf(conn, "%s\r\n", f.head(call{method: "GET", target: "/lake/wh/t/x", keys: f.session(nil)}))
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := f.server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shutdown: %v", err)
	}
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("the origin is still asked")
	}
}
