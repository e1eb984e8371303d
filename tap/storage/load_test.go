package storage_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap/storage"
)

// settle waits until a figure is small enough, and fails with the figure if
// it never is.
func settle(t *testing.T, what string, most uint64, figure func() uint64) {
	t.Helper()
	var last uint64
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if last = figure(); last <= most {
			return
		}
		runtime.Gosched()
		runtime.GC() // pools let go at the second collection
	}
	t.Errorf("%s is %d, want at most %d", what, last, most)
}

func goroutines() uint64 { return uint64(runtime.NumGoroutine()) }

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

const idleConns, busyConns = 500, 200

// 500 connections that idle and 200 that are being served leave room for the
// next request, and when they are gone, so are their memory and goroutines.
func TestManyIdleAndBusyConnections(t *testing.T) {
	runtime.GC()
	before, heap := goroutines(), heapInUse()
	t.Run("load", func(t *testing.T) {
		f := start(t, nil)
		keys := f.session(nil)
		content := strings.Repeat("busy", 100<<10)
		f.origin.put("lake/wh/t/x", "right")
		f.origin.put("lake/wh/t/busy", content)
		get := f.head(call{method: "GET", target: "/lake/wh/t/x", keys: keys}) + "\r\n"
		for range idleConns {
			conn := f.dial()
			write(t, conn, get)
			if got := readOne(t, conn); got.body != "right" {
				t.Fatalf("got %d %q", got.status, got.body)
			}
		}
		entered, release := make(chan struct{}, busyConns), make(chan struct{})
		f.origin.intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/busy") {
				entered <- struct{}{}
				<-release
			}
			return false
		})
		var busy sync.WaitGroup
		request := f.head(call{method: "GET", target: "/lake/wh/t/busy", keys: keys}) + "\r\n"
		for i := range busyConns {
			conn := f.dial()
			busy.Go(func() {
				write(t, conn, request)
				if got := readOne(t, conn); got.body != content {
					t.Errorf("busy %d: got %d, %d bytes, %v", i, got.status, len(got.body), got.err)
				}
			})
		}
		for range busyConns {
			<-entered
		}
		begin := time.Now()
		if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: keys}); got.body != "right" || time.Since(begin) > 5*time.Second {
			t.Errorf("beside them: got %d %q after %v", got.status, got.body, time.Since(begin))
		}
		close(release)
		busy.Wait()
	})
	// Everything is shut down: what is left is what it leaked. Others' pools
	// and http's own idle connections take a few.
	settle(t, "number of goroutines", before+5, goroutines)
	settle(t, "heap in use", heap+16<<20, heapInUse)
}

// readOne reads one answer off a connection that stays open.
func readOne(t *testing.T, conn net.Conn) result {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("no answer: %v", err)
		return result{err: err}
	}
	defer resp.Body.Close()
	return read(resp)
}

// Beyond its connections the tap says so at once, to whoever comes, and lets
// people in again when somebody has left.
func TestMoreConnectionsThanAllowed(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.MaxConns = 2 })
	f.origin.put("lake/wh/t/x", "right")
	keys := f.session(nil)
	get := f.head(call{method: "GET", target: "/lake/wh/t/x", keys: keys}) + "\r\n"
	held := make([]net.Conn, 2)
	for i := range held {
		held[i] = f.dial()
		write(t, held[i], get)
		readOne(t, held[i])
	}
	if got := readOne(t, f.dial()); got.status != http.StatusServiceUnavailable {
		t.Errorf("one too many got %d %q", got.status, got.body)
	}
	held[0].Close()
	for deadline := time.Now().Add(5 * time.Second); ; {
		conn := f.dial()
		write(t, conn, get)
		if got := readOne(t, conn); got.body == "right" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("still nobody is let in")
		}
	}
}

// A client that sends its head, or a body that nobody wants, ever so slowly
// keeps its connection no longer than a head may take.
func TestSlowClients(t *testing.T) {
	const limit = 400 * time.Millisecond
	f := start(t, func(o *storage.Options) { o.HeaderTimeout = limit })
	unsigned := "PUT /lake/wh/t/x HTTP/1.1\r\nHost: " + f.addr + "\r\n"
	for name, begin := range map[string]string{
		"head":                unsigned + "X-Slow: ",
		"first line":          "PUT /lake/wh/t/",
		"body of a stranger":  unsigned + "Content-Length: 100000\r\n\r\n",
		"chunk of a stranger": unsigned + "Transfer-Encoding: chunked\r\n\r\n10000\r\n",
		"chunk line":          unsigned + "Transfer-Encoding: chunked\r\n\r\n1;",
		"nothing":             "",
	} {
		t.Run(name, func(t *testing.T) {
			conn := f.dial()
			write(t, conn, begin)
			stop := make(chan struct{})
			var dripping sync.WaitGroup
			dripping.Go(func() {
				tick := time.NewTicker(limit / 20)
				defer tick.Stop()
				for name != "nothing" {
					select {
					case <-stop:
						return
					case <-tick.C:
						if _, err := io.WriteString(conn, "x"); err != nil {
							return
						}
					}
				}
			})
			started := time.Now()
			got, _ := io.ReadAll(conn)
			took := time.Since(started)
			close(stop)
			dripping.Wait()
			// The polite end of a connection takes two seconds at most.
			if took > limit+5*time.Second {
				t.Errorf("held for %v", took)
			}
			if !strings.HasPrefix(string(got), "HTTP/1.1 4") {
				t.Errorf("got %q", got)
			}
		})
	}
	f.wantNothingSent(t)
}

// The body of a client that may write comes as slowly as it likes, as long as
// it comes.
func TestSlowUploadThatMoves(t *testing.T) {
	const stall = time.Second // much longer than a busy machine's pauses
	f := start(t, func(o *storage.Options) { o.StallTimeout = stall })
	content := strings.Repeat("s", 9<<10) // the first 8 KiB are read with the head
	conn := f.dial()
	fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", f.head(call{
		method: "PUT", target: "/lake/wh/t/slow", keys: f.session(nil), body: content, payload: &sigv4.Payload{Mode: sigv4.Unsigned},
	}), len(content), content[:9000])
	tick := time.NewTicker(stall / 10)
	defer tick.Stop()
	for _, b := range content[9000:9020] {
		<-tick.C
		write(t, conn, string(b))
	}
	write(t, conn, content[9020:])
	if got := readOne(t, conn); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if obj, _ := f.origin.object("lake/wh/t/slow"); string(obj.data) != content {
		t.Errorf("stored %d bytes", len(obj.data))
	}
}
