package s3_test

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/lake/s3"
)

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// A dyingServer answers the first request of a connection and keeps it; the
// second one it reads to the end and closes the connection without a word, as
// a store does that dies at the worst moment. It counts second requests and,
// since a repeated one comes over a new connection, those marked "again".
type dyingServer struct {
	net.Listener
	wait sync.WaitGroup

	mu    sync.Mutex
	tried int // requests marked with X-Tried
}

func newDyingServer(t *testing.T) *dyingServer {
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dyingServer{Listener: l}
	s.wait.Go(s.accept)
	t.Cleanup(func() { _ = l.Close(); s.wait.Wait() })
	return s
}

func (s *dyingServer) accept() {
	for {
		conn, err := s.Accept()
		if err != nil {
			return
		}
		s.wait.Go(func() { s.serve(conn) })
	}
}

func (s *dyingServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for first := true; ; first = false {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		if req.Header.Get("X-Tried") != "" {
			s.mu.Lock()
			s.tried++
			s.mu.Unlock()
		}
		if !first {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}

func (s *dyingServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tried
}

// Whatever changes something at the store reaches it once, also over a kept
// connection that dies and with headers that Go takes for leave to repeat.
//
// Field case G22.
func TestNothingIsSentTwice(t *testing.T) {
	object := func() io.Reader { return strings.NewReader("hello") }
	payload := sigv4.Payload{Mode: sigv4.Unsigned, Length: 5}
	tests := []struct {
		name    string
		method  string
		body    func() io.Reader
		payload sigv4.Payload
		header  []string
		most    int
	}{
		{"put", http.MethodPut, object, payload, nil, 1},
		{"put in chunks", http.MethodPut, object, sigv4.Payload{Mode: sigv4.StreamingSigned, Length: 5}, nil, 1},
		{"put with key", http.MethodPut, object, payload, []string{"Idempotency-Key", "1"}, 1},
		{"put of nothing", http.MethodPut, nil, sigv4.Payload{}, []string{"Idempotency-Key", "1"}, 1},
		{"put as copy", http.MethodPut, nil, sigv4.Payload{}, []string{"X-Amz-Copy-Source", "a/b", "X-Idempotency-Key", "1"}, 1},
		{"post", http.MethodPost, object, payload, nil, 1},
		{"post of nothing", http.MethodPost, nil, sigv4.Payload{}, []string{"Idempotency-Key", "1", "X-Idempotency-Key", "2"}, 1},
		{"delete", http.MethodDelete, nil, sigv4.Payload{}, nil, 1},
		{"delete with key", http.MethodDelete, nil, sigv4.Payload{}, []string{"Idempotency-Key", "1"}, 1},
		{"delete with other key", http.MethodDelete, nil, sigv4.Payload{}, []string{"X-Idempotency-Key", "1"}, 1},
		{"get", http.MethodGet, nil, sigv4.Payload{}, nil, 2},
		{"head", http.MethodHead, nil, sigv4.Payload{}, nil, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := newDyingServer(t)
			s := newStore(t, "http://"+server.Addr().String(), s3.Options{})
			// Reads and writes keep their connections apart: warm the right one.
			warm := http.MethodDelete
			if tt.most > 1 {
				warm = http.MethodGet
			}
			if code, _ := status(t, s, request(warm, "/bucket/warm", nil), sigv4.Payload{}); code != http.StatusOK {
				t.Fatalf("got %d", code)
			}
			var body io.Reader
			if tt.body != nil {
				body = tt.body()
			}
			req := request(tt.method, "/bucket/k", body, append(tt.header, "X-Tried", "1")...)
			resp, err := send(t, s, req, tt.payload, nil)
			if err == nil {
				_ = resp.Body.Close()
			}
			if tt.most == 1 && err == nil {
				t.Errorf("got status %d of a request that nobody answered", resp.StatusCode)
			}
			if got := server.count(); got < 1 || got > tt.most {
				t.Errorf("arrived %d times, want at most %d", got, tt.most)
			}
		})
	}
}

// Hidden keys still arrive.
func TestIdempotencyKeyArrives(t *testing.T) {
	got := http.Header{}
	s := newStore(t, serve(t, func(_ http.ResponseWriter, req *http.Request) { got = req.Header }), s3.Options{})
	status(t, s, request(http.MethodDelete, "/bucket/k", nil, "Idempotency-Key", "1", "X-Idempotency-Key", "2"), sigv4.Payload{})
	if got.Get("Idempotency-Key") != "1" || got.Get("X-Idempotency-Key") != "2" {
		t.Errorf("got %v", got)
	}
}
