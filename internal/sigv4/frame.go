package sigv4

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/laketap/laketap"
)

// frameSize is the bytes of an outgoing chunk: what AWS's clients use.
const frameSize = 64 << 10

// A frameBody puts a body into aws-chunked framing. If the body fails, is
// shorter or longer than declared, or lacks a trailer, reading ends in an error
// and not in io.EOF, so that what was sent never looks complete.
type frameBody struct {
	src      io.ReadCloser
	payload  *Payload
	trailer  func() []laketap.Field
	signer   *signer // nil: chunks are not signed
	previous string
	left     int64 // bytes of the object still to come

	room []byte // a whole frame
	out  []byte // what of it is still to be read
	err  error
}

func newFrameBody(src io.ReadCloser, p *Payload, trailer func() []laketap.Field) *frameBody {
	return &frameBody{src: src, payload: p, trailer: trailer, left: p.Length}
}

// Close closes the body inside.
func (f *frameBody) Close() error { return f.src.Close() }

// Read gives out frame by frame, so that one frame is all that is in memory.
func (f *frameBody) Read(p []byte) (int, error) {
	for len(f.out) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		f.fill()
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}

// fill makes the next frame.
func (f *frameBody) fill() {
	if f.left == 0 {
		f.out, f.err = f.finish()
		return
	}
	// The line before the bytes has one length for all sizes of up to 64 KiB
	// but for the size's own digits, so it is made first and signed after.
	size := min(f.left, frameSize)
	const before = 5 + len(extension) + signatureLen + 2
	if f.room == nil {
		f.room = make([]byte, before+int(size)+2)
	}
	data := f.room[before : before+int(size)]
	if _, err := io.ReadFull(f.src, data); err != nil {
		f.err = shorter(err)
		return
	}
	f.left -= size
	var line [before]byte
	head := f.chunkLine(line[:0], data)
	start := before - len(head)
	copy(f.room[start:], head)
	end := before + copy(f.room[before+int(size):], "\r\n") + int(size)
	f.out = f.room[start:end]
}

// shorter says that a body ended before its declared length.
func shorter(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("frame body: it ended before its declared length")
	}
	return fmt.Errorf("frame body: %w", err)
}

// chunkLine appends the line before a chunk.
func (f *frameBody) chunkLine(dst, data []byte) []byte {
	dst = strconv.AppendInt(dst, int64(len(data)), 16)
	if f.signer != nil {
		sum := sha256.Sum256(data)
		f.previous = f.signer.chunk(f.previous, sum[:])
		dst = append(dst, extension...)
		dst = append(dst, f.previous...)
	}
	return append(dst, "\r\n"...)
}

// finish makes the end of the body: the empty chunk and the trailer.
func (f *frameBody) finish() ([]byte, error) {
	// The end of the body inside is what says that it was right.
	var probe [1]byte
	for {
		n, err := f.src.Read(probe[:])
		if n > 0 {
			return nil, errors.New("frame body: it goes on after its declared length")
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("frame body: %w", err)
		}
	}
	out := f.chunkLine(nil, nil)
	if f.payload.Mode.trails() {
		var err error
		if out, err = f.appendTrailer(out); err != nil {
			return nil, err
		}
	}
	return append(out, "\r\n"...), io.EOF
}

// appendTrailer appends the announced headers and, if chunks are signed, the
// signature over them.
func (f *frameBody) appendTrailer(dst []byte) ([]byte, error) {
	var fields []laketap.Field
	if f.trailer != nil {
		fields = f.trailer()
	}
	// Those announced, in their order: the store counts on both, and the
	// length that was declared in the head has room for just them.
	var signed []byte
	for _, name := range f.payload.Trailers {
		i := slices.IndexFunc(fields, func(t laketap.Field) bool { return strings.EqualFold(t.Name, name) })
		if i < 0 || !validChecksum(name, fields[i].Value) {
			return nil, fmt.Errorf("frame body: trailing header %s is missing or malformed", name)
		}
		dst = append(dst, name+":"+fields[i].Value+"\r\n"...)
		signed = append(signed, name+":"+fields[i].Value+"\n"...)
	}
	if f.signer != nil {
		dst = append(dst, trailerSigned+":"+f.signer.trailer(f.previous, signed)+"\r\n"...)
	}
	return dst, nil
}
