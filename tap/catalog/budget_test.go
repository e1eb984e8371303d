package catalog

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBudgetForEdits(t *testing.T) {
	h := &Handler{opts: Options{MaxEdit: 10_000}, bodies: budget{most: 10_000}}
	x := &exchange{h: h, held: holding{budget: &h.bodies}}
	h.bodies.used.Store(10_000)
	for _, length := range []int64{-1, 7} {
		resp := &http.Response{Body: io.NopCloser(strings.NewReader(`{"a":1}`)), ContentLength: length, Header: http.Header{}}
		if _, why, err := x.read(resp); why != tooLarge || err != nil {
			t.Errorf("read = %q, %v; want it to pass", why, err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != `{"a":1}` || err != nil {
			t.Errorf("what passes is %q, %v", body, err)
		}
	}
	h.bodies.used.Store(0)
	resp := &http.Response{Body: io.NopCloser(strings.NewReader(`{"a":1}`)), ContentLength: 7, Header: http.Header{}}
	if body, why, err := x.read(resp); string(body) != `{"a":1}` || why != "" || err != nil || h.bodies.used.Load() != 8 {
		t.Errorf("read = %q, %q, %v; held %d", body, why, err, h.bodies.used.Load())
	}
	x.held.end()
	if h.bodies.used.Load() != 0 || x.held.take(1) {
		t.Errorf("%d bytes are held by nobody", h.bodies.used.Load())
	}
}

// What is captured takes of the budget what it takes of memory, and gives it
// back when it is found to be too much.
func TestCapturesAreBudgeted(t *testing.T) {
	b := budget{most: 20_000}
	first, second := holding{budget: &b}, holding{budget: &b}
	read := func(h *holding, limit, size int) *capture {
		c := &capture{ReadCloser: io.NopCloser(iotest.OneByteReader(bytes.NewReader(make([]byte, size)))), limit: limit, room: h}
		if n, err := io.Copy(io.Discard, c); n != int64(size) || err != nil {
			t.Fatal(n, err)
		}
		return c
	}
	if c := read(&first, 10_000, 9_000); cap(c.kept) != 16<<10 || b.used.Load() != int64(cap(c.kept)) {
		t.Errorf("%d bytes kept, %d counted", cap(c.kept), b.used.Load())
	}
	c := read(&second, 10_000, 9_000)
	if _, ok := c.body(-1); ok || c.count() != 9_000 || second.n != 0 {
		t.Errorf("a body beyond the budget was kept: %d bytes, holding %d", len(c.kept), second.n)
	}
	first.end()
	if c := read(&second, 100, 101); len(c.kept) != 0 || second.n != 0 {
		t.Error("a body beyond its limit was kept")
	}
	if b.used.Load() != 0 {
		t.Errorf("%d bytes are held by nobody", b.used.Load())
	}
}

// A body that comes as its length says is not copied at every doubling, and one
// that does not come takes little more than what has come of it.
func TestGrown(t *testing.T) {
	for _, c := range []struct {
		length, capacity int
		said             int64
		want             int
	}{
		{1, 0, -1, 4 << 10},
		{1, 0, 1 << 40, 4 << 10},
		{5 << 10, 4 << 10, 0, 8 << 10},
		{5 << 10, 4 << 10, 20 << 10, 20 << 10},
		{5 << 10, 4 << 10, 1 << 40, 32 << 10},
		{100 << 10, 4 << 10, 1 << 40, 100 << 10},
		{21 << 10, 20 << 10, 20 << 10, 40 << 10}, // more than was said
	} {
		if got := grown(c.length, c.capacity, c.said); got != c.want {
			t.Errorf("grown(%d, %d, %d) is %d, want %d", c.length, c.capacity, c.said, got, c.want)
		}
	}
}

func TestReadAll(t *testing.T) {
	broken := errors.New("broken")
	for _, size := range []int{0, 1, 4095, 4096, 4097, 100_000} {
		text := bytes.Repeat([]byte("x"), size)
		for _, length := range []int64{-1, 0, int64(size), int64(size) + 1, 1 << 40} {
			b := budget{most: 1 << 20}
			h := holding{budget: &b}
			got, whole, err := h.readAll(iotest.HalfReader(bytes.NewReader(text)), 1<<18, length)
			if !bytes.Equal(got, text) || !whole || err != nil || b.used.Load() != int64(cap(got)) {
				t.Errorf("%d of %d: %d bytes, %v, %v; %d counted of %d", size, length, len(got), whole, err, b.used.Load(), cap(got))
			}
			got, whole, err = h.readAll(bytes.NewReader(text), int64(size)-1, length)
			if whole && size > 0 || err != nil || !bytes.HasPrefix(text, got) {
				t.Errorf("%d beyond its limit: %d bytes, %v, %v", size, len(got), whole, err)
			}
		}
	}
	h := holding{budget: &budget{most: 1 << 20}}
	if _, _, err := h.readAll(iotest.ErrReader(broken), 10, -1); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
}
