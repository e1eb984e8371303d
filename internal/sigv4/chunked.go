package sigv4

import (
	"bufio"
	"errors"
	"hash"
	"io"
	"math"
	"strings"

	"github.com/laketap/laketap"
)

const (
	maxLine       = 1024 // bytes of a line of framing; real ones have about 100
	minChunk      = 8192 // S3 takes a smaller chunk only as the last one
	extension     = ";chunk-signature="
	signatureLen  = 64
	trailerSigned = "x-amz-trailer-signature"
)

// A chunkBody takes off aws-chunked framing:
//
//	size[;chunk-signature=64 hex] CRLF  bytes CRLF      repeated
//	0[;chunk-signature=64 hex] CRLF
//	name:value CRLF                                     each announced trailer
//	x-amz-trailer-signature:64 hex CRLF                 signed trailers only
//	CRLF
//
// Its grammar is strict: no signs or spaces in sizes, no other extensions, no
// bare line feeds, nothing behind the end.
type chunkBody struct {
	src     *bufio.Reader
	payload *Payload

	signer   *signer // nil: chunks are not signed
	previous string  // signature before the current chunk
	claimed  string  // signature of the current chunk
	hash     hash.Hash

	sums    []hash.Hash // of payload.Trailers, nil for those without one here
	trailer []laketap.Field

	left    int64 // of the current chunk
	started bool  // a chunk was begun: CRLF is due behind it
	last    int64 // size of the chunk before; -1: none
	n       int64 // bytes given out
	err     error
}

func newChunkBody(src io.Reader, p *Payload) *chunkBody {
	b := &chunkBody{src: bufio.NewReaderSize(src, 4*maxLine), payload: p, last: -1}
	for _, name := range p.Trailers {
		b.sums = append(b.sums, newChecksum(name))
	}
	return b
}

// Read gives out bytes of chunks whose signature is still to come: it is
// checked at the end of each chunk, since a chunk may be of any size and is
// not held in memory. [Reader] keeps the last byte back for that.
func (b *chunkBody) Read(p []byte) (int, error) {
	for b.err == nil && b.left == 0 {
		b.err = b.nextChunk()
	}
	if b.err != nil {
		return 0, b.err
	}
	if room := b.payload.Length - b.n; room == 0 {
		b.err = b.tooLong()
		return 0, b.err
	} else if int64(len(p)) > min(room, b.left) {
		p = p[:min(room, b.left)]
	}
	n, err := b.src.Read(p)
	b.left -= int64(n)
	b.n += int64(n)
	if b.hash != nil {
		b.hash.Write(p[:n])
	}
	for _, sum := range b.sums {
		if sum != nil {
			sum.Write(p[:n])
		}
	}
	if err != nil {
		b.err = cut(err)
		return 0, b.err
	}
	return n, nil
}

// tooLong says what is wrong with a chunk that goes on behind the declared
// length: it is longer than it should be, or shorter than it claims.
func (b *chunkBody) tooLong() error {
	if next, err := b.src.Peek(2); err == nil && string(next) != "\r\n" {
		return errLength()
	}
	return errIncomplete()
}

// cut maps the end of a source in the middle of a body.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errIncomplete()
	}
	return err
}

// nextChunk ends the current chunk, if any, and begins the next one. At the
// end of the body it returns io.EOF after everything has been verified.
func (b *chunkBody) nextChunk() error {
	if b.started {
		if err := b.endChunk(); err != nil {
			return err
		}
	}
	size, err := b.chunkLine()
	if err != nil {
		return err
	}
	if size > 0 {
		// Known only now: the small chunk before was not the last one.
		if b.last >= 0 && b.last < minChunk {
			return errChunkSize()
		}
		b.left, b.last, b.started = size, size, true
		return nil
	}
	if b.n != b.payload.Length {
		return errLength()
	}
	if err := b.checkChunk(); err != nil {
		return err
	}
	return b.end()
}

// endChunk reads the CRLF behind a chunk and checks its signature.
func (b *chunkBody) endChunk() error {
	line, err := b.line()
	if err != nil {
		return err
	}
	if line != "" {
		return errIncomplete()
	}
	return b.checkChunk()
}

// checkChunk compares the signature of the chunk that ends here and begins
// the next from it.
func (b *chunkBody) checkChunk() error {
	if b.signer == nil {
		return nil
	}
	want := b.signer.chunk(b.previous, b.hash.Sum(nil))
	if !equal(want, b.claimed) {
		return errMismatch()
	}
	b.previous = want
	b.hash.Reset()
	return nil
}

// chunkLine reads the line before a chunk.
func (b *chunkBody) chunkLine() (size int64, err error) {
	line, err := b.line()
	if err != nil {
		return 0, err
	}
	if b.signer != nil {
		var ok bool
		line, b.claimed, ok = strings.Cut(line, extension)
		if !ok || len(b.claimed) != signatureLen || !isHex(b.claimed) {
			return 0, errIncomplete()
		}
	}
	size, ok := parseSize(line)
	if !ok {
		return 0, errIncomplete()
	}
	return size, nil
}

// parseSize reads a chunk size: one to sixteen hex digits. A size that does
// not fit into an int64 is refused rather than cut, which would let a body
// mean one thing here and another at the store.
func parseSize(s string) (int64, bool) {
	if s == "" || len(s) > 16 {
		return 0, false
	}
	var n uint64
	for i := range len(s) {
		digit, ok := unhex(s[i])
		if !ok {
			return 0, false
		}
		n = n<<4 | uint64(digit)
	}
	return int64(n), n <= math.MaxInt64
}

// line reads one line of framing, without its CRLF.
func (b *chunkBody) line() (string, error) {
	line, err := b.rawLine()
	if err != nil {
		return "", err
	}
	text, ok := strings.CutSuffix(line, "\r\n")
	if !ok || strings.Contains(text, "\r") {
		return "", errIncomplete()
	}
	return text, nil
}

// rawLine reads up to a line feed.
func (b *chunkBody) rawLine() (string, error) {
	line, err := b.src.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || len(line) > maxLine {
		return "", errIncomplete()
	}
	if err != nil {
		return "", cut(err)
	}
	return string(line), nil
}
