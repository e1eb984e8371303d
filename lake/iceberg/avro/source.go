package avro

import (
	"bufio"
	"errors"
	"io"
)

// A source reads a file in order and counts what it has read.
type source struct {
	in   *bufio.Reader
	from origin
	read int64
}

// An origin is where the bytes come from. It keeps what went wrong there apart
// from what is wrong with the bytes: a connection that breaks off is told by the
// same errors as a file that does.
type origin struct {
	io.Reader

	err error // other than the end
}

// Read notes an error.
func (o *origin) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		o.err = err
	}
	return n, err
}

// reset starts on a file.
func (s *source) reset(in io.Reader) {
	s.from = origin{Reader: in}
	if s.in == nil {
		s.in = bufio.NewReaderSize(&s.from, 16<<10)
	}
	s.in.Reset(&s.from)
	s.read = 0
}

// end tells whether the file ends here.
func (s *source) end() (bool, error) {
	_, err := s.in.Peek(1)
	if s.from.err == nil && errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// cut says that a file ends before it should, or why it could not be read.
func (s *source) cut(err error) error {
	switch {
	case s.from.err != nil:
		return s.from.err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return malformed("the file is cut short")
	}
	return err
}

// full reads all of b.
func (s *source) full(b []byte) error {
	n, err := io.ReadFull(s.in, b)
	if s.read += int64(n); err != nil {
		return s.cut(err)
	}
	return nil
}

// long reads a long.
func (s *source) long() (int64, error) {
	var u uint64
	for shift := 0; shift < 70; shift += 7 {
		b, err := s.in.ReadByte()
		if err != nil {
			return 0, s.cut(err)
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
