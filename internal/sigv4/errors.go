package sigv4

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/laketap/laketap"
)

// The words below are what S3 answers, as far as clients and conformance
// suites look at them.

// with adds elements of the XML document: names and values in turn.
func (e *Error) with(pairs ...string) *Error {
	for i := 0; i < len(pairs); i += 2 {
		e.Detail = append(e.Detail, laketap.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return e
}

// refuse makes an error. Nothing of a secret or a token may be among args:
// the text goes to clients and to the access log.
func refuse(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// errAnonymous is for a request without any signature: S3 has no word of its
// own for it, since a bucket might be public.
func errAnonymous() *Error {
	return refuse(http.StatusForbidden, "AccessDenied", "Access Denied")
}

func errTwoMechanisms() *Error {
	return refuse(http.StatusBadRequest, "InvalidArgument",
		"Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, "+
			"Signature query string parameter or the Authorization header should be specified")
}

func errMechanism() *Error {
	return refuse(http.StatusBadRequest, "InvalidRequest",
		"The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.")
}

func errDate() *Error {
	return refuse(http.StatusForbidden, "AccessDenied", "AWS authentication requires a valid Date or x-amz-date header.")
}

// errSkewed tells both clocks: SDKs correct theirs by it and repeat.
func errSkewed(request string, now time.Time) *Error {
	return refuse(http.StatusForbidden, "RequestTimeTooSkewed",
		"The difference between the request time and the current time is too large.").
		with("RequestTime", request, "ServerTime", now.UTC().Format(time.RFC3339),
			"MaxAllowedSkewMilliseconds", strconv.FormatInt(maxSkew.Milliseconds(), 10))
}

func errExpired(expires time.Duration, end, now time.Time) *Error {
	return refuse(http.StatusForbidden, "AccessDenied", "Request has expired.").
		with("X-Amz-Expires", strconv.Itoa(int(expires.Seconds())), "Expires", end.UTC().Format(time.RFC3339),
			"ServerTime", now.UTC().Format(time.RFC3339))
}

func errNotYet() *Error {
	return refuse(http.StatusForbidden, "AccessDenied", "Request is not valid yet.")
}

func errUnsignedHeaders(names []string) *Error {
	return refuse(http.StatusForbidden, "AccessDenied", "There were headers present in the request which were not signed").
		with("HeadersNotSigned", strings.Join(names, ", "))
}

// errMismatch leaves out the canonical request that S3 tells: it may hold a
// session token, and this text reaches logs.
func errMismatch() *Error {
	return refuse(http.StatusForbidden, "SignatureDoesNotMatch",
		"The request signature we calculated does not match the signature you provided. Check your key and signing method.")
}

// errArgument is about the value of a header.
func errArgument(name, value, message string) *Error {
	return refuse(http.StatusBadRequest, "InvalidArgument", "%s", message).with("ArgumentName", name, "ArgumentValue", value)
}

func errURI() *Error {
	return refuse(http.StatusBadRequest, "InvalidURI", "Couldn't parse the specified URI.")
}

// errHeader is about the Authorization header.
func errHeader(format string, args ...any) *Error {
	return refuse(http.StatusBadRequest, "AuthorizationHeaderMalformed",
		"The authorization header is malformed; "+format, args...)
}

// errQuery is about the parameters of a presigned URL.
func errQuery(format string, args ...any) *Error {
	return refuse(http.StatusBadRequest, "AuthorizationQueryParametersError", format, args...)
}

func errQueryMissing() *Error {
	return errQuery("Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, " +
		"X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.")
}

func errIncomplete() *Error {
	return refuse(http.StatusBadRequest, "IncompleteBody", "The request body terminated unexpectedly")
}

// errLength is for a body that is longer or shorter than it says. S3 has one
// code for that and for one that breaks off, and clients repeat both.
func errLength() *Error {
	return refuse(http.StatusBadRequest, "IncompleteBody",
		"You did not provide the number of bytes specified by the Content-Length HTTP header")
}

func errNoLength() *Error {
	return refuse(http.StatusLengthRequired, "MissingContentLength", "You must provide the Content-Length HTTP header.")
}

func errPayloadHash(want, got string) *Error {
	return refuse(http.StatusBadRequest, "XAmzContentSHA256Mismatch",
		"The provided 'x-amz-content-sha256' header does not match what was computed.").
		with("ClientComputedContentSHA256", want, "S3ComputedContentSHA256", got)
}

func errChunkSize() *Error {
	return refuse(http.StatusBadRequest, "InvalidChunkSizeError",
		"Only the last chunk is allowed to have a size less than 8192 bytes")
}

func errTrailer() *Error {
	return refuse(http.StatusBadRequest, "MalformedTrailerError",
		"The request contained trailing data that was not well-formed or did not conform to our published schema.")
}

func errTrailerName() *Error {
	return refuse(http.StatusBadRequest, "InvalidRequest", "The value specified in the x-amz-trailer header is not supported")
}

func errTrailerValue(name string) *Error {
	return refuse(http.StatusBadRequest, "InvalidRequest", "Value for %s trailing header is invalid.", name)
}

func errDigest(name string) *Error {
	return refuse(http.StatusBadRequest, "BadDigest", "The %s you specified did not match the calculated checksum.",
		strings.ToUpper(strings.TrimPrefix(name, checksumPrefix)))
}
