package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// Bounds returns what no value of column c in row group g is below and above,
// in plain encoding, nil where nothing is known. Other than in [Stats] these
// are only bounds that the format gives a meaning: in an order that the file
// names, of the width of the type; not NaN, and not the lower above the upper.
// The deprecated ones count only for types that their signed order fits.
//
// Bounds say nothing of NaN, nor of the sign of zero, and may be values that
// the column does not have.
func (l *Layout) Bounds(g, c int) (lower, upper []byte, err error) {
	s, err := l.Stats(g, c)
	if err != nil {
		return nil, nil, err
	}
	column := l.Column(c)
	switch {
	case column.ordered() && (s.Min != nil || s.Max != nil):
		lower, upper = s.Min, s.Max
	case column.signed():
		lower, upper = s.OldMin, s.OldMax
	}
	if !column.isValue(lower) {
		lower = nil
	}
	if !column.isValue(upper) {
		upper = nil
	}
	if lower != nil && upper != nil && column.compare(lower, upper) > 0 {
		return nil, nil, nil
	}
	return lower, upper, nil
}

// ordered reports whether min_value and max_value have an order, and one that
// the column's type allows.
func (c *Column) ordered() bool {
	switch c.Order {
	case TypeOrder:
		switch c.Kind {
		case Interval, List, Map, Variant, Geometry, Geography, File, OtherLogical:
			return false
		}
		return c.Type != Int96
	case TotalOrder:
		return c.float()
	case Int96Order:
		return c.Type == Int96
	}
	return false
}

// signed reports whether values compare as signed numbers, as the deprecated
// bounds do.
func (c *Column) signed() bool {
	switch c.Type {
	case Boolean, Float, Double:
		return true
	case Int32, Int64:
		return c.number()
	}
	return false
}

// number reports whether integers of the column compare as signed ones.
func (c *Column) number() bool {
	switch c.Kind {
	case Integer:
		return c.Signed
	case NoLogical, Decimal, Date, Time, Timestamp:
		return true
	}
	return false
}

// float reports whether values are floating-point numbers.
func (c *Column) float() bool { return c.Type == Float || c.Type == Double || c.Kind == Float16 }

// isValue reports whether b can be a bound: of the type's width, and no NaN.
func (c *Column) isValue(b []byte) bool {
	if b == nil {
		return false
	}
	switch c.Type {
	case Boolean:
		return len(b) == 1
	case Int32:
		return len(b) == 4
	case Float:
		return len(b) == 4 && !math.IsNaN(float(b))
	case Int64:
		return len(b) == 8
	case Double:
		return len(b) == 8 && !math.IsNaN(double(b))
	case Int96:
		return len(b) == 12
	case FixedLenByteArray:
		if c.Kind == Float16 {
			return len(b) == 2 && (b[1]&0x7c != 0x7c || b[1]&3 == 0 && b[0] == 0)
		}
		return len(b) == c.Length
	}
	return true
}

// compare compares two bounds where that takes a line; what it does not know
// is equal.
func (c *Column) compare(a, b []byte) int {
	switch {
	case c.Type == Int32 && c.number():
		return cmp.Compare(int32(binary.LittleEndian.Uint32(a)), int32(binary.LittleEndian.Uint32(b)))
	case c.Type == Int64 && c.number():
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	case c.Type == Int32:
		return cmp.Compare(binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b))
	case c.Type == Int64:
		return cmp.Compare(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b))
	case c.Type == Float:
		return cmp.Compare(float(a), float(b))
	case c.Type == Double:
		return cmp.Compare(double(a), double(b))
	case c.Type == Int96, c.Kind == Decimal, c.Kind == Float16:
		return 0
	}
	return bytes.Compare(a, b)
}

func float(b []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

func double(b []byte) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}
