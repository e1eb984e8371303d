package parquet

import (
	"encoding/binary"
	"math"
)

// The end of a file: the length of its metadata, and a magic number.
const (
	tailLen        = 8
	headLen        = 4
	magic          = "PAR1"
	magicEncrypted = "PARE" // the footer is encrypted, whatever stands before
)

// FooterLength returns how many bytes from the end of a file its footer takes:
// metadata, length and magic number. It is told by the last eight bytes, which
// tail must end with.
func FooterLength(tail []byte) (int64, error) {
	if len(tail) < tailLen {
		return 0, &ShortError{Need: tailLen}
	}
	end := tail[len(tail)-tailLen:]
	switch string(end[4:]) {
	case magic, magicEncrypted:
		return int64(binary.LittleEndian.Uint32(end)) + tailLen, nil
	}
	return 0, ErrNotParquet
}

// ParseFooter reads the footer at the end of tail, which holds the last bytes
// of a file of size bytes. If they do not hold all of it, the error is a
// *ShortError. The layout keeps the part of tail that is the footer, unless
// Options say otherwise: do not change it afterwards.
func ParseFooter(tail []byte, size int64, opts Options) (*Layout, error) {
	opts = opts.withDefaults()
	n, err := checkedLength(tail, size, opts)
	if err != nil {
		return nil, err
	}
	if n > int64(len(tail)) {
		return nil, &ShortError{Need: n}
	}
	if int64(len(tail)) == size && string(tail[:headLen]) != string(tail[size-headLen:]) {
		return nil, ErrNotParquet
	}
	start := size - n
	meta := tail[int64(len(tail))-n : len(tail)-tailLen]
	s := &scanner{b: meta, base: start}
	if string(tail[len(tail)-headLen:]) == magicEncrypted {
		return nil, &EncryptedError{Footer: true, Algorithm: s.algorithmAt(1)}
	}
	l := &Layout{size: size, start: start, meta: meta}
	l.fileMetaData(s, &opts)
	if s.err != nil {
		return nil, nameAlgorithm(s.err, meta)
	}
	if err := l.index(); err != nil {
		return nil, err
	}
	if opts.DropFooter {
		l.meta, l.keyValues = nil, span{}
		for i := range l.chunks {
			l.chunks[i].stats = 0
		}
	}
	return l, nil
}

// checkedLength returns the length of the footer if a file of this size can
// have one so long, and Options allow it.
func checkedLength(tail []byte, size int64, opts Options) (int64, error) {
	if size < headLen+tailLen || int64(len(tail)) > size {
		return 0, ErrNotParquet
	}
	n, err := FooterLength(tail)
	switch {
	case err != nil:
		return 0, err
	case n > size-headLen:
		return 0, &FormatError{Offset: size - tailLen, What: "footer longer than the file"}
	case n > opts.MaxFooter || n > math.MaxInt32:
		return 0, &LimitError{What: "footer bytes", Got: n, Most: min(opts.MaxFooter, math.MaxInt32)}
	}
	return n, nil
}

// A span is a part of the metadata; the zero value is none.
type span struct{ from, to uint32 }

// The fields of FileMetaData that must be there, as bits.
const fileNeeds = 1<<1 | 1<<2 | 1<<3 | 1<<4

// fileMetaData reads the whole of the metadata.
func (l *Layout) fileMetaData(s *scanner, opts *Options) {
	var seen uint64
	groups, orders := -1, -1 // where lists stand that came before the schema
	for id, typ := s.field(0); typ != tStop; id, typ = s.field(id) {
		if !s.once(&seen, id) {
			return
		}
		switch id {
		case 1:
			l.version = s.natural(typ)
		case 2:
			if l.schema = s.schema(typ, opts.MaxSchema); l.schema != nil {
				l.schema.mapNames(opts.Names)
			}
		case 3:
			l.rows = s.count(typ)
		case 4:
			if s.want(typ, tList) {
				groups = l.nowOrLater(s, typ, func() { l.rowGroups(s, opts) })
			}
		case 5:
			l.keyValues.from = uint32(s.p)
			s.pairs(typ, func(_, _ []byte) bool { return true })
			l.keyValues.to = uint32(s.p)
		case 6:
			l.createdBy = string(s.binary(typ))
		case 7:
			if s.want(typ, tList) {
				orders = l.nowOrLater(s, typ, func() { l.columnOrders(s) })
			}
		case 8:
			s.stop(&EncryptedError{Algorithm: s.algorithm(typ)})
		case 9:
			s.stop(&EncryptedError{})
		default:
			s.skip(typ)
		}
	}
	if s.err == nil && seen&fileNeeds != fileNeeds {
		s.fail(s.p, "file metadata without version, schema, num_rows or row_groups")
	}
	l.later(s, groups, func() { l.rowGroups(s, opts) })
	l.later(s, orders, func() { l.columnOrders(s) })
}

// nowOrLater reads a list that needs the schema if that is known, which it is
// in all but hand-made files; else it passes over it and returns where it is.
func (l *Layout) nowOrLater(s *scanner, typ byte, read func()) int {
	if l.schema != nil {
		read()
		return -1
	}
	at := s.p
	s.skip(typ)
	return at
}

// later reads a list that came before the schema.
func (l *Layout) later(s *scanner, at int, read func()) {
	if s.err == nil && at >= 0 {
		s.p = at
		read()
	}
}

// once fails if a field of the struct was seen before: readers differ in which
// of the two they take. Every struct that is read, not passed over, asks it.
func (s *scanner) once(seen *uint64, id int) bool {
	bit := uint64(1) << uint(id) // none for ids that are no field of ours
	if *seen&bit != 0 {
		s.fail(s.p, "field given twice")
		return false
	}
	*seen |= bit
	return true
}

// alone fails if the union has a member already: readers differ here, too.
func (s *scanner) alone(members *uint64) bool {
	if *members++; *members > 1 {
		s.fail(s.p, "union with more than one member")
	}
	return s.err == nil
}

// columnOrders reads the list of union ColumnOrder, one a leaf.
func (l *Layout) columnOrders(s *scanner) {
	n := s.list(tList, tStruct, 1)
	if s.err == nil && n != len(l.schema.leaves) {
		s.fail(s.p, "column orders for another number of columns")
		return
	}
	l.orders = make([]Order, n)
	for i := range l.orders {
		var members uint64
		for id, typ := s.field(0); typ != tStop && s.alone(&members); id, typ = s.field(id) {
			if id >= int(TypeOrder) && id <= int(Int96Order) {
				l.orders[i] = Order(id)
			}
			s.skip(typ)
		}
	}
}

// nameAlgorithm completes the error of an encrypted column, whose algorithm
// stands further on in the metadata.
func nameAlgorithm(err error, meta []byte) error {
	e, ok := err.(*EncryptedError) //nolint:errorlint // made here, never wrapped
	if !ok || e.Algorithm != "" {
		return err
	}
	s := &scanner{b: meta}
	return &EncryptedError{Algorithm: s.algorithmAt(8)}
}

// algorithmAt reads a struct as far as the field that tells the algorithm.
func (s *scanner) algorithmAt(field int) string {
	for id, typ := s.field(0); typ != tStop; id, typ = s.field(id) {
		if id == field {
			return s.algorithm(typ)
		}
		s.skip(typ)
	}
	return ""
}

// algorithm reads union EncryptionAlgorithm; "" is one without a name here.
func (s *scanner) algorithm(typ byte) string {
	if typ != tStruct {
		return ""
	}
	switch id, _ := s.field(0); id {
	case 1:
		return "AES_GCM_V1"
	case 2:
		return "AES_GCM_CTR_V1"
	}
	return ""
}
