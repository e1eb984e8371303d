package parquet

import "fmt"

// An Order is how the bounds of a column compare: union ColumnOrder.
type Order uint8

// The orders.
const (
	NoOrder    Order = iota // not told: bounds have no defined meaning
	TypeOrder               // as the logical or physical type says
	TotalOrder              // IEEE 754 totalOrder
	Int96Order              // INT96 by time
)

// Exactness tells whether a bound is a value of the column or only a bound.
type Exactness uint8

// What a writer can say of a bound.
const (
	NotSaid Exactness = iota
	Exact
	Inexact
)

// Stats are what a writer said of the values of a column chunk. Values are in
// plain encoding, without a length in front; they are part of the footer and
// must not be changed. Nil bounds are absent, empty ones are empty values.
type Stats struct {
	Min, Max           []byte // min_value, max_value
	MinExact, MaxExact Exactness
	// OldMin and OldMax are the deprecated bounds: signed comparison whatever
	// the type, so wrong for text and unsigned numbers.
	OldMin, OldMax []byte
	// Counts are -1 if the writer gave none, which does not mean zero.
	Nulls, Distinct, NaNs int64
}

// Stats returns what the writer said of column c in row group g. Without
// statistics, or with the footer dropped, all is absent. Statistics that break
// the format, or count more than there is, are an error.
func (l *Layout) Stats(g, c int) (Stats, error) {
	out := Stats{Nulls: -1, Distinct: -1, NaNs: -1}
	k := l.at(g, c)
	if k.stats == 0 {
		return out, nil
	}
	s := &scanner{b: l.meta, p: int(k.stats), base: l.start}
	s.statistics(&out)
	if max(out.Nulls, out.Distinct, out.NaNs) > k.values {
		s.fail(int(k.stats), "statistics of more values than there are")
	}
	if s.err != nil {
		return Stats{Nulls: -1, Distinct: -1, NaNs: -1},
			fmt.Errorf("read statistics of row group %d, column %d: %w", g, c, s.err)
	}
	return out, nil
}

// statistics reads Statistics.
func (s *scanner) statistics(out *Stats) {
	var seen uint64
	for id, typ := s.field(0); typ != tStop && s.once(&seen, id); id, typ = s.field(id) {
		switch id {
		case 1:
			out.OldMax = s.binary(typ)
		case 2:
			out.OldMin = s.binary(typ)
		case 3:
			out.Nulls = s.count(typ)
		case 4:
			out.Distinct = s.count(typ)
		case 5:
			out.Max = s.binary(typ)
		case 6:
			out.Min = s.binary(typ)
		case 7:
			out.MaxExact = s.exactness(typ)
		case 8:
			out.MinExact = s.exactness(typ)
		case 9:
			out.NaNs = s.count(typ)
		default:
			s.skip(typ)
		}
	}
}

// exactness reads an optional boolean that is there.
func (s *scanner) exactness(typ byte) Exactness {
	if s.boolean(typ) {
		return Exact
	}
	return Inexact
}
