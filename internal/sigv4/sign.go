package sigv4

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/laketap/laketap"
)

// Sign signs an outgoing request for service s3 in the payload mode given and,
// in the streaming modes, wraps its body (the object's bytes) in aws-chunked
// framing with an exact Content-Length. trailer is asked when the body has
// been read to its end; it may be nil. It sets Authorization, x-amz-date,
// x-amz-content-sha256, x-amz-security-token and the streaming headers, signs
// every x-amz-* header, Host and Content-Type, Content-MD5 and Range where
// present, and touches nothing else. The path must be in req.URL.Opaque or
// RawPath as it is to be sent, in the spelling of [AppendPath].
func Sign(req *http.Request, c Credentials, p Payload, region string, now time.Time, trailer func() []laketap.Field) error {
	if c.AccessKeyID == "" || c.SecretAccessKey == "" {
		return errors.New("sign request: no access key id or secret")
	}
	s := newSigner(c.SecretAccessKey, now.UTC().Format(longDate), region)
	h := req.Header
	if h == nil {
		h = http.Header{}
		req.Header = h
	}
	h.Del("Authorization")
	h.Set("X-Amz-Date", s.timestamp)
	h.Set("X-Amz-Content-Sha256", p.contentSHA())
	h.Del("X-Amz-Security-Token")
	if c.SessionToken != "" {
		h.Set("X-Amz-Security-Token", c.SessionToken)
	}
	var frame *frameBody
	if p.Mode.streaming() {
		var err error
		if frame, err = wrap(req, &p, trailer); err != nil {
			return fmt.Errorf("sign request: %w", err)
		}
	}
	names := signedNames(h)
	canonical := canonicalRequest{
		method: req.Method, path: requestPath(req), query: req.URL.RawQuery, payload: p.contentSHA(), names: names, out: req,
	}
	var room [4096]byte
	text, ok := canonical.appendTo(room[:0])
	if !ok {
		return errors.New("sign request: path or query cannot be decoded")
	}
	signature := s.request(text)
	if frame != nil && p.Mode.signsChunks() {
		frame.signer, frame.previous = &s, signature
	}
	h.Set("Authorization", algorithm+" Credential="+c.AccessKeyID+"/"+string(s.scope(nil))+
		", SignedHeaders="+strings.Join(names, ";")+", Signature="+signature)
	return nil
}

// Prepare makes an outgoing request ready to be signed by somebody else, in the
// payload mode of p, which is [Payload.Plain].
func Prepare(req *http.Request, p Payload) {
	if req.Header == nil {
		req.Header = http.Header{}
	}
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Trailer"} {
		req.Header.Del(name)
	}
	req.Header.Set("X-Amz-Content-Sha256", p.contentSHA())
}

// Plain returns the payload for a request that somebody else signs: the object's
// bytes without framing. Frames are signed with a key that only the signer has,
// and signers know only what SDKs send that have requests signed.
func (p Payload) Plain() Payload {
	if p.Mode.streaming() {
		return Payload{Mode: Unsigned, Length: p.Length}
	}
	return p
}

// wrap puts the body of a request into frames and sets the headers of that.
func wrap(req *http.Request, p *Payload, trailer func() []laketap.Field) (*frameBody, error) {
	size, err := framedLength(p)
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("X-Amz-Decoded-Content-Length", strconv.FormatInt(p.Length, 10))
	h.Del("X-Amz-Trailer")
	if p.Mode.trails() && len(p.Trailers) > 0 {
		h.Set("X-Amz-Trailer", strings.Join(p.Trailers, ","))
	}
	h.Set("Content-Encoding", addCoding(h.Values("Content-Encoding")))
	// The body can be read once: nobody may try to send it again.
	req.GetBody = nil
	if req.Body == nil {
		req.Body = http.NoBody
	}
	f := newFrameBody(req.Body, p, trailer)
	req.Body, req.ContentLength = f, size
	return f, nil
}

// addCoding names the framing first among the codings of a body.
func addCoding(values []string) string {
	codings := []string{"aws-chunked"}
	for _, value := range values {
		for coding := range strings.SplitSeq(value, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "aws-chunked") {
				codings = append(codings, coding)
			}
		}
	}
	return strings.Join(codings, ",")
}

// requestPath returns the path as net/http will send it.
func requestPath(req *http.Request) string {
	path := req.URL.Opaque
	if path == "" {
		return req.URL.EscapedPath()
	}
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		// "//host/path", as the AWS SDK writes it.
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
		return "/"
	}
	return path
}

// signedNames returns the headers to sign, sorted. Fewer are safer: what a
// proxy or Go's transport may still touch (User-Agent, Accept-Encoding,
// Connection) is left out.
func signedNames(h http.Header) []string {
	names := append(make([]string, 0, len(h)+1), "host")
	for name := range h {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-amz-") || name == "content-type" || name == "content-md5" || name == "range" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// appendOutgoing appends the canonical value of a header of a request.
func appendOutgoing(dst []byte, req *http.Request, name string) []byte {
	if name == "host" {
		if req.Host != "" {
			return appendFolded(dst, req.Host)
		}
		return appendFolded(dst, req.URL.Host)
	}
	values := req.Header[http.CanonicalHeaderKey(name)]
	if values == nil {
		for key, other := range req.Header {
			if strings.EqualFold(key, name) {
				values = other
			}
		}
	}
	for i, value := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFolded(dst, value)
	}
	return dst
}

// framedLength returns the bytes of a body in frames. S3 wants to know them
// before the first: it refuses HTTP's own chunks without a length. So all that
// trails must have a size that is known, which only checksums have.
func framedLength(p *Payload) (int64, error) {
	if p.Length < 0 {
		return 0, errors.New("a streamed payload needs its length")
	}
	line := int64(len("\r\n"))
	if p.Mode.signsChunks() {
		line += int64(len(extension) + signatureLen)
	}
	chunk := func(size int64) int64 {
		return int64(len(strconv.FormatInt(size, 16))) + line + size + int64(len("\r\n"))
	}
	total := p.Length / frameSize * chunk(frameSize)
	if rest := p.Length % frameSize; rest > 0 {
		total += chunk(rest)
	}
	total += chunk(0) // its second CRLF is the one that ends the body
	if !p.Mode.trails() {
		return total, nil
	}
	for _, name := range p.Trailers {
		size := checksumSize(name)
		if size == 0 {
			return 0, fmt.Errorf("trailing header %q is not a checksum that S3 has", name)
		}
		total += int64(len(name) + len(":\r\n") + (size+2)/3*4)
	}
	if p.Mode == StreamingSignedTrailer {
		total += int64(len(trailerSigned) + len(":\r\n") + signatureLen)
	}
	return total, nil
}
