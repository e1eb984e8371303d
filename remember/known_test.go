package remember_test

import (
	"errors"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/remember"
)

func TestKnown(t *testing.T) {
	databases(t, func(t *testing.T, o remember.Options) {
		facts := func(at time.Time, name, column string) laketap.TableFacts {
			return laketap.TableFacts{At: at, ID: orders, Name: name, Location: "s3://lake/t", Snapshot: 7, Columns: []laketap.Column{
				{Field: 1, Name: column, Type: "long"},
				{Field: 2, Name: "b", Type: "string"},
				{Field: 3, Name: "s", Type: "struct"},
				{Field: 4, Name: "old", Type: "int", Dropped: true},
				{Field: 5, Name: "never", Type: "int"},
			}}
		}
		never := laketap.TableID{Catalog: "prod", UUID: "33333333-3333-3333-3333-333333333333"}
		f := fileOf("t/a", "1=x", 1000)
		stale := readOf(since.Add(-60*day), spark, f, 2)
		meta := laketap.Observation{
			At: since, Engine: duck, Principal: "prod:alice", Table: orders, Bytes: 33, File: laketap.File{Content: laketap.MetadataContent},
			Parts: []laketap.PartBytes{{Part: laketap.Part{Kind: laketap.ManifestPart}, Bytes: 30}, {Bytes: 3}},
		}
		s := remembered(t, o,
			laketap.Batch{Tables: []laketap.TableFacts{facts(since.Add(-70*day), "ns.was", "a_was"), {At: since, ID: never, Name: "ns.never"}}},
			laketap.Batch{
				Tables:       []laketap.TableFacts{facts(since, "ns.orders", "a")},
				Observations: []laketap.Observation{stale, readOf(since, duck, f, 1), meta},
				Queries:      []laketap.Query{{At: since, Engine: duck, Table: orders, Fields: []int{1}}},
			})
		tables, err := s.KnownTables(t.Context(), since)
		if err != nil || len(tables) != 2 {
			t.Fatalf("%v (%v)", tables, err)
		}
		got := tables[0]
		if got.Name != "ns.orders" || got.Bytes != 333 || !got.Last.Equal(since) || len(got.Engines) != 2 || !near(got.Queries.At(since), 1) {
			t.Errorf("table: %+v", got)
		}
		if want := 1 + (laketap.Heat{Value: 1, Time: stale.At}).At(since); !near(got.Uses.At(since), want) {
			t.Errorf("heat %v, want %v", got.Uses.At(since), want)
		}
		for _, name := range []string{orders.UUID, "prod.ns.orders", "ns.orders", "ns.was"} {
			columns, err := s.KnownColumns(t.Context(), name)
			if err != nil || len(columns) != 5 {
				t.Fatalf("%s: %v (%v)", name, columns, err)
			}
			a, b := columns[0], columns[1]
			if a.Name != "a" || len(a.Aliases) != 1 || a.Aliases[0] != "a_was" || !near(a.Read.At(since), 1) || !near(a.Used.At(since), 1) || a.Bytes != 100 {
				t.Errorf("column a: %+v", a)
			}
			if b.Bytes != 100 || !b.Last.Equal(stale.At) || b.Used.Value != 0 || b.Engines[0].Engine != spark {
				t.Errorf("column b: %+v", b)
			}
		}
		files, err := s.KnownFiles(t.Context(), "ns.orders")
		if err != nil || len(files) != 1 || files[0].File != f || files[0].Bytes != 300 || files[0].Parts[laketap.FooterPart] != 100 || files[0].Parts[laketap.ColumnChunkPart] != 200 {
			t.Errorf("files: %+v (%v)", files, err)
		}
		unused, err := s.Unused(t.Context(), since.Add(-30*day))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]laketap.Unused{}
		for _, u := range unused {
			found[u.Name+"/"+u.Column] = u
		}
		if len(found) != 3 || !found["ns.orders/b"].Last.Equal(stale.At) || !found["ns.orders/never"].Last.IsZero() || found["ns.never/"].Name == "" {
			t.Errorf("unused: %+v", unused)
		}
		if _, err := s.KnownFiles(t.Context(), "ns.nothing"); !errors.Is(err, remember.ErrUnknown) {
			t.Errorf("unknown table: %v", err)
		}
	})
}
