package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// A signer holds what all signatures of one request share.
type signer struct {
	key       [sha256.Size]byte // of day, region and service
	timestamp string            // longDate
	region    string
}

func newSigner(secret, timestamp, region string) signer {
	s := signer{timestamp: timestamp, region: region}
	key := mac([]byte("AWS4"+secret), timestamp[:len(shortDate)])
	key = mac(key[:], region)
	key = mac(key[:], service)
	s.key = mac(key[:], terminator)
	return s
}

// mac is HMAC-SHA256.
func mac(key []byte, text string) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	h.Sum(sum[:0])
	return sum
}

// scope appends "yyyymmdd/region/s3/aws4_request".
func (s *signer) scope(dst []byte) []byte {
	dst = append(dst, s.timestamp[:len(shortDate)]...)
	dst = append(dst, '/')
	dst = append(dst, s.region...)
	return append(dst, "/"+service+"/"+terminator...)
}

// preamble appends the lines with which every string to sign begins.
func (s *signer) preamble(dst []byte, algorithm string) []byte {
	dst = append(dst, algorithm...)
	dst = append(dst, '\n')
	dst = append(dst, s.timestamp...)
	dst = append(dst, '\n')
	dst = s.scope(dst)
	return append(dst, '\n')
}

// sign returns the signature of a string in hex.
func (s *signer) sign(text []byte) string {
	h := hmac.New(sha256.New, s.key[:])
	h.Write(text)
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0]))
}

// request signs the hash of a canonical request.
func (s *signer) request(canonical []byte) string {
	var room [256]byte
	text := s.preamble(room[:0], algorithm)
	sum := sha256.Sum256(canonical)
	return s.sign(hex.AppendEncode(text, sum[:]))
}

// chunk signs a chunk of a body; previous is the signature before it.
func (s *signer) chunk(previous string, sum []byte) string {
	var room [384]byte
	text := s.preamble(room[:0], algorithm+"-PAYLOAD")
	text = append(text, previous...)
	text = append(text, "\n"+emptySHA+"\n"...)
	return s.sign(hex.AppendEncode(text, sum))
}

// trailer signs the trailing headers, each spelled "name:value\n".
func (s *signer) trailer(previous string, headers []byte) string {
	var room [384]byte
	text := s.preamble(room[:0], algorithm+"-TRAILER")
	text = append(text, previous...)
	text = append(text, '\n')
	sum := sha256.Sum256(headers)
	return s.sign(hex.AppendEncode(text, sum[:]))
}
