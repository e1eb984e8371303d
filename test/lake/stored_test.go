package lake_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/lake"
)

const secret = "http://127.0.0.1:9191/ is in here, again and again: http://127.0.0.1:9191/"

// avro makes an Avro file of two blocks.
func avro(codec string, block []byte) []byte {
	text := func(out []byte, s string) []byte { return append(binary.AppendVarint(out, int64(len(s))), s...) }
	out := binary.AppendVarint([]byte("Obj\x01"), 2)
	for _, word := range []string{"avro.schema", `"bytes"`, "avro.codec", codec} {
		out = text(out, word)
	}
	marker := strings.Repeat("m", 16)
	out = append(append(out, 0), marker...)
	for range 2 {
		out = append(text(binary.AppendVarint(out, 1), string(block)), marker...)
	}
	return out
}

func packed(t *testing.T) (deflated, gzipped []byte) {
	t.Helper()
	var raw, zip bytes.Buffer
	deflate, err := flate.NewWriter(&raw, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	gz := gzip.NewWriter(&zip)
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{deflate, gz} {
		if _, err := w.Write([]byte(secret)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return raw.Bytes(), zip.Bytes()
}

func TestUnpacked(t *testing.T) {
	deflated, gzipped := packed(t)
	for name, tt := range map[string]struct {
		stored []byte
		want   string
		err    string
	}{
		"plain Avro":       {avro("null", []byte(secret)), secret + secret, ""},
		"deflated Avro":    {avro("deflate", deflated), secret + secret, ""},
		"another codec":    {avro("lzma", deflated), "", "lzma"},
		"cut off":          {avro("null", []byte(secret))[:120], "", "past the end"},
		"damaged":          {avro("deflate", deflated[:5]), "", "unpack"},
		"gzip":             {gzipped, secret, ""},
		"anything else":    {[]byte(secret), "", ""},
		"nothing":          {nil, "", ""},
		"Avro without end": {[]byte("Obj\x01"), "", "header"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := lake.Unpacked(tt.stored)
			if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %q, %v; want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
}
