package sigv4

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Parse reads the claim of a request. Every error is an *Error; a request
// without any authentication is AccessDenied.
func Parse(r *Request) (*Auth, error) {
	authorization, lines := header(r, "authorization")
	q, err := scanQuery(r.Query)
	if err != nil {
		return nil, err
	}
	switch {
	case lines > 0 && (q.v4 || q.v2):
		return nil, errTwoMechanisms()
	case q.v2:
		return nil, errMechanism()
	case q.v4:
		return parsePresigned(r, &q)
	case lines == 0 || authorization == "":
		return nil, errAnonymous()
	case lines > 1:
		return nil, errSpace(authorization)
	}
	return parseHeader(r, authorization)
}

// Anonymous reports whether a request makes no claim at all to be somebody's.
func Anonymous(r *Request) bool {
	_, lines := header(r, "authorization")
	q, err := scanQuery(r.Query)
	return lines == 0 && err == nil && !q.v4 && !q.v2
}

// errSpace is about an Authorization header that is not "kind rest"; several
// lines of it are, joined, no better.
func errSpace(value string) *Error {
	return errArgument("Authorization", value, "Authorization header is invalid -- one and only one ' ' (space) required.")
}

// parseHeader reads a request that carries an Authorization header.
func parseHeader(r *Request, authorization string) (*Auth, error) {
	kind, rest, ok := strings.Cut(strings.TrimSpace(authorization), " ")
	switch {
	case !ok:
		return nil, errSpace(authorization)
	case kind == "AWS":
		return nil, errMechanism()
	case kind != algorithm:
		return nil, errArgument("Authorization", kind, "Unsupported Authorization Type")
	}
	// All of what follows is only a claim, but its form is checked before any
	// secret is looked for, so that a malformed request never costs a look-up.
	credential, names, signature, err := splitComponents(rest)
	if err != nil {
		return nil, err
	}
	a := &Auth{Signature: signature}
	date, err := a.setCredential(credential)
	if err != nil {
		return nil, err
	}
	if a.SignedHeaders, err = splitNames(names); err != nil {
		return nil, err
	}
	if err := a.setTime(r, date); err != nil {
		return nil, err
	}
	a.SessionToken, _ = header(r, "x-amz-security-token")
	hash, _ := header(r, "x-amz-content-sha256")
	if hash == "" {
		return nil, refuse(http.StatusBadRequest, "InvalidRequest",
			"Missing required header for this request: x-amz-content-sha256")
	}
	if err := a.setPayload(r, hash); err != nil {
		return nil, err
	}
	return a, nil
}

// splitComponents takes apart "Credential=…, SignedHeaders=…, Signature=…".
// The order is free and so is the space behind a comma: some clients send
// none. A component of another name counts as one of the three, so with it
// one of them is missing.
func splitComponents(s string) (credential, names, signature string, err error) {
	if strings.Count(s, ",") != 2 {
		return "", "", "", errHeader("the authorization header requires three components: Credential, SignedHeaders, and Signature.")
	}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		name, value, ok := strings.Cut(part, "=")
		if !ok || strings.Contains(value, "=") {
			return "", "", "", errHeader("the authorization component %q is malformed.", part)
		}
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			names = value
		case "Signature":
			signature = value
		}
	}
	switch {
	case credential == "":
		return "", "", "", errHeader("missing Credential.")
	case names == "":
		return "", "", "", errHeader("missing SignedHeaders.")
	case signature == "":
		return "", "", "", errHeader("missing Signature.")
	}
	return credential, names, signature, nil
}

// setCredential reads "AKID/yyyymmdd/region/s3/aws4_request" and returns the
// date in it. Errors are worded for where the credential stood.
func (a *Auth) setCredential(s string) (date string, err error) {
	say, where := errHeader, ""
	if a.Presigned {
		say, where = errQuery, "Error parsing the X-Amz-Credential parameter; "
	}
	parts := strings.Split(s, "/")
	if len(parts) != 5 || parts[0] == "" {
		return "", say("%sthe Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".", where)
	}
	if parts[3] != service {
		return "", say("%sincorrect service %q. This endpoint belongs to \"s3\".", where, parts[3])
	}
	if parts[4] != terminator {
		return "", say("%sincorrect terminal %q. This endpoint uses \"aws4_request\".", where, parts[4])
	}
	if _, err := time.Parse(shortDate, parts[1]); err != nil {
		return "", say("%sincorrect date format %q. This date in the credential must be in the format \"yyyyMMdd\".", where, parts[1])
	}
	a.AccessKeyID, a.Region, a.Service = parts[0], parts[2], parts[3]
	return parts[1], nil
}

// splitNames reads the list of signed headers. Its length is bounded since
// every name costs a walk over the header.
func splitNames(s string) ([]string, error) {
	if strings.Count(s, ";") >= maxSigned {
		return nil, errHeader("more than %d SignedHeaders.", maxSigned)
	}
	names := strings.Split(strings.ToLower(s), ";")
	if slices.Contains(names, "") {
		return nil, errHeader("the authorization component %q is malformed.", "SignedHeaders="+s)
	}
	return names, nil
}

// setTime reads x-amz-date, else Date, which must be of the credential's day.
func (a *Auth) setTime(r *Request, date string) error {
	value, _ := header(r, "x-amz-date")
	t, err := time.Parse(longDate, value)
	if value == "" {
		// S3 lets x-amz-date win, since HTTP libraries set Date by themselves.
		value, _ = header(r, "date")
		if t, err = time.Parse(longDate, value); err != nil {
			t, err = http.ParseTime(value)
		}
	}
	if err != nil {
		return errDate()
	}
	a.Time = t.UTC()
	a.timestamp = a.Time.Format(longDate)
	if a.timestamp[:len(shortDate)] != date {
		// The beginning is there twice in what conformance suites compare.
		return errHeader("The authorization header is malformed; Invalid credential date. Date is not the same as X-Amz-Date.")
	}
	return nil
}

// header returns the value of a header and the number of its lines; several
// are joined as in a canonical request.
func header(r *Request, name string) (value string, lines int) {
	for i := range r.Header {
		if !strings.EqualFold(r.Header[i].Name, name) {
			continue
		}
		if lines++; lines == 1 {
			value = strings.TrimSpace(r.Header[i].Value)
		} else {
			value += "," + strings.TrimSpace(r.Header[i].Value)
		}
	}
	return value, lines
}
