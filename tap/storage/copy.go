package storage

import (
	"net/url"
	"strings"

	"github.com/laketap/laketap/tap"
)

// copySource is the header that makes a PUT a copy.
const copySource = "X-Amz-Copy-Source"

// parseCopySource reads "bucket/key" or "/bucket/key", percent-encoded, with
// "?versionId=…" behind it or not. ok is false for anything else, such as the
// ARN of an access point.
func parseCopySource(header string) (bucket, key string, ok bool) {
	source, version, found := strings.Cut(header, "?")
	if found && (!strings.HasPrefix(version, "versionId=") || tap.Climbs(strings.TrimPrefix(version, "versionId="))) {
		return "", "", false
	}
	// Some clients encode the slash between bucket and key too, so it is cut
	// after decoding.
	source, err := url.PathUnescape(source)
	if err != nil || strings.HasPrefix(source, "arn:") {
		return "", "", false
	}
	bucket, key, _ = strings.Cut(strings.TrimPrefix(source, "/"), "/")
	return bucket, key, bucket != "" && key != ""
}
