package block

import (
	"net/http"
	"strings"

	"github.com/laketap/laketap"
)

// A version is what one reply of the origin states: which version of the
// object, and which bytes [off, end) of it the body is.
type version struct {
	object    laketap.Object
	header    []laketap.Field
	checksums []laketap.Field
	withSums  bool
	off, end  int64
}

// versionOf reads a reply. It returns nil and why, if nothing may be kept of
// it: an origin that ignores Range, lies about it, or gives no validator is
// believed by nobody but the client that it answers.
func (c *Cache) versionOf(get laketap.Get, reply *laketap.Reply) (v *version, reason string) {
	whole := reply.Status == http.StatusOK
	v = &version{object: laketap.Object{ObjectName: get.Name, ETag: field(reply.Header, "ETag"), Size: reply.Length}, end: reply.Length}
	switch {
	case !whole && reply.Status != http.StatusPartialContent:
		return nil, "status"
	case reply.Length < 0:
		return nil, "length"
	case whole == get.Range.Set, reply.Body.Stream == nil && !get.Head:
		return nil, "range"
	case len(v.object.ETag) < 2 || v.object.ETag[0] != '"':
		return nil, "validator" // none, or a weak one
	case !c.opts.Encrypted && encrypted(reply.Header):
		return nil, "encrypted"
	case strings.Contains(strings.ToLower(field(reply.Header, "Cache-Control")), "no-store"):
		return nil, "no_store"
	}
	if !whole {
		from, to, total, ok := contentRange(field(reply.Header, "Content-Range"))
		off, end, named := resolve(get.Range, total)
		if !ok || !named || from != off || to+1 != end || reply.Length != end-off {
			return nil, "range"
		}
		v.object.Size, v.off, v.end = total, off, end
	}
	v.header, v.checksums = parted(reply.Header, whole)
	v.withSums = whole && get.Checksums
	return v, ""
}

// encrypted reports whether the store needs a key of the caller's, or a right
// to one, to give an object out: a right that reading another object of the
// same prefix does not prove.
func encrypted(header []laketap.Field) bool {
	return strings.HasPrefix(field(header, "x-amz-server-side-encryption"), "aws:kms") ||
		field(header, "x-amz-server-side-encryption-customer-algorithm") != ""
}
