package catalog

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what the catalog tap counts. Every label has a closed set of
// values: configured names, operations of the specification, reasons.
type metrics struct {
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	answers  *prometheus.CounterVec
	repeated prometheus.Counter
	dropped  prometheus.Counter
	inFlight prometheus.Gauge
}

// newMetrics registers the metrics of one tap.
func newMetrics(reg prometheus.Registerer, upstreams []*upstream) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "laketap_tap_catalog_requests_total",
			Help: "Requests at the catalog tap, by catalog, operation and class of status.",
		}, []string{"catalog", "op", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "laketap_tap_catalog_request_seconds",
			Help:    "Time from a request at the catalog tap to the last byte of its answer, by operation.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"op"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "laketap_tap_catalog_table_answers_total",
			Help: "Answers with a table in them, by catalog and by what became of them: edited, or why they passed byte for byte.",
		}, []string{"catalog", "outcome"}),
		repeated: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "laketap_tap_catalog_repeated_loads_total",
			Help: "Loads that were repeated without the delegation header that the tap had added.",
		}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "laketap_tap_catalog_unlearned_total",
			Help: "Answers that passed byte for byte and that nothing was learned from, because they were too large or too many.",
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "laketap_tap_catalog_requests_in_flight",
			Help: "Requests at the catalog tap that are being answered.",
		}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.latency, m.answers, m.repeated, m.dropped, m.inFlight} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	for _, up := range upstreams { // zeros are shown
		m.answers.WithLabelValues(up.name, "edited")
		for why := range reasons {
			m.answers.WithLabelValues(up.name, string(why))
		}
	}
	return m, nil
}

// class returns the label of a status: "2xx"; "none" if the client left first.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return string(rune('0'+status/100)) + "xx"
}
