package observe

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
)

// The sources of queries.
const (
	fromScanReport = "scan-report"
	fromTrino      = laketap.QueryReport
	fromRanges     = "ranges"
)

const (
	maxReports = 1024             // reports that wait to be read
	maxScans   = 10_000           // scans that are told by their ranges
	quiet      = 5 * time.Second  // after which a scan is over
	longest    = 10 * time.Minute // that one scan is taken to last
)

// exact are the engines that read just the columns that a query uses, so that
// ranges tell these. Others read over gaps between columns, DataFusion over
// megabytes, and Spark asks for all that follows a column and breaks off.
var exact = []string{"duckdb", "pyiceberg"}

// queries tell what scans were after: from what engines report and, where they
// report nothing, from the ranges of those that read exactly.
type queries struct {
	live *Live

	reports   chan laketap.Report
	malformed atomic.Int64
	dropped   atomic.Int64 // reports that there was no room for

	scans map[scanKey]*scan // of one goroutine
	told  map[tellKey]time.Time
}

// A scanKey tells scans apart that ranges show: engines keep a session for
// several queries, which then are told as one if they follow at once.
type scanKey struct {
	engine    laketap.Engine
	principal string
	session   string
	table     laketap.TableID
}

// A tellKey is who has reported a scan of a table.
type tellKey struct {
	engine string
	table  laketap.TableID
}

// A scan is what ranges have shown of one.
type scan struct {
	first, last time.Time // of the accesses
	seen        time.Time // when nothing new had come, by our clock; zero: something has
	fields      map[int]bool
	files       map[string]bool
}

func newQueries(l *Live) *queries {
	return &queries{live: l, reports: make(chan laketap.Report, maxReports), scans: map[scanKey]*scan{}, told: map[tellKey]time.Time{}}
}

// report queues a report.
func (q *queries) report(r laketap.Report) {
	select {
	case q.reports <- r:
	default:
		q.dropped.Add(1)
	}
}

// run tells the queries that are known by now.
func (q *queries) run(now time.Time, tell func(laketap.Query)) {
	for n := len(q.reports); n > 0; n-- {
		r := <-q.reports
		told, err := q.read(&r)
		if err != nil {
			q.malformed.Add(1)
			continue
		}
		for _, one := range told {
			q.told[tellKey{one.Engine.Name, one.Table}] = now
			tell(one)
		}
	}
	q.close(now, quiet, tell)
	for key, at := range q.told {
		if now.Sub(at) > longest {
			delete(q.told, key)
		}
	}
}

// read returns the queries of a report.
func (q *queries) read(r *laketap.Report) ([]laketap.Query, error) {
	switch {
	case r.Kind == fromScanReport:
		return q.scanReport(r)
	case r.Kind == laketap.QueryReport && r.Query != nil:
		return q.queryEvent(r), nil
	}
	return nil, nil
}

// scanReport reads an Iceberg ScanReport (REST catalog specification,
// ReportMetricsRequest). Its literals are not the query's: Iceberg replaces them.
func (q *queries) scanReport(r *laketap.Report) ([]laketap.Query, error) {
	var report struct {
		SnapshotID int64           `json:"snapshot-id"`
		Filter     json.RawMessage `json:"filter"`
		SchemaID   int             `json:"schema-id"`
		Fields     []int           `json:"projected-field-ids"`
		Metrics    struct {
			Files struct {
				Value int64 `json:"value"`
			} `json:"result-data-files"`
		} `json:"metrics"`
	}
	if err := json.Unmarshal(r.Body, &report); err != nil {
		return nil, err
	}
	table, ok := q.live.named(r.Catalog, r.TableName)
	if !ok {
		return nil, nil
	}
	told := laketap.Query{
		At: r.At, Engine: r.Engine, Principal: r.Principal, Table: table.id, Snapshot: max(report.SnapshotID, 0),
		Fields: report.Fields, Source: fromScanReport, Files: max(report.Metrics.Files.Value, 0),
	}
	if schema := table.schema(report.SchemaID); schema != nil && len(report.Filter) > 0 {
		predicate, err := iceberg.ParsePredicate(report.Filter, schema, iceberg.PredicateOptions{Sanitized: true})
		if err != nil {
			q.malformed.Add(1) // the rest of the report stands
		}
		told.Predicate = predicate
	}
	told.Fields = ascending(append(told.Fields, told.Predicate.Fields...))
	return []laketap.Query{told}, nil
}

// queryEvent reads an event of Trino: one query for each table that it read.
func (q *queries) queryEvent(r *laketap.Report) (told []laketap.Query) {
	e := r.Query
	for _, t := range e.Tables {
		table, ok := q.live.named(e.Catalog, t.Name)
		if !ok {
			continue
		}
		one := laketap.Query{
			At: e.At, Engine: e.Engine, Principal: cmp.Or(r.Principal, e.User), ID: e.QueryID, Table: table.id, Snapshot: t.Snapshot, Source: fromTrino,
		}
		for _, name := range t.Columns {
			if id, ok := table.field(name); ok {
				one.Fields = append(one.Fields, id)
			}
		}
		one.Fields = ascending(one.Fields)
		told = append(told, one)
	}
	return told
}

// observe notes what an engine that reads exactly has read. An access to a
// footer takes what lies before it along, used or not.
func (q *queries) observe(o *laketap.Observation) {
	if o.Table.UUID == "" || !slices.Contains(exact, o.Engine.Name) || o.File.Content == laketap.MetadataContent {
		return
	}
	if slices.ContainsFunc(o.Parts, func(p laketap.PartBytes) bool { return p.Kind == laketap.FooterPart && p.Extent.Off > 0 }) {
		return
	}
	key := scanKey{o.Engine, o.Principal, o.Session, o.Table}
	s := q.scans[key]
	for i := range o.Parts {
		if p := &o.Parts[i]; p.Kind.Column() && p.Field > 0 {
			if s == nil {
				if len(q.scans) >= maxScans {
					return
				}
				s = &scan{first: o.At, fields: map[int]bool{}, files: map[string]bool{}}
				q.scans[key] = s
			}
			s.fields[p.Field] = true
		}
	}
	if s == nil {
		return
	}
	s.first, s.last = earlier(s.first, o.At), later(s.last, o.At)
	if len(s.files) < maxScans {
		s.files[o.File.Object.Key] = true
	}
	s.seen = time.Time{}
}

// close tells the scans of which nothing has come for a while, unless the
// engine has reported a scan of the table meanwhile.
func (q *queries) close(now time.Time, after time.Duration, tell func(laketap.Query)) {
	for key, s := range q.scans {
		if s.seen.IsZero() {
			s.seen = now
		}
		if now.Sub(s.seen) < after && s.last.Sub(s.first) < longest {
			continue
		}
		delete(q.scans, key)
		if at, ok := q.told[tellKey{key.engine.Name, key.table}]; ok && now.Sub(at) < longest {
			continue
		}
		fields := make([]int, 0, len(s.fields))
		for f := range s.fields {
			fields = append(fields, f)
		}
		tell(laketap.Query{
			At: s.first, Engine: key.engine, Principal: key.principal, Table: key.table,
			Fields: ascending(fields), Source: fromRanges, Files: int64(len(s.files)),
		})
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// ascending sorts field ids and keeps each once.
func ascending(fields []int) []int {
	slices.Sort(fields)
	return slices.Compact(fields)
}

// A namedTable is a table that was found by its name.
type namedTable struct {
	id      laketap.TableID
	current int
	schemas []iceberg.Schema
}

// named finds a table by its name in a catalog; "" is any catalog, if only one
// has the name.
func (l *Live) named(catalog, name string) (found namedTable, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for id, t := range l.tables {
		if t.seen.Name != name || catalog != "" && id.Catalog != catalog || t.schemas == nil {
			continue
		}
		if ok && (catalog == "" || id.Ref != "") {
			return namedTable{}, false // which one is not told
		}
		found, ok = namedTable{id, t.schema, t.schemas}, true
	}
	return found, ok
}

// schema returns a schema by its id, else the current one.
func (t *namedTable) schema(id int) *iceberg.Schema {
	var current *iceberg.Schema
	for i := range t.schemas {
		switch t.schemas[i].ID {
		case id:
			return &t.schemas[i]
		case t.current:
			current = &t.schemas[i]
		}
	}
	return current
}

// field returns the field id of a column that a query named; engines write
// names in any case.
func (t *namedTable) field(name string) (id int, ok bool) {
	schema := t.schema(t.current)
	if schema == nil {
		return 0, false
	}
	schema.Walk(func(path []string, f *iceberg.Field) bool {
		if strings.EqualFold(strings.Join(path, "."), name) {
			id, ok = f.ID, true
		}
		return !ok
	})
	return id, ok
}
