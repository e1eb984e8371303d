package sigv4

import (
	"strconv"
	"strings"
	"time"
)

// A queryAuth is what a query says about authentication, decoded.
type queryAuth struct {
	v4, v2    bool // some parameter of that signature version is there
	twice     bool // a parameter of version 4 appears more than once
	algorithm string
	credential,
	date,
	expires,
	names,
	signature,
	token,
	hash string
}

// field returns where a parameter goes; nil for parameters that are not about
// authentication.
func (q *queryAuth) field(name string) *string {
	switch name {
	case "X-Amz-Algorithm":
		return &q.algorithm
	case "X-Amz-Credential":
		return &q.credential
	case "X-Amz-Date":
		return &q.date
	case "X-Amz-Expires":
		return &q.expires
	case "X-Amz-SignedHeaders":
		return &q.names
	case "X-Amz-Signature":
		return &q.signature
	case "X-Amz-Security-Token":
		return &q.token
	case "X-Amz-Content-Sha256":
		return &q.hash
	}
	return nil
}

// scanQuery collects the parameters of authentication.
func scanQuery(query string) (queryAuth, error) {
	var q queryAuth
	if query == "" {
		return q, nil
	}
	// Names are compared decoded but by their exact case, as S3 does; one that
	// is spelled otherwise is a parameter like any other and must be signed.
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, ok := unescapeQuery(name)
		if !ok {
			return q, errURI()
		}
		if name == "AWSAccessKeyId" || name == "Signature" {
			q.v2 = true
			continue
		}
		to := q.field(name)
		if to == nil {
			continue
		}
		if value, ok = unescapeQuery(value); !ok {
			return q, errURI()
		}
		q.twice = q.twice || *to != ""
		*to = value
		// A token or a payload hash alone does not make a presigned URL.
		q.v4 = q.v4 || (to != &q.token && to != &q.hash)
	}
	return q, nil
}

// parsePresigned reads a request whose query carries the signature.
func parsePresigned(r *Request, q *queryAuth) (*Auth, error) {
	switch {
	case q.algorithm == "AWS4-ECDSA-P256-SHA256":
		return nil, errQuery(`X-Amz-Algorithm only supports "AWS4-HMAC-SHA256"`)
	case q.algorithm != "" && q.algorithm != algorithm:
		return nil, errQuery(`X-Amz-Algorithm only supports "AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256"`)
	case q.algorithm == "", q.credential == "", q.date == "", q.expires == "", q.names == "", q.signature == "", q.twice:
		return nil, errQueryMissing()
	}
	a := &Auth{Presigned: true, Signature: q.signature, SessionToken: q.token}
	date, err := a.setCredential(q.credential)
	if err != nil {
		return nil, err
	}
	if a.Time, err = time.Parse(longDate, q.date); err != nil {
		return nil, errQuery(`X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`)
	}
	a.timestamp = q.date
	if q.date[:len(shortDate)] != date {
		return nil, errQuery("Invalid credential date %q. This date is not the same as X-Amz-Date: %q.", date, q.date[:len(shortDate)])
	}
	if a.Expires, err = parseExpires(q.expires); err != nil {
		return nil, err
	}
	if a.SignedHeaders, err = splitNames(q.names); err != nil {
		return nil, err
	}
	if a.SessionToken == "" {
		a.SessionToken, _ = header(r, "x-amz-security-token")
	}
	// The hash may be told in the query or in a (signed) header; most
	// presigned URLs leave the payload open.
	hash := q.hash
	if hash == "" {
		hash, _ = header(r, "x-amz-content-sha256")
	}
	if hash == "" {
		hash = unsignedSHA
	}
	if err := a.setPayload(r, hash); err != nil {
		return nil, err
	}
	return a, nil
}

// parseExpires reads X-Amz-Expires, in seconds. 0 is allowed: it is good in
// the second it was made for.
func parseExpires(s string) (time.Duration, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		return 0, errQuery("X-Amz-Expires should be a number")
	case n < 0:
		return 0, errQuery("X-Amz-Expires must be non-negative")
	case n > maxExpires:
		return 0, errQuery("X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds")
	}
	return time.Duration(n) * time.Second, nil
}
