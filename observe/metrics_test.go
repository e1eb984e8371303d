package observe_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

func TestMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	o := observe.New(observe.Options{Registerer: reg})
	o.Access(get(spark, 1))
	newer := get(laketap.Engine{Name: "spark", Version: "4.2"}, 1) // the label has no version
	newer.Status, newer.Err, newer.BytesIn = 403, "AccessDenied", 11
	o.Access(newer)
	o.Report(laketap.Report{Kind: "scan-report"})
	o.Report(laketap.Report{Kind: "made up"})

	const want = `
# HELP laketap_tap_requests_total The number of requests that a tap answered, by engine and by the first digit of the status; 0 is a client that left before one.
# TYPE laketap_tap_requests_total counter
laketap_tap_requests_total{code="0",engine="spark",tap="catalog"} 0
laketap_tap_requests_total{code="2xx",engine="spark",tap="catalog"} 0
laketap_tap_requests_total{code="3xx",engine="spark",tap="catalog"} 0
laketap_tap_requests_total{code="4xx",engine="spark",tap="catalog"} 0
laketap_tap_requests_total{code="5xx",engine="spark",tap="catalog"} 0
laketap_tap_requests_total{code="0",engine="spark",tap="storage"} 0
laketap_tap_requests_total{code="2xx",engine="spark",tap="storage"} 1
laketap_tap_requests_total{code="3xx",engine="spark",tap="storage"} 0
laketap_tap_requests_total{code="4xx",engine="spark",tap="storage"} 1
laketap_tap_requests_total{code="5xx",engine="spark",tap="storage"} 0
# HELP laketap_tap_errors_total The number of requests that were answered with 400 or above other than 404, refused, or broken off.
# TYPE laketap_tap_errors_total counter
laketap_tap_errors_total{engine="spark",tap="catalog"} 0
laketap_tap_errors_total{engine="spark",tap="storage"} 1
# HELP laketap_tap_received_bytes_total The number of body bytes that a tap received from clients.
# TYPE laketap_tap_received_bytes_total counter
laketap_tap_received_bytes_total{engine="spark",tap="catalog"} 0
laketap_tap_received_bytes_total{engine="spark",tap="storage"} 11
# HELP laketap_observe_accesses_total The number of accesses recorded.
# TYPE laketap_observe_accesses_total counter
laketap_observe_accesses_total 2
# HELP laketap_observe_reports_total The number of reports that engines sent of themselves, by kind.
# TYPE laketap_observe_reports_total counter
laketap_observe_reports_total{kind="commit-report"} 0
laketap_observe_reports_total{kind="other"} 1
laketap_observe_reports_total{kind="scan-report"} 1
`
	names := []string{
		"laketap_tap_requests_total", "laketap_tap_errors_total", "laketap_tap_received_bytes_total",
		"laketap_observe_accesses_total", "laketap_observe_reports_total",
	}
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}

// A client chooses its User-Agent: odd and endless names neither break nor
// blow up the metrics.
func TestMetricsOfForeignNames(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	o := observe.New(observe.Options{Registerer: reg, Engines: 10})
	for n := range 1000 {
		o.Access(get(laketap.Engine{Name: fmt.Sprintf("\xff\x00\"%d", n)}, 1))
		o.Access(get(laketap.Engine{Name: "", Version: strconv.Itoa(n)}, 1))
		o.Access(get(laketap.Engine{Name: "unknown"}, 1))
	}
	count, err := testutil.GatherAndCount(reg, "laketap_tap_errors_total")
	if err != nil {
		t.Fatal(err)
	}
	if count > 2*11 {
		t.Errorf("got %d series, want at most one a tap and engine", count)
	}
}

func TestMetricsBeforeAnyAccess(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	observe.New(observe.Options{Registerer: reg})
	if _, err := reg.Gather(); err != nil {
		t.Error(err)
	}
}
