package catalog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// The endings of metadata files, by how they are packed. Readers of Iceberg go
// by these.
const (
	plainFile = ".metadata.json"
	gzipFile  = ".gz.metadata.json"
)

// maxMetadata bounds what a packed metadata file may grow to: a small one may
// be written to fill the memory of whoever unpacks it.
const maxMetadata = 512 << 20

// pack packs a metadata file as the table's properties ask for, and returns the
// ending that says so.
func pack(properties map[string]string, data []byte) (ending string, packed []byte, err error) {
	if !strings.EqualFold(properties["write.metadata.compression-codec"], "gzip") {
		return plainFile, data, nil
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		return "", nil, err
	}
	if err := w.Close(); err != nil {
		return "", nil, err
	}
	return gzipFile, out.Bytes(), nil
}

// unpack returns the text of a metadata file. It goes by the bytes and not by
// the name, for a file that is registered may be called anything.
func unpack(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxMetadata+1))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if len(text) > maxMetadata {
		return nil, fmt.Errorf("unpack: it holds more than %d bytes", maxMetadata)
	}
	return text, nil
}
