package iceberg

import (
	"math"
	"slices"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

// A ValueKind is how a partition value is held.
type ValueKind uint8

// How values are held. Dates, times and timestamps are integers (days,
// microseconds, nanoseconds), decimals big-endian two's complement bytes, and a
// uuid its 16 bytes: the partition field's type says which.
const (
	NullValue ValueKind = iota
	BoolValue
	IntValue
	FloatValue
	DoubleValue
	StringValue
	BytesValue
)

// A Value is one partition value.
type Value struct {
	Kind ValueKind
	bits uint64
	text string
}

// Null tells whether the value is null.
func (v Value) Null() bool { return v.Kind == NullValue }

// Bool returns a BoolValue.
func (v Value) Bool() bool { return v.bits == 1 }

// Int returns an IntValue.
func (v Value) Int() int64 { return int64(v.bits) } //nolint:gosec // as it was put in

// Float returns a FloatValue or DoubleValue.
func (v Value) Float() float64 {
	if v.Kind == FloatValue {
		return float64(math.Float32frombits(uint32(v.bits))) //nolint:gosec // as it was put in
	}
	return math.Float64frombits(v.bits)
}

// Text returns the bytes of a StringValue or BytesValue.
func (v Value) Text() string { return v.text }

// A PartitionValue is the value of one partition field.
type PartitionValue struct {
	Field int // id of the partition field
	Value Value
}

// decodeValue decodes a partition value of a writer's type. Text goes into the
// arena.
func decodeValue(c *avro.Cursor, t *avro.Type, a *arena) Value {
	switch t.Kind {
	case avro.Boolean:
		if c.Boolean() {
			return Value{Kind: BoolValue, bits: 1}
		}
		return Value{Kind: BoolValue}
	case avro.Int:
		return Value{Kind: IntValue, bits: uint64(c.Int())} //nolint:gosec // taken out as it is
	case avro.Long:
		return Value{Kind: IntValue, bits: uint64(c.Long())} //nolint:gosec // taken out as it is
	case avro.Float:
		return Value{Kind: FloatValue, bits: uint64(math.Float32bits(c.Float()))}
	case avro.Double:
		return Value{Kind: DoubleValue, bits: math.Float64bits(c.Double())}
	case avro.String:
		return Value{Kind: StringValue, text: a.text(c.Bytes())}
	case avro.Bytes:
		return Value{Kind: BytesValue, text: a.text(c.Bytes())}
	case avro.Fixed:
		return Value{Kind: BytesValue, text: a.text(c.Fixed(t.Size))}
	}
	c.Skip(t) // null: planDecode lets nothing else come here
	return Value{}
}

// valueType tells whether partition values can have a writer's type.
func valueType(t *avro.Type) bool {
	switch t.Kind {
	case avro.Array, avro.Map, avro.Record, avro.Enum:
		return false
	case avro.Union: // of nothing but null, as values of an unknown type are
		return !slices.ContainsFunc(t.Branches, func(b *avro.Type) bool { return b.Kind != avro.Null })
	}
	return true
}
