package avro

import (
	"bufio"
	"errors"
	"io"
)

// A source reads a file in order and counts what it has read.
type source struct {
	in   *bufio.Reader
	read int64
}

// reset starts on a file.
func (s *source) reset(in io.Reader) {
	if s.in == nil {
		s.in = bufio.NewReaderSize(in, 16<<10)
	}
	s.in.Reset(in)
	s.read = 0
}

// end tells whether the file ends here.
func (s *source) end() (bool, error) {
	_, err := s.in.Peek(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// full reads all of b.
func (s *source) full(b []byte) error {
	n, err := io.ReadFull(s.in, b)
	if s.read += int64(n); err != nil {
		return cut(err)
	}
	return nil
}

// long reads a long.
func (s *source) long() (int64, error) {
	var u uint64
	for shift := 0; shift < 70; shift += 7 {
		b, err := s.in.ReadByte()
		if err != nil {
			return 0, cut(err)
		}
		s.read++
		if shift == 63 && b > 1 {
			break
		}
		if u |= uint64(b&0x7f) << shift; b < 0x80 {
			return int64(u>>1) ^ -int64(u&1), nil //nolint:gosec // zigzag
		}
	}
	return 0, malformed("number of more than 64 bits")
}

// bytes appends n bytes to b. It asks for memory as bytes come, so that a
// length alone costs nothing.
func (s *source) bytes(b []byte, n int64) ([]byte, error) {
	for n > 0 {
		have := len(b)
		take := int(min(n, int64(max(readStep, have))))
		if cap(b)-have < take {
			b = append(make([]byte, 0, have+take), b...)
		}
		b = b[:have+take]
		if err := s.full(b[have:]); err != nil {
			return nil, err
		}
		n -= int64(take)
	}
	return b, nil
}
