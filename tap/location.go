package tap

import (
	"strconv"
	"strings"

	"github.com/laketap/laketap"
)

// A Location is a prefix of a store, compared by path segments: "wh/t" holds
// "wh/t/data/x" and neither "wh/t2/x" nor "wh/t/../t2/x". Path is decoded, with
// no slash at either end; "" is the whole bucket.
type Location struct{ Origin, Bucket, Path string }

// LocationOf returns the location of a prefix URI in an origin; ok is false if
// it is not an S3 URI, or its path begins with another slash (its keys would
// not be the ones below the path) or climbs with "." or "..".
func LocationOf(origin, uri string) (Location, bool) {
	bucket, key, ok := laketap.SplitS3(uri)
	if !ok || strings.HasPrefix(key, "/") || Climbs(key) {
		return Location{}, false
	}
	return Location{Origin: origin, Bucket: bucket, Path: strings.Trim(key, "/")}, true
}

// Contains reports whether an object lies below the location. A key with a "."
// or ".." segment lies nowhere: a store that resolves such keys would be led
// out of the prefix.
func (l Location) Contains(name laketap.ObjectName) bool {
	return name.Origin == l.Origin && name.Bucket == l.Bucket && l.holds(name.Key) && !Climbs(name.Key)
}

// ContainsPrefix reports whether every key that starts with prefix lies below
// the location, as a listing must ask: "wh/t/" and "wh/t/da" do, "wh/t" does
// not, since it also lists "wh/t2".
func (l Location) ContainsPrefix(origin, bucket, prefix string) bool {
	if l.Path == "" {
		return origin == l.Origin && bucket == l.Bucket && !Climbs(prefix)
	}
	return origin == l.Origin && bucket == l.Bucket && strings.HasPrefix(prefix, l.Path+"/") && !Climbs(prefix)
}

// holds compares by segments.
func (l Location) holds(key string) bool {
	return l.Path == "" || key == l.Path || strings.HasPrefix(key, l.Path+"/")
}

// within reports whether l lies below other, or is the same.
func (l Location) within(other Location) bool {
	return l.Origin == other.Origin && l.Bucket == other.Bucket && other.holds(l.Path)
}

// Climbs reports whether a path has a "." or ".." segment, also between
// backslashes or behind more layers of percent-encoding: some stores and
// clients decode again, and some of them leave alone what is no escape. A path
// that has still more layers is taken for one that climbs.
func Climbs(path string) bool {
	for range 8 {
		for seg := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
			if seg == "." || seg == ".." {
				return true
			}
		}
		next := unescapeOnce(path)
		if next == path {
			return false
		}
		path = next
	}
	return true
}

// unescapeOnce decodes every %XX that is one and leaves the rest.
func unescapeOnce(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if c, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// collapse removes empty segments, as a store over a file system reads them.
func collapse(key string) string {
	for strings.Contains(key, "//") {
		key = strings.ReplaceAll(key, "//", "/")
	}
	return strings.Trim(key, "/")
}
