package block

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what a cache counts.
type metrics struct {
	traffic

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
	queued     prometheus.Counter
	overdue    prometheus.Counter
	slowed     prometheus.Counter
}

// reasons are why a read goes around the cache.
var reasons = []string{"busy", "changed", "condition", "encrypted", "length", "no_store", "range", "status", "unsettled", "validator"} //nolint:gochecknoglobals // a table

// newMetrics makes a cache's metrics, with every label there from the start.
func newMetrics(reg prometheus.Registerer, c *Cache) (*metrics, error) {
	count := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "laketap_block_" + name + "_total", Help: help})
	}
	m := &metrics{
		bypass: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "laketap_block_bypassed_total", Help: "Reads that went around the cache, by reason.",
		}, []string{"reason"}),
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
		queued:     count("queued", "Clients' requests to the origin that waited for their turn."),
		overdue:    count("overdue", "Clients' requests that were sent to the origin beyond the bound, since they had waited too long."),
		slowed:     count("slowed", "Answers by which the origin said that it is too busy."),
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
	for _, collector := range append(m.collectors(),
		m.bypass, m.heads, m.joined, m.confirmed, m.changed, m.broken, m.damaged, m.evicted, m.unwritten, m.diskErrors, m.moved,
		m.queued, m.overdue, m.slowed,
		gauge("objects", "Versions of objects that are known.", func(s Stats) float64 { return float64(s.Objects) }),
		gauge("extents", "Extents that are held.", func(s Stats) float64 { return float64(s.Extents) }),
		gauge("memory_bytes", "Bytes of extents in memory.", func(s Stats) float64 { return float64(s.RAM) }),
		gauge("disk_bytes", "Bytes of files in the cache directory.", func(s Stats) float64 { return float64(s.Disk) }),
	) {
		if err := reg.Register(collector); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) bypassed(reason string) { m.bypass.WithLabelValues(reason).Inc() }
