package remember_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/remember"
)

func TestMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	write(t, remember.WriterOptions{Memory: remember.Options{File: t.TempDir() + "/memory.db"}, Registerer: reg},
		opens(0), laketap.Batch{Observations: make([]laketap.Observation, 99_999)}, opens(1))
	want := `
# HELP laketap_remember_dropped_total The number of those that were dropped: queue if they came too fast, memory if the database has taken none for too long.
# TYPE laketap_remember_dropped_total counter
laketap_remember_dropped_total{reason="memory"} 0
laketap_remember_dropped_total{reason="queue"} 1
# HELP laketap_remember_remembered_total The number of observations, queries, commits and tables that were written to the memory.
# TYPE laketap_remember_remembered_total counter
laketap_remember_remembered_total 100000
# HELP laketap_remember_up Whether the memory took what it was last given.
# TYPE laketap_remember_up gauge
laketap_remember_up 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want),
		"laketap_remember_dropped_total", "laketap_remember_remembered_total", "laketap_remember_up"); err != nil {
		t.Error(err)
	}
}
