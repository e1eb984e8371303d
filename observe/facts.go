package observe

import (
	"cmp"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
)

// factsOf returns what outlives a query of a table's metadata.
func factsOf(t *iceberg.Table, seen *laketap.TableSeen) laketap.TableFacts {
	facts := laketap.TableFacts{
		At: seen.At, ID: seen.ID, Name: seen.Name, Location: seen.Location, Snapshot: t.CurrentSnapshotID, Columns: columnsOf(t),
	}
	for _, i := range byAge(t) {
		s := &t.Snapshots[i]
		facts.Snapshots = append(facts.Snapshots, laketap.Snapshot{
			ID: s.ID, Parent: max(s.Parent, 0), Sequence: s.SequenceNumber, At: time.UnixMilli(s.Timestamp), Operation: s.Operation,
		})
	}
	return facts
}

// byAge returns the indexes of a table's snapshots, oldest first.
func byAge(t *iceberg.Table) []int {
	order := make([]int, len(t.Snapshots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &t.Snapshots[a], &t.Snapshots[b]
		return cmp.Or(cmp.Compare(x.SequenceNumber, y.SequenceNumber), cmp.Compare(x.Timestamp, y.Timestamp))
	})
	return order
}

// newestFirst sorts the lists of a table's snapshots, the current one in front:
// after a rollback it is not the youngest.
func newestFirst(lists []liveList, t *iceberg.Table) {
	age := make(map[int64]int, len(t.Snapshots))
	for n, i := range byAge(t) {
		age[t.Snapshots[i].ID] = n
	}
	age[t.CurrentSnapshotID] = len(t.Snapshots)
	slices.SortStableFunc(lists, func(a, b liveList) int { return cmp.Compare(age[b.snapshot], age[a.snapshot]) })
}

// columnsOf returns the fields of all schemas by field id, each with its name
// and type in the newest schema that has it: the current one, else the highest
// by id.
func columnsOf(t *iceberg.Table) []laketap.Column {
	columns := map[int]laketap.Column{}
	take := func(s *iceberg.Schema, dropped bool) {
		s.Walk(func(path []string, f *iceberg.Field) bool {
			if _, newer := columns[f.ID]; !newer {
				columns[f.ID] = laketap.Column{Field: f.ID, Name: strings.Join(path, "."), Type: f.Type.String(), Dropped: dropped}
			}
			return true
		})
	}
	if current := t.CurrentSchema(); current != nil {
		take(current, false)
	}
	schemas := slices.Clone(t.Schemas)
	slices.SortFunc(schemas, func(a, b iceberg.Schema) int { return cmp.Compare(b.ID, a.ID) })
	for i := range schemas {
		take(&schemas[i], true)
	}
	all := make([]laketap.Column, 0, len(columns))
	for _, c := range columns {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b laketap.Column) int { return cmp.Compare(a.Field, b.Field) })
	return all
}

// fileOf returns a file of a manifest; ok is false if it is in no S3 store.
func fileOf(origin string, f *iceberg.File) (file laketap.File, ok bool) {
	bucket, key, ok := laketap.SplitS3(f.Path)
	if !ok {
		return laketap.File{}, false
	}
	return laketap.File{
		Object:  laketap.Object{ObjectName: laketap.ObjectName{Origin: origin, Bucket: bucket, Key: key}, Size: f.Size},
		Content: contentOf(partOf(f)), Format: formatOf(f.Format).String(), Rows: f.Records, Partition: partitionText(f.Partition),
	}, true
}

// partitionText spells a partition in the one way that [laketap.File] has it.
func partitionText(values []iceberg.PartitionValue) string {
	if len(values) == 0 {
		return ""
	}
	var text []byte
	for i, v := range values {
		if i > 0 {
			text = append(text, '/')
		}
		text = strconv.AppendInt(text, int64(v.Field), 10)
		text = append(text, '=')
		text = appendValue(text, v.Value)
	}
	return string(text)
}

// appendValue spells a value so that no two of a field have one spelling: text
// is escaped, for it may hold what separates.
func appendValue(text []byte, v iceberg.Value) []byte {
	switch v.Kind {
	case iceberg.BoolValue:
		return strconv.AppendBool(text, v.Bool())
	case iceberg.IntValue:
		return strconv.AppendInt(text, v.Int(), 10)
	case iceberg.FloatValue, iceberg.DoubleValue:
		return strconv.AppendFloat(text, v.Float(), 'g', -1, 64)
	case iceberg.StringValue:
		return append(append(append(text, '"'), url.PathEscape(v.Text())...), '"')
	case iceberg.BytesValue:
		return hex.AppendEncode(append(text, "0x"...), []byte(v.Text()))
	}
	return append(text, "null"...)
}
