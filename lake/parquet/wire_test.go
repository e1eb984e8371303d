package parquet_test

import "encoding/binary"

// A value is something the compact protocol can write, for footers that no
// library would.
type value interface {
	typ() byte
	append(b []byte) []byte
}

type (
	i16 int64
	i32 int64
	i64 int64
	str string
	// flag is a boolean field.
	flag bool
	// raw is bytes as they are, under a type of one's own.
	raw struct {
		t byte
		b string
	}
	list []value
	// obj is a struct: fields in the order in which they are written.
	obj []field
	// field is a field of a struct.
	field struct {
		id int
		v  value
	}
)

func (i16) typ() byte   { return 4 }
func (i32) typ() byte   { return 5 }
func (i64) typ() byte   { return 6 }
func (str) typ() byte   { return 8 }
func (list) typ() byte  { return 9 }
func (obj) typ() byte   { return 12 }
func (r raw) typ() byte { return r.t }
func (f flag) typ() byte {
	if f {
		return 1
	}
	return 2
}

func (v i16) append(b []byte) []byte  { return binary.AppendVarint(b, int64(v)) }
func (v i32) append(b []byte) []byte  { return binary.AppendVarint(b, int64(v)) }
func (v i64) append(b []byte) []byte  { return binary.AppendVarint(b, int64(v)) }
func (f flag) append(b []byte) []byte { return b }
func (r raw) append(b []byte) []byte  { return append(b, r.b...) }
func (v str) append(b []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func (v list) append(b []byte) []byte {
	elem := byte(12)
	if len(v) > 0 {
		elem = v[0].typ()
	}
	b = append(b, 0xf0|elem)
	b = binary.AppendUvarint(b, uint64(len(v)))
	for _, e := range v {
		b = e.append(b)
	}
	return b
}

func (v obj) append(b []byte) []byte {
	last := 0
	for _, f := range v {
		if d := f.id - last; d > 0 && d < 16 {
			b = append(b, byte(d)<<4|f.v.typ())
		} else {
			b = binary.AppendVarint(append(b, f.v.typ()), int64(f.id))
		}
		b = f.v.append(b)
		last = f.id
	}
	return append(b, 0)
}

// with returns a copy of the struct with fields put in the place of those with
// the same ids, or at the end.
func (v obj) with(fields ...field) obj {
	out := append(obj(nil), v...)
	for _, f := range fields {
		found := false
		for i := range out {
			if out[i].id == f.id {
				out[i], found = f, true
				break
			}
		}
		if !found {
			out = append(out, f)
		}
	}
	return out
}

// without returns a copy of the struct that lacks a field.
func (v obj) without(id int) (out obj) {
	for _, f := range v {
		if f.id != id {
			out = append(out, f)
		}
	}
	return out
}

// file puts data and metadata together: magic, data, metadata, length, magic.
func file(data string, meta value) []byte {
	b := append([]byte("PAR1"), data...)
	start := len(b)
	b = meta.append(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)-start))
	return append(b, "PAR1"...)
}

// root is the first element of a schema.
func root(children int) obj {
	return obj{{4, str("root")}, {5, i32(children)}}
}

// group is a schema element with children.
func group(name string, repetition, children int, more ...field) obj {
	return obj{{3, i32(repetition)}, {4, str(name)}, {5, i32(children)}}.with(more...)
}

// leaf is a schema element that is a column of INT32.
func leaf(name string, repetition int, more ...field) obj {
	return obj{{1, i32(1)}, {3, i32(repetition)}, {4, str(name)}}.with(more...)
}

// id is the field id of a schema element.
func id(n int) field { return field{9, i32(n)} }

// column is the metadata of a chunk at off, size bytes long.
func column(off, size int64, path ...string) obj {
	names := make(list, 0, len(path))
	for _, p := range path {
		names = append(names, str(p))
	}
	return obj{
		{1, i32(1)},
		{2, list{i32(0), i32(3)}},
		{3, names},
		{4, i32(1)},
		{5, i64(10)},
		{6, i64(size)},
		{7, i64(size)},
		{9, i64(off)},
	}
}

// chunk is a column chunk with this metadata.
func chunk(meta obj, more ...field) obj {
	return obj{{2, i64(0)}, {3, meta}}.with(more...)
}

// rowGroup is a row group of ten rows.
func rowGroup(chunks ...value) obj {
	return obj{{1, list(chunks)}, {2, i64(100)}, {3, i64(10)}}
}

// metadata is a footer of ten rows.
func metadata(schema list, groups ...value) obj {
	return obj{{1, i32(1)}, {2, schema}, {3, i64(10)}, {4, list(groups)}}
}

// plain is a file of two columns a and b with ids 1 and 2, one row group, and
// 100 bytes of data that a has 40 and b 60 of.
func plain() obj {
	return metadata(
		list{root(2), leaf("a", 0, id(1)), leaf("b", 1, id(2))},
		rowGroup(chunk(column(4, 40, "a")), chunk(column(44, 60, "b"))),
	)
}
