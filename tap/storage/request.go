package storage

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// What fasthttp's Content-Length stands for where it is negative.
const (
	lengthChunked = -1 // Transfer-Encoding: chunked
	lengthNone    = -2 // neither header: there is no body
)

// A request is one S3 request as received, and what was found out about it.
// Nothing in it points into fasthttp's buffers, which are used again.
type request struct {
	id     string
	at     time.Time
	sig    sigv4.Request // as received
	length int64         // Content-Length, or lengthChunked, or lengthNone
	http10 bool
	body   *clientBody // never nil

	bucket, key string // decoded; "" where there is none
	slash       bool   // the bucket's path ended in one
	params      []param
	op          *operation
	known       bool // op allows every query parameter that is there
	rng         laketap.Range

	auth    *sigv4.Auth
	who     *caller // nil until its signature is proved
	origin  string
	covered bool                 // lies in the caller's scope
	source  laketap.ObjectName   // of a copy
	deletes []laketap.ObjectName // keys of a DeleteObjects
}

// A param is one query parameter, decoded.
type param struct{ name, value string }

// name returns where the object of the request is.
func (r *request) name() laketap.ObjectName {
	return laketap.ObjectName{Origin: r.origin, Bucket: r.bucket, Key: r.key}
}

// place returns where the request looks: its object, or what it lists.
func (r *request) place() laketap.ObjectName {
	name := r.name()
	if r.op.kind == kindList {
		name.Key = r.prefix()
	}
	return name
}

// header returns the first value of a header.
func (r *request) header(name string) string {
	for _, f := range r.sig.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// headers returns the value of every line of a header.
func (r *request) headers(name string) []string {
	var values []string
	for _, f := range r.sig.Header {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// times counts the lines of a header.
func (r *request) times(name string) int {
	n := 0
	for _, f := range r.sig.Header {
		if strings.EqualFold(f.Name, name) {
			n++
		}
	}
	return n
}

// prefix returns what a listing asks for: the first value of that name.
func (r *request) prefix() string {
	for _, p := range r.params {
		if p.name == "prefix" {
			return p.value
		}
	}
	return ""
}

var errFraming = errors.New("message framing is ambiguous")

// parseHead reads the header block as it came over the wire. It is stricter
// than fasthttp where another server might read the same bytes otherwise, so
// that no request hides inside another: bare line feeds, folded lines, names
// that are no tokens, control characters, Content-Length beside
// Transfer-Encoding. Host is returned apart.
func parseHead(raw string) (fields []laketap.Field, host string, err error) {
	fields = make([]laketap.Field, 0, strings.Count(raw, "\n"))
	length, coding := false, false
	for raw != "" {
		line, rest, ok := strings.Cut(raw, "\r\n")
		if !ok || control(line) {
			return nil, "", errFraming
		}
		raw = rest
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !token(name) {
			return nil, "", errFraming
		}
		value = strings.Trim(value, " \t")
		switch {
		case strings.EqualFold(name, "Host"):
			host = value
			continue
		case strings.EqualFold(name, "Content-Length"):
			length = true
		case strings.EqualFold(name, "Transfer-Encoding"):
			if !strings.EqualFold(value, "chunked") {
				return nil, "", errFraming
			}
			coding = true
		}
		fields = append(fields, laketap.Field{Name: name, Value: value})
	}
	if raw != "" || length && coding {
		return nil, "", errFraming
	}
	return fields, host, nil
}

// control reports whether a line has a character that none may have (RFC 9110
// §5.5). Go would refuse it when the line is sent on, as if the store had
// failed.
func control(line string) bool {
	for i := range len(line) {
		if c := line[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// token reports whether a text may be the name of a header (RFC 9110 §5.6.2).
func token(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"(),/:;<=>?@[\\]{}", c) >= 0 {
			return false
		}
	}
	return name != ""
}

// locate finds bucket, key and query parameters in the target as received.
// Nothing is cleaned: "a//b" and "a/../b" are keys like any other.
func (r *request) locate(target, domain string) error {
	target, ok := r.originForm(target)
	if !ok {
		return errInvalidURI
	}
	path, query, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/") || strings.Contains(target, "#") {
		return errInvalidURI
	}
	r.sig.Path, r.sig.Query = path, query
	rest := path[1:]
	bucket, hosted := bucketOfHost(r.sig.Host, domain)
	if !hosted {
		bucket, rest, r.slash = strings.Cut(rest, "/")
	}
	var err error
	if r.bucket, err = url.PathUnescape(bucket); err != nil {
		return errInvalidURI
	}
	if strings.Contains(r.bucket, "/") || r.bucket == "." || r.bucket == ".." {
		return errBucketName
	}
	if r.key, err = url.PathUnescape(rest); err != nil {
		return errInvalidURI
	}
	if r.bucket == "" && r.key != "" {
		return errBucketName // "//key"
	}
	if r.params, err = parseQuery(query); err != nil {
		return errInvalidURI
	}
	return nil
}

// originForm turns the absolute form of a target, which a server must take (RFC
// 9112 §3.2.2), into the usual one. Its host counts, and must be the Host that
// may have been signed.
func (r *request) originForm(target string) (form string, ok bool) {
	rest, absolute := strings.CutPrefix(target, "http://")
	if !absolute {
		if rest, absolute = strings.CutPrefix(target, "https://"); !absolute {
			return target, true
		}
	}
	host := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host = rest[:i]
	}
	form = rest[len(host):]
	if !strings.HasPrefix(form, "/") {
		form = "/" + form
	}
	return form, strings.EqualFold(host, r.sig.Host)
}

// bucketOfHost returns the bucket of a virtual-host style request.
func bucketOfHost(host, domain string) (bucket string, ok bool) {
	if domain == "" {
		return "", false
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	if len(host) <= len(domain)+1 || !strings.EqualFold(host[len(host)-len(domain):], domain) {
		return "", false
	}
	bucket = host[:len(host)-len(domain)]
	return strings.CutSuffix(bucket, ".")
}

// parseQuery decodes a raw query. An empty name is dropped, as S3 does.
func parseQuery(raw string) ([]param, error) {
	if raw == "" {
		return nil, nil
	}
	params := make([]param, 0, strings.Count(raw, "&")+1)
	for part := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name == "" {
			continue
		}
		n, err := url.QueryUnescape(name)
		if err != nil {
			return nil, err
		}
		v, err := url.QueryUnescape(value)
		if err != nil {
			return nil, err
		}
		params = append(params, param{n, v})
	}
	return params, nil
}
