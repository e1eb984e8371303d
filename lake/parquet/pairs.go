package parquet

// pairs reads the list of KeyValue and yields each until yield says no. As in
// the readers that are generated from the format, a pair has a key.
func (s *scanner) pairs(typ byte, yield func(key, value []byte) bool) {
	for range s.list(typ, tStruct, 3) { // a pair has a key and an end
		key, value := s.pair()
		if s.err != nil || !yield(key, value) {
			return
		}
	}
}

// pair reads one KeyValue.
func (s *scanner) pair() (key, value []byte) {
	var seen uint64
	for id, typ := s.field(0); typ != tStop && s.once(&seen, id); id, typ = s.field(id) {
		switch id {
		case 1:
			key = s.binary(typ)
		case 2:
			value = s.binary(typ)
		default:
			s.skip(typ)
		}
	}
	if seen&(1<<1) == 0 {
		s.fail(s.p, "key-value pair without a key")
	}
	return key, value
}
