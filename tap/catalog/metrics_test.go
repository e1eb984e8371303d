package catalog_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap/tap/catalog"
)

// Every metric can be gathered, zeros are shown, and no label takes a value
// that a client makes up.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	f := setUp(t, reply(200, table("s3://lake/wh/orders", keysJSON)), func(o *catalog.Options) { o.Registerer = registry })
	f.do("GET", loadPath, "")
	f.do("GET", "/made/up", "")
	f.do("BREW", "/v1/made/up/namespaces/x/y/z", "")
	lastAccess(t, f.records, 3)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	series := map[string]int{}
	for _, family := range families {
		series[family.GetName()] = len(family.GetMetric())
		for _, m := range family.GetMetric() {
			key := append(make([]string, 0, 4), family.GetName())
			for _, l := range m.GetLabel() {
				key = append(key, l.GetValue())
			}
			if c := m.GetCounter(); c != nil && c.GetValue() > 0 {
				got[strings.Join(key, " ")] = c.GetValue()
			}
		}
	}
	want := map[string]float64{
		"laketap_tap_catalog_requests_total prod loadTable 2xx": 1,
		"laketap_tap_catalog_requests_total prod unknown 2xx":   2,
		"laketap_tap_catalog_table_answers_total prod edited":   1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if n := series["laketap_tap_catalog_table_answers_total"]; n < 10 {
		t.Errorf("%d series of answers, want zeros for every reason", n)
	}
	if _, err := catalog.New(catalog.Options{
		Upstreams: []catalog.Upstream{{Name: "x", URL: parse(t, "http://x")}}, Keys: f.keys, Tables: f.tables, Registerer: registry,
	}); err == nil {
		t.Error("metrics were registered twice")
	}
}
