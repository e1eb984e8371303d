package observe_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
	"github.com/laketap/laketap/observe"
)

// A memory keeps all that it is handed.
type memory struct {
	mu  sync.Mutex
	all laketap.Batch
	n   int // batches
}

func (m *memory) Remember(b laketap.Batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	m.all.Tables = append(m.all.Tables, b.Tables...)
	m.all.Changes = append(m.all.Changes, b.Changes...)
	m.all.Observations = append(m.all.Observations, b.Observations...)
	m.all.Queries = append(m.all.Queries, b.Queries...)
}

// A scene is an interpreter with what it stands on.
type scene struct {
	observer *observe.Observer
	*observe.Interpreter
	memory *memory
	now    time.Time
	held   map[string][]byte // by key
}

func newScene(change func(*observe.InterpreterOptions)) *scene {
	s := &scene{observer: observe.New(observe.Options{}), memory: &memory{}, now: time.Unix(1000, 0), held: map[string][]byte{}}
	opts := observe.InterpreterOptions{
		Memory: s.memory, Batch: 1, Now: func() time.Time { return s.now }, Rand: rand.New(rand.NewPCG(1, 2)), //nolint:gosec // a test's
		Held: func(name laketap.ObjectName, off, n int64) ([]byte, laketap.Object, bool) {
			b, ok := s.held[name.Key]
			if n < 0 {
				n = int64(len(b)) - off
			}
			if !ok || off < 0 || off+n > int64(len(b)) {
				return nil, laketap.Object{}, false
			}
			return b[off : off+n], laketap.Object{ObjectName: name, ETag: `"1"`, Size: int64(len(b))}, true
		},
	}
	if change != nil {
		change(&opts)
	}
	s.Interpreter = observe.NewInterpreter(s.observer, opts)
	return s
}

// read records that an engine read a range of an object of a size.
func (s *scene) read(key string, size, off, n int64) {
	s.observer.Access(laketap.Access{
		At: s.now, Tap: laketap.StorageTap, Op: "GetObject", Engine: laketap.Engine{Name: "duckdb", Version: "1.5"}, Principal: "alice", Session: "LT1",
		Table:  laketap.TableID{Catalog: "c", UUID: "u"},
		Object: laketap.ObjectName{Origin: "main", Bucket: "b", Key: key}, ETag: `"1"`, Size: size,
		Range: laketap.Range{Set: true, From: off, To: off + n - 1}, Status: 206, BytesOut: n, Served: laketap.FromDisk,
	})
}

// taken returns the observations so far.
func (s *scene) taken() []laketap.Observation {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	all := s.memory.all.Observations
	s.memory.all.Observations = nil
	return all
}

// The whole of every sample file is told as the layout has it, and the bytes of
// all parts sum up.
func TestInterpretFiles(t *testing.T) {
	for _, name := range []string{"duckdb_ids.parquet", "pyarrow_ids.parquet", "pyarrow_index.parquet", "pyarrow_bloom.parquet", "clickhouse_bloom.parquet"} {
		b := sampleFile(t, name)
		layout, err := parquet.ReadLayout(t.Context(), bytes.NewReader(b), int64(len(b)), parquet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := newScene(nil)
		s.held[name] = b
		size := int64(len(b))
		s.read(name, size, 0, size)
		s.Interpret()
		got := s.taken()
		if len(got) != 1 {
			t.Fatalf("%s: %d observations", name, len(got))
		}
		o := got[0]
		if o.Bytes != size || o.Asked != size || o.Engine.Name != "duckdb" || o.Principal != "alice" || o.Weight != 1 || o.Served != laketap.FromDisk ||
			o.File.Object.ETag != `"1"` || o.File.Object.Size != size || o.File.Format != "parquet" {
			t.Errorf("%s: %+v", name, o)
		}
		var sum int64
		columns := map[int]int64{}
		for _, p := range o.Parts {
			sum += p.Bytes
			if !p.First {
				t.Errorf("%s: %+v is not read from its first byte", name, p)
			}
			if p.Kind == laketap.ColumnChunkPart || p.Kind == laketap.DictionaryPart {
				columns[p.Field] += p.Bytes
			}
		}
		if sum != size {
			t.Errorf("%s: parts sum up to %d of %d", name, sum, size)
		}
		for c := range layout.NumColumns() {
			for g := range layout.NumRowGroups() {
				columns[max(layout.Column(c).Field, 0)] -= layout.Chunk(g, c).Extent.Len
			}
		}
		for field, n := range columns {
			if n != 0 {
				t.Errorf("%s: field %d has %d bytes too many", name, field, n)
			}
		}
	}
}

// An access whose meaning is not known waits until it is; if it never comes,
// the bytes are unknown, and none is lost.
func TestMeaningThatComesLate(t *testing.T) {
	s := newScene(nil)
	b := sampleFile(t, "duckdb_ids.parquet")
	size := int64(len(b))
	s.read("late.parquet", size, 4, 100)
	s.read("never.parquet", size, 4, 100)
	s.Interpret()
	if got := s.taken(); len(got) != 0 {
		t.Fatalf("told too early: %+v", got)
	}
	s.held["late.parquet"] = b
	s.now = s.now.Add(2 * time.Second)
	s.Interpret()
	got := s.taken()
	if len(got) != 1 || got[0].File.Object.Key != "late.parquet" || !got[0].Parts[0].Kind.Column() {
		t.Fatalf("told %+v", got)
	}
	s.now = s.now.Add(time.Minute)
	s.Interpret()
	got = s.taken()
	if len(got) != 1 || len(got[0].Parts) != 1 || got[0].Parts[0].Kind != laketap.UnknownPart || got[0].Parts[0].Bytes != 100 {
		t.Fatalf("told %+v", got)
	}
	// The next access to the end of the file brings the footer at once.
	s.held["never.parquet"] = b
	s.read("never.parquet", size, 0, size)
	s.Interpret()
	if got = s.taken(); len(got) != 1 || len(got[0].Parts) < 3 {
		t.Fatalf("told %+v", got)
	}
}

// A file that is damaged costs one counter, however often it is read.
func TestMalformedFiles(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := newScene(func(o *observe.InterpreterOptions) { o.Registerer = registry })
	b := slices.Clone(sampleFile(t, "duckdb_ids.parquet"))
	copy(b[len(b)-40:], strings.Repeat("\xff", 30))
	s.held["bad.parquet"] = b
	for range 3 {
		s.read("bad.parquet", int64(len(b)), 4, 10)
	}
	s.Interpret()
	for _, o := range s.taken() {
		if len(o.Parts) != 1 || o.Parts[0].Kind != laketap.UnknownPart {
			t.Errorf("told %+v", o)
		}
	}
	if n := metric(t, registry, "laketap_observe_malformed_total", "footer"); n != 1 {
		t.Errorf("counted %v", n)
	}
	s.held["enc.parquet"] = sampleFile(t, "pyarrow_encrypted_footer.parquet")
	s.read("enc.parquet", int64(len(s.held["enc.parquet"])), 4, 10)
	s.Interpret()
	if got := s.taken(); len(got) != 1 || got[0].Parts[0].Kind != laketap.DataPart {
		t.Errorf("an encrypted file is told as %+v", got)
	}
}

// metric returns the value of a counter with a label.
func metric(t *testing.T, g prometheus.Gatherer, name, label string) float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == name && l.GetValue() == label {
					return m.GetCounter().GetValue()
				}
			}
		}
	}
	t.Fatalf("%s has no %s", name, label)
	return 0
}

// At overload a sample stands for the rest, and totals are right on average.
func TestOverloadIsSampled(t *testing.T) {
	s := newScene(nil)
	const n = 60_000
	for range n {
		s.read("wh/t/metadata/1.metadata.json", 100, 0, 100)
	}
	s.Interpret()
	var sum float64
	got := s.taken()
	for _, o := range got {
		sum += o.Weight
	}
	if len(got) > n*3/4 {
		t.Errorf("%d of %d were interpreted", len(got), n)
	}
	if math.Abs(sum/n-1) > 0.05 {
		t.Errorf("%d accesses stand for %.0f, want %d", len(got), sum, n)
	}
	s.read("wh/t/metadata/1.metadata.json", 100, 0, 100)
	s.Interpret()
	if got := s.taken(); len(got) != 1 || got[0].Weight != 1 {
		t.Errorf("without overload: %+v", got)
	}
}

// What waits is bounded; past that bytes are unknown at once.
func TestWaitingIsBounded(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := newScene(func(o *observe.InterpreterOptions) { o.Pending, o.Registerer = 10, registry })
	for range 25 {
		s.read("a.parquet", 1000, 4, 10)
	}
	s.Interpret()
	if got := s.taken(); len(got) != 15 {
		t.Errorf("told %d", len(got))
	}
	if n := metric(t, registry, "laketap_observe_dropped_total", "full"); n != 15 {
		t.Errorf("counted %v", n)
	}
}

// What moved no bytes of an object is no observation.
func TestNoReads(t *testing.T) {
	s := newScene(nil)
	for _, change := range []func(*laketap.Access){
		func(a *laketap.Access) { a.Tap = laketap.CatalogTap },
		func(a *laketap.Access) { a.Op = "PutObject" },
		func(a *laketap.Access) { a.Status = 403 },
		func(a *laketap.Access) { a.BytesOut = 0 },
	} {
		a := laketap.Access{Tap: laketap.StorageTap, Op: "GetObject", Status: 200, BytesOut: 10, Size: 10, Object: laketap.ObjectName{Key: "a.metadata.json"}}
		change(&a)
		s.observer.Access(a)
	}
	s.Interpret()
	if got := s.taken(); len(got) != 0 {
		t.Errorf("told %+v", got)
	}
}

// Run hands batches on by itself, and the last one when it ends.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(func(o *observe.InterpreterOptions) { o.Batch, o.Now = 1000, time.Now })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		s.read("a.metadata.json", 10, 0, 10)
		time.Sleep(3 * time.Second)
		if got := s.taken(); len(got) != 1 {
			t.Errorf("told %d after a while", len(got))
		}
		s.read("a.metadata.json", 10, 0, 10)
		s.read("never.parquet", 10, 0, 10)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := s.taken(); len(got) != 2 {
			t.Errorf("told %d at the end", len(got))
		}
	})
}

// FuzzFooter has an engine read files that are damaged: whatever they claim, all
// bytes are told of, in parts that sum up.
func FuzzFooter(f *testing.F) {
	for _, name := range []string{"duckdb_ids.parquet", "pyarrow_index.parquet", "pyarrow_bloom.parquet"} {
		b, err := os.ReadFile("../lake/parquet/testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, int64(0), int64(len(b)))
	}
	f.Fuzz(func(t *testing.T, b []byte, off, n int64) {
		size := int64(len(b))
		if off < 0 || n <= 0 || off >= size || n > size-off {
			return
		}
		s := newScene(nil)
		s.held["a.parquet"] = b
		s.read("a.parquet", size, off, n)
		s.Interpret()
		s.now = s.now.Add(time.Minute)
		s.Interpret()
		got := s.taken()
		if len(got) != 1 {
			t.Fatalf("%d observations", len(got))
		}
		var sum int64
		for _, p := range got[0].Parts {
			sum += p.Bytes
			if p.Bytes <= 0 || p.Bytes > p.Extent.Len {
				t.Errorf("part %+v", p)
			}
		}
		if sum != n {
			t.Errorf("parts sum up to %d of %d", sum, n)
		}
	})
}
