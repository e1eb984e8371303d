package sigv4

import (
	"crypto/subtle"
	"slices"
	"strings"
	"time"
)

// Verify reports whether the holder of secret signed r within 15 minutes of
// now (or within the validity of a presigned URL) for region and service s3,
// with every x-amz-* header signed. It compares in constant time. Every error
// is an *Error.
func (a *Auth) Verify(r *Request, secret, region string, now time.Time) error {
	return a.VerifyBy(r, a.SigningKey(secret), region, now)
}

// VerifyBy is [Auth.Verify] with a key that [Auth.SigningKey] made, of this or
// of an earlier request. A key of another day or region verifies nothing.
func (a *Auth) VerifyBy(r *Request, key SigningKey, region string, now time.Time) error {
	if err := a.checkTime(now); err != nil {
		return err
	}
	if a.Region != region {
		if a.Presigned {
			return errQuery("Error parsing the X-Amz-Credential parameter; the region %q is wrong; expecting %q", a.Region, region)
		}
		return errHeader("the region %q is wrong; expecting %q", a.Region, region).with("Region", region)
	}
	if names := a.unsigned(r); len(names) > 0 {
		return errUnsignedHeaders(names)
	}
	if key.day != a.Day() || key.region != a.Region {
		return errMismatch()
	}
	return a.checkSignature(r, &key)
}

// checkTime checks the date of the request, or the life of a presigned URL.
// Both ends are inclusive, as S3 has them. A URL may begin a little in the
// future: the clock of who made it may be ahead.
func (a *Auth) checkTime(now time.Time) error {
	if !a.Presigned {
		if d := now.Sub(a.Time); d > maxSkew || d < -maxSkew {
			return errSkewed(a.timestamp, now)
		}
		return nil
	}
	if end := a.Time.Add(a.Expires); now.After(end) {
		return errExpired(a.Expires, end, now)
	}
	if a.Time.Sub(now) > maxSkew {
		return errNotYet()
	}
	return nil
}

// unsigned returns what must be signed and is not: the host, so that a request
// cannot be taken elsewhere, and every x-amz-* header, since they change what
// the request does.
func (a *Auth) unsigned(r *Request) (names []string) {
	if !slices.Contains(a.SignedHeaders, "host") {
		names = append(names, "host")
	}
	const prefix = "x-amz-"
	for i := range r.Header {
		name := r.Header[i].Name
		if len(name) < len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
			continue
		}
		if !slices.ContainsFunc(a.SignedHeaders, func(signed string) bool { return strings.EqualFold(signed, name) }) {
			names = append(names, strings.ToLower(name))
		}
	}
	return names
}

// checkSignature computes what the claim's signature would be with the key.
// Everything in it comes from the request as received, also what a proxy
// between the client and us may have changed: that is then no valid request.
func (a *Auth) checkSignature(r *Request, key *SigningKey) error {
	// The names are sorted in the canonical request, whatever order the client
	// lists them in.
	names := a.SignedHeaders
	if !slices.IsSorted(names) {
		names = slices.Sorted(slices.Values(names))
	}
	c := canonicalRequest{
		method: r.Method, path: r.Path, query: r.Query, payload: a.payloadHash, names: names, in: r,
	}
	s := signer{key: key.key, timestamp: a.timestamp, region: a.Region}
	var room [4096]byte
	canonical, ok := c.appendTo(room[:0])
	if !ok {
		return errURI()
	}
	if equal(s.request(canonical), a.Signature) {
		return nil
	}
	// Some clients sign the path as they send it ("d=1" for "d%3D1"). That
	// binds the request no less: the path received is the path signed.
	if c.rawPath = printable(r.Path); !c.rawPath {
		return errMismatch()
	}
	if canonical, _ = c.appendTo(canonical[:0]); equal(s.request(canonical), a.Signature) {
		return nil
	}
	return errMismatch()
}

// printable reports whether a path holds no byte that would end a line of the
// canonical request.
func printable(path string) bool {
	return !strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' })
}

// appendHeader appends the canonical value of a signed header, which is empty
// if the request has no such header.
func appendHeader(dst []byte, r *Request, name string) []byte {
	if name == "host" {
		return appendFolded(dst, r.Host)
	}
	lines := 0
	for i := range r.Header {
		if !strings.EqualFold(r.Header[i].Name, name) {
			continue
		}
		if lines > 0 {
			dst = append(dst, ',')
		}
		dst = appendFolded(dst, r.Header[i].Value)
		lines++
	}
	if lines == 0 && name == "content-length" {
		// Go's and fasthttp's clients sign a length of 0 and send none.
		dst = append(dst, '0')
	}
	return dst
}

// equal compares in constant time.
func equal(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
