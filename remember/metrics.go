package remember

import "github.com/prometheus/client_golang/prometheus"

// A collector reads a writer's counts when it is scraped.
type collector struct {
	w *Writer

	remembered, dropped, writes, failures, up *prometheus.Desc
}

func newCollector(w *Writer) *collector {
	return &collector{
		w:          w,
		remembered: prometheus.NewDesc("laketap_remember_remembered_total", "The number of observations, queries, commits and tables that were written to the memory.", nil, nil),
		dropped: prometheus.NewDesc("laketap_remember_dropped_total",
			"The number of those that were dropped: queue if they came too fast, memory if the database has taken none for too long.", []string{"reason"}, nil),
		writes:   prometheus.NewDesc("laketap_remember_writes_total", "The number of transactions that were written.", nil, nil),
		failures: prometheus.NewDesc("laketap_remember_failures_total", "The number of transactions that have to be tried again.", nil, nil),
		up:       prometheus.NewDesc("laketap_remember_up", "Whether the memory took what it was last given.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.remembered, c.dropped, c.writes, c.failures, c.up} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	n := c.w.Counts()
	count(c.remembered, n.Remembered)
	count(c.dropped, n.QueueFull, "queue")
	count(c.dropped, n.MemoryFull, "memory")
	count(c.writes, n.Writes)
	count(c.failures, n.Failures)
	up := 1.0
	if c.w.Problem() != "" {
		up = 0
	}
	ch <- prometheus.MustNewConstMetric(c.up, prometheus.GaugeValue, up)
}
