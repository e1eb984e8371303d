package block

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/laketap/laketap"
)

// Bounds of what is under way at one origin.
const (
	// patience is how long a client waits for its turn. Then it goes all the
	// same: a cap that is too low for what engines do must not stop them.
	patience = 2 * time.Second
	// maxWaiting is how many wait for a turn. Who comes when as many do does not.
	maxWaiting = 4096
	// A background request that the origin is too busy for is made again so often,
	// after a pause that begins at minPause and doubles up to maxPause.
	maxTries = 5
	minPause = 200 * time.Millisecond
	maxPause = 30 * time.Second
)

var (
	errNotKept = errors.New("nothing would be kept of it")
	errLeft    = errors.New("nobody wants it any more")
)

// A gate is the way to one origin. It bounds how many requests are under way,
// and lets those who wait go in turns. A request is under way until its head
// and the first bytes of its body are here, as many as a fill takes in whoever
// reads it: how slow a client is makes no other wait.
//
// What no client waits for has a quarter of the room at most, leaves another
// quarter empty, and none is begun while a client waits. It alone adapts to an
// origin that says SlowDown. A client's request is sent once, and its answer is
// the origin's.
type gate struct {
	most    int
	now     func() time.Time
	jitter  func() float64
	metrics *metrics

	mu      sync.Mutex
	clients int // under way
	others  int // under way in the background
	waiting turns
	behind  turns // who waits in the background
	share   float64
	until   time.Time // nothing is begun in the background before
	streak  int       // pauses since something went well
	timer   *time.Timer
}

// gate returns the way to an origin. There are as many as are configured.
func (c *Cache) gate(origin string) *gate {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.gates[origin]
	if g == nil {
		g = &gate{
			most: c.opts.MaxRequests, now: c.opts.Now, jitter: c.opts.Jitter, metrics: c.metrics,
			waiting: newTurns(), behind: newTurns(), share: float64(max(1, c.opts.MaxRequests/4)),
		}
		c.gates[origin] = g
	}
	return g
}

// origin asks the origin when it is this request's turn. urgent is closed if a
// client has come to wait for what was begun in the background; nil: never.
func (r *request) origin(get laketap.Get, urgent <-chan struct{}) (*laketap.Reply, error) {
	g := r.c.gate(get.Name.Origin)
	for try := 1; ; try++ {
		background, err := g.enter(r, get.Background && !closed(urgent), urgent)
		if err != nil {
			return nil, fmt.Errorf("wait for origin %s: %w", get.Name.Origin, err)
		}
		reply, err := r.fetch(r.c.base, get)
		if err != nil {
			g.leave(background)
			return nil, err
		}
		again := g.learn(reply.Status) && background && try < maxTries && !closed(urgent)
		if again || get.Head || reply.Body.Stream == nil {
			g.leave(background)
		} else {
			reply.Body.Stream = &gatedBody{ReadCloser: reply.Body.Stream, left: window, leave: func() { g.leave(background) }}
		}
		if !again {
			return reply, nil
		}
		_ = reply.Body.Close()
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// enter waits for a turn, and says which kind of turn it was in the end.
func (g *gate) enter(r *request, background bool, urgent <-chan struct{}) (bool, error) {
	t := &turn{right: r.get.Right, ready: make(chan struct{})}
	if background {
		hurry, err := g.enterBehind(r, t, urgent)
		if !hurry {
			return true, err
		}
	}
	if g.begin(t) {
		return false, nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-t.ready:
		return false, nil
	case <-timer.C:
	case <-r.c.base.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !closed(t.ready) {
		g.waiting.remove(t)
		g.clients++
		g.metrics.overdue.Inc()
	}
	return false, nil // the fetches of a cache that is closed fail
}

// begin lets a client go at once, or queues it.
func (g *gate) begin(t *turn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.clients+g.others < g.most && g.waiting.n == 0:
	case g.waiting.n >= maxWaiting:
		g.metrics.overdue.Inc()
	default:
		g.metrics.queued.Inc()
		g.waiting.push(t)
		return false
	}
	g.clients++
	return true
}

// enterBehind waits for a turn in the background. hurry says that a client
// waits by now, and that the turn is still to come.
func (g *gate) enterBehind(r *request, t *turn, urgent <-chan struct{}) (hurry bool, err error) {
	g.mu.Lock()
	if g.behind.n >= maxWaiting {
		g.mu.Unlock()
		return false, errors.New("too many wait")
	}
	g.behind.push(t)
	g.admit()
	g.mu.Unlock()
	select {
	case <-t.ready:
		return false, nil
	case <-urgent:
		hurry = true
	case <-r.left:
		err = errLeft
	case <-r.c.base.Done():
		err = ErrClosed
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !closed(t.ready):
		g.behind.remove(t)
		return hurry, err
	case hurry:
		return false, nil // it goes as what it came as
	}
	g.others--
	g.admit()
	return false, err
}

// admit lets go who may. g.mu is held.
func (g *gate) admit() {
	for g.clients+g.others < g.most {
		t := g.waiting.next()
		if t == nil {
			break
		}
		g.clients++
		close(t.ready)
	}
	for g.waiting.n == 0 && !g.now().Before(g.until) && g.others < int(g.share) && g.clients+g.others < max(1, g.most-g.most/4) {
		t := g.behind.next()
		if t == nil {
			break
		}
		g.others++
		close(t.ready)
	}
}

// leave ends a request that was under way.
func (g *gate) leave(background bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if background {
		g.others--
	} else {
		g.clients--
	}
	g.admit()
}

// learn takes the origin's status as a word about its load: how much goes on in
// the background halves with each pause, and grows by one for as many answers.
// It reports whether the origin is too busy.
func (g *gate) learn(status int) (busy bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests {
		if status/100 == 2 && !now.Before(g.until) {
			g.streak, g.share = 0, min(g.share+1/g.share, float64(max(1, g.most/4)))
		}
		return false
	}
	g.metrics.slowed.Inc()
	if now.Before(g.until) {
		return true // one pause for all that were under way
	}
	wait := min(minPause<<min(g.streak, 10), maxPause)
	g.streak++
	g.share = max(1, g.share/2)
	// Half of it for certain, so that nodes that were refused together do not
	// come back together.
	wait = wait/2 + time.Duration(g.jitter()*float64(wait/2))
	g.until = now.Add(wait)
	if g.timer != nil {
		g.timer.Stop()
	}
	g.timer = time.AfterFunc(wait, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.admit()
	})
	return true
}

// close stops what would still come.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
	}
}

// A gatedBody is under way until its first bytes have been read.
type gatedBody struct {
	io.ReadCloser
	left  int64
	once  sync.Once
	leave func()
}

func (b *gatedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left <= 0 || err != nil {
		b.once.Do(b.leave)
	}
	return n, err
}

// Close ends the request.
func (b *gatedBody) Close() error {
	b.once.Do(b.leave)
	return b.ReadCloser.Close()
}
