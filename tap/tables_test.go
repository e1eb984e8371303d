package tap_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

func table(name, path string, more ...string) tap.Table {
	t := tap.Table{
		ID:       laketap.TableID{Catalog: "c", UUID: "uuid-" + name},
		Name:     name,
		Location: tap.Location{Origin: "o", Bucket: "lake", Path: path},
		Seen:     time.Unix(1, 0),
	}
	for _, m := range more {
		t.More = append(t.More, tap.Location{Origin: "o", Bucket: "lake", Path: m})
	}
	return t
}

func object(key string) laketap.ObjectName {
	return laketap.ObjectName{Origin: "o", Bucket: "lake", Key: key}
}

func TestTablesAt(t *testing.T) {
	tables := tap.NewTables(0)
	tables.Put(table("ns.t", "wh/t", "fast/t"))
	tables.Put(table("ns.t2", "wh/t2"))
	tables.Put(table("ns.inner", "wh/t/inner"))
	for key, want := range map[string]string{
		"wh/t/data/x":        "ns.t",
		"wh/t2/data/x":       "ns.t2",
		"wh/t/inner/data/x":  "ns.inner",
		"wh/t//inner/data/x": "ns.inner", // as a store over a file system would read it
		"fast/t/x":           "ns.t",
		"wh/t3/x":            "",
		"wh":                 "",
		"":                   "",
		"wh/t/../t2/x":       "",
	} {
		got, _ := tables.At(object(key))
		if got.Name != want {
			t.Errorf("At(%q) = %q, want %q", key, got.Name, want)
		}
	}
	if _, ok := tables.At(laketap.ObjectName{Origin: "p", Bucket: "lake", Key: "wh/t/x"}); ok {
		t.Error("a table was found in another origin")
	}
}

func TestTableMoves(t *testing.T) {
	tables := tap.NewTables(0)
	tables.Put(table("ns.t", "old"))
	tables.Put(table("ns.t", "new"))
	if got, ok := tables.At(object("old/x")); ok {
		t.Errorf("the old location still belongs to %q", got.Name)
	}
	if got, _ := tables.At(object("new/x")); got.Name != "ns.t" {
		t.Errorf("At(new) = %q, want ns.t", got.Name)
	}
}

func TestTwoTablesAtOneLocation(t *testing.T) {
	tables := tap.NewTables(0)
	tables.Put(table("ns.old", "wh/t"))
	tables.Put(table("ns.new", "wh/t")) // dropped and made again at the same place
	if got, _ := tables.At(object("wh/t/x")); got.Name != "ns.new" {
		t.Errorf("At = %q, want the table seen last", got.Name)
	}
	tables.Forget("c", "", "ns.old")
	if got, _ := tables.At(object("wh/t/x")); got.Name != "ns.new" {
		t.Errorf("after forgetting the old one At = %q, want ns.new", got.Name)
	}
	tables.Forget("c", "", "ns.new")
	if got, ok := tables.At(object("wh/t/x")); ok {
		t.Errorf("after forgetting both At = %q, want none", got.Name)
	}
}

func TestForgetIsExact(t *testing.T) {
	tables := tap.NewTables(0)
	tables.Put(table("ns.t", "wh/t"))
	tables.Forget("other", "", "ns.t")
	tables.Forget("c", "main", "ns.t")
	tables.Forget("c", "", "ns.t2")
	if len(tables.All()) != 1 {
		t.Error("a table of another catalog, prefix or name was forgotten")
	}
}

func TestTablesAreBounded(t *testing.T) {
	tables := tap.NewTables(3)
	for i := range 5 {
		one := table(fmt.Sprintf("ns.t%d", i), fmt.Sprintf("wh/%d", i))
		one.Seen = time.Unix(int64(10+i), 0)
		tables.Put(one)
	}
	all := tables.All()
	names := make([]string, 0, len(all))
	for _, one := range all {
		names = append(names, one.Name)
	}
	if got, want := fmt.Sprint(names), "[ns.t2 ns.t3 ns.t4]"; got != want {
		t.Errorf("All = %v, want %v", got, want)
	}
	if _, ok := tables.At(object("wh/0/x")); ok {
		t.Error("the location of a dropped table is still known")
	}
}

func TestTablesConcurrently(t *testing.T) {
	tables := tap.NewTables(8)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 200 {
				name := fmt.Sprintf("ns.t%d", (n+i)%16)
				tables.Put(table(name, "wh/"+name))
				tables.At(object("wh/" + name + "/x"))
				tables.Forget("c", "", name)
			}
		})
	}
	wg.Wait()
	if got := len(tables.All()); got > 8 {
		t.Errorf("%d tables are held, want at most 8", got)
	}
}
