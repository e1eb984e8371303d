package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
)

// lineItems makes a table like TPC-H's, of several files and row groups. The
// column that no question names is so large that no engine reads over it to
// save a request.
const lineItems = `import hashlib
  catalog.create_namespace("tpch", {"location": "s3://lake/warehouse/tpch"})
  names = ("l_orderkey", "l_partkey", "l_suppkey", "l_quantity", "l_price", "l_discount", "l_flag", "l_comment")
  kinds = (LongType(), LongType(), LongType(), DoubleType(), DoubleType(), DoubleType(), StringType(), StringType())
  schema = Schema(*(NestedField(i + 1, n, k) for i, (n, k) in enumerate(zip(names, kinds))))
  made = catalog.create_table(("tpch", "lineitem"), schema=schema, properties={"write.parquet.row-group-limit": "8000", "write.parquet.compression-codec": "snappy"})
  def part(k):
    n = range(k * 20000, k * 20000 + 20000)
    return pa.table([pa.array(n, pa.int64()), pa.array([i * 7919 % 20011 for i in n], pa.int64()), pa.array([i * 104729 % 1009 for i in n], pa.int64()),
      pa.array([i % 50 + 0.5 for i in n]), pa.array([i * 31 % 9973 * 1.25 for i in n]), pa.array([i % 11 / 100 for i in n]),
      pa.array(["".join(hashlib.sha512(b"%d %d" % (i, j)).hexdigest() for j in range(3)) for i in n]), pa.array(["carefully final %d requests %d" % (i * 17 % 7919, i) for i in n])], names=list(names))
  for k in range(3):
    made.append(part(k).cast(schema.as_arrow()))`

// An asked is a query, and the fields that it uses.
type asked struct {
	columns, where, order string
	fields                []int
}

// questions are like TPC-H's: few columns, a filter, no two alike.
var questions = []asked{
	{columns: "l_orderkey, l_quantity", where: "l_partkey < 40", order: "l_orderkey", fields: []int{1, 2, 4}},
	{columns: "l_orderkey, l_price, l_discount", where: "l_suppkey = 17", order: "l_orderkey", fields: []int{1, 3, 5, 6}},
	{columns: "l_orderkey, l_comment", where: "l_orderkey >= 30000 and l_orderkey < 30100", order: "l_orderkey", fields: []int{1, 8}},
}

// readsExactly are the engines that read the columns of their queries and no
// more, but for the end of a file, of which they fetch more than its footer.
// Spark asks for all that follows a column and breaks off, and DataFusion reads
// over megabytes to save a request.
var readsExactly = []string{engines.DuckDB, engines.PyIceberg}

// What engines read is attributed to the right engine, table and column: the
// ranges that went over the wire are laid over the columns as PyArrow finds
// them in the files' footers, and compared with what Laketap says they were.
func TestAttribution(t *testing.T) {
	for _, mode := range []string{"observe", "accelerate"} {
		t.Run(mode, func(t *testing.T) { attribution(t, mode) })
	}
}

func attribution(t *testing.T, mode string) {
	l := lake.Start(t)
	config := laketap.InFrontOf(t, l)
	config.Mode = mode
	server := laketap.Start(t, config)
	printed := printedBy(t, server)
	trino := engines.StartTrino(t, map[string]string{"through": printed[engines.Trino]})
	var turns []turn
	for _, c := range engines.Clients() {
		if c.Name == engines.Fsspec {
			continue // has the name of PyIceberg, and reads ahead
		}
		engine := startClient(t, c, printed[c.Name], trino, "through")
		if c.Name == engines.PyIceberg { // the first
			if a := engine.Do(engines.Step{Run: lineItems}); a.Error != "" {
				t.Fatal(a.Error)
			}
		}
		now := turn{client: c, reads: true, first: newest(t, server)}
		for _, q := range questions {
			a := engine.Do(q.step(c.Name))
			if a.Error != "" || len(a.Rows) == 0 {
				t.Errorf("%s: %d rows, %s", c.Name, len(a.Rows), a.Error)
			}
		}
		engine.Close()
		now.last = newest(t, server)
		turns = append(turns, now)
	}
	checkAttribution(t, l, server, turns)
}

// step is the question as an engine is asked. PyIceberg has to be told to read
// no more than that.
func (q asked) step(engine string) engines.Step {
	if engine != engines.PyIceberg {
		return engines.Step{Read: &engines.Read{Table: "tpch.lineitem", Columns: q.columns, Where: q.where, Order: q.order}}
	}
	var names []string
	for n := range strings.SplitSeq(q.columns, ", ") {
		names = append(names, strconv.Quote(n))
	}
	return engines.Step{Run: fmt.Sprintf(`answer = table("tpch.lineitem").scan(row_filter=%q, selected_fields=(%s,)).to_arrow()`, q.where, strings.Join(names, ", "))}
}

// newest returns the number of the newest access, once no more come.
func newest(t *testing.T, s *laketap.Server) uint64 {
	t.Helper()
	last := uint64(0)
	s.Process.Eventually(t, time.Minute, func() error {
		all := s.Accesses(t)
		before := last
		if len(all) > 0 {
			last = all[len(all)-1].Seq
		}
		if before != last || last == 0 {
			return fmt.Errorf("accesses still come: %d", last)
		}
		return nil
	})
	return last
}

// A chunk is where a column lies in a file.
type chunk struct {
	Field int   `json:"field"`
	Off   int64 `json:"off"`
	Len   int64 `json:"len"`
}

// chunksOf returns where the columns lie in the lake's Parquet files, by key.
func chunksOf(t *testing.T, l *lake.Lake) map[string][]chunk {
	t.Helper()
	python := filepath.Join(engines.Home(t), "venv", "bin", "python")
	cmd := exec.CommandContext(t.Context(), python, filepath.Join(process.Root(t), "test", "oracle", "columns.py"), l.Dir) //nolint:gosec // our own script
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := map[string][]chunk{}
	for line := range bytes.Lines(out) {
		var file struct {
			Path   string  `json:"path"`
			Chunks []chunk `json:"chunks"`
		}
		if err := json.Unmarshal(line, &file); err != nil {
			t.Fatal(err)
		}
		if _, key, ok := strings.Cut(file.Path, "/"+l.S3.Bucket+"/"); ok {
			all[key] = file.Chunks
		}
	}
	if len(all) == 0 {
		t.Fatalf("no Parquet file below %s", l.Dir)
	}
	return all
}

// A cell is a column as an engine read it.
type cell struct {
	engine, table string
	field         int
}

// checkAttribution compares, column by column, what went over the wire with what
// was understood of it.
func checkAttribution(t *testing.T, l *lake.Lake, s *laketap.Server, turns []turn) {
	t.Helper()
	accesses := s.Accesses(t)
	var table string
	for _, a := range accesses {
		if a.Table == "tpch.lineitem" && a.TableID != nil {
			table = a.TableID.UUID
		}
	}
	want, bytesOf := wire(t, accesses, turns, chunksOf(t, l), table)
	got, used := understood(t, s, bytesOf)
	var all, right int64
	for _, now := range turns {
		var mine, attributed int64
		var fields []int
		for c, n := range want {
			if c.engine != now.client.AtStore[0] {
				continue
			}
			mine += n
			attributed += min(n, got[c])
			fields = append(fields, c.field)
		}
		all, right = all+mine, right+attributed
		t.Logf("%-10s %9d data bytes, %6.2f %% attributed to engine, table and column; fields %v", now.client.Name, mine, 100*float64(attributed)/float64(max(mine, 1)), sorted(fields))
		if mine == 0 {
			t.Errorf("%s read no data", now.client.Name)
		}
		checkProjection(t, now.client, used)
	}
	if share := float64(right) / float64(all); share < 0.99 {
		t.Errorf("%.2f %% of %d data bytes are attributed, want 99 %%", 100*share, all)
	}
}

// checkProjection checks that an engine read the columns that its queries
// named; those that read exactly, no others.
func checkProjection(t *testing.T, c engines.Client, used map[cell]bool) {
	t.Helper()
	var want, read []int
	for _, q := range questions {
		want = append(want, q.fields...)
	}
	for cell := range used {
		if cell.engine == c.AtStore[0] && (slices.Contains(readsExactly, c.Name) || slices.Contains(want, cell.field)) {
			read = append(read, cell.field)
		}
	}
	if diff := cmp.Diff(sorted(want), sorted(read)); diff != "" {
		t.Errorf("columns of %s (-named +read):\n%s", c.Name, diff)
	}
}

func sorted(fields []int) []int {
	slices.Sort(fields)
	return slices.Compact(fields)
}

// wire lays what went over the wire in each engine's turn over the columns.
func wire(t *testing.T, accesses []laketap.Access, turns []turn, chunks map[string][]chunk, table string) (want map[cell]int64, bytesOf map[string]int64) {
	t.Helper()
	want, bytesOf = map[cell]int64{}, map[string]int64{}
	for _, a := range accesses {
		if a.Tap != "storage" || a.Op != "GetObject" || a.Status/100 != 2 || a.BytesOut == 0 || a.Object == nil {
			continue
		}
		bytesOf[a.Engine] += a.BytesOut
		i := slices.IndexFunc(turns, func(now turn) bool { return a.Seq > now.first && a.Seq <= now.last })
		columns, ok := chunks[a.Object.Key]
		if i < 0 || !ok {
			continue
		}
		off := startOf(t, a)
		for _, c := range columns {
			if n := min(off+a.BytesOut, c.Off+c.Len) - max(off, c.Off); n > 0 {
				want[cell{turns[i].client.AtStore[0], table, c.Field}] += n
			}
		}
	}
	return want, bytesOf
}

// startOf returns the first byte that an access was for; a suffix is told from
// the end.
func startOf(t *testing.T, a laketap.Access) int64 {
	t.Helper()
	text, ok := strings.CutPrefix(a.Range, "bytes=")
	if !ok {
		return 0
	}
	first, _, _ := strings.Cut(text, "-")
	if first == "" {
		return a.Size - a.BytesOut
	}
	off, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return off
}

// understood sums up what Laketap says the bytes were, once it has said so of
// all of them: every byte that an engine got is in some part.
// The columns in used were read by an access that was not for the footer.
func understood(t *testing.T, s *laketap.Server, bytesOf map[string]int64) (got map[cell]int64, used map[cell]bool) {
	t.Helper()
	s.Process.Eventually(t, time.Minute, func() error {
		got, used = map[cell]int64{}, map[cell]bool{}
		sums := map[string]int64{}
		for _, o := range s.Observations(t) {
			var sum int64
			for _, p := range o.Parts {
				sum += p.Bytes
				if p.Kind == "column_chunk" || p.Kind == "dictionary" {
					got[cell{o.Engine, o.TableID.UUID, p.Field}] += p.Bytes
					used[cell{o.Engine, o.TableID.UUID, p.Field}] = used[cell{o.Engine, o.TableID.UUID, p.Field}] || !o.Footer()
				}
			}
			if sum != o.Bytes {
				t.Errorf("parts of observation %d sum up to %d of %d", o.Seq, sum, o.Bytes)
			}
			sums[o.Engine] += sum
		}
		if diff := cmp.Diff(bytesOf, sums); diff != "" {
			return fmt.Errorf("bytes by engine (-recorded +understood):\n%s", diff)
		}
		return nil
	})
	maps.DeleteFunc(used, func(_ cell, yes bool) bool { return !yes })
	return got, used
}
