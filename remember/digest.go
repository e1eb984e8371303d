package remember

import (
	"slices"
	"strconv"
	"time"

	"github.com/laketap/laketap"
)

// Kinds of uses beside those of habits.
const (
	queryUse = "query" // scans of a table
	usedUse  = "used"  // scans that a column was used in
	partUse  = "part"  // bytes of what is no column, by kind of part
)

// wholeFile is the part that stands for a file itself.
const wholeFile = -1

// An actor is who uses something.
type actor struct{ engine, version, principal string }

func actorOf(e laketap.Engine, principal string) actor { return actor{e.Name, e.Version, principal} }

type useKey struct {
	table laketap.TableID
	kind  string
	field int
	value string
	actor actor
}

type fileKey struct {
	table laketap.TableID
	name  laketap.ObjectName
}

type fileUseKey struct {
	file  fileKey
	part  int
	field int
	actor actor
}

type hourKey struct {
	table laketap.TableID
	hour  int64
	actor actor // without principal
}

// hourSum is what one engine did with a table in one hour.
type hourSum struct {
	accesses float64
	asked    int64
	served   [laketap.FromTap + 1]int64
}

// A seenFile is a file with when it was last read.
type seenFile struct {
	laketap.File

	last time.Time
}

// A digest is what batches add to the memory, summed up: what is written at
// once.
type digest struct {
	tables   map[laketap.TableID][]laketap.TableFacts // those whose names differ
	told     int                                      // of all tables
	changes  []laketap.Change
	uses     map[useKey]*use
	files    map[fileKey]*seenFile
	fileUses map[fileUseKey]*use
	hours    map[hourKey]*hourSum
	listed   int // files of changes
}

func newDigest() *digest {
	return &digest{
		tables: map[laketap.TableID][]laketap.TableFacts{}, uses: map[useKey]*use{}, files: map[fileKey]*seenFile{},
		fileUses: map[fileUseKey]*use{}, hours: map[hourKey]*hourSum{},
	}
}

// size is how many rows a digest may become.
func (d *digest) size() int {
	return d.told + d.listed + len(d.changes) + len(d.uses) + len(d.files) + len(d.fileUses) + len(d.hours)
}

// add sums a batch up.
func (d *digest) add(b *laketap.Batch, open openings) {
	for _, t := range b.Tables {
		d.table(t)
	}
	for i := range b.Observations {
		d.observe(&b.Observations[i], open)
	}
	for i := range b.Queries {
		d.query(&b.Queries[i])
	}
	for _, c := range b.Changes {
		if c.Table.UUID != "" {
			d.changes = append(d.changes, c)
			d.listed += len(c.Added) + len(c.Removed)
		}
	}
}

// table keeps what metadata says: the newest, and what gave other names.
func (d *digest) table(t laketap.TableFacts) {
	if t.ID.UUID == "" {
		return
	}
	all := d.tables[t.ID]
	if n := len(all); n > 0 && all[n-1].Name == t.Name && slices.Equal(all[n-1].Columns, t.Columns) {
		if !t.At.Before(all[n-1].At) {
			all[n-1] = t
		}
		return
	}
	d.tables[t.ID] = append(all, t)
	d.told += 1 + len(t.Columns)
}

// observe adds an observation; one of no known table is in no sum.
func (d *digest) observe(o *laketap.Observation, open openings) {
	if o.Table.UUID == "" {
		return
	}
	weight := o.Weight
	if weight <= 0 {
		weight = 1
	}
	scaled := func(n int64) int64 { return int64(float64(n)*weight + 0.5) }
	hour := d.hour(hourKey{o.Table, o.At.Unix() / 3600, actorOf(o.Engine, "")})
	hour.accesses += weight
	hour.asked += scaled(o.Asked)
	hour.served[min(o.Served, laketap.FromTap)] += scaled(o.Bytes)

	data := o.File.Content == laketap.DataContent || o.File.Content == laketap.DeleteContent
	who := actorOf(o.Engine, o.Principal)
	var op *opening
	if data {
		var fresh bool
		op, fresh = open.of(o)
		n := 0.0
		if fresh {
			n = weight
		}
		d.open(o, who, n, scaled(o.Bytes))
	}
	file := fileKey{o.Table, o.File.Object.ObjectName}
	for i := range o.Parts {
		p := &o.Parts[i]
		kind, field, n := p.Kind, 0, 0.0
		if p.Kind.Column() && p.Field != 0 {
			kind, field = laketap.ColumnChunkPart, p.Field
			if op != nil && !op.fields[field] {
				op.fields[field], n = true, weight
			}
			d.use(useKey{o.Table, string(laketap.ColumnHabit), field, "", who}).add(o.At, n, scaled(p.Bytes))
		} else {
			d.use(useKey{o.Table, partUse, 0, p.Kind.String(), who}).add(o.At, 0, scaled(p.Bytes))
		}
		if data {
			d.fileUse(fileUseKey{file, int(kind), field, who}).add(o.At, n, scaled(p.Bytes))
		}
	}
}

// open adds what is told of a data file as a whole: n uses and bytes.
func (d *digest) open(o *laketap.Observation, who actor, n float64, bytes int64) {
	key := fileKey{o.Table, o.File.Object.ObjectName}
	f := d.files[key]
	if f == nil {
		f = &seenFile{File: o.File}
		d.files[key] = f
	}
	if o.At.After(f.last) {
		f.last = o.At
	}
	d.fileUse(fileUseKey{key, wholeFile, 0, who}).add(o.At, n, bytes)
	d.use(useKey{o.Table, string(laketap.TableHabit), 0, "", who}).add(o.At, n, bytes)
	if o.File.Partition != "" {
		d.use(useKey{o.Table, string(laketap.PartitionHabit), 0, o.File.Partition, who}).add(o.At, n, bytes)
	}
	d.use(useKey{o.Table, string(laketap.HourHabit), 0, strconv.Itoa(hourOfWeek(o.At)), who}).add(o.At, n, bytes)
}

// query adds what one scan was after.
func (d *digest) query(q *laketap.Query) {
	if q.Table.UUID == "" {
		return
	}
	who := actorOf(q.Engine, q.Principal)
	d.use(useKey{q.Table, queryUse, 0, "", who}).add(q.At, 1, 0)
	for _, field := range q.Fields {
		d.use(useKey{q.Table, usedUse, field, "", who}).add(q.At, 1, 0)
	}
	if q.Predicate.Shape != "" {
		d.use(useKey{q.Table, string(laketap.PredicateHabit), 0, q.Predicate.Shape, who}).add(q.At, 1, 0)
	}
}

func (d *digest) use(key useKey) *use {
	u := d.uses[key]
	if u == nil {
		u = &use{}
		d.uses[key] = u
	}
	return u
}

func (d *digest) fileUse(key fileUseKey) *use {
	u := d.fileUses[key]
	if u == nil {
		u = &use{}
		d.fileUses[key] = u
	}
	return u
}

func (d *digest) hour(key hourKey) *hourSum {
	h := d.hours[key]
	if h == nil {
		h = &hourSum{}
		d.hours[key] = h
	}
	return h
}

// hourOfWeek returns 0 for Monday 00:00 UTC to 167.
func hourOfWeek(t time.Time) int {
	t = t.UTC()
	return (int(t.Weekday())+6)%7*24 + t.Hour()
}
