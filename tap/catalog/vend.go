package catalog

import (
	"bytes"
	"slices"
	"strings"

	"github.com/laketap/laketap/internal/sigv4"
)

const (
	expiryKey  = "s3.session-token-expires-at-ms"
	refreshKey = "client.refresh-credentials-endpoint"
)

// stripped are the properties that go from the config of a table whose reads
// lead through us, by their beginning ('*') or whole. What is set instead is in
// [storageConfig]. The rest stays: an engine may need it.
var stripped = []string{
	// Requests signed by the catalog name the store's host, not ours.
	"s3.signer*", "signer.*", "s3.remote-signing*", "remote-signing*",
	// Keys and ways to get keys that are not ours.
	"s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.session-token-expires-at-ms",
	"client.access-key-id", "client.secret-access-key", "client.session-token",
	"s3.access-grants.*", "s3.role-arn", "s3.role-session-name", "s3.assume-role*", "client.role-arn",
	"client.role-session-name", "client.assume-role*", "client.credentials-provider*", "client.factory",
	"s3.client-factory-impl", "s3.anonymous", "s3.allow-anonymous", "s3.profile-name", "client.profile-name",
	"credentials.uri", "aws.s3.*",
	// Hosts that are not ours, or that an endpoint of ours cannot be combined with.
	"s3.endpoint", "s3.path-style-access", "s3.force-virtual-addressing", "s3.acceleration-enabled",
	"s3.dualstack-enabled", "s3.use-arn-region-enabled", "s3.cross-region-access-enabled", "s3.access-points.*",
	"s3.region", "client.region", "s3.analytics-accelerator.enabled",
}

// fits reports whether a property is on a list like [stripped].
func fits(list []string, key string) bool {
	for _, entry := range list {
		if begin, ok := strings.CutSuffix(entry, "*"); ok && strings.HasPrefix(key, begin) || entry == key {
			return true
		}
	}
	return false
}

// leadsAround reports whether a table property is dropped from a config.
func leadsAround(key string) bool { return fits(stripped, key) }

// storageConfig returns the properties that lead an engine to the storage tap.
func storageConfig(endpoint, region string, keys sigv4.Credentials, r row) []pair {
	values := []pair{
		text("s3.endpoint", endpoint),
		text("s3.path-style-access", "true"),
		text("client.region", region),
		text("s3.region", region),
		text("s3.access-key-id", keys.AccessKeyID),
		text("s3.secret-access-key", keys.SecretAccessKey),
		text("s3.session-token", keys.SessionToken),
		// The accelerator's client ignores vended keys and path style.
		text("s3.analytics-accelerator.enabled", "false"),
		// Said aloud: /v1/config or the client may have it on.
		text("s3.remote-signing-enabled", "false"),
	}
	for _, spelling := range r.more {
		for _, p := range values {
			if p.name == spelling[1] {
				values = append(values, pair{spelling[0], p.value})
				break
			}
		}
	}
	return values
}

// lead returns a config that leads to the storage tap: values set, what leads
// around dropped, the rest untouched. expires and refresh are what the catalog
// said in this config, "" for nothing.
func lead(config object, values []pair, expires, refresh string) []byte {
	values = slices.Clip(values)
	if expires != "" {
		values = append(values, text(expiryKey, expires))
	}
	if refresh != "" {
		values = append(values, text(refreshKey, refresh))
	}
	return config.edit(values, func(key string) bool {
		if key == "io-impl" { // a FileIO without S3 settings would go around
			impl, _ := config.text(key)
			return impl == "org.apache.iceberg.hadoop.HadoopFileIO"
		}
		return key == refreshKey || leadsAround(key)
	})
}

// refreshIn returns where a config says that keys are renewed, led through us.
// base is the upstream's URL and ours the same on our side; an address on
// another host would lead around us and is dropped.
func refreshIn(config object, base, ours string) string {
	value, ok := config.text(refreshKey)
	if !ok || !strings.Contains(value, "://") {
		return value // relative: engines resolve it against the catalog's URI, us
	}
	if led, ok := reroute(value, base, ours); ok {
		return led
	}
	return ""
}

// reroute turns a URL below base into the same one below ours; ok is false for
// any other URL.
func reroute(value, base, ours string) (led string, ok bool) {
	rest, ok := strings.CutPrefix(value, base)
	if !ok || rest != "" && rest[0] != '/' && rest[0] != '?' {
		return "", false
	}
	return ours + rest, true
}

// leadTable returns the pieces of an answer whose config, and exactly one storage credential
// for the table's location, lead to the storage tap. Old clients refuse more
// than one.
func leadTable(l loaded, g grant, values []pair) [][]byte {
	return l.top.pieces([]pair{
		{"config", lead(l.config, values, g.inConfig, g.refresh)},
		{"storage-credentials", oneCredential(l, g, values)},
	}, nil)
}

// oneCredential returns a storage-credentials array of one entry. It begins
// with what the catalog said for the table's location.
func oneCredential(l loaded, g grant, values []pair) []byte {
	config, _ := cut([]byte("{}"))
	length := -1
	for _, c := range l.credentials {
		if fit := strings.HasPrefix(l.location, c.prefix) || everywhere(c.prefix); fit && len(c.prefix) > length {
			config, length = c.config, len(c.prefix)
		}
	}
	refresh := ""
	if _, has := config.text(refreshKey); has {
		refresh = g.refresh
	}
	var b bytes.Buffer
	b.WriteString(`[{"prefix":`)
	b.Write(quote(l.location))
	b.WriteString(`,"config":`)
	b.Write(lead(config, values, g.inCredential, refresh))
	b.WriteString(`}]`)
	return b.Bytes()
}
