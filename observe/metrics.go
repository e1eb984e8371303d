package observe

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

// A collector reads the observer's own counters when it is scraped, so that
// metrics cost nothing on the way of a request. Engines are labelled by name
// without version; the ledger bounds how many names there are.
type collector struct {
	o *Observer

	requests, errors, received, sent, latency  *prometheus.Desc
	accesses, kept, keptBytes, folded, reports *prometheus.Desc
}

func newCollector(o *Observer) *collector {
	return &collector{
		o: o,
		requests: prometheus.NewDesc("laketap_tap_requests_total",
			"The number of requests that a tap answered, by engine and by the first digit of the status; 0 is a client that left before one.",
			[]string{"tap", "engine", "code"}, nil),
		errors: prometheus.NewDesc("laketap_tap_errors_total",
			"The number of requests that were answered with 400 or above other than 404, refused, or broken off.",
			[]string{"tap", "engine"}, nil),
		received: prometheus.NewDesc("laketap_tap_received_bytes_total",
			"The number of body bytes that a tap received from clients.", []string{"tap", "engine"}, nil),
		sent: prometheus.NewDesc("laketap_tap_sent_bytes_total",
			"The number of body bytes that a tap sent to clients, by where they came from.",
			[]string{"tap", "engine", "served"}, nil),
		latency: prometheus.NewDesc("laketap_tap_latency_seconds",
			"The time from the arrival of a request to the last byte of its answer.", []string{"tap"}, nil),
		accesses: prometheus.NewDesc("laketap_observe_accesses_total",
			"The number of accesses recorded.", nil, nil),
		kept: prometheus.NewDesc("laketap_observe_kept_accesses",
			"The number of accesses that the ring holds now.", nil, nil),
		keptBytes: prometheus.NewDesc("laketap_observe_kept_bytes",
			"The memory that the accesses in the ring take.", nil, nil),
		folded: prometheus.NewDesc("laketap_observe_folded_total",
			"The number of times that an engine or a table was past its bound and counted as other.", nil, nil),
		reports: prometheus.NewDesc("laketap_observe_reports_total",
			"The number of reports that engines sent of themselves, by kind.", []string{"kind"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.requests, c.errors, c.received, c.sent, c.latency, c.accesses, c.kept, c.keptBytes, c.folded, c.reports,
	} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	names := uses{}
	all := laketap.EngineUse{}
	for _, use := range c.o.Engines() {
		// "unknown" is also how an empty name reads, for people.
		merge(names.of(laketap.Engine{Name: laketap.Engine{Name: use.Engine.Name}.String()}), &use)
		merge(&all, &use)
	}
	for engine, use := range names {
		c.collectUse(ch, laketap.CatalogTap, engine.Name, &use.Catalog)
		c.collectUse(ch, laketap.StorageTap, engine.Name, &use.Storage)
	}
	c.collectLatency(ch, laketap.CatalogTap, &all.Catalog)
	c.collectLatency(ch, laketap.StorageTap, &all.Storage)

	oldest, last, bytes := c.o.ring.span()
	counter(ch, c.accesses, int64(last))
	ch <- prometheus.MustNewConstMetric(c.kept, prometheus.GaugeValue, float64(last+1-oldest))
	ch <- prometheus.MustNewConstMetric(c.keptBytes, prometheus.GaugeValue, float64(bytes))
	counter(ch, c.folded, c.o.ledger.folded.Load())
	for kind, n := range c.o.reports.received() {
		counter(ch, c.reports, n, kind)
	}
}

// collectUse sends the counters of one engine at one tap. Codes that no tap
// answers (1xx) are left out, every other is there from the first request on.
func (c *collector) collectUse(ch chan<- prometheus.Metric, tap laketap.Tap, engine string, u *laketap.Use) {
	for class, n := range u.Status {
		if class != 1 {
			counter(ch, c.requests, n, string(tap), engine, strconv.Itoa(class)+codeTail(class))
		}
	}
	counter(ch, c.errors, u.Errors, string(tap), engine)
	counter(ch, c.received, u.BytesIn, string(tap), engine)
	for served, n := range u.Served {
		counter(ch, c.sent, n, string(tap), engine, laketap.Served(served).String())
	}
}

// codeTail turns 2 into "2xx" and leaves 0 alone.
func codeTail(class int) string {
	if class == 0 {
		return ""
	}
	return "xx"
}

func (c *collector) collectLatency(ch chan<- prometheus.Metric, tap laketap.Tap, u *laketap.Use) {
	buckets := map[float64]uint64{}
	var sum uint64
	for i, bound := range laketap.LatencyBounds {
		sum += uint64(u.Latency[i])
		buckets[bound.Seconds()] = sum
	}
	ch <- prometheus.MustNewConstHistogram(c.latency, uint64(u.Requests), u.Busy.Seconds(), buckets, string(tap))
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, n int64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}
