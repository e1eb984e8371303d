package parquet

// skip passes over the value of a field of the given type.
func (s *scanner) skip(typ byte) { s.skipValue(typ, maxNesting) }

// skipValue passes over a value in which at most depth more may nest. Each
// step consumes a byte or ends, so it takes time linear in the bytes.
func (s *scanner) skipValue(typ byte, depth int) {
	if depth == 0 {
		s.fail(s.p, "values nested too deep")
		return
	}
	switch typ {
	case tTrue, tFalse: // the value was the type
	case tByte:
		s.advance(1)
	case tI16, tI32, tI64:
		s.skipVarints(1)
	case tDouble:
		s.advance(8)
	case tUUID:
		s.advance(16)
	case tBinary:
		s.bytes()
	case tList, tSet:
		n, elem := s.listHeader()
		s.skipElements(n, elem, depth)
	case tMap:
		s.skipMap(depth)
	case tStruct:
		s.skipStruct(depth)
	default:
		s.fail(s.p, "value of an unknown type")
	}
}

// skipStruct passes over a struct. Half of a footer is statistics that nobody
// asked for, so the fields that they are made of are dealt with in place.
func (s *scanner) skipStruct(depth int) {
	b, p := s.b, s.p
	for p < len(b) {
		c := b[p]
		p++
		if c == 0 {
			s.p = p
			return
		}
		if c <= 0xf { // the id stands in full
			for p < len(b) && b[p] >= 0x80 {
				p++
			}
			p++
		}
		switch typ := c & 0xf; {
		case typ == tTrue || typ == tFalse:
		case typ >= tI16 && typ <= tI64:
			for p < len(b) && b[p] >= 0x80 {
				p++
			}
			p++
		case typ == tBinary && p < len(b) && b[p] < 0x80:
			p += 1 + int(b[p])
		default:
			s.p = min(p, len(b))
			s.skipValue(typ, depth-1)
			p = s.p
		}
	}
	s.fail(len(b), "struct cut short")
}

// skipVarints passes over n varints, whatever their length.
func (s *scanner) skipVarints(n int) {
	b, p := s.b, s.p
	for ; n > 0; n-- {
		for p < len(b) && b[p] >= 0x80 {
			p++
		}
		p++
	}
	if p > len(b) {
		s.fail(len(b), "varint cut short")
		return
	}
	s.p = p
}

// skipElements passes over n values without field headers.
func (s *scanner) skipElements(n int, elem byte, depth int) {
	if elem == tI16 || elem == tI32 || elem == tI64 {
		s.skipVarints(n)
		return
	}
	for i := 0; i < n && s.err == nil; i++ {
		if elem == tStruct && depth > 1 {
			s.skipStruct(depth - 1)
		} else {
			s.skipElement(elem, depth)
		}
	}
}

// skipElement passes over one value without a field header: there, a boolean
// takes a byte.
func (s *scanner) skipElement(elem byte, depth int) {
	if elem == tTrue || elem == tFalse {
		elem = tByte
	}
	s.skipValue(elem, depth-1)
}

// skipMap passes over a map. An empty one has no types.
func (s *scanner) skipMap(depth int) {
	n := s.uvarint()
	if n == 0 {
		return
	}
	if s.left() == 0 || n > uint64(s.left()-1)/2 {
		s.fail(s.p, "map longer than the footer")
		return
	}
	types := s.b[s.p]
	s.p++
	for i := uint64(0); i < n && s.err == nil; i++ {
		s.skipElement(types>>4, depth)
		s.skipElement(types&0xf, depth)
	}
}

// advance passes over n bytes.
func (s *scanner) advance(n int) {
	if n > s.left() {
		s.fail(len(s.b), "value cut short")
		return
	}
	s.p += n
}
