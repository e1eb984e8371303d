package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
	"github.com/laketap/laketap/observe"
)

// known has a scene know a sample table; its fields are 1 id, 2 sort, 3 p with
// 5 y and 11 z, 6 tags, 10 added.
func (s *scene) known(t testing.TB) laketap.TableSeen {
	t.Helper()
	_, seen := sampleTable(t, "../lake/iceberg/testdata/spark_evolved")
	seen.ID = laketap.TableID{Catalog: "c", UUID: "u"}
	s.Table(seen)
	s.Live().Learn(t.Context())
	return seen
}

// told interprets and returns the queries so far.
func (s *scene) told() []laketap.Query {
	s.Interpret()
	s.read("a.metadata.json", 1, 0, 1) // one observation makes a batch
	s.Interpret()
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	all := s.memory.all.Queries
	s.memory.all.Queries = nil
	return all
}

var sparkEngine = laketap.Engine{Name: "spark", Version: "4.1"}

func TestQueriesOfScanReports(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := newScene(func(o *observe.InterpreterOptions) { o.Registerer = registry })
	seen := s.known(t)
	report := func(table, body string) {
		s.Report(laketap.Report{At: s.now, Kind: "scan-report", Engine: sparkEngine, Principal: "alice", Catalog: "c", TableName: table, Body: []byte(body)})
	}
	report(seen.Name, `{"report-type":"scan-report","table-name":"c.db.t","snapshot-id":825154212274016972,"schema-id":5,
		"filter":{"type":"eq","term":"sort","value":"(hash-12345678)"},"projected-field-ids":[10,1],"projected-field-names":["added","id"],
		"metrics":{"result-data-files":{"unit":"count","value":3}},"metadata":{"engine-name":"spark"}}`)
	report("db.other", `{"snapshot-id":1,"projected-field-ids":[1]}`)
	report(seen.Name, `{"snapshot-id":"nonsense"}`)
	report(seen.Name, `{"snapshot-id":1,"schema-id":99,"filter":{"type":"what"},"projected-field-ids":[1]}`)
	got := s.told()
	want := []laketap.Query{
		{
			At: s.now, Engine: sparkEngine, Principal: "alice", Table: seen.ID, Snapshot: 825154212274016972, Fields: []int{1, 2, 10},
			Predicate: laketap.Predicate{Fields: []int{2}}, Source: "scan-report", Files: 3,
		},
		{At: s.now, Engine: sparkEngine, Principal: "alice", Table: seen.ID, Snapshot: 1, Fields: []int{1}, Source: "scan-report"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(laketap.Predicate{}, "Key", "Shape")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got) > 0 && (got[0].Predicate.Shape == "" || got[0].Predicate.Key == "") {
		t.Errorf("predicate %+v", got[0].Predicate)
	}
	if n := metric(t, registry, "laketap_observe_malformed_total", "report"); n != 2 {
		t.Errorf("%v reports are counted as malformed, want 2", n)
	}
}

func TestQueriesOfTrino(t *testing.T) {
	s := newScene(nil)
	seen := s.known(t)
	trino := laketap.Engine{Name: "trino", Version: "480"}
	s.Report(laketap.Report{At: s.now, Kind: laketap.QueryReport, Query: &laketap.QueryEvent{
		At: s.now, Engine: trino, QueryID: "q1", User: "bob", Tables: []laketap.QueryTable{
			{Catalog: "lake", Name: seen.Name, Snapshot: 7, Columns: []string{"SORT", "p.y", "gone", "id"}},
			{Catalog: "lake", Name: "db.unknown", Columns: []string{"id"}},
		},
	}})
	want := []laketap.Query{{At: s.now, Engine: trino, Principal: "bob", ID: "q1", Table: seen.ID, Snapshot: 7, Fields: []int{1, 2, 5}, Source: "trino-query"}}
	if diff := cmp.Diff(want, s.told()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A name that two catalogs have tells no table.
	other := seen
	other.ID.Catalog = "d"
	s.Table(other)
	s.Live().Learn(t.Context())
	s.Report(laketap.Report{Kind: laketap.QueryReport, Query: &laketap.QueryEvent{Tables: []laketap.QueryTable{{Name: seen.Name}}}})
	if got := s.told(); len(got) != 0 {
		t.Errorf("told %+v", got)
	}
}

// What an engine reads that reads exactly is a query, once it has ended, unless
// the engine reports its scans itself.
func TestQueriesOfRanges(t *testing.T) {
	s := newScene(nil)
	b := sampleFile(t, "duckdb_ids.parquet")
	size := int64(len(b))
	footer, err := parquet.FooterLength(b)
	if err != nil {
		t.Fatal(err)
	}
	data := size - footer - 4
	for _, key := range []string{"a.parquet", "b.parquet"} {
		s.held[key] = b
		s.read(key, size, 4, data)
		s.read(key, size, size-footer, footer)
	}
	if got := s.told(); len(got) != 0 {
		t.Fatalf("told before it has ended: %+v", got)
	}
	began := s.now
	s.now = s.now.Add(4 * time.Second)
	s.read("a.parquet", size, 4, data)
	if got := s.told(); len(got) != 0 {
		t.Fatalf("told before it has ended: %+v", got)
	}
	s.now = s.now.Add(6 * time.Second)
	got := s.told()
	if len(got) != 1 || got[0].Source != "ranges" || got[0].Files != 2 || len(got[0].Fields) == 0 || !got[0].At.Equal(began) || got[0].Principal != "alice" {
		t.Fatalf("told %+v", got)
	}
	s.now = s.now.Add(time.Minute)
	if got := s.told(); len(got) != 0 {
		t.Errorf("told twice: %+v", got)
	}

	seen := s.known(t)
	s.read("a.parquet", size, 4, data)
	s.Report(laketap.Report{Kind: "scan-report", Engine: laketap.Engine{Name: "duckdb"}, Catalog: "c", TableName: seen.Name, Body: []byte(`{"projected-field-ids":[1]}`)})
	s.now = s.now.Add(time.Minute)
	if got := s.told(); len(got) != 1 || got[0].Source != "scan-report" {
		t.Errorf("told %+v", got)
	}
}

// Reports past the bound are dropped, and nobody waits for room.
func TestReportsAreBounded(t *testing.T) {
	s := newScene(nil)
	seen := s.known(t)
	for range 3000 {
		s.Report(laketap.Report{Kind: "scan-report", Engine: sparkEngine, Catalog: "c", TableName: seen.Name, Body: []byte(`{}`)})
	}
	if got := s.told(); len(got) == 0 || len(got) > 1024 {
		t.Errorf("told %d", len(got))
	}
}

// FuzzScanReport feeds reports that engines could send.
func FuzzScanReport(f *testing.F) {
	f.Add([]byte(`{"snapshot-id":1,"schema-id":5,"filter":{"type":"eq","term":"sort","value":"x"},"projected-field-ids":[1]}`))
	f.Add([]byte(`{"filter":true,"metrics":{"result-data-files":{"value":-1}}}`))
	f.Add([]byte(`[]`))
	s := newScene(nil)
	seen := s.known(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		s.Report(laketap.Report{At: s.now, Kind: "scan-report", Engine: sparkEngine, Catalog: "c", TableName: seen.Name, Body: body})
		for _, q := range s.told() {
			if q.Files < 0 || q.Snapshot < 0 {
				t.Errorf("told %+v", q)
			}
			for i := range q.Fields {
				if i > 0 && q.Fields[i] <= q.Fields[i-1] {
					t.Errorf("fields %v", q.Fields)
				}
			}
		}
	})
}
