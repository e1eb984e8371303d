package tap

import (
	"net/url"
	"slices"
	"strings"
)

// An Origin is a store behind us, as far as the taps need to know it.
type Origin struct {
	Name     string
	Endpoint string   // "" is AWS by region
	Region   string   // "" is us-east-1
	Buckets  []string // that belong to it; empty: all that no other origin names
}

// OriginOf returns the origin that a bucket belongs to. endpoint is what the
// catalog vended as s3.endpoint, "" if it said nothing; a bucket at another
// endpoint than the origin's is not ours, whatever its name.
func OriginOf(origins []Origin, bucket, endpoint string) (Origin, bool) {
	var rest []Origin
	for _, o := range origins {
		if endpoint != "" && !sameEndpoint(o.Endpoint, endpoint) {
			continue
		}
		if slices.Contains(o.Buckets, bucket) {
			return o, true
		}
		if len(o.Buckets) == 0 {
			rest = append(rest, o)
		}
	}
	if len(rest) == 0 {
		return Origin{}, false
	}
	return rest[0], true
}

// sameEndpoint reports whether two S3 endpoints name one store.
func sameEndpoint(ours, theirs string) bool {
	o, t := endpointHost(ours), endpointHost(theirs)
	if o == "" { // AWS, wherever it is
		return strings.HasSuffix(t, ".amazonaws.com") || strings.HasSuffix(t, ".amazonaws.com.cn")
	}
	return o == t
}

// endpointHost returns host:port of an endpoint in lower case, with the port
// of its scheme where it names none.
func endpointHost(endpoint string) string {
	if endpoint == "" {
		return ""
	}
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	switch {
	case port == "" && u.Scheme == "http":
		port = "80"
	case port == "" && strings.HasSuffix(host, ".amazonaws.com"):
		return host
	case port == "":
		port = "443"
	}
	return host + ":" + port
}
