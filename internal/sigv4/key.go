package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// macRoom fits the key and the longest string to sign.
const macRoom = 512

// A SigningKey is what a secret makes for a day and a region: the key that
// signs. To make one takes four of the five HMACs of a verification, and it
// serves for a day, so it is worth keeping. It is as secret as what it is made
// from. The zero value has signed nothing.
type SigningKey struct {
	key         [sha256.Size]byte
	day, region string
}

// SigningKey makes the key that must have signed the request if its secret is
// this one.
func (a *Auth) SigningKey(secret string) SigningKey {
	return newSigningKey(secret, a.Day(), a.Region)
}

// Day returns the day that the request was signed on, as its scope has it.
func (a *Auth) Day() string { return a.timestamp[:len(shortDate)] }

// newSigningKey derives a key by the chain of the specification ("Task 3"): the
// secret, the day, the region, the service, the end. Only the last of them
// signs, so a signature of one day or region tells nothing of another's.
func newSigningKey(secret, day, region string) SigningKey {
	if secret == "" {
		return SigningKey{} // anyone can sign with no secret
	}
	k := SigningKey{day: day, region: region}
	var room [128]byte
	k.key = mac(append(append(room[:0], "AWS4"...), secret...), []byte(day))
	k.key = mac(k.key[:], []byte(region))
	k.key = mac(k.key[:], []byte(service))
	k.key = mac(k.key[:], []byte(terminator))
	return k
}

// A signer holds what all signatures of one request share.
type signer struct {
	key       [sha256.Size]byte // of day, region and service
	timestamp string            // longDate
	region    string
}

// newSigner derives the key of a secret.
func newSigner(secret, timestamp, region string) signer {
	k := newSigningKey(secret, timestamp[:len(shortDate)], region)
	return signer{key: k.key, timestamp: timestamp, region: region}
}

// mac is HMAC-SHA256 (RFC 2104) of a short text. A verification needs five of
// them, which crypto/hmac makes from forty allocations; here the buffers stay
// on the stack.
func mac(key, text []byte) [sha256.Size]byte {
	var room [macRoom]byte
	if len(key) > sha256.BlockSize || sha256.BlockSize+len(text) > len(room) {
		h := hmac.New(sha256.New, key)
		h.Write(text)
		return [sha256.Size]byte(h.Sum(nil))
	}
	// A key shorter than a block is filled up with zeros, which are there.
	copy(room[:], key)
	for i := range room[:sha256.BlockSize] {
		room[i] ^= 0x36
	}
	inner := sha256.Sum256(append(room[:sha256.BlockSize], text...))
	for i := range room[:sha256.BlockSize] {
		room[i] ^= 0x36 ^ 0x5c
	}
	return sha256.Sum256(append(room[:sha256.BlockSize], inner[:]...))
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
	sum := mac(s.key[:], text)
	return hex.EncodeToString(sum[:])
}

// request signs the hash of a canonical request.
func (s *signer) request(canonical []byte) string {
	var room [256]byte
	text := s.preamble(room[:0], algorithm)
	sum := sha256.Sum256(canonical)
	return s.sign(hex.AppendEncode(text, sum[:]))
}

// chunk signs a chunk of a body; previous is the signature before it, that of
// the head for the first. So chunks cannot be dropped, swapped or repeated.
// The hash of nothing stands where S3 has room for headers of a chunk.
func (s *signer) chunk(previous string, sum []byte) string {
	var room [384]byte
	text := s.preamble(room[:0], algorithm+"-PAYLOAD")
	text = append(text, previous...)
	text = append(text, "\n"+emptySHA+"\n"...)
	return s.sign(hex.AppendEncode(text, sum))
}

// trailer signs the trailing headers, each spelled "name:value\n" whatever
// ends their lines on the wire. previous is the signature of the empty chunk.
func (s *signer) trailer(previous string, headers []byte) string {
	var room [384]byte
	text := s.preamble(room[:0], algorithm+"-TRAILER")
	text = append(text, previous...)
	text = append(text, '\n')
	sum := sha256.Sum256(headers)
	return s.sign(hex.AppendEncode(text, sum[:]))
}
