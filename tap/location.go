package tap

import (
	"net/url"
	"strings"

	"github.com/laketap/laketap"
)

// A Location is a prefix of a store, compared by path segments: "wh/t" holds
// "wh/t/data/x" and neither "wh/t2/x" nor "wh/t/../t2/x". Path is decoded, with
// no slash at either end; "" is the whole bucket.
type Location struct{ Origin, Bucket, Path string }

// SplitS3 splits an s3, s3a or s3n URI into bucket and key, as Iceberg writes
// them: the key is taken as it stands, nothing is unescaped. ok is false for
// any other scheme and for a URI without a bucket.
func SplitS3(uri string) (bucket, key string, ok bool) {
	scheme, rest, found := strings.Cut(uri, "://")
	if !found {
		return "", "", false
	}
	switch strings.ToLower(scheme) {
	case "s3", "s3a", "s3n":
	default:
		return "", "", false
	}
	bucket, key, _ = strings.Cut(rest, "/")
	return bucket, key, bucket != ""
}

// LocationOf returns the location of a prefix URI in an origin; ok is false if
// it is not an S3 URI or its path climbs with "." or "..".
func LocationOf(origin, uri string) (Location, bool) {
	bucket, key, ok := SplitS3(uri)
	if !ok || climbs(key) {
		return Location{}, false
	}
	return Location{Origin: origin, Bucket: bucket, Path: strings.Trim(key, "/")}, true
}

// Contains reports whether an object lies below the location. A key with a "."
// or ".." segment lies nowhere: a store that resolves such keys would be led
// out of the prefix.
func (l Location) Contains(name laketap.ObjectName) bool {
	return name.Origin == l.Origin && name.Bucket == l.Bucket && l.holds(name.Key) && !climbs(name.Key)
}

// ContainsPrefix reports whether every key that starts with prefix lies below
// the location, as a listing must ask: "wh/t/" and "wh/t/da" do, "wh/t" does
// not, since it also lists "wh/t2".
func (l Location) ContainsPrefix(origin, bucket, prefix string) bool {
	if l.Path == "" {
		return origin == l.Origin && bucket == l.Bucket && !climbs(prefix)
	}
	return origin == l.Origin && bucket == l.Bucket && strings.HasPrefix(prefix, l.Path+"/") && !climbs(prefix)
}

// holds compares by segments.
func (l Location) holds(key string) bool {
	return l.Path == "" || key == l.Path || strings.HasPrefix(key, l.Path+"/")
}

// within reports whether l lies below other, or is the same.
func (l Location) within(other Location) bool {
	return l.Origin == other.Origin && l.Bucket == other.Bucket && other.holds(l.Path)
}

// climbs reports whether a path has a "." or ".." segment, also behind one or
// two more layers of percent-encoding: some stores and clients decode again.
func climbs(path string) bool {
	for range 3 {
		for seg := range strings.SplitSeq(path, "/") {
			if seg == "." || seg == ".." {
				return true
			}
		}
		next, err := url.PathUnescape(path)
		if err != nil || next == path {
			return false
		}
		path = next
	}
	return false
}

// collapse removes empty segments, as a store over a file system reads them.
func collapse(key string) string {
	for strings.Contains(key, "//") {
		key = strings.ReplaceAll(key, "//", "/")
	}
	return strings.Trim(key, "/")
}
