package storage

import (
	"encoding/xml"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// An apiError is a refusal in the words of S3.
type apiError struct {
	status  int
	code    string
	message string
	// drop closes the connection after the answer: the client's next request
	// cannot be found, or should not be.
	drop bool
	// detail is what else the error document says, by element.
	detail []laketap.Field
	// cause is for the access log, never for the client.
	cause string
}

func (e *apiError) Error() string {
	if e.cause != "" {
		return e.code + ": " + e.cause
	}
	return e.code + ": " + e.message
}

// because returns the error with a cause for the access log.
func (e *apiError) because(cause string) *apiError {
	c := *e
	c.cause = cause
	return &c
}

// Every refusal of our own: code, status and text as S3 has them.
var (
	errAccessDenied    = &apiError{status: http.StatusForbidden, code: "AccessDenied", message: "Access Denied"}
	errUnknownKey      = &apiError{status: http.StatusForbidden, code: "InvalidAccessKeyId", message: "The AWS Access Key Id you provided does not exist in our records."}
	errInvalidToken    = &apiError{status: http.StatusBadRequest, code: "InvalidToken", message: "The provided token is malformed or otherwise invalid."}
	errExpiredToken    = &apiError{status: http.StatusBadRequest, code: "ExpiredToken", message: "The provided token has expired."}
	errInvalidURI      = &apiError{status: http.StatusBadRequest, code: "InvalidURI", message: "Couldn't parse the specified URI.", drop: true}
	errInvalidArgument = &apiError{status: http.StatusBadRequest, code: "InvalidArgument", message: "A query parameter or header was given more than once."}
	errBucketName      = &apiError{status: http.StatusBadRequest, code: "InvalidBucketName", message: "The specified bucket is not valid."}
	errBadRequest      = &apiError{status: http.StatusBadRequest, code: "BadRequest", message: "An error occurred when parsing the HTTP request.", drop: true}
	errHeaderTooLarge  = &apiError{status: http.StatusBadRequest, code: "RequestHeaderSectionTooLarge", message: "Your request header section exceeds the maximum allowed size.", drop: true}
	errRequestTimeout  = &apiError{status: http.StatusBadRequest, code: "RequestTimeout", message: "Your socket connection to the server was not read from or written to within the timeout period.", drop: true}
	errIncompleteBody  = &apiError{status: http.StatusBadRequest, code: "IncompleteBody", message: "You did not provide the number of bytes specified by the Content-Length HTTP header.", drop: true}
	errMissingLength   = &apiError{status: http.StatusLengthRequired, code: "MissingContentLength", message: "You must provide the Content-Length HTTP header.", drop: true}
	errMalformedXML    = &apiError{status: http.StatusBadRequest, code: "MalformedXML", message: "The XML you provided was not well-formed or did not validate against our published schema."}
	errCopySource      = &apiError{status: http.StatusBadRequest, code: "InvalidArgument", message: "Copy Source must mention the source bucket and key: sourcebucket/sourcekey"}
	errCopyOrigins     = &apiError{status: http.StatusNotImplemented, code: "NotImplemented", message: "Source and target of a copy lie in different stores."}
	errMethod          = &apiError{status: http.StatusMethodNotAllowed, code: "MethodNotAllowed", message: "The specified method is not allowed against this resource.", drop: true}
	errExpectation     = &apiError{status: http.StatusExpectationFailed, code: "ExpectationFailed", message: "The only expectation supported is 100-continue.", drop: true}
	errNoOrigin        = &apiError{status: http.StatusForbidden, code: "AccessDenied", message: "The bucket belongs to no store of this server; see storage.origins."}
	errLoop            = &apiError{status: http.StatusLoopDetected, code: "LoopDetected", message: "The request came back from this server: an endpoint in storage.origins leads here.", drop: true}
	errUnaudited       = &apiError{status: http.StatusServiceUnavailable, code: "ServiceUnavailable", message: "This server must record every access and cannot write its record. Please retry."}
	errUnavailable     = &apiError{status: http.StatusServiceUnavailable, code: "ServiceUnavailable", message: "The store behind this server did not answer. Please retry."}
	errInternal        = &apiError{status: http.StatusInternalServerError, code: "InternalError", message: "We encountered an internal error. Please try again."}
)

// asAPIError turns what went wrong before the origin was asked into a refusal.
func asAPIError(err error) *apiError {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*sigv4.Error](err); ok {
		return &apiError{status: e.Status, code: e.Code, message: e.Message, detail: e.Detail}
	}
	return errInternal.because(err.Error())
}

// An errorBody is S3's error document.
type errorBody struct {
	XMLName   xml.Name `xml:"Error"`
	Code      string
	Message   string
	Detail    []element
	Resource  string `xml:",omitempty"`
	RequestID string `xml:"RequestId"`
	HostID    string `xml:"HostId"`
}

// An element is one more thing that an error document says.
type element struct {
	XMLName xml.Name
	Value   string `xml:",chardata"`
}

// with returns the error with one more element in its document.
func (e *apiError) with(name, value string) *apiError {
	c := *e
	c.detail = append(slices.Clip(e.detail), laketap.Field{Name: name, Value: value})
	return &c
}

// answer writes the refusal out for a request.
func (e *apiError) answer(r *request) *answer {
	body := errorBody{Code: e.code, Message: e.message, Resource: validText(r.sig.Path), RequestID: r.id, HostID: "laketap"}
	for _, d := range e.detail {
		body.Detail = append(body.Detail, element{xml.Name{Local: d.Name}, validText(d.Value)})
	}
	doc, err := xml.Marshal(body)
	if err != nil { // cannot be: five strings
		doc = []byte("<Error><Code>InternalError</Code></Error>")
	}
	doc = append([]byte(xml.Header), doc...)
	header := []laketap.Field{
		{Name: "Content-Type", Value: "application/xml"},
		{Name: "x-amz-request-id", Value: r.id},
	}
	if e.status == http.StatusServiceUnavailable {
		header = append(header, laketap.Field{Name: "Retry-After", Value: "1"})
	}
	a := &answer{status: e.status, header: header, length: int64(len(doc)), body: laketap.Body{Bytes: doc}, drop: e.drop, served: laketap.FromTap, err: e}
	if r.sig.Method == http.MethodHead {
		a.length, a.body = 0, laketap.Body{}
	}
	return a
}

// validText bounds a text that a client sent and makes it fit for XML, whose
// writer escapes the rest. The bound is in bytes and may cut a character.
func validText(s string) string {
	const limit = 1024
	if len(s) > limit {
		s = s[:limit]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
