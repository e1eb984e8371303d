package storage_test

import (
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap/storage"
)

// watched is a Watcher that keeps what passed.
type watched struct {
	mu    sync.Mutex
	gets  []laketap.Get
	bytes []byte
}

func (w *watched) Watch(get laketap.Get, reply *laketap.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gets = append(w.gets, get)
	stream := reply.Body.Stream
	reply.Body.Stream = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(stream, w), stream}
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes = append(w.bytes, p...)
	return len(p), nil
}

// A Watcher sees just the bytes that the client is sent, and only where there
// are no Blocks.
func TestWatcherSeesWhatPasses(t *testing.T) {
	for _, cached := range []bool{false, true} {
		w := &watched{}
		f := start(t, func(o *storage.Options) {
			o.Watch = w
			if cached {
				o.Blocks = &blocks{}
			}
		})
		f.origin.put("lake/wh/t/a", "0123456789")
		got := f.do(call{method: "GET", target: "/lake/wh/t/a", header: http.Header{"Range": {"bytes=6-"}}, keys: f.session(nil)})
		if got.status != 206 || got.body != "6789" {
			t.Errorf("got %d %q", got.status, got.body)
		}
		f.access()
		switch {
		case cached && len(w.gets) > 0:
			t.Error("was shown what passes Blocks")
		case !cached && (len(w.gets) != 1 || w.gets[0].Name.Key != "wh/t/a" || string(w.bytes) != "6789"):
			t.Errorf("saw %+v, %q", w.gets, w.bytes)
		}
	}
}
