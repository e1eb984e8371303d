package sigv4

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxTrailers bounds the names in x-amz-trailer; S3 knows one checksum a request.
const maxTrailers = 4

// modeNames spells each streaming mode as x-amz-content-sha256 does.
var modeNames = [...]string{
	Unsigned:                 unsignedSHA,
	StreamingSigned:          "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
	StreamingSignedTrailer:   "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
	StreamingUnsignedTrailer: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
}

// streaming reports whether bodies of the mode are in aws-chunked framing.
func (m Mode) streaming() bool { return m >= StreamingSigned }

// signsChunks reports whether each chunk carries a signature.
func (m Mode) signsChunks() bool { return m == StreamingSigned || m == StreamingSignedTrailer }

// trails reports whether headers follow the last chunk.
func (m Mode) trails() bool { return m == StreamingSignedTrailer || m == StreamingUnsignedTrailer }

// contentSHA returns the value of x-amz-content-sha256.
func (p *Payload) contentSHA() string {
	switch {
	case p.Mode != Signed:
		return modeNames[p.Mode]
	case p.Hash == "":
		return emptySHA
	}
	return p.Hash
}

// setPayload reads the payload mode out of x-amz-content-sha256 and, with it,
// the headers that belong to the mode.
func (a *Auth) setPayload(r *Request, hash string) error {
	a.payloadHash = hash
	p := &a.Payload
	switch hash {
	case modeNames[Unsigned]:
		p.Mode = Unsigned
	case modeNames[StreamingSigned]:
		p.Mode = StreamingSigned
	case modeNames[StreamingSignedTrailer]:
		p.Mode = StreamingSignedTrailer
	case modeNames[StreamingUnsignedTrailer]:
		p.Mode = StreamingUnsignedTrailer
	case "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER":
		return refuse(http.StatusNotImplemented, "NotImplemented", "The chunk encoding algorithm %s is not supported.", hash)
	default:
		if !isHexSHA256(hash) {
			return errArgument("x-amz-content-sha256", hash, "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, "+
				"STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, "+
				"STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD, "+
				"STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER or a valid sha256 value.")
		}
		p.Hash = strings.ToLower(hash)
	}
	if p.Mode.trails() {
		if err := p.setTrailers(r); err != nil {
			return err
		}
	}
	return p.setLength(r)
}

// setLength reads how long the object is said to be.
func (p *Payload) setLength(r *Request) error {
	name := "content-length"
	// Content-Length counts the framing then, and may be missing if HTTP's own
	// chunks are around it.
	if p.Mode.streaming() {
		name = "x-amz-decoded-content-length"
	}
	value, lines := header(r, name)
	if lines == 0 && !p.Mode.streaming() {
		p.Length = -1
		return nil
	}
	n, ok := parseLength(value)
	if !ok {
		return errNoLength()
	}
	p.Length = n
	return nil
}

// parseLength reads digits and nothing else: strconv alone would take a sign.
func parseLength(s string) (int64, bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// setTrailers reads x-amz-trailer. Only checksums may trail.
func (p *Payload) setTrailers(r *Request) error {
	value, _ := header(r, "x-amz-trailer")
	if value == "" {
		return nil
	}
	for name := range strings.SplitSeq(strings.ToLower(value), ",") {
		name = strings.TrimSpace(name)
		if checksumSize(name) == 0 || len(p.Trailers) == maxTrailers || slices.Contains(p.Trailers, name) {
			return errTrailerName()
		}
		p.Trailers = append(p.Trailers, name)
	}
	return nil
}

// isHexSHA256 reports whether a value of x-amz-content-sha256 is a hash, in
// either case: some clients write it in capitals, and sign it so.
func isHexSHA256(s string) bool { return len(s) == 64 && isHex(s) }

func isHex(s string) bool {
	for i := range len(s) {
		if _, ok := unhex(s[i]); !ok {
			return false
		}
	}
	return true
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
