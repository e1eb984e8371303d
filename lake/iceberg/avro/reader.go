package avro

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

const (
	magic    = "Obj\x01"
	syncLen  = 16
	readStep = 256 << 10 // read of a block at once, before more of it is believed in
)

// A Reader reads object container files, one after another; its buffers and,
// for files with the same schema, the parsed schema serve again.
type Reader struct {
	limits Limits
	in     source
	codec  codec
	packed []byte
	cursor Cursor

	meta   map[string][]byte
	text   []byte // of the schema
	schema *Type
	sync   [syncLen]byte
}

// NewReader returns a reader; Reset gives it a file.
func NewReader(limits Limits) *Reader {
	limits = limits.withDefaults()
	return &Reader{limits: limits, codec: codec{most: limits.Block}}
}

// Reset starts on a file and reads its header.
func (r *Reader) Reset(in io.Reader) error {
	r.in.reset(in)
	r.meta = nil
	if err := r.header(); err != nil {
		return fmt.Errorf("read Avro header: %w", err)
	}
	return nil
}

// Close releases what the codecs hold. The reader may be used again.
func (r *Reader) Close() {
	if r.codec.zstd != nil {
		r.codec.zstd.Close()
		r.codec.zstd = nil
	}
}

// Schema returns the schema that the file was written with.
func (r *Reader) Schema() *Type { return r.schema }

// Meta returns a value of the file's metadata, nil if it has none. It is valid
// until the next Reset.
func (r *Reader) Meta(key string) []byte { return r.meta[key] }

// Read returns how many bytes of the file have been read.
func (r *Reader) Read() int64 { return r.in.read }

// header reads the magic, the metadata and the sync marker.
func (r *Reader) header() error {
	var head [len(magic)]byte
	if err := r.in.full(head[:]); err != nil {
		return err
	}
	if string(head[:]) != magic {
		return malformed("not an Avro object container file")
	}
	if err := r.metadata(); err != nil {
		return err
	}
	if err := r.in.full(r.sync[:]); err != nil {
		return err
	}
	if err := r.codec.use(string(r.meta["avro.codec"])); err != nil {
		return err
	}
	text := r.meta["avro.schema"]
	if r.schema != nil && bytes.Equal(text, r.text) {
		return nil
	}
	if int64(len(text)) > r.limits.Schema {
		return over("bytes of schema", int64(len(text)), r.limits.Schema)
	}
	schema, err := ParseSchema(text)
	if err != nil {
		return err
	}
	r.schema, r.text = schema, text
	return nil
}

// metadata reads the map of the header.
func (r *Reader) metadata() error {
	r.meta = map[string][]byte{}
	left := r.limits.Header
	for keys := 0; ; {
		n, err := r.in.long()
		if err != nil {
			return err
		}
		if n < 0 {
			if _, err := r.in.long(); err != nil { // the size, of no use to us
				return err
			}
			n = -n
		}
		if n == 0 {
			return nil
		}
		if keys += int(min(uint64(n), maxHeaderKeys+1)); keys > maxHeaderKeys { //nolint:gosec // -2^63 is many
			return over("keys in the header", int64(keys), maxHeaderKeys)
		}
		for ; n > 0; n-- {
			if left, err = r.pair(left); err != nil {
				return err
			}
		}
	}
}

// pair reads a key and a value of the header, of at most left bytes.
func (r *Reader) pair(left int64) (int64, error) {
	var kv [2][]byte
	for i := range kv {
		n, err := r.in.long()
		if err != nil {
			return 0, err
		}
		if n < 0 {
			return 0, malformed("header of negative length")
		}
		if n > left {
			return 0, over("bytes of header", r.limits.Header-left+n, r.limits.Header)
		}
		left -= n
		if kv[i], err = r.in.bytes(nil, n); err != nil {
			return 0, err
		}
	}
	r.meta[string(kv[0])] = kv[1]
	return left, nil
}

// Next reads the next block: a cursor over its values, which is valid until
// the following call, and how many there are. At the end of the file it returns
// io.EOF; anything cut short is malformed. It looks at the context while it
// unpacks and between blocks without values, of which there may be any number.
func (r *Reader) Next(ctx context.Context) (*Cursor, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if end, err := r.in.end(); err != nil {
			return nil, 0, fmt.Errorf("read Avro block: %w", err)
		} else if end {
			return nil, 0, io.EOF
		}
		n, err := r.block(ctx)
		if err != nil {
			return nil, 0, fmt.Errorf("read Avro block: %w", err)
		}
		if n > 0 {
			return &r.cursor, n, nil
		}
	}
}

// block reads one block into the cursor.
func (r *Reader) block(ctx context.Context) (int64, error) {
	n, err := r.in.long()
	if err != nil {
		return 0, err
	}
	size, err := r.in.long()
	if err != nil {
		return 0, err
	}
	switch {
	case n < 0 || size < 0:
		return 0, malformed("block of %d values in %d bytes", n, size)
	case size > r.limits.Block:
		return 0, over("bytes in a block", size, r.limits.Block)
	}
	if r.packed, err = r.in.bytes(r.packed[:0], size); err != nil {
		return 0, err
	}
	var sync [syncLen]byte
	if err := r.in.full(sync[:]); err != nil {
		return 0, err
	}
	if sync != r.sync {
		return 0, malformed("sync marker differs behind a block")
	}
	out, err := r.codec.unpack(ctx, r.packed)
	if err != nil {
		return 0, err
	}
	// Values that take no bytes may be any number; whoever reads them stops.
	if least := int64(minBytes(r.schema)); n*least > int64(len(out)) {
		return 0, malformed("block of %d values in %d bytes", n, len(out))
	}
	if r.cursor.Reset(out); n == 0 && len(out) > 0 {
		return 0, malformed("block of no values in %d bytes", len(out))
	}
	return n, nil
}
