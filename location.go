package laketap

import "strings"

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
