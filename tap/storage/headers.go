package storage

import (
	"net/http"
	"strings"

	"github.com/laketap/laketap"
)

// hopByHop headers concern one connection (RFC 9110 §7.6.1).
const hopByHop = " connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade "

// remade headers of a request are written anew for the origin, by us or by
// signing.
const remade = " host authorization date x-amz-date x-amz-content-sha256 x-amz-security-token x-amz-decoded-content-length" +
	" x-amz-trailer content-length content-encoding expect "

// connectionOnly are the headers of those that also a request which is not
// signed again cannot keep: they are of the message to us.
const connectionOnly = " host content-length expect "

// private headers are about who forwarded what, or ask a server to take the
// request for another one; no origin may see them.
const private = " forwarded via x-real-ip x-http-method x-http-method-override x-method-override x-original-url x-rewrite-url "

// forwardHeaders returns the header of a request that is signed for the origin:
// every end-to-end line of the client's that is not made anew.
func forwardHeaders(r *request) http.Header {
	out := endToEndHeaders(r, remade)
	if coding := withoutChunked(strings.Join(r.headers("Content-Encoding"), ",")); coding != "" {
		out.Set("Content-Encoding", coding)
	}
	return out
}

// endToEndHeaders returns every line of the client's header that may pass, but
// those in a list.
func endToEndHeaders(r *request, but string) http.Header {
	out := make(http.Header, len(r.sig.Header))
	named := connectionNamed(r.headers("Connection"))
	for _, f := range r.sig.Header {
		lower := strings.ToLower(f.Name)
		switch {
		case listed(hopByHop, lower), listed(but, lower), listed(private, lower), listed(named, lower),
			strings.HasPrefix(lower, "x-forwarded-"), strings.HasPrefix(lower, "x-laketap-"):
			continue
		case lower == "idempotency-key", lower == "x-idempotency-key":
			// Under its canonical name Go's transport would take it as leave
			// to send a request twice.
			out[lower] = append(out[lower], f.Value)
			continue
		}
		out.Add(f.Name, f.Value)
	}
	// A store's log should name the client, or nobody, but not us.
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = []string{""} // else Go would name itself
	}
	return out
}

// listed reports whether a name is in a list with spaces around each name.
func listed(list, lower string) bool { return strings.Contains(list, " "+lower+" ") }

// endToEnd begins the names of headers that say what is read, written or
// stored. A Connection header that names one of them lies: without it, a
// conditional write would be an unconditional one and a part the whole.
func endToEnd(lower string) bool {
	for _, prefix := range []string{"x-amz-", "content-", "if-", "range", "cache-control", "expires", "etag", "last-modified", "accept-ranges", "location"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	return false
}

// connectionNamed returns the headers that Connection headers declare
// hop-by-hop, as a list, without those that never are.
func connectionNamed(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteByte(' ')
	for _, line := range lines {
		for name := range strings.SplitSeq(strings.ToLower(line), ",") {
			if name = strings.TrimSpace(name); !endToEnd(name) {
				b.WriteString(name + " ")
			}
		}
	}
	return b.String()
}

// withoutChunked removes the aws-chunked coding, which is framing and no part
// of the object, and keeps the others.
func withoutChunked(encoding string) string {
	if encoding == "" {
		return ""
	}
	var kept []string
	for coding := range strings.SplitSeq(encoding, ",") {
		if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "aws-chunked") {
			kept = append(kept, coding)
		}
	}
	return strings.Join(kept, ",")
}

// replyHeaders returns the header of an origin's reply as it goes to the
// client: everything but what concerns the origin's connection, its length
// (which the reply has) and Date. The date is ours, since clients set their
// clock by it and it is our clock that judges their signatures.
func replyHeaders(h http.Header) []laketap.Field {
	fields := make([]laketap.Field, 0, len(h))
	named := connectionNamed(h.Values("Connection"))
	for name, values := range h {
		lower := strings.ToLower(name)
		switch {
		case listed(hopByHop, lower), listed(named, lower), lower == "content-length", lower == "date",
			lower == "alt-svc": // would lead around us
			continue
		case strings.HasPrefix(lower, "x-amz-"):
			// Go respells names; clients such as boto3 take the name of a
			// metadata entry as it is spelled, and S3 spells it small.
			name = lower
		case lower == "etag":
			name = "ETag"
		}
		for _, v := range values {
			fields = append(fields, laketap.Field{Name: name, Value: v})
		}
	}
	return fields
}
