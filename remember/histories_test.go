package remember_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/remember"
)

// A model is what the memory has to know, in the simplest way to say it: every
// use as it was, never summed up.
type model struct {
	id      laketap.TableID
	name    string
	columns []laketap.Column
	names   map[string]bool // that the table has or had
	now     time.Time
	commits int64
	files   []laketap.File
	reads   []modelUse            // by engine and field; field 0 is the table
	parts   map[string][]modelUse // by partition
	heat    map[string][]modelUse // by file: what it has, of its own or carried
}

// A modelUse is one use, or a share of one.
type modelUse struct {
	at     time.Time
	engine string
	field  int
	weight float64
}

// sum is heat as it is defined.
func sum(uses []modelUse, now time.Time, engine string, field int) (heat float64) {
	for _, u := range uses {
		if u.engine == engine && u.field == field {
			heat += u.weight * math.Exp2(-float64(now.Sub(u.at))/float64(laketap.HalfLife))
		}
	}
	return heat
}

// A history drives a model and a memory through the same events.
type history struct {
	*model

	catalog string
	options remember.Options
	next    laketap.Batch
	old     []*model // tables that were dropped
	dirs    func() string
	write   func(laketap.Batch)
}

// fresh begins a table.
func (h *history) fresh() {
	h.model = &model{
		id: laketap.TableID{Catalog: h.catalog, UUID: fmt.Sprintf("%s-uuid-%d", h.catalog, len(h.old))}, name: "ns.t", names: map[string]bool{}, now: since,
		columns: []laketap.Column{{Field: 1, Name: "a", Type: "long"}, {Field: 2, Name: "b", Type: "long"}, {Field: 3, Name: "c", Type: "long"}},
		parts:   map[string][]modelUse{}, heat: map[string][]modelUse{},
	}
	if n := len(h.old); n > 0 {
		h.now = h.old[n-1].now
	}
	h.tell()
}

func (h *history) tell() {
	h.names[h.name] = true
	h.next.Tables = append(h.next.Tables, laketap.TableFacts{At: h.now, ID: h.id, Name: h.name, Snapshot: h.commits, Columns: slices.Clone(h.columns)})
}

func (h *history) commit(operation string, added, removed []laketap.File) {
	h.commits++
	h.next.Changes = append(h.next.Changes, laketap.Change{At: h.now, Table: h.id, From: h.commits - 1, To: h.commits, Operation: operation, Added: added, Removed: removed})
	h.flush() // uses of before are of before the commit
	h.files = slices.DeleteFunc(h.files, func(f laketap.File) bool { return slices.Contains(removed, f) })
	h.files = append(h.files, added...)
}

// flush writes what waits.
func (h *history) flush() {
	h.write(h.next)
	h.next = laketap.Batch{}
}

func (h *history) append(t *rapid.T) {
	h.now = h.now.Add(time.Minute)
	n := rapid.IntRange(1, 3).Draw(t, "files")
	added := make([]laketap.File, 0, n)
	for i := range n {
		part := rapid.SampledFrom([]string{"1=x", "1=y"}).Draw(t, "partition")
		added = append(added, fileOf(fmt.Sprintf("%s/%d-%d", h.id.UUID, h.commits, i), part, rapid.Int64Range(1, 1000).Draw(t, "size")))
	}
	h.commit("append", added, nil)
}

func (h *history) read(t *rapid.T) {
	if len(h.files) == 0 {
		t.Skip("no files")
	}
	h.now = h.now.Add(time.Duration(rapid.IntRange(2, 20_000).Draw(t, "minutes later")) * time.Minute)
	f := rapid.SampledFrom(h.files).Draw(t, "file")
	who := rapid.SampledFrom([]laketap.Engine{duck, spark}).Draw(t, "engine")
	fields := rapid.SliceOfNDistinct(rapid.IntRange(1, 3), 0, 3, func(n int) int { return n }).Draw(t, "fields")
	o := readOf(h.now, who, f, fields...)
	o.Table, o.Principal = h.id, rapid.SampledFrom([]string{"", "prod:alice", "prod:bob"}).Draw(t, "principal")
	h.next.Observations = append(h.next.Observations, o)
	for _, field := range append(fields, 0) {
		u := modelUse{h.now, who.Name, field, 1}
		h.reads = append(h.reads, u)
		h.heat[f.Object.Key] = append(h.heat[f.Object.Key], u)
		if field == 0 {
			h.parts[f.Partition] = append(h.parts[f.Partition], u)
		}
	}
}

// compact replaces some files by one for each partition.
func (h *history) compact(t *rapid.T) {
	if len(h.files) < 2 {
		t.Skip("nothing to compact")
	}
	h.now = h.now.Add(time.Minute)
	removed := rapid.SliceOfNDistinct(rapid.SampledFrom(h.files), 1, len(h.files), func(f laketap.File) string { return f.Object.Key }).Draw(t, "replaced")
	heirs := map[string][]laketap.File{}
	var added []laketap.File
	for _, f := range removed {
		if len(heirs[f.Partition]) > 0 {
			continue
		}
		for i := range rapid.IntRange(1, 2).Draw(t, "heirs") {
			heir := fileOf(fmt.Sprintf("%s/c%d-%s-%d", h.id.UUID, h.commits, f.Partition, i), f.Partition, rapid.Int64Range(1, 1000).Draw(t, "size"))
			heirs[f.Partition] = append(heirs[f.Partition], heir)
			added = append(added, heir)
		}
	}
	for _, f := range removed {
		total := 0.0
		for _, heir := range heirs[f.Partition] {
			total += float64(heir.Object.Size)
		}
		for _, heir := range heirs[f.Partition] {
			for _, u := range h.heat[f.Object.Key] {
				u.weight *= float64(heir.Object.Size) / total
				h.heat[heir.Object.Key] = append(h.heat[heir.Object.Key], u)
			}
		}
		delete(h.heat, f.Object.Key)
	}
	h.commit("replace", added, removed)
}

// remove takes a file out of the table, as a delete does; its heat goes
// nowhere.
func (h *history) remove(t *rapid.T) {
	if len(h.files) == 0 {
		t.Skip("no files")
	}
	h.commit("delete", nil, []laketap.File{rapid.SampledFrom(h.files).Draw(t, "removed")})
}

// replay tells of a commit again, as after a restart.
func (h *history) replay(*rapid.T) {
	s := h.open()
	all, err := s.Changes(context.Background(), since)
	if err := errors.Join(err, s.Close()); err != nil {
		panic(err)
	}
	h.next.Changes = append(h.next.Changes, all...)
	h.flush()
}

func (h *history) renameTable(t *rapid.T) {
	h.now = h.now.Add(time.Minute)
	h.name = rapid.SampledFrom([]string{"ns.t", "ns.u", "other.v"}).Draw(t, "name")
	h.tell()
}

func (h *history) renameColumn(t *rapid.T) {
	h.now = h.now.Add(time.Minute)
	i := rapid.IntRange(0, 2).Draw(t, "column")
	h.columns[i].Name = fmt.Sprintf("c%d", h.now.Unix())
	h.tell()
}

// expire makes snapshots go; nobody's heat changes.
func (h *history) expire(*rapid.T) {
	h.now = h.now.Add(time.Minute)
	h.tell()
}

// recreate drops the table and creates one of the same name.
func (h *history) recreate(*rapid.T) {
	h.flush()
	h.old = append(h.old, h.model)
	h.fresh()
}

// kill goes on with a copy of the files as they are on disk at this moment.
func (h *history) kill(*rapid.T) {
	h.flush()
	if h.options.File == "" {
		return
	}
	s := h.open() // so that there is a log that nobody has moved into the file
	h.write(laketap.Batch{Tables: []laketap.TableFacts{{At: h.now, ID: h.id, Name: h.name, Snapshot: h.commits, Columns: h.columns}}})
	dir := h.dirs()
	for _, suffix := range []string{"", "-wal"} {
		if from, err := os.Open(h.options.File + suffix); err == nil {
			to, err := os.Create(filepath.Join(dir, "memory.db"+suffix))
			if err == nil {
				_, err = io.Copy(to, from)
			}
			if err != nil {
				panic(err)
			}
			to.Close()
			from.Close()
		}
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
	h.options.File = filepath.Join(dir, "memory.db")
}

// open opens the memory to look at.
func (h *history) open() *remember.Store {
	s, err := remember.Open(context.Background(), h.options)
	if err != nil {
		panic(err)
	}
	return s
}

// check compares the memory with all models.
func (h *history) check(t *rapid.T) {
	s := h.open()
	defer s.Close()
	habits, err := s.Habits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append(slices.Clone(h.old), h.model) {
		got := map[string]laketap.Heat{}
		for _, habit := range habits {
			if habit.Table == m.id {
				got[fmt.Sprint(habit.Kind, habit.Engine.Name, habit.Field, habit.Value)] = habit.Uses
			}
		}
		for _, engine := range []string{duck.Name, spark.Name} {
			for field := range 4 {
				kind := laketap.ColumnHabit
				if field == 0 {
					kind = laketap.TableHabit
				}
				same(t, m, fmt.Sprint(kind, engine, field, ""), got, sum(m.reads, m.now, engine, field))
			}
			for _, part := range []string{"1=x", "1=y"} {
				same(t, m, fmt.Sprint(laketap.PartitionHabit, engine, 0, part), got, sum(m.parts[part], m.now, engine, 0))
			}
		}
		m.checkFiles(t, s)
	}
}

func same(t *rapid.T, m *model, what string, got map[string]laketap.Heat, want float64) {
	if h := got[what].At(m.now); !near(h, want) {
		t.Fatalf("%s of %s has heat %v, want %v", what, m.id.UUID, h, want)
	}
}

// checkFiles compares what is known of files and of names.
func (m *model) checkFiles(t *rapid.T, s *remember.Store) {
	tables, err := s.KnownTables(t.Context(), m.now)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tables, func(k laketap.KnownTable) bool { return k.ID == m.id })
	if i < 0 {
		t.Fatalf("%v is not known", m.id)
	}
	names := map[string]bool{tables[i].Name: true}
	for _, alias := range tables[i].Aliases {
		names[alias] = true
	}
	if tables[i].Name != m.name || !maps.Equal(names, m.names) {
		t.Fatalf("names are %v, now %q; want %v, now %q", names, tables[i].Name, m.names, m.name)
	}
	files, err := s.KnownFiles(t.Context(), m.id.UUID)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		want := sum(m.heat[f.Object.Key], m.now, duck.Name, 0) + sum(m.heat[f.Object.Key], m.now, spark.Name, 0)
		if got := f.Uses.At(m.now); !near(got, want) {
			t.Fatalf("file %s has heat %v, want %v", f.Object.Key, got, want)
		}
	}
	for key := range m.heat {
		if !slices.ContainsFunc(files, func(f laketap.KnownFile) bool { return f.Object.Key == key }) {
			t.Fatalf("file %s is not known", key)
		}
	}
}

// histories bounds how many are tried on each database: each opens it some
// twenty times.
const histories = 25

// Whatever happens to tables, files, processes and names: heat and habits are
// what the model says.
func TestHistories(t *testing.T) {
	databases(t, func(t *testing.T, o remember.Options) {
		n := 0
		rapid.Check(t, func(rt *rapid.T) {
			if n++; n > histories {
				return
			}
			h := &history{catalog: fmt.Sprintf("case%d", n), options: o, dirs: t.TempDir}
			if o.URL == "" {
				h.options.File = filepath.Join(t.TempDir(), "memory.db")
			}
			h.write = func(b laketap.Batch) { write(t, remember.WriterOptions{Memory: h.options}, b) }
			h.fresh()
			rt.Repeat(map[string]func(*rapid.T){
				"append": h.append, "read": h.read, "read again": h.read, "compact": h.compact, "remove": h.remove, "replay": h.replay,
				"rename table": h.renameTable, "rename column": h.renameColumn, "expire": h.expire, "recreate": h.recreate, "kill": h.kill,
				"restart": func(*rapid.T) { h.flush() },
			})
			h.flush()
			h.check(rt)
		})
	})
}
