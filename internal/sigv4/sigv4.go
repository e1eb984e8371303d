// Package sigv4 signs and verifies S3 requests with AWS Signature Version 4:
// the Authorization header, presigned URLs, and bodies in aws-chunked framing
// with signed chunks and trailers. It owns canonical requests, keys and
// chunks; it refuses to know sessions, scopes and sockets.
package sigv4

import (
	"io"
	"net/http"
	"time"

	"github.com/laketap/laketap"
)

// Credentials are an S3 key pair, with the session token that goes with it if
// it is a temporary one.
type Credentials struct {
	AccessKeyID     string `json:"id"`
	SecretAccessKey string `json:"secret"`
	SessionToken    string `json:"token,omitempty"`
}

// A Request is what takes part in a signature, exactly as it was received:
// nothing decoded, cleaned or reordered.
type Request struct {
	Method string
	Path   string // escaped as on the wire, without the query
	Query  string // raw, without '?'
	Host   string
	Header []laketap.Field // all header lines but Host, in order
}

// A Mode says how the payload of a request takes part in its signature: the
// meaning of x-amz-content-sha256.
type Mode uint8

// The payload modes of S3.
const (
	Signed                   Mode = iota // the hash of the whole body is signed
	Unsigned                             // UNSIGNED-PAYLOAD
	StreamingSigned                      // STREAMING-AWS4-HMAC-SHA256-PAYLOAD
	StreamingSignedTrailer               // STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER
	StreamingUnsignedTrailer             // STREAMING-UNSIGNED-PAYLOAD-TRAILER
)

// A Payload is a Mode with what belongs to it.
type Payload struct {
	Mode     Mode
	Hash     string   // Signed: lower-case hex SHA-256
	Length   int64    // bytes of the object: decoded length, or Content-Length; -1: not given
	Trailers []string // x-amz-trailer: names announced, lower case
}

// An Auth is the claim a request makes: parsed, not yet believed.
type Auth struct {
	AccessKeyID   string
	SessionToken  string // x-amz-security-token of header or query; "" is none
	Region        string
	Service       string
	Time          time.Time
	Expires       time.Duration // presigned only
	Presigned     bool
	SignedHeaders []string // lower case, in the order claimed
	Payload       Payload
	Signature     string
}

// An Error is a refusal in the words of S3.
type Error struct {
	Status  int    // HTTP
	Code    string // "SignatureDoesNotMatch"
	Message string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Parse reads the claim of a request. Every error is an *Error; a request
// without any authentication is AccessDenied.
func Parse(r *Request) (*Auth, error) { panic("later") }

// Verify reports whether the holder of secret signed r within 15 minutes of
// now (or within the validity of a presigned URL) for region and service s3,
// with every x-amz-* header signed. It compares in constant time. Every error
// is an *Error.
func (a *Auth) Verify(r *Request, secret, region string, now time.Time) error { panic("later") }

// Body returns the object's bytes out of a request's body: aws-chunked framing
// removed, chunk signatures, declared length, payload hash and trailing
// checksums verified. A wrong body ends in an *Error instead of io.EOF, and the
// last bytes are held back until they are verified, so that who copies it
// never completes a wrong object. It uses bounded memory.
func (a *Auth) Body(body io.Reader, secret string) *Reader { panic("later") }

// A Reader reads a verified body; see [Auth.Body].
type Reader struct{}

func (r *Reader) Read(p []byte) (int, error) { panic("later") }

// Trailer returns the verified trailing headers (such as
// x-amz-checksum-crc32), after Read returned io.EOF.
func (r *Reader) Trailer() []laketap.Field { panic("later") }

// Sign signs an outgoing request for service s3 in the payload mode given and,
// in the streaming modes, wraps its body (the object's bytes) in aws-chunked
// framing with an exact Content-Length. trailer is asked when the body has
// been read to its end; it may be nil. It sets Authorization, x-amz-date,
// x-amz-content-sha256, x-amz-security-token and the streaming headers, signs
// every x-amz-* header, Host and Content-Type, Content-MD5 and Range where
// present, and touches nothing else. The path must be in req.URL.Opaque or
// RawPath as it is to be sent.
func Sign(req *http.Request, c Credentials, p Payload, region string, now time.Time, trailer func() []laketap.Field) error {
	panic("later")
}
