// Package sigv4 signs and verifies S3 requests with AWS Signature Version 4:
// the Authorization header, presigned URLs, and bodies in aws-chunked framing
// with signed chunks and trailers. It owns canonical requests, keys and
// chunks; it refuses to know sessions, scopes and sockets.
package sigv4

import (
	"time"

	"github.com/laketap/laketap"
)

// Words of the protocol.
const (
	algorithm   = "AWS4-HMAC-SHA256"
	service     = "s3"
	terminator  = "aws4_request"
	longDate    = "20060102T150405Z"
	shortDate   = "20060102"
	maxSkew     = 15 * time.Minute
	maxExpires  = 7 * 24 * 60 * 60 // seconds a presigned URL may live
	maxSigned   = 128              // names in SignedHeaders; clients sign about ten
	unsignedSHA = "UNSIGNED-PAYLOAD"
	emptySHA    = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
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
	Hash     string   // Signed: lower-case hex SHA-256; "" is the hash of no bytes
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

	timestamp   string // Time in longDate
	payloadHash string // last line of the canonical request, as the client wrote it
}

// An Error is a refusal in the words of S3.
type Error struct {
	Status  int    // HTTP
	Code    string // "SignatureDoesNotMatch"
	Message string
	Detail  []laketap.Field // further elements of the XML: {"Region", "us-east-1"}
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }
