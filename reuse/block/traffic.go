package block

import (
	"io"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

// traffic counts bytes of bodies that went through a cache. asked is counted
// where they are handed out, the others where they come from, so that
// asked = memory + disk + origin + around.
type traffic struct {
	asked  atomic.Int64
	memory atomic.Int64
	disk   atomic.Int64
	origin atomic.Int64
	around atomic.Int64 // from the origin, and nothing was kept
	warmed atomic.Int64 // from the origin for nobody yet: none of the others has it
}

// Traffic is how many bytes went through a cache since it was opened. Asked is
// the sum of Memory, Disk, Origin and Around: clients get what they ask for from
// there. Warmed came from the origin before anybody asked.
type Traffic struct {
	Asked, Memory, Disk, Origin, Around, Warmed int64
}

func (t *traffic) read() Traffic {
	return Traffic{
		Asked: t.asked.Load(), Memory: t.memory.Load(), Disk: t.disk.Load(), Origin: t.origin.Load(), Around: t.around.Load(), Warmed: t.warmed.Load(),
	}
}

// came counts bytes where they come from.
func (r *request) came(from laketap.Served, n int64) {
	t := &r.c.metrics.traffic
	switch {
	case r.get.Background && from == laketap.FromOrigin:
		t.warmed.Add(n)
	case r.get.Background:
	case from == laketap.FromOrigin:
		t.origin.Add(n)
	case from == laketap.FromDisk:
		t.disk.Add(n)
	case from == laketap.FromMemory:
		t.memory.Add(n)
	}
}

// handed counts bytes that are handed out.
func (r *request) handed(n int64) {
	if !r.get.Background {
		r.c.metrics.asked.Add(n)
	}
}

// counted counts the bytes of a body that goes around the cache.
func (t *traffic) counted(b laketap.Body) laketap.Body {
	if b.Stream != nil {
		b.Stream = &countedBody{b.Stream, t}
	}
	return b
}

type countedBody struct {
	io.ReadCloser

	t *traffic
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.t.around.Add(int64(n))
	b.t.asked.Add(int64(n))
	return n, err
}

// collectors are the metrics of the traffic.
func (t *traffic) collectors() []prometheus.Collector {
	count := func(opts prometheus.CounterOpts, n *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(opts, func() float64 { return float64(n.Load()) })
	}
	all := append(make([]prometheus.Collector, 0, 6),
		count(prometheus.CounterOpts{
			Name: "laketap_block_asked_bytes_total", Help: "Bytes of objects that clients were given, the sum of laketap_block_bytes_total.",
		}, &t.asked),
		count(prometheus.CounterOpts{
			Name: "laketap_block_warmed_bytes_total", Help: "Bytes of objects that came from the origin before a client asked for them.",
		}, &t.warmed))
	for from, n := range map[string]*atomic.Int64{"memory": &t.memory, "disk": &t.disk, "origin": &t.origin, "around": &t.around} {
		all = append(all, count(prometheus.CounterOpts{
			Name: "laketap_block_bytes_total", ConstLabels: prometheus.Labels{"from": from},
			Help: "Bytes of objects that clients were given, by where they came from; around is from the origin without being kept.",
		}, n))
	}
	return all
}
