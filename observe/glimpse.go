package observe

import (
	"cmp"
	"container/list"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/laketap/laketap"
)

const (
	glimpseTail = 1 << 20  // most of a file's end that is kept: nearly every footer
	glimpseAvro = 8 << 20  // most of a manifest that is kept
	glimpseAll  = 64 << 20 // most that is kept of all
)

// Glimpses keeps what tells of other bytes as it passes: the ends of files, in
// which Parquet has its footers, and manifests. It stands in for a cache where
// there is none, takes what passes anyway and asks nobody for anything. The
// least lately used files are forgotten.
type Glimpses struct {
	mu    sync.Mutex
	seen  map[laketap.ObjectName]*list.Element
	order *list.List // of *glimpse, the latest used first
	bytes int64      // INVARIANT: the sum over all pieces, ≤ glimpseAll
	under int64      // bytes of replies that are being read; INVARIANT: ≤ glimpseAll
}

// A glimpse is what was seen of one version of an object.
type glimpse struct {
	object laketap.Object
	pieces []piece // ascending, no two of them touch
}

// A piece is some bytes of an object.
type piece struct {
	off   int64
	bytes []byte
}

func (p *piece) end() int64 { return p.off + int64(len(p.bytes)) }

// NewGlimpses returns one that has seen nothing.
func NewGlimpses() *Glimpses {
	return &Glimpses{seen: map[laketap.ObjectName]*list.Element{}, order: list.New()}
}

// Held is a [Held].
func (g *Glimpses) Held(name laketap.ObjectName, off, n int64) ([]byte, laketap.Object, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e, ok := g.seen[name]
	if !ok {
		return nil, laketap.Object{}, false
	}
	g.order.MoveToFront(e)
	one, _ := e.Value.(*glimpse)
	if n < 0 {
		n = one.object.Size - off
	}
	for _, p := range one.pieces {
		if off >= p.off && n >= 0 && off+n <= p.end() {
			return slices.Clone(p.bytes[off-p.off : off-p.off+n]), one.object, true
		}
	}
	return nil, one.object, false
}

// Watch looks over the shoulder of whoever reads a reply, if it has what tells
// of other bytes.
func (g *Glimpses) Watch(get laketap.Get, reply *laketap.Reply) {
	if get.Head || reply.Body.Stream == nil || reply.Status != 200 && reply.Status != 206 || reply.Object.Size <= 0 {
		return
	}
	got := laketap.Extent{Len: reply.Object.Size}
	if reply.Status == 206 {
		got = get.Range.Resolve(reply.Object.Size)
	}
	if got.Len != reply.Length {
		return // not what we think it is
	}
	skip := int64(0)
	switch end := got.Off+got.Len == reply.Object.Size; {
	case strings.HasSuffix(get.Name.Key, ".avro") && got.Len <= glimpseAvro:
	case end && !strings.HasSuffix(get.Name.Key, ".avro"):
		skip = max(0, got.Len-glimpseTail)
	default:
		return
	}
	if !g.reserve(got.Len - skip) {
		return // too many at once
	}
	object := reply.Object
	object.ObjectName = get.Name
	reply.Body.Stream = &glance{
		ReadCloser: reply.Body.Stream, skip: skip, left: got.Len,
		keep:    func(b []byte) { g.add(object, piece{got.Off + skip, b}) },
		release: sync.OnceFunc(func() { g.reserve(skip - got.Len) }),
	}
}

// reserve takes room for the bytes of a reply, if there is any; less than none
// gives it back.
func (g *Glimpses) reserve(n int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n > 0 && g.under+n > glimpseAll {
		return false
	}
	g.under += n
	return true
}

// A glance copies what is read of a body behind its first skip bytes.
type glance struct {
	io.ReadCloser
	skip, left int64
	bytes      []byte
	keep       func([]byte) // called with all, once all has been read
	release    func()       // gives the room back
}

// Close closes the body.
func (g *glance) Close() error {
	g.release()
	return g.ReadCloser.Close()
}

// Read reads from the body.
func (g *glance) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	fresh := p[:n]
	g.left -= int64(n)
	over := min(g.skip, int64(len(fresh)))
	g.skip -= over
	g.bytes = append(g.bytes, fresh[over:]...)
	if g.left == 0 && n > 0 {
		g.keep(g.bytes)
	}
	return n, err
}

// add keeps a piece.
func (g *Glimpses) add(object laketap.Object, p piece) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e, ok := g.seen[object.ObjectName]
	if ok {
		if old, _ := e.Value.(*glimpse); old.object != object {
			g.drop(e)
			ok = false
		}
	}
	if !ok {
		e = g.order.PushFront(&glimpse{object: object})
		g.seen[object.ObjectName] = e
	}
	g.order.MoveToFront(e)
	one, _ := e.Value.(*glimpse)
	g.bytes -= one.size()
	one.merge(p)
	g.bytes += one.size()
	for g.bytes > glimpseAll {
		g.drop(g.order.Back())
	}
}

// drop forgets an object; the caller holds the lock.
func (g *Glimpses) drop(e *list.Element) {
	one, _ := g.order.Remove(e).(*glimpse)
	delete(g.seen, one.object.ObjectName)
	g.bytes -= one.size()
}

func (g *glimpse) size() (n int64) {
	for i := range g.pieces {
		n += int64(len(g.pieces[i].bytes))
	}
	return n
}

// merge adds a piece and joins it with those that it touches.
func (g *glimpse) merge(p piece) {
	kept := make([]piece, 0, len(g.pieces)+1)
	for _, old := range g.pieces {
		switch {
		case old.end() < p.off || p.end() < old.off:
			kept = append(kept, old)
		case old.off <= p.off && old.end() >= p.end():
			p = old
		case old.off < p.off:
			p = piece{old.off, append(slices.Clone(old.bytes[:p.off-old.off]), p.bytes...)}
		case old.end() > p.end():
			p.bytes = append(slices.Clone(p.bytes), old.bytes[p.end()-old.off:]...)
		}
	}
	kept = append(kept, p)
	slices.SortFunc(kept, func(a, b piece) int { return cmp.Compare(a.off, b.off) })
	g.pieces = kept
}
