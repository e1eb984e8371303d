package block

import (
	"context"
	"fmt"
	"io"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

// Stats are what a cache holds at a moment.
type Stats struct {
	Objects, Extents int
	RAM, MaxRAM      int64 // bytes of extents in memory
	Disk, MaxDisk    int64 // bytes of files
	Live             int64 // bytes on disk that are held; the rest waits to be reclaimed
	Filling          int64 // bytes of memory that fills may take
	Waiting          int64 // bytes that wait to be written
	Dir              string
	Trouble          string // why nothing is written to Dir; "": nothing is wrong
}

// Stats returns what is held.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{
		Objects: len(c.objects), Extents: c.extents, RAM: c.ram.bytes, MaxRAM: c.ram.max, Filling: c.filling, Dir: c.opts.Dir,
	}
	if d := c.disk; d != nil {
		s.Disk, s.MaxDisk, s.Live, s.Waiting = d.total.Load(), d.max, d.live, d.bytes
		if t := d.reason.Load(); t != nil {
			s.Trouble = t.err.Error()
		}
	}
	return s
}

// Verified is what [Cache.Verify] found.
type Verified struct {
	Extents int
	Bytes   int64
	Damaged int // dropped
}

// Verify reads every extent on disk and drops those that are damaged.
func (c *Cache) Verify(ctx context.Context) (v Verified, err error) {
	if c.disk == nil {
		return v, nil
	}
	c.mu.Lock()
	var all []*extent
	for _, o := range c.objects {
		all = append(all, o.extents...)
	}
	c.mu.Unlock()
	buf := make([]byte, maxExtent)
	for _, e := range all {
		if err := ctx.Err(); err != nil {
			return v, fmt.Errorf("verify: %w", err)
		}
		c.mu.Lock()
		p, skip := e.place, e.gone || e.place.seg == nil
		c.mu.Unlock()
		if skip {
			continue
		}
		v.Extents++
		v.Bytes += e.len
		if err := p.read(buf[:e.len], 0); err != nil {
			v.Damaged++
			c.lost(e, p, err)
		}
	}
	return v, nil
}

// Warm brings a part of an object in, as a client's read of it would, and
// returns how many bytes were read, wherever they came from.
func (c *Cache) Warm(ctx context.Context, get laketap.Get, fetch laketap.Fetch) (int64, error) {
	reply, err := c.Get(ctx, get, fetch)
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	if reply.Status/100 != 2 {
		return 0, fmt.Errorf("warm %s/%s: origin answered status %d", get.Name.Bucket, get.Name.Key, reply.Status)
	}
	if reply.Body.Stream == nil {
		return int64(len(reply.Body.Bytes)), nil
	}
	n, err := io.Copy(io.Discard, reply.Body.Stream)
	if err != nil {
		return n, fmt.Errorf("warm: %w", err)
	}
	return n, nil
}

// Held returns bytes of an object if all of them are held, without asking
// anybody. Whoever uses them knows them to be of the version returned, and not
// whether that is still the origin's. n < 0 is all there is from off on; off < 0
// counts from the end.
func (c *Cache) Held(name laketap.ObjectName, off, n int64) ([]byte, laketap.Object, bool) {
	c.mu.Lock()
	o := c.objects[name]
	if o == nil {
		c.mu.Unlock()
		return nil, laketap.Object{}, false
	}
	if off < 0 {
		off = max(0, o.Size+off)
	}
	if n < 0 {
		n = o.Size - off
	}
	if off > o.Size || n > o.Size-off {
		c.mu.Unlock()
		return nil, o.Object, false
	}
	type part struct {
		e     *extent
		bytes []byte
		place place
	}
	var parts []part
	for pos := off; pos < off+n; {
		e, holds := o.at(pos)
		if !holds {
			c.mu.Unlock()
			return nil, o.Object, false
		}
		parts = append(parts, part{e, e.bytes, e.place})
		pos = e.end()
	}
	c.mu.Unlock()
	b := make([]byte, n)
	for _, p := range parts {
		from, to := max(off, p.e.off), min(off+n, p.e.end())
		into := b[from-off : to-off]
		if p.bytes != nil {
			copy(into, p.bytes[from-p.e.off:])
		} else if err := c.disk.read(p.place, into, from-p.e.off); err != nil {
			c.lost(p.e, p.place, err)
			return nil, o.Object, false
		}
	}
	return b, o.Object, true
}

// metrics are what a cache counts.
type metrics struct {
	served     [4]prometheus.Counter // by laketap.Served
	around     prometheus.Counter
	bypass     *prometheus.CounterVec
	heads      prometheus.Counter
	joined     prometheus.Counter
	confirmed  prometheus.Counter
	changed    prometheus.Counter
	broken     prometheus.Counter
	damaged    prometheus.Counter
	evicted    prometheus.Counter
	unwritten  prometheus.Counter
	diskErrors prometheus.Counter
	moved      prometheus.Counter
}

// reasons are why a read goes around the cache.
var reasons = []string{"busy", "changed", "condition", "encrypted", "length", "no_store", "range", "status", "unsettled", "validator"} //nolint:gochecknoglobals // a table

// newMetrics makes a cache's metrics, with every label there from the start.
func newMetrics(reg prometheus.Registerer, c *Cache) (*metrics, error) {
	count := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "laketap_block_" + name + "_total", Help: help})
	}
	bytes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "laketap_block_bytes_total",
		Help: "Bytes of objects that were given out, by where they came from; around is from the origin without being kept.",
	}, []string{"from"})
	m := &metrics{
		bypass: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "laketap_block_bypassed_total", Help: "Reads that went around the cache, by reason.",
		}, []string{"reason"}),
		around:     bytes.WithLabelValues("around"),
		heads:      count("heads", "HEAD requests that were answered from a record."),
		joined:     count("joined", "Reads that waited for another's request to the origin instead of making their own."),
		confirmed:  count("confirmed", "Requests by which the origin confirmed that a version is its current one."),
		changed:    count("changed", "Versions that were found to be no longer the origin's."),
		broken:     count("broken", "Fills that the origin broke off."),
		damaged:    count("damaged", "Extents that were dropped because their bytes on disk were damaged."),
		evicted:    count("evicted", "Extents that were dropped to make room."),
		unwritten:  count("unwritten", "Extents that were kept in memory only because the disk was slow or in trouble."),
		diskErrors: count("disk_errors", "Failures of the cache directory."),
		moved:      count("moved_bytes", "Bytes of extents that were written again to reclaim room."),
	}
	for _, from := range []laketap.Served{laketap.FromOrigin, laketap.FromDisk, laketap.FromMemory} {
		m.served[from] = bytes.WithLabelValues(from.String())
	}
	for _, reason := range reasons {
		m.bypass.WithLabelValues(reason)
	}
	if reg == nil {
		return m, nil
	}
	gauge := func(name, help string, value func(Stats) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "laketap_block_" + name, Help: help}, func() float64 { return value(c.Stats()) })
	}
	for _, collector := range []prometheus.Collector{
		bytes, m.bypass, m.heads, m.joined, m.confirmed, m.changed, m.broken, m.damaged, m.evicted, m.unwritten, m.diskErrors, m.moved,
		gauge("objects", "Versions of objects that are known.", func(s Stats) float64 { return float64(s.Objects) }),
		gauge("extents", "Extents that are held.", func(s Stats) float64 { return float64(s.Extents) }),
		gauge("memory_bytes", "Bytes of extents in memory.", func(s Stats) float64 { return float64(s.RAM) }),
		gauge("disk_bytes", "Bytes of files in the cache directory.", func(s Stats) float64 { return float64(s.Disk) }),
	} {
		if err := reg.Register(collector); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) bytes(from laketap.Served, n int64) { m.served[from].Add(float64(n)) }

func (m *metrics) bypassed(reason string) { m.bypass.WithLabelValues(reason).Inc() }

// counted counts the bytes of a body that goes around the cache.
func (m *metrics) counted(b laketap.Body) laketap.Body {
	if b.Stream != nil {
		b.Stream = &countedBody{b.Stream, m.around}
	}
	return b
}

type countedBody struct {
	io.ReadCloser
	n prometheus.Counter
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(float64(n))
	return n, err
}
