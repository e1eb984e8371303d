package observe

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
)

const (
	maxTotals = 200 // pairs of engine and table that are counted apart

	dropUnresolved = "unresolved" // their meaning did not come
	dropFull       = "full"       // too many waited for theirs
)

// totals are the bytes that were given a meaning, for metrics: by engine and
// table, the first maxTotals pairs apart, and by kind of part.
type totals struct {
	mu      sync.Mutex
	bytes   map[totalKey]*[laketap.PartKinds]float64
	dropped map[string]int64
}

type totalKey struct{ engine, table string }

func newTotals() *totals {
	return &totals{bytes: map[totalKey]*[laketap.PartKinds]float64{}, dropped: map[string]int64{dropUnresolved: 0, dropFull: 0}}
}

// add counts an observation.
func (t *totals) add(o *laketap.Observation, table string) {
	key := totalKey{laketap.Engine{Name: o.Engine.Name}.String(), table}
	t.mu.Lock()
	defer t.mu.Unlock()
	row := t.bytes[key]
	if row == nil && len(t.bytes) >= maxTotals {
		key = totalKey{other, other}
		row = t.bytes[key]
	}
	if row == nil {
		row = &[laketap.PartKinds]float64{}
		t.bytes[key] = row
	}
	for i := range o.Parts {
		row[o.Parts[i].Kind] += float64(o.Parts[i].Bytes) * o.Weight
	}
}

// drop counts an access that lost its meaning.
func (t *totals) drop(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropped[reason]++
}

// A meaningCollector reads an interpreter's counters when it is scraped.
type meaningCollector struct {
	in *Interpreter

	bytes, dropped, sampled, malformed, waiting *prometheus.Desc
}

func newMeaningCollector(in *Interpreter) *meaningCollector {
	return &meaningCollector{
		in: in,
		bytes: prometheus.NewDesc("laketap_observe_part_bytes_total",
			"The number of bytes that engines read of tables, by what they were. Pairs of engine and table past a bound are other.",
			[]string{"engine", "table", "part"}, nil),
		dropped: prometheus.NewDesc("laketap_observe_dropped_total",
			"The number of accesses that were not given their meaning, by reason: missed before they could be read, too many waiting, or never told.",
			[]string{"reason"}, nil),
		sampled: prometheus.NewDesc("laketap_observe_sampled_total",
			"The number of accesses that others stand for, since there were too many to interpret.", nil, nil),
		malformed: prometheus.NewDesc("laketap_observe_malformed_total",
			"The number of files that could not be understood, by kind. They are served as they are.", []string{"kind"}, nil),
		waiting: prometheus.NewDesc("laketap_observe_lost_facts_total",
			"The number of facts, changes and queries that there was no room for.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (c *meaningCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.bytes, c.dropped, c.sampled, c.malformed, c.waiting} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *meaningCollector) Collect(ch chan<- prometheus.Metric) {
	c.in.totals.mu.Lock()
	for key, row := range c.in.totals.bytes {
		for kind, n := range row {
			if n > 0 {
				ch <- prometheus.MustNewConstMetric(c.bytes, prometheus.CounterValue, n, key.engine, key.table, laketap.PartKind(kind).String()) //nolint:gosec // an index
			}
		}
	}
	for reason, n := range c.in.totals.dropped {
		counter(ch, c.dropped, n, reason)
	}
	c.in.totals.mu.Unlock()
	counter(ch, c.dropped, c.in.feed.missed.Load(), "missed")
	counter(ch, c.sampled, c.in.feed.sampled.Load())
	counter(ch, c.malformed, c.in.layouts.malformed.Load(), "footer")
	counter(ch, c.malformed, c.in.live.malformed.Load(), "metadata")
	counter(ch, c.malformed, c.in.queries.malformed.Load(), "report")
	c.in.batch.mu.Lock()
	defer c.in.batch.mu.Unlock()
	counter(ch, c.waiting, c.in.batch.lost)
}
