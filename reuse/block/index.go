package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/laketap/laketap"
)

// The index is a log of what the segments hold; docs/formats/block.md draws it.
const (
	indexName   = "index"
	indexMagic  = "LAKETAPX"
	indexHeader = 16      // magic, version, reserved
	recordStart = 8       // length, CRC32C
	maxRecord   = 1 << 20 // bytes
	maxFields   = 1 << 10 // of a header
)

// Kinds of records.
const (
	kindObject  = 1 // a version: id, checked, size, name, ETag, header, checksums
	kindExtent  = 2 // bytes of a version: id, offset, length, segment, place, checksums
	kindDrop    = 3 // id: no record of it counts any more, wherever it stands
	kindChecked = 4 // id, checked: the origin has confirmed it
	kindOpened  = 5 // by a process
	kindClosed  = 6 // in good order; only as the last record
)

// A record is one entry of the index, with the members that its kind has.
type record struct {
	kind      byte
	id        uint64
	checked   time.Time
	object    laketap.Object
	header    []laketap.Field
	checksums []laketap.Field
	withSums  bool
	off, len  int64
	segment   uint64
	at        int64
	sums      []uint32
}

func indexStart() []byte {
	b := append(make([]byte, 0, indexHeader), indexMagic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	return binary.LittleEndian.AppendUint32(b, 0)
}

// appendRecord writes a record with its length and checksum.
func appendRecord(b []byte, r *record) []byte {
	start := len(b)
	b = append(b, make([]byte, recordStart)...)
	b = append(b, r.kind)
	switch r.kind {
	case kindObject:
		b = binary.AppendUvarint(b, r.id)
		b = binary.AppendVarint(b, r.checked.Unix())
		b = binary.AppendUvarint(b, uint64(r.object.Size)) //nolint:gosec // not negative
		for _, s := range []string{r.object.Origin, r.object.Bucket, r.object.Key, r.object.ETag} {
			b = appendString(b, s)
		}
		b = appendFields(b, r.header)
		b = appendFields(b, r.checksums)
		b = append(b, flag(r.withSums))
	case kindExtent:
		for _, n := range []uint64{r.id, uint64(r.off), uint64(r.len), r.segment, uint64(r.at)} { //nolint:gosec // not negative
			b = binary.AppendUvarint(b, n)
		}
		for _, sum := range r.sums {
			b = binary.LittleEndian.AppendUint32(b, sum)
		}
	case kindDrop:
		b = binary.AppendUvarint(b, r.id)
	case kindChecked:
		b = binary.AppendUvarint(b, r.id)
		b = binary.AppendVarint(b, r.checked.Unix())
	}
	payload := b[start+recordStart:]
	binary.LittleEndian.PutUint32(b[start:], uint32(len(payload))) //nolint:gosec // bounded by maxRecord
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(payload, castagnoli))
	return b
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendFields(b []byte, fields []laketap.Field) []byte {
	b = binary.AppendUvarint(b, uint64(len(fields)))
	for _, f := range fields {
		b = appendString(appendString(b, f.Name), f.Value)
	}
	return b
}

// errRecord says that bytes are no record. What follows one is not read.
var errRecord = errors.New("not a record")

// parseRecord reads a record's payload, whose checksum has been seen to be right.
func parseRecord(b []byte) (*record, error) {
	if len(b) == 0 {
		return nil, errRecord
	}
	r, p := &record{kind: b[0]}, &parser{b: b[1:]}
	switch r.kind {
	case kindObject:
		r.id, r.checked, r.object.Size = p.uint(), p.time(), p.int()
		r.object.Origin, r.object.Bucket, r.object.Key, r.object.ETag = p.string(), p.string(), p.string(), p.string()
		r.header, r.checksums = p.fields(), p.fields()
		r.withSums = p.byte() == 1
	case kindExtent:
		r.id, r.off, r.len, r.segment, r.at = p.uint(), p.int(), p.int(), p.uint(), p.int()
		if r.len <= 0 || r.len > maxExtent || r.off > 1<<62 || int64(len(p.b)) != (r.len+chunk-1)/chunk*4 {
			return nil, fmt.Errorf("%w: extent of %d bytes", errRecord, r.len)
		}
		r.sums = make([]uint32, 0, len(p.b)/4)
		for ; len(p.b) > 0; p.b = p.b[4:] {
			r.sums = append(r.sums, binary.LittleEndian.Uint32(p.b))
		}
	case kindDrop:
		r.id = p.uint()
	case kindChecked:
		r.id, r.checked = p.uint(), p.time()
	case kindOpened, kindClosed:
	default:
		return nil, fmt.Errorf("%w: kind %d", errRecord, r.kind)
	}
	if p.bad || len(p.b) > 0 {
		return nil, errRecord
	}
	return r, nil
}

// A parser takes values off bytes. After the first that is not there, bad is
// set and all others are zero.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) fail() {
	p.b, p.bad = nil, true
}

func (p *parser) uint() uint64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.fail()
		return 0
	}
	p.b = p.b[n:]
	return v
}

// int is a uint of 63 bits.
func (p *parser) int() int64 {
	v := p.uint()
	if v > 1<<63-1 {
		p.fail()
		return 0
	}
	return int64(v) //nolint:gosec // checked
}

func (p *parser) time() time.Time {
	v, n := binary.Varint(p.b)
	if n <= 0 {
		p.fail()
		return time.Time{}
	}
	p.b = p.b[n:]
	return time.Unix(v, 0)
}

func (p *parser) byte() byte {
	if len(p.b) == 0 {
		p.fail()
		return 0
	}
	c := p.b[0]
	p.b = p.b[1:]
	return c
}

func (p *parser) string() string {
	n := p.uint()
	if n > uint64(len(p.b)) {
		p.fail()
		return ""
	}
	s := string(p.b[:n])
	p.b = p.b[n:]
	return s
}

func (p *parser) fields() []laketap.Field {
	n := p.uint()
	if n > maxFields {
		p.fail()
		return nil
	}
	var fields []laketap.Field
	for range n {
		f := laketap.Field{Name: p.string(), Value: p.string()}
		if p.bad {
			return nil
		}
		fields = append(fields, f)
	}
	return fields
}
