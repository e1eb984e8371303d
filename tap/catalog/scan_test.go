package catalog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// odd is text at the edges of the grammar, each alone and as a value.
var odd = []string{
	``, ` `, `{}`, `[]`, `{"a":1}`, `{"a" : [1 , 2 ] , "b":{ } }`, `nul`, `null`, `true`, `tru`, `falsex`, `NaN`, `Infinity`, `-Infinity`,
	`0`, `-0`, `00`, `01`, `-`, `1.`, `.5`, `1.5e`, `1e+`, `1E-7`, `1e400`, `+1`, `18446744073709551616`, `0x10`, `1_0`,
	`"`, `"a`, `"\`, `"\u12"`, `"\u12g4"`, `"\u12G4"`, `"\ud800"`, `"\x"`, `"\/\b\f\n\r\t\\\""`, "\"a\nb\"", "\"\x1f\"", "\"\x7f\"", "\"\xff\xfe\"", "\"12345678\x00\"",
	`"12345678"`, `"1234567\"`, `"1234567\"12345678"`, "\"é😀12345678\"", "\xef\xbb\xbf{}", `{} {}`, `{}x`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`,
	`[1,]`, `[,1]`, `[1 2]`, `[`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":{"b":1}`, `[}`, `{]`, `{1:2}`, `{'a':1}`, "\v{}", "{}\x00", `// x`, `{"a":1}/**/`,
}

// The scanner's verdict is that of encoding/json.
func TestScanAgreesWithTheLibrary(t *testing.T) {
	for _, text := range odd {
		for _, frame := range []string{"%", ` % `, `{"k":%}`, `[%]`, `{"k":{"l":[%, %]}}`, `{"k":"%"}`} {
			judge(t, []byte(strings.ReplaceAll(frame, "%", text)))
		}
	}
}

// judge compares every reading of text with that of encoding/json.
func judge(t *testing.T, text []byte) {
	t.Helper()
	valid := json.Valid(text)
	from := skipSpace(text, 0)
	end := scanValue(text, from, 1)
	if got := end >= 0 && skipSpace(text, end) == len(text); got != valid {
		t.Fatalf("%.200q: scanner says %v, encoding/json %v", text, got, valid)
	}
	o, ok := parseObject(text)
	if want := valid && text[from] == '{'; ok != want {
		t.Fatalf("%.200q: taken for an object: %v, want %v", text, ok, want)
	}
	if ok {
		sameAsCut(t, o, 2)
	}
}

// sameAsCut compares what the one pass found with what walking again finds.
func sameAsCut(t *testing.T, o object, levels int) {
	t.Helper()
	again, ok := cut(o.raw)
	if !ok || again.from != o.from || again.to != o.to || len(again.members) != len(o.members) {
		t.Fatalf("%.200q: cut differs", o.raw)
	}
	for i, m := range o.members {
		inner := m.inner
		m.inner = nil
		if m != again.members[i] {
			t.Fatalf("%.200q: member %+v, want %+v", o.raw, m, again.members[i])
		}
		value := o.raw[m.valFrom:m.valTo]
		if isObject := levels > 1 && value[0] == '{'; isObject != (inner != nil) {
			t.Fatalf("%.200q: member %q was cut: %v", o.raw, m.name, inner != nil)
		}
		if inner != nil {
			if !bytes.Equal(inner.raw, value) {
				t.Fatalf("%.200q: inner text %.200q, want %.200q", o.raw, inner.raw, value)
			}
			sameAsCut(t, *inner, levels-1)
		}
	}
}

// Nesting ends where it ends in encoding/json, and does not end the process.
func TestScanDepth(t *testing.T) {
	for _, depth := range []int{9_998, 9_999, 10_000, 10_001, 1 << 20} {
		for _, pair := range []string{"[]", `{"a":}`} {
			half := len(pair) - 1
			text := strings.Repeat(pair[:half], depth) + "1" + strings.Repeat(pair[half:], depth)
			judge(t, []byte(text))
			judge(t, []byte(`{"k":`+text+`}`))
		}
	}
}

// An index of members is bounded; where there are more, nothing is edited.
func TestScanMembers(t *testing.T) {
	many := func(n int) []byte {
		var b bytes.Buffer
		for i := range n {
			b.WriteString(`,"` + strconv.Itoa(i) + `":0`)
		}
		b.WriteByte('}')
		out := b.Bytes()
		out[0] = '{'
		return out
	}
	if o, ok := parseObject(many(membersMax)); !ok || len(o.members) != membersMax {
		t.Errorf("%d members: %v", len(o.members), ok)
	}
	if _, ok := parseObject(many(membersMax + 1)); ok {
		t.Error("one member more than the bound was taken")
	}
	if _, ok := parseObject([]byte(`{"config":` + string(many(membersMax+1)) + `}`)); ok {
		t.Error("one member more than the bound was taken within")
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range odd {
		f.Add([]byte(text))
		f.Add([]byte(`{"k":{"l":[` + text + `]},"m":` + text + `}`))
	}
	f.Fuzz(func(t *testing.T, text []byte) { judge(t, text) })
}

// BenchmarkScan reads a table's metadata of megabytes; the library's own check
// is beside it.
func BenchmarkScan(b *testing.B) {
	snapshot := `{"sequence-number":123,"snapshot-id":3055729675574597004,"parent-snapshot-id":3051729675574597004,"timestamp-ms":1555100955770,` +
		`"summary":{"operation":"append","added-data-files":"4","total-records":"1200000"},` +
		`"manifest-list":"s3://lake/warehouse/sales.db/orders/metadata/snap-3055729675574597004-1-9c12d441-03fe-4693-9a96-a0705ddf69c1.avro"}`
	text := []byte(`{"metadata-location":"s3://lake/m.json","metadata":{"location":"s3://lake/o","snapshots":[` +
		strings.Repeat(snapshot+",", 20_000) + snapshot + `]},"config":{}}`)
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, ok := parseObject(text); !ok {
				b.Fatal("not read")
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if !json.Valid(text) {
				b.Fatal("not valid")
			}
		}
	})
}
