package sigv4

import (
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/laketap/laketap"
)

// end reads what follows the last chunk and verifies it all; io.EOF is a good
// body that ends where it should.
func (b *chunkBody) end() error {
	if b.payload.Mode.trails() {
		if err := b.readTrailer(); err != nil {
			return err
		}
	}
	line, err := b.line()
	if err != nil {
		return err
	}
	if line != "" {
		// More headers than were announced.
		return errTrailer()
	}
	// Bytes behind the end would be the next request's to a server that reads
	// on, and a second body's to one that does not.
	if _, err := b.src.ReadByte(); err == nil {
		return errIncomplete()
	} else if !errors.Is(err, io.EOF) {
		return cut(err)
	}
	return b.checkSums()
}

// readTrailer reads the announced headers and the signature over them.
func (b *chunkBody) readTrailer() error {
	var signed []byte
	for _, name := range b.payload.Trailers {
		value, err := b.trailerLine(name)
		if err != nil {
			return err
		}
		b.trailer = append(b.trailer, laketap.Field{Name: name, Value: value})
		signed = append(signed, name+":"+value+"\n"...)
	}
	if b.signer == nil {
		return nil
	}
	line, err := b.line()
	if err != nil {
		return err
	}
	signature, ok := strings.CutPrefix(line, trailerSigned+":")
	if !ok || len(signature) != signatureLen {
		if name, _, _ := strings.Cut(line, ":"); checksumSize(name) > 0 {
			return errTrailer() // a checksum that was not announced
		}
		return errIncomplete()
	}
	if !equal(b.signer.trailer(b.previous, signed), signature) {
		return errMismatch()
	}
	return nil
}

// trailerLine reads the header of a name. S3's documentation, and clients
// that follow it to the letter, end the value in LF CRLF instead of CRLF.
func (b *chunkBody) trailerLine(name string) (value string, err error) {
	line, err := b.rawLine()
	if err != nil {
		return "", err
	}
	text, ok := strings.CutSuffix(line, "\r\n")
	if !ok {
		text = strings.TrimSuffix(line, "\n")
		if rest, err := b.line(); err != nil {
			return "", err
		} else if rest != "" {
			return "", errIncomplete()
		}
	}
	if strings.Contains(text, "\r") {
		return "", errIncomplete()
	}
	got, value, ok := strings.Cut(text, ":")
	if !ok || !strings.EqualFold(got, name) {
		return "", errTrailer()
	}
	value = strings.TrimSpace(value)
	if !validChecksum(name, value) {
		return "", errTrailerValue(name)
	}
	return value, nil
}

// checkSums compares the sums that came with those of the bytes; it is the
// last check, and its io.EOF is what releases the last byte of the object.
func (b *chunkBody) checkSums() error {
	for i, sum := range b.sums {
		if sum == nil {
			continue
		}
		if base64.StdEncoding.EncodeToString(sum.Sum(nil)) != b.trailer[i].Value {
			return errDigest(b.trailer[i].Name)
		}
	}
	return io.EOF
}
