package iceberg

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxMetadata bounds a metadata file, unpacked.
const maxMetadata = 256 << 20

// ReadMetadata reads a metadata file: plain, or packed with gzip or zstandard.
// The first bytes tell which, as the places where names do differ between
// writers and JSON starts like neither.
func ReadMetadata(ctx context.Context, location string, open Opener) (*Table, error) {
	in, size, err := open.Open(ctx, location)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", location, err)
	}
	defer in.Close()
	text, err := readBounded(in, maxMetadata)
	if err == nil {
		err = cutShort(int64(len(text)), size)
	}
	if err == nil {
		text, err = unpackMetadata(text, maxMetadata)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", location, err)
	}
	t, err := ParseMetadata(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", location, err)
	}
	return t, nil
}

// unpackMetadata returns the JSON of a metadata file, of at most most bytes.
func unpackMetadata(text []byte, most int64) ([]byte, error) {
	var in io.Reader
	switch {
	case bytes.HasPrefix(text, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		in = z
	case bytes.HasPrefix(text, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(bytes.NewReader(text), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(uint64(most))) //nolint:gosec // positive
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		defer z.Close()
		in = z
	default:
		return text, nil
	}
	out, err := readBounded(in, most)
	if err != nil {
		return nil, fmt.Errorf("%w: unpack: %w", ErrMalformed, err)
	}
	return out, nil
}

// readBounded reads all there is, up to most bytes.
func readBounded(in io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, over("bytes of metadata", int64(len(text)), most)
	}
	return text, nil
}
