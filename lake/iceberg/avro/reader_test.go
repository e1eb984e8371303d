package avro_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/laketap/laketap/lake/iceberg/avro"
)

// long encodes a long.
func long(n int64) string { return string(binary.AppendVarint(nil, n)) }

// text encodes bytes or a string.
func text(s string) string { return long(int64(len(s))) + s }

const sync = "0123456789abcdef"

// header encodes the start of a file.
func header(schema, codec string) string {
	return "Obj\x01" + long(2) + text("avro.schema") + text(schema) + text("avro.codec") + text(codec) + long(0) + sync
}

// block encodes a block of n values.
func block(n int64, packed string) string { return long(n) + text(packed) + sync }

// pack packs a block.
func pack(tb testing.TB, codec, s string) string {
	tb.Helper()
	switch codec {
	case "deflate":
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, 5)
		if err == nil {
			_, err = io.WriteString(w, s)
		}
		if err != nil || w.Close() != nil {
			tb.Fatal(err)
		}
		return b.String()
	case "snappy":
		return string(binary.BigEndian.AppendUint32(snappy.Encode(nil, []byte(s)), crc32.ChecksumIEEE([]byte(s))))
	case "zstandard":
		w, err := zstd.NewWriter(nil)
		if err != nil {
			tb.Fatal(err)
		}
		return string(w.EncodeAll([]byte(s), nil))
	}
	return s
}

// readAll reads a file and passes over its values.
func readAll(file string, limits avro.Limits) (values int64, err error) {
	r := avro.NewReader(limits)
	defer r.Close()
	if err := r.Reset(strings.NewReader(file)); err != nil {
		return 0, err
	}
	for {
		c, n, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return values, err
		}
		for range min(n, 1<<20) {
			c.Skip(r.Schema())
		}
		if c.Err() != nil {
			return values, c.Err()
		}
		values += n
	}
}

func TestCodecs(t *testing.T) {
	for _, codec := range []string{"", "null", "deflate", "snappy", "zstandard"} {
		body := text("first") + text(strings.Repeat("x", 300_000))
		file := header(`"string"`, codec) + block(2, pack(t, codec, body)) + block(1, pack(t, codec, text("third")))
		if n, err := readAll(file, avro.Limits{}); n != 3 || err != nil {
			t.Errorf("%s: %d values, %v", codec, n, err)
		}
		if _, err := readAll(file, avro.Limits{Block: 100_000}); codec != "" && codec != "null" && !errors.Is(err, avro.ErrLimit) {
			t.Errorf("%s: block over the limit: %v", codec, err)
		}
		for n := range len(file) - 16 - 1 {
			if n > 1000 && n < len(file)-200 {
				continue
			}
			got, err := readAll(file[:n], avro.Limits{})
			if whole := n == len(header(`"string"`, codec)); !whole && err == nil && got < 2 {
				t.Fatalf("%s: cut at %d: %d values and no error", codec, n, got)
			}
		}
	}
	if _, err := readAll(header(`"string"`, "bzip2"), avro.Limits{}); !errors.Is(err, avro.ErrUnsupported) {
		t.Errorf("bzip2: %v", err)
	}
}

func TestSnappyChecksum(t *testing.T) {
	packed := []byte(pack(t, "snappy", text("x")))
	packed[len(packed)-1] ^= 1
	if _, err := readAll(header(`"string"`, "snappy")+block(1, string(packed)), avro.Limits{}); !errors.Is(err, avro.ErrMalformed) {
		t.Errorf("%v", err)
	}
	lie := string(binary.AppendUvarint(nil, 1<<31)) + "\x00\x00\x00\x00\x00\x00"
	if _, err := readAll(header(`"string"`, "snappy")+block(1, lie), avro.Limits{}); !errors.Is(err, avro.ErrLimit) {
		t.Errorf("length that is a lie: %v", err)
	}
}

// A frame of zstandard that says it holds 64 MiB gets no memory for it.
func TestZstandardLie(t *testing.T) {
	lie := "\x28\xb5\x2f\xfd\xe0" + string(binary.LittleEndian.AppendUint64(nil, 64<<20)) + "\x01\x00\x00"
	file := header(`"string"`, "zstandard") + block(1, lie)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readAll(file, avro.Limits{})
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, avro.ErrMalformed) || grown > 16<<20 {
		t.Errorf("%v, %d bytes", err, grown)
	}
}

// PyIceberg cuts one byte of zlib's checksum off and leaves three.
func TestDeflateOfPyIceberg(t *testing.T) {
	if n, err := readAll(header(`"string"`, "deflate")+block(1, pack(t, "deflate", text("x"))+"abc"), avro.Limits{}); n != 1 || err != nil {
		t.Errorf("%d values, %v", n, err)
	}
	if _, err := readAll(header(`"string"`, "deflate")+block(1, pack(t, "deflate", text("x"))+"abcde"), avro.Limits{}); !errors.Is(err, avro.ErrMalformed) {
		t.Errorf("%v", err)
	}
}

func TestLies(t *testing.T) {
	min64 := long(-1 << 63)
	start := func(schema string) string { return header(schema, "null") }
	tests := map[string]struct {
		file string
		want error
	}{
		"no magic":               {"PAR1", avro.ErrMalformed},
		"empty":                  {"", avro.ErrMalformed},
		"2^63 keys":              {"Obj\x01" + min64, avro.ErrMalformed},
		"2^62 keys":              {"Obj\x01" + long(1<<62), avro.ErrLimit},
		"many keys":              {"Obj\x01" + long(2000), avro.ErrLimit},
		"huge key":               {"Obj\x01" + long(1) + long(1<<62), avro.ErrLimit},
		"negative key":           {"Obj\x01" + long(1) + long(-1), avro.ErrMalformed},
		"huge schema":            {start(`"` + strings.Repeat("x", 2<<20) + `"`), avro.ErrLimit},
		"no schema":              {start(""), avro.ErrMalformed},
		"number without end":     {start(`"long"`) + strings.Repeat("\xff", 20), avro.ErrMalformed},
		"negative values":        {start(`"long"`) + long(-1) + long(1) + "\x00" + sync, avro.ErrMalformed},
		"2^63 values":            {start(`"long"`) + min64 + long(1) + "\x00" + sync, avro.ErrMalformed},
		"negative size":          {start(`"long"`) + long(1) + long(-1), avro.ErrMalformed},
		"2^63 size":              {start(`"long"`) + long(1) + min64, avro.ErrMalformed},
		"huge size":              {start(`"long"`) + long(1) + long(1<<62), avro.ErrLimit},
		"size of what is not":    {start(`"long"`) + long(1) + long(100<<20), avro.ErrMalformed},
		"more values":            {start(`"long"`) + block(1<<62, "\x00"), avro.ErrMalformed},
		"sync differs":           {start(`"long"`) + long(1) + text("\x00") + "0123456789abcdeX", avro.ErrMalformed},
		"long without end":       {start(`"long"`) + block(1, "\xff"), avro.ErrMalformed},
		"long of 11 bytes":       {start(`"long"`) + block(1, strings.Repeat("\xff", 11)+"\x00"), avro.ErrMalformed},
		"string of -1":           {start(`"string"`) + block(1, long(-1)), avro.ErrMalformed},
		"string of 2^62":         {start(`"string"`) + block(1, long(1<<62)), avro.ErrMalformed},
		"items of 2^62":          {start(`{"type":"array","items":"int"}`) + block(1, long(1<<62)), avro.ErrMalformed},
		"items of -2^63":         {start(`{"type":"array","items":"null"}`) + block(1, min64+long(0)), avro.ErrMalformed},
		"items of negative size": {start(`{"type":"array","items":"int"}`) + block(1, long(-1)+long(-1)), avro.ErrMalformed},
		"entries of 2^62":        {start(`{"type":"map","values":"null"}`) + block(1, long(1<<62)), avro.ErrMalformed},
		"branch 2 of 2":          {start(`["null","int"]`) + block(1, long(2)), avro.ErrMalformed},
		"branch -1":              {start(`["null","int"]`) + block(1, long(-1)), avro.ErrMalformed},
	}
	for name, tt := range tests {
		if _, err := readAll(tt.file, avro.Limits{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// No bytes, but any number of them: no work either.
	if _, err := readAll(start(`{"type":"array","items":"null"}`)+block(1, long(1<<62)+long(0)), avro.Limits{}); err != nil {
		t.Errorf("nulls: %v", err)
	}
}

func TestSchemas(t *testing.T) {
	record := func(fields string) string { return `{"type":"record","name":"r","fields":[` + fields + `]}` }
	var bomb strings.Builder // each record holds two of the one before
	bomb.WriteString(`{"name":"f0","type":{"type":"record","name":"r0","fields":[{"name":"n","type":"null"}]}}`)
	for i := range 60 {
		fmt.Fprintf(&bomb, `,{"name":"f%d","type":{"type":"record","name":"r%d","fields":[{"name":"a","type":"r%d"},{"name":"b","type":"r%d"}]}}`, i+1, i+1, i, i)
	}
	deep := strings.Repeat(`{"type":"array","items":`, 100) + `"int"` + strings.Repeat("}", 100)
	tests := map[string]struct {
		schema string
		want   error
	}{
		"primitive":          {`"long"`, nil},
		"wrapped":            {`{"type":{"type":"long"}}`, nil},
		"logical":            {`{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}`, nil},
		"members reversed":   {`{"fields":[{"type":["null","space.r"],"name":"next"}],"namespace":"space","name":"r","type":"record"}`, nil},
		"name in its space":  {`{"type":"record","name":"a.r","fields":[{"name":"x","type":["null","r"]}]}`, nil},
		"list":               {record(`{"name":"next","type":["null","r"]},{"name":"v","type":"int"}`), nil},
		"bomb of nulls":      {record(bomb.String()), nil},
		"itself":             {record(`{"name":"x","type":"r"}`), avro.ErrMalformed},
		"itself by another":  {record(`{"name":"x","type":{"type":"record","name":"s","fields":[{"name":"y","type":"r"}]}}`), avro.ErrMalformed},
		"unknown type":       {`"nope"`, avro.ErrMalformed},
		"name twice":         {record(`{"name":"x","type":{"type":"fixed","name":"r","size":1}}`), avro.ErrMalformed},
		"fixed twice":        {record(`{"name":"x","type":{"type":"fixed","name":"f","size":1}},{"name":"y","type":{"type":"fixed","name":"f","size":1}}`), nil},
		"fixed differs":      {record(`{"name":"x","type":{"type":"fixed","name":"f","size":1}},{"name":"y","type":{"type":"fixed","name":"f","size":2}}`), avro.ErrMalformed},
		"no items":           {`{"type":"array"}`, avro.ErrMalformed},
		"no name":            {`{"type":"record","fields":[]}`, avro.ErrMalformed},
		"no type":            {`{"name":"x"}`, avro.ErrMalformed},
		"fixed of -1":        {`{"type":"fixed","name":"f","size":-1}`, avro.ErrMalformed},
		"fixed of 2^62":      {`{"type":"fixed","name":"f","size":4611686018427387904}`, avro.ErrMalformed},
		"fixed without size": {`{"type":"fixed","name":"f"}`, avro.ErrMalformed},
		"no branches":        {`[]`, avro.ErrMalformed},
		"deep":               {deep, avro.ErrLimit},
		"deep text":          {strings.Repeat("[", 100_000), avro.ErrLimit},
		"wide":               {`["null"` + strings.Repeat(`,"int"`, 70_000) + "]", avro.ErrLimit},
		"cut":                {`{"type":"arr`, avro.ErrMalformed},
	}
	for name, tt := range tests {
		if _, err := avro.ParseSchema([]byte(tt.schema)); !errors.Is(err, tt.want) && (err != nil || tt.want != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A list as long as its bytes say must not become as deep a recursion.
func TestDeepData(t *testing.T) {
	schema := `{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]}]}`
	file := header(schema, "null") + block(1, strings.Repeat("\x02", 1<<20)+"\x00")
	if _, err := readAll(file, avro.Limits{}); !errors.Is(err, avro.ErrLimit) {
		t.Errorf("%v", err)
	}
}

// All kinds are passed over by exactly the bytes they take.
func TestSkip(t *testing.T) {
	schema := `{"type":"record","name":"r","fields":[
		{"name":"b","type":"boolean"},{"name":"i","type":"int"},{"name":"l","type":"long"},{"name":"f","type":"float"},
		{"name":"d","type":"double"},{"name":"y","type":"bytes"},{"name":"s","type":"string"},{"name":"n","type":"null"},
		{"name":"x","type":{"type":"fixed","name":"x","size":3}},{"name":"e","type":{"type":"enum","name":"e","symbols":["A","B"]}},
		{"name":"a","type":{"type":"array","items":{"type":"record","name":"p","fields":[{"name":"k","type":"int"},{"name":"v","type":"long"}]}}},
		{"name":"q","type":{"type":"array","items":{"type":"record","name":"q","fields":[{"name":"k","type":"int"},{"name":"v","type":"bytes"}]}}},
		{"name":"m","type":{"type":"map","values":["null","double"]}},{"name":"z","type":"p"}]}`
	value := "\x01" + long(-5) + long(1<<62) + "ffff" + "dddddddd" + text("bytes") + text("string") + "xyz" + long(1) +
		long(2) + long(1) + long(2) + long(3) + long(1<<40) + long(-1) + long(2) + "\x02\x04" + long(0) +
		long(1) + long(7) + text("v") + long(0) +
		long(2) + text("k") + long(0) + text("j") + long(1) + "dddddddd" + long(0) + long(1) + long(2)
	if n, err := readAll(header(schema, "null")+block(3, value+value+value), avro.Limits{}); n != 3 || err != nil {
		t.Errorf("%d values, %v", n, err)
	}
	for cut := range len(value) {
		if _, err := readAll(header(schema, "null")+block(1, value[:cut]), avro.Limits{}); !errors.Is(err, avro.ErrMalformed) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func FuzzContainer(f *testing.F) {
	for _, codec := range []string{"null", "deflate", "snappy", "zstandard"} {
		f.Add([]byte(header(`"string"`, codec) + block(2, pack(f, codec, text("a")+text("b")))))
	}
	f.Add([]byte(header(`{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]}]}`, "null") + block(1, "\x02\x02\x00")))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := readAll(string(b), avro.Limits{Header: 1 << 20, Schema: 1 << 16, Block: 1 << 20})
		if err != nil && !errors.Is(err, avro.ErrMalformed) && !errors.Is(err, avro.ErrLimit) && !errors.Is(err, avro.ErrUnsupported) {
			t.Error(err)
		}
	})
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"],"field-id":5}]}`), []byte("\x02\x00"))
	f.Add([]byte(`{"type":"map","values":{"type":"array","items":"null"}}`), []byte("\x02\x02a\x02\x00\x00"))
	f.Fuzz(func(t *testing.T, schema, data []byte) {
		s, err := avro.ParseSchema(schema)
		if err != nil {
			if !errors.Is(err, avro.ErrMalformed) && !errors.Is(err, avro.ErrLimit) {
				t.Error(err)
			}
			return
		}
		c := avro.NewCursor(data)
		c.Skip(s)
	})
}
