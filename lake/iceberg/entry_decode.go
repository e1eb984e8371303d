package iceberg

import (
	"math"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

// decode decodes the next entry.
func (p *entryPlan) decode(c *avro.Cursor, e *Entry, a *arena) error {
	e.reset()
	for i := range p.entry {
		s := &p.entry[i]
		switch s.part {
		case 0:
			c.Skip(s.typ)
			continue
		case partFile:
			p.decodeFile(c, s.in, &e.File, a)
			continue
		}
		if !s.present(c) {
			continue
		}
		n := c.Long()
		switch s.part {
		case partStatus:
			if n < 0 || n > int64(Deleted) {
				c.Fail("status %d of a file", n)
			}
			e.Status = Status(n) //nolint:gosec // checked above
		case partSnapshot:
			e.SnapshotID = n
		case partSequence:
			e.SequenceNumber = n
		case partFileSequence:
			e.FileSequenceNumber = n
		}
	}
	if err := c.Err(); err != nil {
		return err
	}
	e.splits()
	return e.check(p.want)
}

// decodeFile decodes the file of an entry.
func (p *entryPlan) decodeFile(c *avro.Cursor, steps []step, f *File, a *arena) {
	for i := range steps {
		s := &steps[i]
		if s.part == 0 {
			c.Skip(s.typ)
			continue
		}
		if !s.present(c) {
			continue
		}
		switch s.part {
		case partPath:
			f.Path = a.text(c.Bytes())
		case partFormat:
			f.Format = parseFormat(c.Bytes())
		case partReferenced:
			f.ReferencedFile = a.text(c.Bytes())
		case partPartition:
			f.Partition = p.decodePartition(c, f.Partition, a)
		case partKeyMetadata:
			f.KeyMetadata = c.Bytes()
			f.Encrypted = true
			if p.want&WantKeyMetadata == 0 {
				f.KeyMetadata = nil
			}
		case partSplits:
			f.SplitOffsets = decodeLongs(c, f.SplitOffsets)
		case partEqualityIDs:
			f.EqualityIDs = decodeIDs(c, f.EqualityIDs)
		case partColumnSizes, partValueCounts, partNullCounts, partNaNCounts, partLower, partUpper:
			decodeMetric(c, s, f)
		default:
			decodeNumber(c, s.part, f)
		}
	}
}

// decodeNumber decodes a number of a file.
func decodeNumber(c *avro.Cursor, which part, f *File) {
	n := c.Long()
	switch which {
	case partContent:
		if n < 0 || n > int64(EqualityDeletes) {
			c.Fail("content %d of a file", n)
		}
		f.Content = Content(n) //nolint:gosec // checked above
	case partRecords:
		f.Records = n
	case partSize:
		f.Size = n
	case partSortOrder:
		if n < math.MinInt32 || n > math.MaxInt32 {
			c.Fail("sort order %d", n)
		}
		f.SortOrderID = int(n)
	case partFirstRow:
		f.FirstRowID = n
	case partOffset:
		f.ContentOffset = n
	case partLength:
		f.ContentSize = n
	}
}

// decodeMetric decodes a number or bound of each column.
func decodeMetric(c *avro.Cursor, s *step, f *File) {
	switch s.part {
	case partColumnSizes:
		f.ColumnSizes = decodeCounts(c, s, f.ColumnSizes)
	case partValueCounts:
		f.ValueCounts = decodeCounts(c, s, f.ValueCounts)
	case partNullCounts:
		f.NullCounts = decodeCounts(c, s, f.NullCounts)
	case partNaNCounts:
		f.NaNCounts = decodeCounts(c, s, f.NaNCounts)
	case partLower:
		f.LowerBounds = decodeBounds(c, s, f.LowerBounds)
	case partUpper:
		f.UpperBounds = decodeBounds(c, s, f.UpperBounds)
	}
}

// decodePartition decodes the values of a partition.
func (p *entryPlan) decodePartition(c *avro.Cursor, values []PartitionValue, a *arena) []PartitionValue {
	for i := range p.partition {
		s := &p.partition[i]
		v := PartitionValue{Field: s.field}
		if s.present(c) {
			v.Value = decodeValue(c, s.typ, a)
		}
		if n := v.Value.Int(); s.millis && v.Value.Kind == IntValue {
			if v.Value.bits = uint64(n * 1000); n*1000/1000 != n { //nolint:gosec // taken out as it is
				c.Fail("time of more than 64 bits")
			}
		}
		values = append(values, v)
	}
	return values
}

// maxItems bounds each list of an entry.
const maxItems = 1 << 20

// fits tells whether a list may grow, and notes an error if it has grown too
// long.
func fits(c *avro.Cursor, n int) bool {
	if n >= maxItems {
		c.Fail("a list of more than %d items", maxItems)
	}
	return c.Err() == nil
}

// decodeLongs decodes a list of numbers.
func decodeLongs(c *avro.Cursor, list []int64) []int64 {
	for {
		run := c.Items(1)
		if run.N == 0 {
			return list
		}
		for n := run.N; n > 0 && fits(c, len(list)); n-- {
			list = append(list, c.Long())
		}
		c.Ran(run)
	}
}

// decodeIDs decodes a list of ids.
func decodeIDs(c *avro.Cursor, list []int) []int {
	for {
		run := c.Items(1)
		if run.N == 0 {
			return list
		}
		for n := run.N; n > 0 && fits(c, len(list)); n-- {
			list = append(list, int(c.Int()))
		}
		c.Ran(run)
	}
}

// decodeCounts decodes a number for each of some columns.
func decodeCounts(c *avro.Cursor, s *step, list []ColumnCount) []ColumnCount {
	for {
		run := c.Items(2)
		if run.N == 0 {
			return list
		}
		for n := run.N; n > 0 && fits(c, len(list)); n-- {
			var pair ColumnCount
			for i := range s.in {
				switch in := &s.in[i]; in.part {
				case pairKey:
					pair.Field = int(c.Int())
				case pairValue:
					pair.N = c.Long()
				default:
					c.Skip(in.typ)
				}
			}
			list = append(list, pair)
		}
		c.Ran(run)
	}
}

// decodeBounds decodes a bound for each of some columns.
func decodeBounds(c *avro.Cursor, s *step, list []ColumnBound) []ColumnBound {
	for {
		run := c.Items(2)
		if run.N == 0 {
			return list
		}
		for n := run.N; n > 0 && fits(c, len(list)); n-- {
			var pair ColumnBound
			for i := range s.in {
				switch in := &s.in[i]; in.part {
				case pairKey:
					pair.Field = int(c.Int())
				case pairValue:
					pair.Value = c.Bytes()
				default:
					c.Skip(in.typ)
				}
			}
			list = append(list, pair)
		}
		c.Ran(run)
	}
}

// parseFormat returns a format in upper case; writers differ in it.
func parseFormat(b []byte) Format {
	for _, f := range [...]Format{Parquet, Avro, ORC, Puffin} {
		if len(b) == len(f) && sameLetters(b, string(f)) {
			return f
		}
	}
	return Format(upper(b))
}

// sameLetters compares ASCII without regard to case.
func sameLetters(b []byte, s string) bool {
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != s[i] {
			return false
		}
	}
	return true
}

// upper returns ASCII in upper case.
func upper(b []byte) string {
	out := make([]byte, len(b))
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		out[i] = c
	}
	return string(out)
}

// splits drops offsets that cannot be places in the file, as some writers have
// them: where a file may be split is only a hint.
func (e *Entry) splits() {
	last := int64(-1)
	for _, offset := range e.SplitOffsets {
		if offset <= last || offset >= e.Size {
			e.SplitOffsets = e.SplitOffsets[:0]
			return
		}
		last = offset
	}
}

// check returns an error if the entry contradicts itself. Bytes that are read at
// the wrong place, as those of a writer that does not keep to its own schema,
// mostly come to light here.
func (e *Entry) check(want Want) error {
	switch {
	case e.Path == "":
		return malformed("file without a path")
	case e.Records < 0 || e.Size < 0:
		return malformed("file %q of %d records in %d bytes", e.Path, e.Records, e.Size)
	case e.FirstRowID < None:
		return malformed("file %q with a first row id of %d", e.Path, e.FirstRowID)
	case e.SequenceNumber < None || e.FileSequenceNumber < None:
		return malformed("file %q with the sequence numbers %d and %d", e.Path, e.SequenceNumber, e.FileSequenceNumber)
	case e.ContentOffset < None || e.ContentSize < None:
		return malformed("file %q with a blob of %d bytes at %d", e.Path, e.ContentSize, e.ContentOffset)
	case e.IsVector() && (e.ContentOffset < 0 || e.ContentSize <= 0 || e.ContentSize > e.Size || e.ContentOffset > e.Size-e.ContentSize):
		return malformed("deletion vector of %d bytes at %d of %q, which has %d", e.ContentSize, e.ContentOffset, e.Path, e.Size)
	case e.IsVector() && e.ReferencedFile == "":
		return malformed("deletion vector in %q for no file", e.Path)
	case e.Content == EqualityDeletes && want&WantEqualityIDs != 0 && len(e.EqualityIDs) == 0:
		return malformed("equality deletes %q of no fields", e.Path)
	}
	return nil
}
