package catalog_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestRequirements(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	id := c.load(at).Metadata.UUID
	tests := []struct{ name, requirement, want string }{
		{"uuid", `{"type":"assert-table-uuid","uuid":"` + id + `"}`, ""},
		{"other uuid", `{"type":"assert-table-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"}`, "409 CommitFailedException"},
		{"no ref", `{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}`, ""},
		{"some ref", `{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":1}`, "409 CommitFailedException"},
		{"field id", `{"type":"assert-last-assigned-field-id","last-assigned-field-id":1}`, ""},
		{"other field id", `{"type":"assert-last-assigned-field-id","last-assigned-field-id":2}`, "409 CommitFailedException"},
		{"schema", `{"type":"assert-current-schema-id","current-schema-id":0}`, ""},
		{"other schema", `{"type":"assert-current-schema-id","current-schema-id":1}`, "409 CommitFailedException"},
		{"partition id", `{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":999}`, ""},
		{"other partition id", `{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":1000}`, "409 CommitFailedException"},
		{"spec", `{"type":"assert-default-spec-id","default-spec-id":0}`, ""},
		{"other spec", `{"type":"assert-default-spec-id","default-spec-id":1}`, "409 CommitFailedException"},
		{"order", `{"type":"assert-default-sort-order-id","default-sort-order-id":0}`, ""},
		{"other order", `{"type":"assert-default-sort-order-id","default-sort-order-id":1}`, "409 CommitFailedException"},
		{"create", `{"type":"assert-create"}`, "409 CommitFailedException"},
		{"unknown", `{"type":"assert-phase-of-moon"}`, "400 BadRequestException"},
		{"incomplete", `{"type":"assert-table-uuid"}`, "400 BadRequestException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := c.load(at).MetadataLocation
			got := c.call("POST", at, `{"requirements":[`+tt.requirement+`],"updates":[{"action":"set-properties","updates":{"case":"`+tt.name+`"}}]}`)
			moved := c.load(at).MetadataLocation != before
			if tt.want == "" {
				if got.status != 200 || !moved {
					t.Errorf("got %d, moved %t: %s", got.status, moved, got.raw)
				}
				return
			}
			if got.kind() != tt.want || moved {
				t.Errorf("got %s, moved %t, want %s", got.kind(), moved, tt.want)
			}
		})
	}
}

// Each update action, on a table of format 3, which has them all.
func TestUpdates(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	c.must("POST", "/v1/namespaces/n/tables", `{"name":"t","schema":`+oneColumn+`,"properties":{"format-version":"1","old":"1"}}`)
	at := "/v1/namespaces/n/tables/t"
	view := c.load(at)
	now := time.Now().UnixMilli()
	schema := `{"type":"struct","schema-id":1,"fields":[{"id":1,"name":"id","type":"long","required":false},{"id":2,"name":"day","type":"date","required":false}]}`
	snapshot := func(id, parent, sequence, firstRow int) string {
		up := ""
		if parent > 0 {
			up = fmt.Sprintf(`"parent-snapshot-id":%d,`, parent)
		}
		return fmt.Sprintf(`{"action":"add-snapshot","snapshot":{"snapshot-id":%d,%s"sequence-number":%d,"timestamp-ms":%d,"first-row-id":%d,"added-rows":1,`+
			`"manifest-list":"s3://lake/x/%d.avro","summary":{"operation":"append"},"schema-id":1}}`, id, up, sequence, now, firstRow, id)
	}
	stats := `{"snapshot-id":11,"statistics-path":"s3://lake/x/s.puffin","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}`
	partitions := `{"snapshot-id":11,"statistics-path":"s3://lake/x/p.parquet","file-size-in-bytes":1}`
	steps := []struct{ name, updates string }{
		{"assign its own uuid", `{"action":"assign-uuid","uuid":"` + view.Metadata.UUID + `"}`},
		{"upgrade to 2", `{"action":"upgrade-format-version","format-version":2}`},
		{"upgrade to 3", `{"action":"upgrade-format-version","format-version":3}`},
		{"schema", `{"action":"add-schema","schema":` + schema + `},{"action":"set-current-schema","schema-id":-1}`},
		{"spec", `{"action":"add-spec","spec":{"fields":[{"source-id":2,"name":"day","transform":"day"}]}},{"action":"set-default-spec","spec-id":-1}`},
		{"order", `{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}},{"action":"set-default-sort-order","sort-order-id":-1}`},
		{"properties", `{"action":"set-properties","updates":{"new":"2"}},{"action":"remove-properties","removals":["old"]}`},
		{"location", `{"action":"set-location","location":"s3://lake/moved/t"}`},
		{"snapshot", snapshot(11, 0, 1, 0) + `,{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":11}`},
		{"two snapshots at once", snapshot(12, 11, 2, 1) + "," + snapshot(13, 12, 3, 2) + `,{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":13}`},
		{"tag", `{"action":"set-snapshot-ref","ref-name":"kept","type":"tag","snapshot-id":11,"max-ref-age-ms":100000}`},
		{"statistics", `{"action":"set-statistics","snapshot-id":11,"statistics":` + stats + `}`},
		{"partition statistics", `{"action":"set-partition-statistics","partition-statistics":` + partitions + `}`},
		{"remove statistics", `{"action":"remove-statistics","snapshot-id":11},{"action":"remove-partition-statistics","snapshot-id":11}`},
		{"key", `{"action":"add-encryption-key","encryption-key":{"key-id":"k","encrypted-key-metadata":"aGVsbG8=","encrypted-by-id":"m"}}`},
		{"remove key", `{"action":"remove-encryption-key","key-id":"k"}`},
		{"remove snapshot", `{"action":"remove-snapshots","snapshot-ids":[12]}`},
		{"remove tag", `{"action":"remove-snapshot-ref","ref-name":"kept"}`},
		{"remove spec and schema", `{"action":"remove-partition-specs","spec-ids":[0]},{"action":"remove-schemas","schema-ids":[0]}`},
	}
	for i, step := range steps {
		got := c.call("POST", at, `{"requirements":[],"updates":[`+step.updates+`]}`)
		if got.status != 200 {
			t.Fatalf("%s: %d %s", step.name, got.status, got.raw)
		}
		if i > 0 && !strings.Contains(c.table(got).MetadataLocation, "/metadata/0000"+strconv.Itoa(i)) && i < 10 {
			t.Errorf("%s: file %s is not number %d", step.name, c.table(got).MetadataLocation, i)
		}
	}
	m := c.load(at).Metadata
	if m.FormatVersion != 3 || m.CurrentSchema != 1 || m.DefaultSpec != 1 || m.Location != "s3://lake/moved/t" || m.LastSequence != 3 {
		t.Errorf("result: %+v", m)
	}
	if m.Properties["new"] != "2" || m.Properties["old"] != "" {
		t.Errorf("properties: %v", m.Properties)
	}
	if m.Current == nil || *m.Current != 13 || len(m.Snapshots) != 2 || len(m.Refs) != 1 {
		t.Errorf("snapshots %v, refs %v, current %v", m.Snapshots, m.Refs, m.Current)
	}
	if len(m.Schemas) != 1 {
		t.Errorf("schemas: %v", m.Schemas)
	}
}

func TestRefusedUpdates(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	now := time.Now().UnixMilli()
	add := func(id, parent, sequence int) string {
		return fmt.Sprintf(`{"action":"add-snapshot","snapshot":{"snapshot-id":%d,"parent-snapshot-id":%d,"sequence-number":%d,"timestamp-ms":%d,"manifest-list":"s3://lake/x/m.avro","summary":{"operation":"append"},"schema-id":0}},`+
			`{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":%[1]d}`, id, parent, sequence, now)
	}
	c.must("POST", at, `{"updates":[`+strings.Replace(add(1, 0, 1), `"parent-snapshot-id":0,`, "", 1)+`]}`)
	tests := []struct{ name, path, body, want string }{
		{"unknown action", at, `{"updates":[{"action":"set-phase-of-moon"}]}`, "400 BadRequestException"},
		{"no action", at, `{"updates":[{"x":1}]}`, "400 BadRequestException"},
		{"incomplete", at, `{"updates":[{"action":"set-location"}]}`, "400 BadRequestException"},
		{"updates are no list", at, `{"updates":{}}`, "400 BadRequestException"},
		{"another uuid", at, `{"updates":[{"action":"assign-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"}]}`, "400 BadRequestException"},
		{"downgrade", at, `{"updates":[{"action":"upgrade-format-version","format-version":1}]}`, "400 BadRequestException"},
		{"format 9", at, `{"updates":[{"action":"upgrade-format-version","format-version":9}]}`, "400 BadRequestException"},
		{"location outside", at, `{"updates":[{"action":"set-location","location":"s3://other/t"}]}`, "400 BadRequestException"},
		{"metadata outside", at, `{"updates":[{"action":"set-properties","updates":{"write.metadata.path":"s3://other/m"}}]}`, "400 BadRequestException"},
		{"schema that is not there", at, `{"updates":[{"action":"set-current-schema","schema-id":7}]}`, "400 BadRequestException"},
		{"ref to nothing", at, `{"updates":[{"action":"set-snapshot-ref","ref-name":"b","type":"branch","snapshot-id":99}]}`, "400 BadRequestException"},
		{"snapshot again", at, `{"updates":[` + add(1, 1, 2) + `]}`, "400 BadRequestException"},
		{"overtaken snapshot", at, `{"updates":[` + add(2, 1, 1) + `]}`, "409 CommitFailedException"},
		{"missing table", "/v1/namespaces/n/tables/u", setProperty("a", "b"), "404 NoSuchTableException"},
		{"missing namespace", "/v1/namespaces/x/tables/u", setProperty("a", "b"), "404 NoSuchNamespaceException"},
		{"two names", at, `{"identifier":{"namespace":["n"],"name":"u"},"updates":[]}`, "400 BadRequestException"},
		{"create without schema", "/v1/namespaces/n/tables/u", `{"requirements":[{"type":"assert-create"}],"updates":[]}`, "400 BadRequestException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, files := c.load(at).MetadataLocation, c.files.count("")
			if got := c.call("POST", tt.path, tt.body).kind(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if after := c.load(at).MetadataLocation; after != before {
				t.Errorf("table moved from %s to %s", before, after)
			}
			if n := c.files.count(""); n != files {
				t.Errorf("%d files, before %d", n, files)
			}
		})
	}
}

// A commit that changes nothing keeps the file, as Iceberg's own catalogs do.
func TestEmptyCommit(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	before := c.load(at)
	for _, body := range []string{`{"requirements":[],"updates":[]}`, `{}`, `{"updates":[{"action":"assign-uuid","uuid":"` + before.Metadata.UUID + `"}]}`} {
		after := c.table(c.must("POST", at, body))
		if after.MetadataLocation != before.MetadataLocation || after.Metadata.UUID != before.Metadata.UUID {
			t.Errorf("%s: got %s, want %s", body, after.MetadataLocation, before.MetadataLocation)
		}
	}
	c.load(at)
}

func TestMetadataLog(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	want := make([]string, 0, 3)
	for i := range 3 {
		want = append(want, c.load(at).MetadataLocation)
		c.must("POST", at, setProperty("i", strconv.Itoa(i)))
	}
	log := c.load(at).Metadata.Log
	got := make([]string, 0, len(log))
	for _, entry := range log {
		got = append(got, entry.File)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("log: got %v, want %v", got, want)
	}
}

// Of commits built on one base, exactly one wins; the others are told so and
// leave no file.
func TestConcurrentCommitsOnOneBase(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	const rounds, writers = 5, 8
	for round := range rounds {
		ref := "null"
		if round > 0 {
			ref = strconv.Itoa(round)
		}
		var wg sync.WaitGroup
		results := make([]string, writers)
		for w := range writers {
			wg.Go(func() {
				body := fmt.Sprintf(`{"requirements":[{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":%s}],"updates":[
					{"action":"add-snapshot","snapshot":{"snapshot-id":%d,"sequence-number":%d,"timestamp-ms":%d,"manifest-list":"s3://lake/x/%d.avro","summary":{"operation":"append"},"schema-id":0}},
					{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":%[2]d},
					{"action":"set-properties","updates":{"winner":"%[5]d"}}]}`, ref, round+1, round+1, time.Now().UnixMilli(), w)
				got, err := c.send("POST", at, body)
				switch {
				case err != nil:
					results[w] = err.Error()
				case got.status == 200:
					results[w] = "won"
				default:
					results[w] = got.kind()
				}
			})
		}
		wg.Wait()
		winners := 0
		for w, result := range results {
			switch result {
			case "won":
				winners++
				if got := c.load(at).Metadata.Properties["winner"]; got != strconv.Itoa(w) {
					t.Errorf("round %d: table was written by %s, but %d was told it won", round, got, w)
				}
			case "409 CommitFailedException":
			default:
				t.Errorf("round %d, writer %d: %s", round, w, result)
			}
		}
		if winners != 1 {
			t.Errorf("round %d: %d winners: %v", round, winners, results)
		}
	}
	if n := c.files.count("warehouse/"); n != rounds+1 {
		t.Errorf("%d metadata files, want %d: losers left some", n, rounds+1)
	}
}

// Commits that ask for nothing are put one after the other; none is lost.
func TestConcurrentCommitsWithoutRequirements(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	const writers = 8
	var wg sync.WaitGroup
	failed := make([]error, writers)
	for w := range writers {
		wg.Go(func() {
			got, err := c.send("POST", at, setProperty("w"+strconv.Itoa(w), "1"))
			if err == nil && got.status != 200 {
				err = errors.New(got.kind())
			}
			failed[w] = err
		})
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Error(err)
	}
	properties := c.load(at).Metadata.Properties
	for w := range writers {
		if properties["w"+strconv.Itoa(w)] != "1" {
			t.Errorf("the change of writer %d is lost: %v", w, properties)
		}
	}
}

// change is an entry of table-changes.
func tableChange(name, requirements, updates string) string {
	return fmt.Sprintf(`{"identifier":{"namespace":["n"],"name":%q},"requirements":[%s],"updates":[%s]}`, name, requirements, updates)
}

func transaction(changes ...string) string {
	return `{"table-changes":[` + strings.Join(changes, ",") + `]}`
}

func TestTransaction(t *testing.T) {
	c := open(t, nil)
	a, b := c.newTable("n", "a"), c.newTable("n", "b")
	set := func(value string) string { return `{"action":"set-properties","updates":{"p":"` + value + `"}}` }
	good := tableChange("a", "", set("1"))
	tests := []struct{ name, body, want string }{
		{"bad requirement last", transaction(good, tableChange("b", `{"type":"assert-current-schema-id","current-schema-id":9}`, set("1"))), "409 CommitFailedException"},
		{"bad requirement first", transaction(tableChange("b", `{"type":"assert-create"}`, set("1")), good), "409 CommitFailedException"},
		{"missing table", transaction(good, tableChange("none", "", set("1"))), "404 NoSuchTableException"},
		{"unknown action", transaction(good, tableChange("b", "", `{"action":"nonsense"}`)), "400 BadRequestException"},
		{"location outside", transaction(good, tableChange("b", "", `{"action":"set-location","location":"s3://other/b"}`)), "400 BadRequestException"},
		{"no changes", `{}`, "400 BadRequestException"},
		{"no identifier", `{"table-changes":[{"updates":[]}]}`, "400 BadRequestException"},
		{"identifier without name", `{"table-changes":[{"identifier":{"namespace":["n"]},"updates":[]}]}`, "400 BadRequestException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := c.load(a).MetadataLocation + c.load(b).MetadataLocation
			files := c.files.count("")
			if got := c.call("POST", "/v1/transactions/commit", tt.body).kind(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if after := c.load(a).MetadataLocation + c.load(b).MetadataLocation; after != before {
				t.Errorf("a table moved")
			}
			if n := c.files.count(""); n != files {
				t.Errorf("%d files, before %d", n, files)
			}
		})
	}
	t.Run("good", func(t *testing.T) {
		create := tableChange("made", `{"type":"assert-create"}`, `{"action":"add-schema","schema":`+oneColumn+`},{"action":"set-current-schema","schema-id":-1},`+
			`{"action":"add-spec","spec":{"fields":[]}},{"action":"set-default-spec","spec-id":-1},{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}},{"action":"set-default-sort-order","sort-order-id":-1}`)
		if got := c.must("POST", "/v1/transactions/commit", transaction(good, tableChange("b", "", set("2")), create)).status; got != 204 {
			t.Errorf("got %d, want 204", got)
		}
		for at, want := range map[string]string{a: "1", b: "2", "/v1/namespaces/n/tables/made": ""} {
			if got := c.load(at).Metadata.Properties["p"]; got != want {
				t.Errorf("%s: p=%q, want %q", at, got, want)
			}
		}
	})
	t.Run("one table twice", func(t *testing.T) {
		before := c.load(a)
		second := tableChange("a", "", `{"action":"set-properties","updates":{"q":"1"}}`)
		c.must("POST", "/v1/transactions/commit", transaction(tableChange("a", "", set("3")), second))
		after := c.load(a).Metadata
		if after.Properties["p"] != "3" || after.Properties["q"] != "1" {
			t.Errorf("properties: %v", after.Properties)
		}
		if len(after.Log) != len(before.Metadata.Log)+1 || after.Log[len(after.Log)-1].File != before.MetadataLocation {
			t.Errorf("log: %v", after.Log)
		}
	})
}

// Transactions that cross each other neither deadlock nor tear: both tables
// always carry the same value.
func TestConcurrentTransactions(t *testing.T) {
	c := open(t, nil)
	a, b := c.newTable("n", "a"), c.newTable("n", "b")
	var wg sync.WaitGroup
	failed := make([]error, 8)
	for w := range failed {
		wg.Go(func() {
			set := fmt.Sprintf(`{"action":"set-properties","updates":{"p":"%d"}}`, w)
			changes := []string{tableChange("a", "", set), tableChange("b", "", set)}
			if w%2 == 1 {
				changes[0], changes[1] = changes[1], changes[0]
			}
			got, err := c.send("POST", "/v1/transactions/commit", transaction(changes...))
			if err == nil && got.status != 204 {
				err = errors.New(got.kind())
			}
			failed[w] = err
		})
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Error(err)
	}
	if x, y := c.load(a).Metadata.Properties["p"], c.load(b).Metadata.Properties["p"]; x != y {
		t.Errorf("a has %s and b has %s", x, y)
	}
}

func TestStoreThatRefuses(t *testing.T) {
	c := open(t, nil)
	at := c.newTable("n", "t")
	before := c.load(at).MetadataLocation
	c.files.refuse = errors.New("no space left on device")
	if got := c.call("POST", at, setProperty("a", "b")).kind(); got != "500 InternalServerError" {
		t.Errorf("got %s", got)
	}
	if after := c.load(at).MetadataLocation; after != before {
		t.Errorf("table moved to %s", after)
	}
	c.must("POST", at, setProperty("a", "b"))
}
