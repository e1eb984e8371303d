package sigv4

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/laketap/laketap"
)

// Body returns the object's bytes out of a request's body: aws-chunked framing
// removed, chunk signatures, declared length, payload hash and trailing
// checksums verified. A wrong body ends in an *Error instead of io.EOF, and the
// last bytes are held back until they are verified, so that who copies it
// never completes a wrong object. It uses bounded memory.
func (a *Auth) Body(body io.Reader, secret string) *Reader {
	if body == nil {
		body = eof{}
	}
	if !a.Payload.Mode.streaming() {
		plain := &plainBody{src: body, want: a.Payload.Hash, length: a.Payload.Length}
		if a.Payload.Mode == Signed {
			plain.hash = sha256.New()
		}
		return &Reader{src: plain}
	}
	chunks := newChunkBody(body, &a.Payload)
	if a.Payload.Mode.signsChunks() {
		s := newSigner(secret, a.timestamp, a.Region)
		chunks.signer, chunks.previous, chunks.hash = &s, a.Signature, sha256.New()
	}
	return &Reader{src: chunks, chunks: chunks}
}

// A Reader reads a verified body; see [Auth.Body].
type Reader struct {
	src    io.Reader  // returns io.EOF only after everything is verified
	chunks *chunkBody // src, if it is one
	held   byte       // the last byte read, if holds
	spare  [1]byte    // room for one byte more than the caller has
	holds  bool
	err    error
}

// Read implements io.Reader. It stays one byte behind its source: that byte
// is the one without which nobody takes the object for complete.
func (r *Reader) Read(p []byte) (int, error) {
	if r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	for {
		n, err := r.step(p)
		if err != nil {
			r.err = err
		}
		if n > 0 || r.err != nil {
			return n, r.err
		}
	}
}

// step reads once from the source. With nothing to show yet it returns 0, nil.
func (r *Reader) step(p []byte) (int, error) {
	if !r.holds {
		n, err := r.src.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if n > 0 && err == nil {
			n--
			r.held, r.holds = p[n], true
		}
		return n, err
	}
	rest := p[1:]
	if len(rest) == 0 {
		rest = r.spare[:]
	}
	n, err := r.src.Read(rest)
	switch {
	case errors.Is(err, io.EOF) && n < len(p):
		// All is verified, and it all fits: n new bytes behind the held one.
		p[0], r.holds = r.held, false
		return n + 1, io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return 0, err
	case n == 0:
		return 0, err
	}
	p[0] = r.held
	r.held = rest[n-1]
	if errors.Is(err, io.EOF) {
		// p has one byte: the new one is kept and the end told next time.
		r.src = eof{}
	}
	return n, nil
}

// Trailer returns the verified trailing headers (such as
// x-amz-checksum-crc32), after Read returned io.EOF.
func (r *Reader) Trailer() []laketap.Field {
	if r.chunks == nil || !errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.chunks.trailer
}

// eof is an empty source.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// A plainBody is the body of a request without framing of its own.
type plainBody struct {
	src    io.Reader
	hash   hash.Hash // nil: unsigned
	want   string    // hex; "" is the hash of no bytes
	length int64     // -1: unknown
	n      int64
}

// Read returns io.EOF only for a body of the declared length and hash; the end
// of a connection is no end of a body.
func (b *plainBody) Read(p []byte) (int, error) {
	n, err := b.src.Read(p)
	b.n += int64(n)
	if b.hash != nil {
		b.hash.Write(p[:n])
	}
	switch {
	case b.length >= 0 && b.n > b.length:
		return 0, errLength()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, errIncomplete()
	case err != nil && !errors.Is(err, io.EOF):
		return 0, err
	case err == nil:
		return n, nil
	case b.length >= 0 && b.n < b.length:
		return 0, errIncomplete()
	}
	if err := b.checkHash(); err != nil {
		return 0, err
	}
	return n, io.EOF
}

// checkHash compares the hash of the bytes with the one that was signed.
func (b *plainBody) checkHash() error {
	if b.hash == nil {
		return nil
	}
	want := b.want
	if want == "" {
		want = emptySHA
	}
	var sum [sha256.Size]byte
	if got := hex.EncodeToString(b.hash.Sum(sum[:0])); !equal(got, want) {
		return errPayloadHash(want, got)
	}
	return nil
}
