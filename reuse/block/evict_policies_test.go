//go:build bench

package block

import "container/heap"

// A simPolicy decides over pages of one size. read returns whether the page was
// held, and holds it now, in most policies.
type simPolicy interface {
	read(t touch) (hit bool)
}

// lru holds what was read last.
type lru struct {
	size  int
	clock int
	at    map[int]int
	order []int // pages by time of reading; old entries do not count
	from  int
}

func newLRU(size int) simPolicy { return &lru{size: size, at: map[int]int{}} }

func (l *lru) read(t touch) bool {
	_, hit := l.at[t.page]
	l.at[t.page] = len(l.order)
	l.order = append(l.order, t.page)
	for len(l.at) > l.size {
		old := l.order[l.from]
		if l.at[old] == l.from {
			delete(l.at, old)
		}
		l.from++
	}
	return hit
}

// sieve is SIEVE (Zhang et al., NSDI 2024).
type sieve struct {
	size  int
	pages map[int]*sieveNode
	head  *sieveNode // newest
	tail  *sieveNode
	hand  *sieveNode
}

type sieveNode struct {
	page       int
	seen       bool
	prev, next *sieveNode // prev is newer
}

func newSieve(size int) simPolicy { return &sieve{size: size, pages: map[int]*sieveNode{}} }

func (s *sieve) read(t touch) bool {
	if n := s.pages[t.page]; n != nil {
		n.seen = true
		return true
	}
	if len(s.pages) >= s.size {
		s.evict()
	}
	n := &sieveNode{page: t.page, next: s.head}
	if s.head != nil {
		s.head.prev = n
	}
	s.head = n
	if s.tail == nil {
		s.tail = n
	}
	s.pages[t.page] = n
	return false
}

func (s *sieve) evict() {
	n := s.hand
	if n == nil {
		n = s.tail
	}
	for n.seen {
		n.seen = false
		if n = n.prev; n == nil {
			n = s.tail
		}
	}
	s.hand = n.prev
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		s.head = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	} else {
		s.tail = n.prev
	}
	delete(s.pages, n.page)
}

// s3fifo is S3-FIFO (Yang et al., SOSP 2023).
type s3fifo struct {
	size         int
	small, large []int
	inSmall      int
	inLarge      int
	where        map[int]byte // 's' or 'l'
	used         map[int]uint8
	ghost        map[int]bool
	ghosts       []int
}

func newS3FIFO(size int) simPolicy {
	return &s3fifo{size: size, where: map[int]byte{}, used: map[int]uint8{}, ghost: map[int]bool{}}
}

func (s *s3fifo) read(t touch) bool {
	if s.where[t.page] != 0 {
		s.used[t.page] = min(s.used[t.page]+1, 3)
		return true
	}
	for len(s.where) >= s.size {
		s.evict()
	}
	s.used[t.page] = 0
	if s.ghost[t.page] {
		delete(s.ghost, t.page)
		s.where[t.page] = 'l'
		s.large = append(s.large, t.page)
	} else {
		s.where[t.page] = 's'
		s.small = append(s.small, t.page)
	}
	return false
}

func (s *s3fifo) evict() {
	if len(s.small) > s.size/10 || len(s.large) == 0 {
		page := s.small[0]
		s.small = s.small[1:]
		if s.used[page] > 1 {
			s.used[page] = 0
			s.where[page] = 'l'
			s.large = append(s.large, page)
			return
		}
		delete(s.where, page)
		delete(s.used, page)
		s.ghost[page] = true
		s.ghosts = append(s.ghosts, page)
		for len(s.ghosts) > s.size {
			delete(s.ghost, s.ghosts[0])
			s.ghosts = s.ghosts[1:]
		}
		return
	}
	page := s.large[0]
	s.large = s.large[1:]
	if s.used[page] > 0 {
		s.used[page]--
		s.large = append(s.large, page)
		return
	}
	delete(s.where, page)
	delete(s.used, page)
}

// tinyLFU is W-TinyLFU (Einziger et al., TOS 2017): a window of 1 %, and behind
// it what was read more often than what it would push out. Counts are exact and
// halved now and then, which a sketch only comes near to.
type tinyLFU struct {
	window, main simPolicy
	w, m         *lru
	counts       map[int]int
	reads, size  int
}

func newTinyLFU(size int) simPolicy {
	w := &lru{size: max(1, size/100), at: map[int]int{}}
	m := &lru{size: size - max(1, size/100), at: map[int]int{}}
	return &tinyLFU{w: w, m: m, counts: map[int]int{}, size: size}
}

func (p *tinyLFU) read(t touch) bool {
	p.counts[t.page]++
	if p.reads++; p.reads%(10*p.size) == 0 {
		for page := range p.counts {
			if p.counts[page] /= 2; p.counts[page] == 0 {
				delete(p.counts, page)
			}
		}
	}
	if _, ok := p.m.at[t.page]; ok {
		p.m.read(t)
		return true
	}
	if _, ok := p.w.at[t.page]; ok {
		p.w.read(t)
		return true
	}
	if len(p.w.at) < p.w.size {
		p.w.read(t)
		return false
	}
	candidate := p.w.oldest()
	p.w.read(t)
	if len(p.m.at) < p.m.size || p.counts[candidate] > p.counts[p.m.oldest()] {
		p.m.read(touch{page: candidate})
	}
	return false
}

// oldest is the page that would go next.
func (l *lru) oldest() int {
	for l.at[l.order[l.from]] != l.from {
		l.from++
	}
	return l.order[l.from]
}

// belady knows the future: it gives up what is read last of all.
type belady struct {
	size  int
	next  []int // by touch: when its page is read again
	now   int
	until map[int]int
	order futures
}

type future struct{ page, next int }

func newBelady(size int, trace []touch) simPolicy {
	b := &belady{size: size, next: make([]int, len(trace)), until: map[int]int{}}
	last := map[int]int{}
	for i := len(trace) - 1; i >= 0; i-- {
		b.next[i] = len(trace)
		if n, ok := last[trace[i].page]; ok {
			b.next[i] = n
		}
		last[trace[i].page] = i
	}
	return b
}

func (b *belady) read(t touch) bool {
	_, hit := b.until[t.page]
	b.until[t.page] = b.next[b.now]
	heap.Push(&b.order, future{t.page, b.next[b.now]})
	b.now++
	for len(b.until) > b.size {
		f := heap.Pop(&b.order).(future)
		if b.until[f.page] == f.next {
			delete(b.until, f.page)
		}
	}
	return hit
}

type futures []future

func (f futures) Len() int           { return len(f) }
func (f futures) Less(i, j int) bool { return f[i].next > f[j].next }
func (f futures) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *futures) Push(x any)        { *f = append(*f, x.(future)) }
func (f *futures) Pop() any {
	old := *f
	x := old[len(old)-1]
	*f = old[:len(old)-1]
	return x
}

// ours is the order of the cache itself.
type ours struct {
	size  int
	v     order
	pages map[int]*extent
	weigh func(Subject) float64
}

func newOurs(size int) simPolicy {
	return &ours{size: size, v: newOrder(), pages: map[int]*extent{}, weigh: Prior}
}

func (o *ours) read(t touch) bool {
	if e := o.pages[t.page]; e != nil {
		e.inAll.read()
		return true
	}
	for len(o.pages) >= o.size {
		e := o.v.least()
		o.v.remove(e)
		delete(o.pages, int(e.off))
	}
	e := &extent{o: &object{Object: t.subject.Object}, off: int64(t.page), len: t.subject.Len}
	o.pages[t.page] = e
	o.v.add(e, o.weigh(t.subject))
	return false
}
