package storage

import (
	"strings"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

// authorize decides whether the caller may have this sent on, and sets where
// to. The order is: which store, which operation, which objects. Keys in the
// body of a DeleteObjects are checked when it has been read.
func (s *Server) authorize(r *request) error {
	if err := s.chooseOrigin(r); err != nil {
		return err
	}
	if err := s.findSource(r); err != nil {
		return err
	}
	op, who := r.op, r.who
	if who.all() {
		if op.write && who.static.ReadOnly {
			return errAccessDenied.because("key may only read")
		}
		r.covered = true
		return nil
	}
	if op.kind == kindOther {
		return errAccessDenied.because("operation is not open to this key")
	}
	if !r.known || strings.Contains(r.sig.Query, ";") {
		return errAccessDenied.because("query has a parameter that the operation does not")
	}
	if r.climbs() {
		return errAccessDenied.because("an id in the query climbs")
	}
	if r.times(renameSource) > 0 {
		return errAccessDenied.because("operation is not open to this key")
	}
	r.covered = s.covers(r)
	if who.upstream() {
		return nil // the store decides, with the session's own credentials
	}
	if name := r.grants(); name != "" {
		return errAccessDenied.because("header " + name + " is not open to this key")
	}
	if op.write && !who.mayWrite() {
		return errAccessDenied.because("key may only read")
	}
	if !r.covered {
		return errAccessDenied.because("outside the scope of the key")
	}
	return nil
}

// climbs reports whether an id in the query leads elsewhere as a path. Such
// ids are the store's, and no store makes one so, but some take the one of an
// upload or a version for the name of a folder, with what is behind it.
func (r *request) climbs() bool {
	for _, p := range r.params {
		switch p.name {
		case "uploadId", "versionId", "partNumber", "upload-id-marker", "version-id-marker":
			if tap.Climbs(p.value) {
				return true
			}
		}
	}
	return false
}

// renameSource makes a PUT a rename: RenameObject of directory buckets, which
// reads and deletes what it names.
const renameSource = "X-Amz-Rename-Source"

// grants returns the first header that would give other people rights to the
// object, or override a lock on it; "" is none. The operations of that kind
// are closed to keys that work with the origin's own credentials, and so are
// the headers that do the same along with a PUT.
func (r *request) grants() string {
	for _, f := range r.sig.Header {
		lower := strings.ToLower(f.Name)
		switch {
		case lower == "x-amz-acl" && (f.Value == "private" || f.Value == "bucket-owner-full-control"):
			// What a store does anyway; writers send it out of habit.
		case lower == "x-amz-acl", strings.HasPrefix(lower, "x-amz-grant-"),
			strings.HasPrefix(lower, "x-amz-object-lock-"), lower == "x-amz-bypass-governance-retention":
			return lower
		}
	}
	return ""
}

// chooseOrigin finds the store of the request: the session's, or the one that
// the bucket belongs to.
func (s *Server) chooseOrigin(r *request) error {
	if r.who.session != nil {
		r.origin = r.who.session.Origin
		for _, o := range s.opts.Origins {
			if o.Name == r.origin {
				return nil
			}
		}
		return errNoOrigin.because("origin " + r.origin + " of the session is not configured any more")
	}
	origin, ok := tap.OriginOf(s.opts.Origins, r.bucket, "")
	switch {
	case ok:
		r.origin = origin.Name
	case r.bucket == "" && r.who.all():
		r.origin = s.opts.Origins[0].Name // ListBuckets
	default:
		return errNoOrigin
	}
	return nil
}

// findSource sets the source of a copy. A source in another store cannot be
// asked of the target's.
func (s *Server) findSource(r *request) error {
	switch n := r.times(copySource); {
	case n == 0:
		return nil
	case n > 1:
		return errInvalidArgument
	}
	bucket, key, ok := parseCopySource(r.header(copySource))
	if !ok {
		if r.who.all() {
			return nil // the origin knows more forms and better words
		}
		return errCopySource
	}
	r.source = laketap.ObjectName{Origin: r.origin, Bucket: bucket, Key: key}
	if r.who.session == nil {
		if origin, ok := tap.OriginOf(s.opts.Origins, bucket, ""); !ok || origin.Name != r.origin {
			return errCopyOrigins
		}
	}
	return nil
}

// covers reports whether everything that the request names lies in the
// caller's scope.
func (s *Server) covers(r *request) bool {
	if r.source != (laketap.ObjectName{}) && !s.coversSource(r) {
		return false
	}
	switch r.op.kind {
	case kindRead, kindWrite:
		return r.who.covers(r.name(), s.opts.Tables)
	case kindList:
		return r.who.coversPrefix(r.origin, r.bucket, r.prefix(), s.opts.Tables)
	case kindBucket, kindDeleteObjects:
		return r.who.touches(r.origin, r.bucket)
	}
	return false
}

// coversSource checks both readings of a '+': stores differ in whether it
// stands for itself or for a space.
func (s *Server) coversSource(r *request) bool {
	if !r.who.covers(r.source, s.opts.Tables) {
		return false
	}
	raw := r.header(copySource)
	if !strings.Contains(raw, "+") {
		return true
	}
	bucket, key, ok := parseCopySource(strings.ReplaceAll(raw, "+", "%20"))
	return ok && r.who.covers(laketap.ObjectName{Origin: r.origin, Bucket: bucket, Key: key}, s.opts.Tables)
}
