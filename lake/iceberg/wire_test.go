package iceberg_test

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Encoders of Avro, for files that no writer at hand would write.

// long encodes a long.
func long(n int64) string { return string(binary.AppendVarint(nil, n)) }

// text encodes bytes or a string.
func text(s string) string { return long(int64(len(s))) + s }

// some encodes a value of the second branch of a union.
func some(v string) string { return long(1) + v }

// none encodes the first branch, null.
func none() string { return long(0) }

// container encodes a file of one block, with metadata as keys and values.
func container(schema string, meta []string, values ...string) []byte {
	meta = append([]string{"avro.schema", schema}, meta...)
	var out strings.Builder
	out.WriteString("Obj\x01" + long(int64(len(meta)/2)))
	for _, m := range meta {
		out.WriteString(text(m))
	}
	const sync = "0123456789abcdef"
	out.WriteString(long(0) + sync)
	if len(values) > 0 {
		out.WriteString(long(int64(len(values))) + text(strings.Join(values, "")) + sync)
	}
	return []byte(out.String())
}

// field declares a field; an id of 0 gives it none.
func field(id int, name, typ string) string {
	if id == 0 {
		return fmt.Sprintf(`{"name":%q,"type":%s}`, name, typ)
	}
	return fmt.Sprintf(`{"name":%q,"type":%s,"field-id":%d}`, name, typ, id)
}

// rec declares a record.
func rec(name string, fields ...string) string {
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(fields, ","))
}

// opt declares an optional type.
func opt(typ string) string { return `["null",` + typ + `]` }

const (
	tLong  = `"long"`
	tInt   = `"int"`
	tText  = `"string"`
	tBytes = `"bytes"`
)
