package lake

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// avroMagic begins a file of Avro objects, which manifests and their lists are.
const avroMagic = "Obj\x01"

// Stored returns the bytes of all that the lake has written to its folder, by
// path: objects, what the store keeps beside them, the catalog's database.
// What is compressed in table metadata is there twice, once unpacked.
func (l *Lake) Stored(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(l.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		stored, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		plain, err := Unpacked(stored)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		all[strings.TrimPrefix(path, l.Dir+"/")] = append(stored, plain...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Unpacked returns what a file of table metadata holds compressed: the blocks
// of an Avro file, or a gzip file; of any other file nothing.
func Unpacked(stored []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(stored, []byte(avroMagic)):
		return avroBlocks(stored[len(avroMagic):])
	case bytes.HasPrefix(stored, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(bytes.NewReader(stored))
		if err != nil {
			return nil, fmt.Errorf("unpack gzip: %w", err)
		}
		return io.ReadAll(r)
	}
	return nil, nil
}

// avroBlocks unpacks the blocks of an Avro file: after the magic a map that
// names the codec, a marker of 16 bytes, and then blocks of a count, a length,
// bytes and the marker again.
func avroBlocks(rest []byte) ([]byte, error) {
	r := bytes.NewReader(rest)
	codec, err := avroCodec(r)
	if err != nil {
		return nil, fmt.Errorf("read Avro header: %w", err)
	}
	var plain []byte
	if _, err := r.Seek(16, io.SeekCurrent); err != nil {
		return nil, fmt.Errorf("read Avro header: %w", err)
	}
	for r.Len() > 0 {
		if _, err := binary.ReadVarint(r); err != nil {
			return nil, fmt.Errorf("read Avro block: %w", err)
		}
		block, err := avroBytes(r)
		if err != nil {
			return nil, fmt.Errorf("read Avro block: %w", err)
		}
		switch codec {
		case "", "null":
		case "deflate":
			if block, err = io.ReadAll(flate.NewReader(bytes.NewReader(block))); err != nil {
				return nil, fmt.Errorf("unpack Avro block: %w", err)
			}
		default:
			return nil, fmt.Errorf("unpack Avro block: codec %q is unknown", codec)
		}
		plain = append(plain, block...)
		if _, err := r.Seek(16, io.SeekCurrent); err != nil {
			return nil, fmt.Errorf("read Avro block: %w", err)
		}
	}
	return plain, nil
}

// avroCodec reads the map of an Avro file's header for the codec in it.
func avroCodec(r *bytes.Reader) (codec string, err error) {
	for {
		n, err := binary.ReadVarint(r)
		if err != nil || n == 0 {
			return codec, err
		}
		if n < 0 { // then the length in bytes stands between
			n = -n
			if _, err := binary.ReadVarint(r); err != nil {
				return "", err
			}
		}
		for range n {
			key, err := avroBytes(r)
			if err != nil {
				return "", err
			}
			value, err := avroBytes(r)
			if err != nil {
				return "", err
			}
			if string(key) == "avro.codec" {
				codec = string(value)
			}
		}
	}
}

// avroBytes reads bytes that their length stands in front of.
func avroBytes(r *bytes.Reader) ([]byte, error) {
	n, err := binary.ReadVarint(r)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(r.Len()) {
		return nil, errors.New("a length that runs past the end")
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return b, err
}
