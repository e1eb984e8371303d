package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// ReadLayout reads the footer of a file of size bytes: the last Options.Tail
// bytes first, and if they do not hold all of it, the footer alone. Errors are
// those that this package names, never a *ShortError, and those of r and ctx.
func ReadLayout(ctx context.Context, r io.ReaderAt, size int64, opts Options) (*Layout, error) {
	opts = opts.withDefaults()
	if size < headLen+tailLen {
		return nil, ErrNotParquet
	}
	tail, err := readTail(ctx, r, size, min(size, opts.Tail))
	if err != nil {
		return nil, err
	}
	n, err := checkedLength(tail, size, opts)
	if err != nil {
		return nil, err
	}
	if n > int64(len(tail)) {
		if tail, err = readTail(ctx, r, size, n); err != nil {
			return nil, err
		}
	}
	l, err := ParseFooter(tail, size, opts)
	if _, short := errors.AsType[*ShortError](err); short {
		// The second read gave another length than the first.
		return nil, &FormatError{Offset: size - tailLen, What: "length of the footer changed while it was read"}
	}
	if err != nil {
		return nil, err
	}
	if l.meta != nil && len(l.meta) < len(tail)-tailLen {
		l.meta = bytes.Clone(l.meta) // lets go of the rest of the tail
	}
	return l, nil
}

// readTail reads the last n bytes.
func readTail(ctx context.Context, r io.ReaderAt, size, n int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read footer: %w", err)
	}
	tail := make([]byte, n)
	if got, err := r.ReadAt(tail, size-n); int64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read footer: %w", err)
	}
	return tail, nil
}
