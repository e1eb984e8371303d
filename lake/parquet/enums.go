package parquet

import (
	"math/bits"
	"strconv"
	"strings"
)

// A Physical is how values are stored: enum Type of the format.
type Physical int8

// The physical types.
const (
	Boolean Physical = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

var physicalNames = []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// String returns the name that the format gives it.
func (t Physical) String() string { return nameOf(physicalNames, int(t), "Type") }

// A Codec is how pages are compressed: enum CompressionCodec. One that this
// package has no name for is no error: it decompresses nothing.
type Codec uint8

// The codecs.
const (
	Uncompressed Codec = iota
	Snappy
	Gzip
	LZO
	Brotli
	LZ4
	Zstd
	LZ4Raw
)

var codecNames = []string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}

// String returns the name that the format gives it.
func (c Codec) String() string { return nameOf(codecNames, int(c), "CompressionCodec") }

// An Encoding is how the values of a page are encoded.
type Encoding uint8

// The encodings.
const (
	Plain                Encoding = 0
	PlainDictionary      Encoding = 2
	RLE                  Encoding = 3
	BitPacked            Encoding = 4
	DeltaBinaryPacked    Encoding = 5
	DeltaLengthByteArray Encoding = 6
	DeltaByteArray       Encoding = 7
	RLEDictionary        Encoding = 8
	ByteStreamSplit      Encoding = 9
	ALP                  Encoding = 10
	// OtherEncoding stands for every encoding of 31 and above, and below 0.
	OtherEncoding Encoding = 31
)

var encodingNames = []string{
	"PLAIN", "", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED",
	"DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE_DICTIONARY", "BYTE_STREAM_SPLIT", "ALP",
}

// String returns the name that the format gives it.
func (e Encoding) String() string { return nameOf(encodingNames, int(e), "Encoding") }

// Encodings is a set of encodings: bit e is Encoding e.
type Encodings uint32

// Has reports whether the set holds e.
func (s Encodings) Has(e Encoding) bool { return s&(1<<(e&31)) != 0 }

// String lists the set, lowest first.
func (s Encodings) String() string {
	names := make([]string, 0, bits.OnesCount32(uint32(s)))
	for e := range OtherEncoding + 1 {
		if s.Has(e) {
			names = append(names, e.String())
		}
	}
	return strings.Join(names, " ")
}

// A LogicalKind is what values mean: the member of union LogicalType that is
// set, or the one that stands for the ConvertedType of older writers.
type LogicalKind uint8

// The logical types; the numbers are the format's, but for the last.
const (
	NoLogical LogicalKind = 0
	String    LogicalKind = 1
	Map       LogicalKind = 2
	List      LogicalKind = 3
	Enum      LogicalKind = 4
	Decimal   LogicalKind = 5
	Date      LogicalKind = 6
	Time      LogicalKind = 7
	Timestamp LogicalKind = 8
	Integer   LogicalKind = 10
	Null      LogicalKind = 11
	JSON      LogicalKind = 12
	BSON      LogicalKind = 13
	UUID      LogicalKind = 14
	Float16   LogicalKind = 15
	Variant   LogicalKind = 16
	Geometry  LogicalKind = 17
	Geography LogicalKind = 18
	File      LogicalKind = 19
	// Interval exists as a ConvertedType only.
	Interval LogicalKind = 200
	// OtherLogical is a logical type of a later version of the format.
	OtherLogical LogicalKind = 255
)

var logicalNames = []string{
	"", "STRING", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "", "INTEGER", "UNKNOWN",
	"JSON", "BSON", "UUID", "FLOAT16", "VARIANT", "GEOMETRY", "GEOGRAPHY", "FILE",
}

// String returns the name that the format gives it, "" for none.
func (k LogicalKind) String() string {
	switch k {
	case NoLogical:
		return ""
	case Interval:
		return "INTERVAL"
	}
	return nameOf(logicalNames, int(k), "LogicalType")
}

// A TimeUnit is the unit of a Time or Timestamp.
type TimeUnit uint8

// The units; the numbers are those of union TimeUnit.
const (
	NoUnit TimeUnit = iota
	Millis
	Micros
	Nanos
)

// nameOf returns names[i], or the kind with the number.
func nameOf(names []string, i int, kind string) string {
	if i >= 0 && i < len(names) && names[i] != "" {
		return names[i]
	}
	return kind + "(" + strconv.Itoa(i) + ")"
}
