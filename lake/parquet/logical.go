package parquet

// A Logical is what the values of a column mean. Fields that its kind does not
// have are zero.
type Logical struct {
	Kind             LogicalKind
	Unit             TimeUnit // of Time and Timestamp
	Bits             int8     // of Integer
	Signed           bool     // of Integer
	UTC              bool     // of Time and Timestamp: normalised to UTC
	Scale, Precision int32    // of Decimal
}

// logical reads union LogicalType.
func (s *scanner) logical(typ byte) (l Logical) {
	if !s.want(typ, tStruct) {
		return l
	}
	var members uint64
	for id, t := s.field(0); t != tStop && s.alone(&members); id, t = s.field(id) {
		if !s.want(t, tStruct) {
			return l
		}
		l.Kind = OtherLogical
		if id >= 0 && id < len(logicalNames) && logicalNames[id] != "" {
			l.Kind = LogicalKind(id)
		}
		switch l.Kind {
		case Decimal:
			s.decimal(&l)
		case Time, Timestamp:
			s.time(&l)
		case Integer:
			s.integer(&l)
		default:
			s.skip(t)
		}
	}
	return l
}

// decimal reads DecimalType.
func (s *scanner) decimal(l *Logical) {
	var seen uint64
	for id, t := s.field(0); t != tStop && s.once(&seen, id); id, t = s.field(id) {
		switch id {
		case 1:
			l.Scale = s.i32(t)
		case 2:
			l.Precision = s.i32(t)
		default:
			s.skip(t)
		}
	}
}

// time reads TimeType and TimestampType, which are alike.
func (s *scanner) time(l *Logical) {
	var seen uint64
	for id, t := s.field(0); t != tStop && s.once(&seen, id); id, t = s.field(id) {
		switch id {
		case 1:
			l.UTC = s.boolean(t)
		case 2:
			l.Unit = s.unit(t)
		default:
			s.skip(t)
		}
	}
}

// unit reads union TimeUnit.
func (s *scanner) unit(typ byte) (u TimeUnit) {
	if !s.want(typ, tStruct) {
		return u
	}
	var members uint64
	for id, t := s.field(0); t != tStop && s.alone(&members); id, t = s.field(id) {
		if id >= int(Millis) && id <= int(Nanos) {
			u = TimeUnit(id)
		}
		s.skip(t)
	}
	return u
}

// integer reads IntType.
func (s *scanner) integer(l *Logical) {
	var seen uint64
	for id, t := s.field(0); t != tStop && s.once(&seen, id); id, t = s.field(id) {
		switch id {
		case 1:
			l.Bits = s.bits(t)
		case 2:
			l.Signed = s.boolean(t)
		default:
			s.skip(t)
		}
	}
}

// bits reads how many bits an integer has.
func (s *scanner) bits(typ byte) int8 {
	if !s.want(typ, tByte) {
		return 0
	}
	if s.left() == 0 {
		s.fail(s.p, "value cut short")
		return 0
	}
	b := int8(s.b[s.p])
	s.p++
	if b < 0 {
		s.fail(s.p, "negative number of bits")
	}
	return b
}

// converted maps enum ConvertedType, by number, to the logical type that
// LogicalTypes.md gives as its equal.
var converted = []Logical{
	{Kind: String},
	{Kind: Map},
	{Kind: Map}, // MAP_KEY_VALUE: where it stands for MAP, and within one
	{Kind: List},
	{Kind: Enum},
	{Kind: Decimal},
	{Kind: Date},
	{Kind: Time, Unit: Millis, UTC: true},
	{Kind: Time, Unit: Micros, UTC: true},
	{Kind: Timestamp, Unit: Millis, UTC: true},
	{Kind: Timestamp, Unit: Micros, UTC: true},
	{Kind: Integer, Bits: 8},
	{Kind: Integer, Bits: 16},
	{Kind: Integer, Bits: 32},
	{Kind: Integer, Bits: 64},
	{Kind: Integer, Bits: 8, Signed: true},
	{Kind: Integer, Bits: 16, Signed: true},
	{Kind: Integer, Bits: 32, Signed: true},
	{Kind: Integer, Bits: 64, Signed: true},
	{Kind: JSON},
	{Kind: BSON},
	{Kind: Interval},
}

// convertedLogical returns the logical type that older writers meant.
func convertedLogical(c, scale, precision int32) Logical {
	if c < 0 || int(c) >= len(converted) {
		return Logical{}
	}
	l := converted[c]
	if l.Kind == Decimal {
		l.Scale, l.Precision = scale, precision
	}
	return l
}
