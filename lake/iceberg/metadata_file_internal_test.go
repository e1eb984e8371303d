package iceberg

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packers pack metadata as writers do.
func packers(t *testing.T) map[string]func(text string) []byte {
	t.Helper()
	return map[string]func(string) []byte{
		"gzip": func(text string) []byte {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		},
		"zstandard": func(text string) []byte {
			w, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			return w.EncodeAll([]byte(text), nil)
		},
	}
}

// Packed metadata costs what it may unpacked, not what it claims or could
// become.
func TestUnpackMetadata(t *testing.T) {
	text := `{"a":"` + strings.Repeat("metadata ", 1000) + `"}`
	for name, pack := range packers(t) {
		packed := pack(text)
		got, err := unpackMetadata(packed, int64(len(text)))
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if _, err := unpackMetadata(packed, int64(len(text))-1); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s, a byte too long: %v", name, err)
		}
		if _, err := unpackMetadata(pack(strings.Repeat(" ", 64<<20)), 1<<16); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s, of 64 MiB: %v", name, err)
		}
		for n := 4; n < len(packed); n++ {
			if got, err := unpackMetadata(packed[:n], 1<<20); !errors.Is(err, ErrMalformed) && string(got) != text {
				t.Fatalf("%s cut at %d of %d: %d bytes, %v", name, n, len(packed), len(got), err)
			}
		}
		for i := range packed {
			packed[i] ^= 1 << (i % 8)
			if _, err := unpackMetadata(packed, 1<<20); err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("%s with byte %d flipped: %v", name, i, err)
			}
			packed[i] ^= 1 << (i % 8)
		}
	}
	if got, err := unpackMetadata([]byte(text), 1); err != nil || string(got) != text {
		t.Errorf("plain: %v", err) // bounded where it is read
	}
}

func TestReadBounded(t *testing.T) {
	for most, ok := range map[int64]bool{0: false, 4: false, 5: true, 6: true} {
		got, err := readBounded(strings.NewReader("bytes"), most)
		if ok && (err != nil || string(got) != "bytes") || !ok && !errors.Is(err, ErrLimit) {
			t.Errorf("at most %d: %q, %v", most, got, err)
		}
	}
}
