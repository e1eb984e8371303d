package avro

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// A codec unpacks blocks. It keeps its tables and its buffer from one block to
// the next.
type codec struct {
	name string
	most int64 // bytes a block may take unpacked
	out  []byte

	flate *inflater // made when needed: its tables are large
	zstd  *zstd.Decoder
}

// use sets the codec by its name in the file's metadata.
func (c *codec) use(name string) error {
	switch name {
	case "", "null":
		name = "null"
	case "deflate", "snappy", "zstandard":
	default:
		return fmt.Errorf("%w: codec %q", ErrUnsupported, name)
	}
	c.name = name
	return nil
}

// unpack returns the bytes of a block, which alias in or are valid until the
// next call.
func (c *codec) unpack(ctx context.Context, in []byte) ([]byte, error) {
	var err error
	switch c.name {
	case "null":
		return in, nil
	case "deflate":
		err = c.inflate(ctx, in)
	case "snappy":
		err = c.unsnap(in)
	default:
		err = c.unzstd(in)
	}
	if err != nil && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrMalformed) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", c.name, err)
	}
	return c.out, nil
}

// inflate unpacks raw deflate.
func (c *codec) inflate(ctx context.Context, in []byte) error {
	if c.flate == nil {
		c.flate = new(inflater)
	}
	out, left, err := c.flate.run(ctx, c.out, in, c.most)
	c.out = out
	if err != nil {
		return err
	}
	if int64(len(out)) > c.most {
		return over("bytes in a block", int64(len(out)), c.most)
	}
	// PyIceberg leaves three of the four bytes of zlib's checksum behind.
	if left > 4 {
		return malformed("%d bytes behind the packed ones", left)
	}
	return nil
}

// unsnap unpacks snappy, which Avro follows by the CRC32 of what comes out.
func (c *codec) unsnap(in []byte) error {
	if len(in) < 4 {
		return malformed("no checksum")
	}
	in, sum := in[:len(in)-4], binary.BigEndian.Uint32(in[len(in)-4:])
	n, err := snappy.DecodedLen(in)
	if err != nil {
		return err
	}
	// Two bytes of snappy make 64 at most: a length beyond that is a lie that
	// should cost nothing.
	if int64(n) > c.most || n > 32*len(in) {
		return over("bytes in a block", int64(n), min(c.most, int64(32*len(in))))
	}
	out, err := snappy.Decode(c.out[:cap(c.out)], in)
	if err != nil {
		return err
	}
	if c.out = out; crc32.ChecksumIEEE(out) != sum {
		return malformed("checksum differs")
	}
	return nil
}

// unzstd unpacks zstandard.
func (c *codec) unzstd(in []byte) error {
	if c.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(uint64(c.most)), zstd.WithDecodeAllCapLimit(false)) //nolint:gosec // positive
		if err != nil {
			return err
		}
		c.zstd = d
	}
	// The decoder makes room for what a frame says it holds. A block of a frame
	// takes three bytes and holds 128 KiB at most: more is a lie.
	var h zstd.Header
	if err := h.Decode(in); err == nil && h.HasFCS && h.FrameContentSize > (uint64(len(in))/3+1)<<17 {
		return malformed("%d bytes cannot hold %d", len(in), h.FrameContentSize)
	}
	out, err := c.zstd.DecodeAll(in, c.out[:0])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return over("bytes in a block", c.most+1, c.most)
	}
	if err != nil {
		return err
	}
	c.out = out
	return nil
}
