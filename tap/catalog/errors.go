package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/laketap/laketap/internal/certs"
)

// A refusal is an answer of the tap's own, in the form of the specification.
type refusal struct {
	status  int
	kind    string // the specification's error type
	message string
}

// refusalFor says what a client is told when the upstream did not answer, or
// not to the end.
//
// An engine deletes the files of a commit when it is told that the commit
// failed, so a mutation whose outcome is unknown must never look like one: it
// is 502 or 504, never 503, 409 or another 4xx. A read may be tried again.
func refusalFor(method string, up *upstream, err error) refusal {
	timeout := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
		timeout = true
	}
	op, dial := errors.AsType[*net.OpError](err)
	unreachable := dial && op.Op == "dial"
	switch {
	case certs.Distrusted(err):
		status := http.StatusServiceUnavailable
		if mutates(method) {
			status = http.StatusBadGateway
		}
		return refusal{
			status, "ServiceFailureException",
			fmt.Sprintf("the certificate of catalog %s at %s is not trusted, so nothing was sent to it; see catalogs[%s].ca", up.name, up.url(), up.name),
		}
	case mutates(method) && unreachable:
		return refusal{
			http.StatusBadGateway, "ServiceFailureException",
			fmt.Sprintf("catalog %s at %s cannot be reached; nothing was sent to it", up.name, up.url()),
		}
	case mutates(method) && timeout:
		return refusal{
			http.StatusGatewayTimeout, "CommitStateUnknownException",
			fmt.Sprintf("catalog %s did not answer in time; whether it carried out the request is unknown", up.name),
		}
	case mutates(method):
		return refusal{
			http.StatusBadGateway, "CommitStateUnknownException",
			fmt.Sprintf("catalog %s broke off before it had answered; whether it carried out the request is unknown", up.name),
		}
	case timeout && !unreachable:
		return refusal{
			http.StatusGatewayTimeout, "ServiceFailureException",
			fmt.Sprintf("catalog %s did not answer in time", up.name),
		}
	case unreachable:
		return refusal{
			http.StatusServiceUnavailable, "ServiceUnavailableException",
			fmt.Sprintf("catalog %s at %s cannot be reached", up.name, up.url()),
		}
	}
	return refusal{
		http.StatusServiceUnavailable, "ServiceUnavailableException",
		fmt.Sprintf("catalog %s broke off before it had answered", up.name),
	}
}

// mutates reports whether a method may change something upstream.
func mutates(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return false
	}
	return true
}

// body spells a refusal as the specification does.
func (r refusal) body(requestID string) []byte {
	type failure struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    int    `json:"code"`
	}
	out, err := json.Marshal(struct {
		Error failure `json:"error"`
	}{failure{r.message + " (laketap request " + requestID + ")", r.kind, r.status}})
	if err != nil { // strings and a number always marshal
		return []byte("{}")
	}
	return out
}

// write sends a refusal.
func (r refusal) write(w http.ResponseWriter, method, requestID string) {
	body := r.body(requestID)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(r.status)
	if method != http.MethodHead {
		// A client that left does not mind.
		_, _ = w.Write(body)
	}
}

// awsServices are the catalogs of AWS whose clients sign each request for the
// upstream's host, by the service name in the signature.
var awsServices = map[string]string{
	"glue":        "AWS Glue",
	"s3tables":    "Amazon S3 Tables",
	"execute-api": "Amazon API Gateway",
	"lambda":      "AWS Lambda",
}

// signedService returns the service that a request is signed for with AWS
// Signature Version 4; ok is false if it is not signed so.
func signedService(authorization string) (service string, ok bool) {
	rest, ok := strings.CutPrefix(authorization, "AWS4-")
	if !ok {
		return "", false
	}
	_, rest, _ = strings.Cut(rest, "Credential=")
	scope, _, _ := strings.Cut(rest, ",")
	parts := strings.Split(scope, "/") // key / date / region / service / aws4_request
	if len(parts) < 5 {
		return "", true
	}
	return clip(parts[len(parts)-2]), true
}

// explainSigned is the refusal for a client whose signature covers a host that
// is not the upstream's.
func explainSigned(status int, up *upstream, service string) refusal {
	name := awsServices[service]
	if name == "" {
		name = fmt.Sprintf("the AWS service %q", service)
	}
	return refusal{status, "ForbiddenException", fmt.Sprintf(
		"catalog %s refused a request that is signed with AWS Signature Version 4 for %s: the signature covers the host name, "+
			"so such a catalog cannot be reached through Laketap; give the engine the catalog's own URI, or a catalog that takes a bearer token", up.name, name)}
}
