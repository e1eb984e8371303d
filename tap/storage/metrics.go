package storage

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

// metrics are what the tap counts. Labels are bounded: operations come from
// the table of operations, never from a client.
type metrics struct {
	requests *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	conns    prometheus.Gauge
	bypassed prometheus.Counter
	broken   prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, ops operations) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "laketap_tap_storage_requests_total",
			Help: "The number of S3 requests answered, by operation, class of status and where the bytes came from.",
		}, []string{"op", "status", "served"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "laketap_tap_storage_bytes_total",
			Help: "The number of body bytes received from clients (in) and written to them (out).",
		}, []string{"direction"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "laketap_tap_storage_request_seconds",
			Help:    "The time from a request's head to the last byte of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"served"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "laketap_tap_storage_in_flight_requests",
			Help: "The number of S3 requests that are being answered.",
		}),
		conns: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "laketap_tap_storage_connections",
			Help: "The number of open client connections.",
		}),
		bypassed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "laketap_tap_storage_bypassed_total",
			Help: "The number of reads that went to the origin because the cache had trouble.",
		}),
		broken: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "laketap_tap_storage_broken_total",
			Help: "The number of answers that broke off before their last byte.",
		}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.bytes, m.seconds, m.inFlight, m.conns, m.bypassed, m.broken} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	for _, name := range ops.names() { // zeros show
		m.requests.WithLabelValues(name, "2xx", laketap.FromOrigin.String())
	}
	for _, direction := range []string{"in", "out"} {
		m.bytes.WithLabelValues(direction)
	}
	for _, served := range []laketap.Served{laketap.FromOrigin, laketap.FromDisk, laketap.FromMemory, laketap.FromTap} {
		m.seconds.WithLabelValues(served.String())
	}
	return m, nil
}

func (m *metrics) observe(a *laketap.Access) {
	m.requests.WithLabelValues(a.Op, statusClass(a.Status), a.Served.String()).Inc()
	m.bytes.WithLabelValues("in").Add(float64(a.BytesIn))
	m.bytes.WithLabelValues("out").Add(float64(a.BytesOut))
	m.seconds.WithLabelValues(a.Served.String()).Observe(max(a.Latency, time.Duration(0)).Seconds())
	if a.Err != "" && a.Served != laketap.FromTap {
		m.broken.Inc()
	}
}
