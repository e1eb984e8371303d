package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/laketap/laketap/tap/catalog"
)

// lateLooker is a transport that looks for the end of a request's body once
// more when its answer has begun, as Go's does where the upstream is quick.
type lateLooker struct{ late chan error }

func (l lateLooker) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.ReadFull(req.Body, make([]byte, max(req.ContentLength, 1))); err != nil {
		return nil, err
	}
	if req.ContentLength < 0 {
		if _, err := io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	answer := io.MultiReader(strings.NewReader(strings.Repeat(" ", 64<<10)), readerFunc(func([]byte) (int, error) {
		_, err := req.Body.Read(make([]byte, 1))
		l.late <- err
		return 0, io.EOF
	}))
	return &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(answer), Request: req}, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A quick upstream answers before the transport has found that a request's body
// is over. Go's server closes that body when it begins to answer. If that were
// an error to the transport, it would end the connection over which the answer
// still comes: a commit that succeeded would look like one that broke off.
func TestBodyEndsWellAfterTheAnswerBegan(t *testing.T) {
	looker := lateLooker{make(chan error, 1)}
	f := setUp(t, nil, func(o *catalog.Options) { o.Upstreams[0].Transport = looker })
	for name, body := range map[string]io.Reader{
		"of known length": strings.NewReader(`{"updates":[]}`),
		"chunked":         io.MultiReader(strings.NewReader(`{"updates":[]}`)),
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.tap.URL+"/v1/namespaces/shop/tables/orders", body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := f.tap.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(resp.Body); err != nil || len(got) != 64<<10 {
			t.Errorf("%s: %d bytes of the answer, %v", name, len(got), err)
		}
		_ = resp.Body.Close()
		if err := <-looker.late; !errors.Is(err, io.EOF) {
			t.Errorf("%s: the body's end is %v", name, err)
		}
	}
}

// An upstream may begin its answer while the request still arrives. It has to
// get all of the request all the same: bytes that the server took for itself to
// get at the next request would be missing in a body that ends in good order.
func TestUpstreamAnswersBeforeTheRequestEnds(t *testing.T) {
	const size = 2 << 20
	got, began := make(chan int, 1), make(chan struct{}, 1)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.WriteString(w, strings.Repeat(" ", 64<<10))
		_ = http.NewResponseController(w).Flush()
		began <- struct{}{}
		n, _ := io.Copy(io.Discard, r.Body)
		got <- int(n)
		_, _ = fmt.Fprintf(w, `{"read":%d}`, n)
	}))
	defer up.Close()
	f := setUp(t, nil, func(o *catalog.Options) { o.Upstreams[0].URL = parse(t, up.URL) })
	for name, length := range map[string]int64{"of known length": size, "chunked": -1} {
		body, send := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.tap.URL+"/v1/namespaces/shop/tables/orders", body)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = length
		go func() {
			_, _ = send.Write(make([]byte, 1000))
			<-began // the rest comes when the answer has begun
			_, _ = io.Copy(send, bytes.NewReader(make([]byte, size-1000)))
			_ = send.Close()
		}()
		resp, err := f.tap.Client().Transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		var said struct{ Read int }
		if err := json.NewDecoder(resp.Body).Decode(&said); err != nil || said.Read != size {
			t.Errorf("%s: answer says %d bytes were read, %v", name, said.Read, err)
		}
		_ = resp.Body.Close()
		if n := <-got; n != size {
			t.Errorf("%s: the upstream got %d of %d bytes", name, n, size)
		}
	}
}

// An answer that needs no upstream goes out whole, though nobody has read the
// request's body: connections are not reset under clients that are still sending.
func TestRefusalsArriveThoughTheBodyIsNotRead(t *testing.T) {
	f := setUp(t, nil, func(o *catalog.Options) {
		o.Upstreams[0].Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
			_ = req.Body.Close() // as Go's does when it cannot connect
			return nil, errors.New("unreachable")
		})
	})
	for i := range 300 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.tap.URL+"/v1/namespaces/shop/tables/orders", strings.NewReader(`{"updates":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := f.tap.Client().Do(req)
		if err != nil {
			t.Fatalf("commit %d: %v", i, err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusBadGateway {
			t.Fatalf("commit %d: status %d, %v", i, resp.StatusCode, err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
