package demo

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/admin"
)

func TestStepInALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &screen{out: &out}
		st := s.step("Load it")
		time.Sleep(tickLog - time.Second)
		st.line("nation 25 rows")
		st.at("after nation")
		time.Sleep(tickLog + time.Second)
		synctest.Wait()
		st.done("%d tables", 8)
		st.end() // once more, as a defer does
		want := "\nLoad it\n  nation 25 rows\n  … 15.0 s after nation\n  … 30.0 s after nation\n  ✓ 30.0 s  8 tables\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
	})
}

func TestStepOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &screen{out: &out, terminal: true}
		st := s.step("Load it")
		time.Sleep(2*tickTerminal + time.Millisecond)
		synctest.Wait()
		st.line("nation 25 rows")
		st.end()
		want := "\nLoad it\n  … 1.00 s\r\x1b[K  … 2.00 s\r\x1b[K  nation 25 rows\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
	})
}

func TestSpell(t *testing.T) {
	for want, got := range map[string]string{
		"0.00 s": spellSeconds(0), "9.99 s": spellSeconds(9.99), "12.3 s": spellSeconds(12.34), "123 s": spellSeconds(123.4),
		"0 B": spellBytes(0), "999 B": spellBytes(999), "1.00 kB": spellBytes(1000), "9.99 kB": spellBytes(9994),
		"10.0 kB": spellBytes(9995), "100 kB": spellBytes(99950), "1.00 MB": spellBytes(999_500), "20.1 MB": spellBytes(20_132_885),
		"5.00 TB": spellBytes(5_000_000_000_000), "5000 TB": spellBytes(5_000_000_000_000_000),
		"7": spellCount(7), "999": spellCount(999), "1,000": spellCount(1000), "866,602": spellCount(866602), "-1,000": spellCount(-1000),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTraffic(t *testing.T) {
	use := func(requests, out, in int64) admin.Use {
		return admin.Use{Requests: requests, BytesOut: out, BytesIn: in, Seconds: float64(requests) / 100}
	}
	engine := func(name, version string, catalog, storage admin.Use) admin.EngineUse {
		return admin.EngineUse{Engine: name, EngineVersion: version, Catalog: catalog, Storage: storage}
	}
	rows := trafficRows(admin.Tables{Tables: []admin.TableUse{
		{Table: "", Engines: []admin.EngineUse{engine("unknown", "", use(3, 300, 0), admin.Use{})}},
		{Table: "tpch.nation", Engines: []admin.EngineUse{engine("duckdb", "1.5.5", use(1, 1000, 0), use(2, 2000, 0))}},
		{Table: "tpch.lineitem", Engines: []admin.EngineUse{
			engine("duckdb", "1.5.5", use(1, 1000, 0), use(1500, 20_000_000, 0)),
			engine("pyiceberg", "0.12.0", use(9, 500, 100), use(3, 0, 20_000_000)),
		}},
		// Spark tells its version to the store only.
		{Table: "tpch.part", Engines: []admin.EngineUse{
			engine("spark", "", use(2, 100, 4000), admin.Use{}), engine("spark", "4.1.4", admin.Use{}, use(5, 500_000, 0)),
			// Of two versions it could be either.
			engine("trino", "", use(1, 1, 0), admin.Use{}), engine("trino", "475", admin.Use{}, use(1, 1, 0)), engine("trino", "476", admin.Use{}, use(1, 1, 0)),
		}},
		// Dropped and made again: one table to people.
		{Table: "tpch.nation", Engines: []admin.EngineUse{engine("duckdb", "1.5.5", use(1, 500, 0), use(0, 0, 0))}},
	}})
	want := []string{
		"  engine            table          requests     read  written  seconds",
		"  duckdb/1.5.5      tpch.lineitem     1,501  20.0 MB      0 B    15.01",
		"                    tpch.nation           4  3.50 kB      0 B     0.04",
		"  pyiceberg/0.12.0  tpch.lineitem        12    500 B  20.0 MB     0.12",
		"  spark/4.1.4       tpch.part             7   500 kB      0 B     0.07",
		"  trino             tpch.part             1      1 B      0 B     0.01",
		"  trino/475         tpch.part             1      1 B      0 B     0.01",
		"  trino/476         tpch.part             1      1 B      0 B     0.01",
		"  unknown           (catalog)             3    300 B      0 B     0.03",
	}
	if diff := cmp.Diff(want, trafficGrid(rows).lines()); diff != "" {
		t.Errorf("grid (-want +got):\n%s", diff)
	}
}

func TestLines(t *testing.T) {
	var got []string
	w := &lineWriter{line: func(line []byte) { got = append(got, string(line)) }}
	long := strings.Repeat("x", maxLine+10)
	for _, part := range []string{"a\nb", "c\n\n", long, long + "\n", "end"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	w.flush()
	w.flush()
	want := []string{"a", "bc", long[:maxLine], "end"}
	if !slices.Equal(got, want) {
		t.Errorf("got %d lines, want %d", len(got), len(want))
	}
}

func TestEnviron(t *testing.T) {
	got := environ([]string{"HOME=/h", "LAKETAP_STORAGE_ADVERTISE=http://elsewhere", "no_proxy=corp", "HTTP_PROXY=http://p"})
	want := []string{"HOME=/h", "HTTP_PROXY=http://p", "NO_PROXY=127.0.0.1,localhost,corp", "no_proxy=127.0.0.1,localhost,corp"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestDefaultEnginesDir(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"LAKETAP_ENGINES": "/e", "XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/e"},
		{map[string]string{"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/laketap/engines"},
		{map[string]string{"HOME": "/h"}, "/h/.cache/laketap/engines"},
		{nil, ""},
	} {
		got, err := DefaultEnginesDir(func(name string) string { return tt.env[name] })
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%v: got %q, %v; want %q", tt.env, got, err, tt.want)
		}
	}
}
