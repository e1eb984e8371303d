package catalog

import (
	"io"
	"sync"
	"sync/atomic"
)

// editsAtOnce times the limit for one is what all bodies that are held to be
// edited or learned from may take of memory together. One that finds no room
// passes.
const editsAtOnce = 8

// readAtLeast is the first buffer for a body of unknown length.
const readAtLeast = 4 << 10

// A budget is what all exchanges may hold.
type budget struct {
	used atomic.Int64
	most int64
}

// take takes n bytes; false if there is no room for them.
func (b *budget) take(n int) bool {
	if b.used.Add(int64(n)) > b.most {
		b.used.Add(-int64(n))
		return false
	}
	return true
}

// A holding is what one exchange took of a budget; it ends with the exchange,
// and takes nothing afterwards.
type holding struct {
	budget *budget

	mu    sync.Mutex
	n     int
	ended bool
}

func (h *holding) take(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended || !h.budget.take(n) {
		return false
	}
	h.n += n
	return true
}

// give gives back what is no longer held.
func (h *holding) give(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = min(n, h.n)
	h.n -= n
	h.budget.used.Add(-int64(n))
}

// end gives everything back.
func (h *holding) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.budget.used.Add(-int64(h.n))
	h.n, h.ended = 0, true
}

// grow takes what [roomFor] will need to hold length bytes in a slice that has
// a capacity, of a body that is said to have said bytes.
func (h *holding) grow(length, capacity int, said int64) bool {
	if length <= capacity {
		return true
	}
	return h.take(grown(length, capacity, said) - capacity)
}

// grown is the next capacity of a slice that must hold length bytes: what the
// body is said to have, unless that is far from what has come of it. A length is
// the sender's word; but to double would copy a large body again and again.
func grown(length, capacity int, said int64) int {
	if most := 8 * int64(capacity); said >= int64(length) && said <= most {
		return int(said)
	} else if said > most {
		return max(length, int(most), readAtLeast)
	}
	return max(length, 2*capacity, readAtLeast)
}

// roomFor returns a slice with room for n bytes more. Unlike with append its
// capacity is known beforehand.
func roomFor(kept []byte, n int, said int64) []byte {
	if len(kept)+n <= cap(kept) {
		return kept
	}
	larger := make([]byte, len(kept), grown(len(kept)+n, cap(kept), said))
	copy(larger, kept)
	return larger
}

// readAll reads to the end, or until limit or the budget is used up: whole is
// false then, and body is what was read so far. length is what the body is
// said to have, -1 if nothing is said.
func (h *holding) readAll(r io.Reader, limit, length int64) (body []byte, whole bool, err error) {
	// One byte more than is said, to see the end without growing. A length is
	// the sender's word: it takes of the budget, and of memory as bytes come.
	const believed = 1 << 20
	said := min(length, limit) + 1
	if first := int(min(length, limit, believed)) + 1; length >= 0 && h.take(first) {
		body = make([]byte, 0, first)
	}
	for {
		if len(body) == cap(body) {
			if !h.grow(len(body)+1, cap(body), said) {
				return body, false, nil
			}
			body = roomFor(body, 1, said)
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return body, false, nil
		case err == io.EOF:
			return body, true, nil
		case err != nil:
			return body, false, err
		}
	}
}
