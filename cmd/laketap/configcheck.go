package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

// validName is what upstreams and origins may be called: a catalog's name is a
// path segment of its URI.
const validName = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`

// A checker collects what is wrong with a configuration.
type checker struct{ problems []error }

// add notes a problem of a setting. What to do about it follows a semicolon,
// which is where doctor cuts.
func (k *checker) add(setting, format string, args ...any) {
	k.problems = append(k.problems, fmt.Errorf("%s: %s", setting, fmt.Sprintf(format, args...)))
}

// Check returns everything that is wrong, each with the setting's name and
// what to do about it.
func (c *Config) Check() error {
	// All problems and not the first: whoever starts a server by hand wants to
	// correct the file once.
	k := &checker{}
	k.upstreams(c.Catalogs)
	k.listen("catalog.listen", c.Catalog.Listen)
	k.listen("storage.listen", c.Storage.Listen)
	k.listen("admin.listen", c.Admin.Listen)
	k.apart(c)
	k.storage(&c.Storage)
	k.origins(c.Storage.Origins)
	k.keys(c.Keys)
	k.tls(&c.TLS)
	k.cache(&c.Cache)
	if c.Audit.Required && c.Audit.File == "" {
		k.add("audit.file", "is empty; with audit.required, name the file to write")
	}
	if err := c.memory().Check(); err != nil {
		k.add("memory.url", "%v", err)
	}
	k.memory(&c.Memory)
	k.oneOf("privacy.literals", c.Privacy.Literals, "keep", "hash")
	k.oneOf("mode", c.Mode, "observe", "advise", "accelerate", "maintain")
	k.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	k.oneOf("log.format", c.Log.Format, "text", "json")
	if c.Data == "" {
		k.add("data", "is empty; name a directory, such as ./laketap-data")
	}
	if c.Drain <= 0 {
		k.add("drain", "is %v; name how long to let requests end at shutdown, such as 30s", c.Drain)
	}
	return errors.Join(k.problems...)
}

// upstreams checks the catalogs behind us. None is right here: serve --lake adds
// its own later, and serve refuses to stand in front of nothing.
func (k *checker) upstreams(all []UpstreamConfig) {
	seen := map[string]bool{}
	for i, u := range all {
		at := item("catalogs", i, u.Name)
		k.name(at, u.Name)
		switch {
		// A path that begins with /v1 is one without a catalog's name.
		case u.Name == "v1":
			k.add(at, "v1 is where the catalog protocol begins; choose another name")
		case seen[u.Name]:
			k.add(at, "two upstreams have the name %q; rename one, it is the path that engines use", u.Name)
		}
		seen[u.Name] = true
		k.baseURL(at+".url", u.URL, true)
	}
}

// name checks a name that becomes a path segment or a label of a metric.
func (k *checker) name(at, name string) {
	if ok, _ := regexp.MatchString(validName, name); !ok {
		k.add(at+".name", "%q is no name; use letters, digits, dots, dashes and underscores", name)
	}
}

// baseURL checks the address of a server; path says whether it may have one.
func (k *checker) baseURL(at, text string, path bool) {
	// Passwords are hidden by redact below and not by url.Redacted, which wants a
	// URL that could be parsed.
	u, err := url.Parse(text)
	switch {
	case text == "":
		k.add(at, "is missing; set it to an http or https URL")
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		k.add(at, "%q is not an http or https URL, such as https://host:port", redact(text))
	case u.User != nil:
		k.add(at, "holds a user; engines send their own credentials, remove it")
	case u.RawQuery != "" || u.Fragment != "":
		k.add(at, "%q has a query or a fragment; remove it", redact(text))
	case !path && strings.Trim(u.Path, "/") != "":
		k.add(at, "%q has a path; remove it", redact(text))
	}
}

// redact hides what may be a password in a URL.
func redact(text string) string {
	if i := strings.LastIndex(text, "@"); i >= 0 {
		return "…" + text[i:]
	}
	return text
}

// listen checks an address as net.Listen will read it, without opening it: a
// name that is looked up may change between here and there.
func (k *checker) listen(at, address string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		k.add(at, "%q is not an address to listen on, such as :8181 or 127.0.0.1:8181", address)
		return
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		k.add(at, "%q has no port from 0 to 65535", address)
	} else if _, err := netip.ParseAddr(host); err != nil && host != "" && host != "localhost" && n == 0 {
		k.add(at, "%q: port 0 needs an IP address", address)
	}
}

// apart refuses one address for two taps. Without it, opening the second would
// blame another program, which nobody could find.
func (k *checker) apart(c *Config) {
	settings := []string{"catalog.listen", "storage.listen", "admin.listen"}
	seen := map[string]string{}
	for i, address := range []string{c.Catalog.Listen, c.Storage.Listen, c.Admin.Listen} {
		if other, taken := seen[address]; taken && !strings.HasSuffix(address, ":0") {
			k.add(settings[i], "%q is %s, too; choose another port for one of them", address, other)
		}
		seen[address] = settings[i]
	}
}

// storage checks the storage tap, but for its origins.
func (k *checker) storage(s *StorageConfig) {
	if s.Advertise != "" {
		k.advertise(s.Advertise)
	}
	k.oneOf("storage.authority", s.Authority, "upstream", "catalog", "signer")
	switch {
	case s.Authority == "catalog" && len(s.Roots) == 0:
		k.add("storage.roots", "is empty; with authority catalog, name the places that the configured keys may be used for, such as [s3://lake/warehouse]")
	case s.Authority != "catalog" && len(s.Roots) > 0:
		k.add("storage.roots", "has no effect with authority %s; remove it or set storage.authority to catalog", s.Authority)
	}
	// Settings without effect are refused, these above all: who sets them
	// believes that something is restricted, or allowed, that is not.
	if s.Authority != "catalog" && s.Write {
		k.add("storage.write", "has no effect with authority %s; remove it or set storage.authority to catalog", s.Authority)
	}
	k.prefixes("storage.roots", s.Roots)
	if s.Region == "" {
		k.add("storage.region", "is empty; use us-east-1 if you have no other")
	}
	if strings.ContainsAny(s.Domain, "/:") {
		k.add("storage.domain", "%q is not a host name; leave out scheme and port", s.Domain)
	}
}

// advertise checks the address that engines get for files: it must be one to
// connect to, and they put the bucket after it, so it has no path.
func (k *checker) advertise(text string) {
	const at = "storage.advertise"
	before := len(k.problems)
	k.baseURL(at, text, false)
	if len(k.problems) > before {
		return
	}
	u, err := url.Parse(text)
	if err != nil {
		return // told already
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsUnspecified() {
		k.add(at, "%q is an address to listen on, not one that engines can reach; name this host", text)
	}
}

// prefixes checks places in stores. A path that climbs would be read by some
// stores as another place than the one that was granted.
func (k *checker) prefixes(at string, all []string) {
	for _, uri := range all {
		if _, _, ok := laketap.SplitS3(uri); !ok {
			k.add(at, "%q does not begin with s3:// and a bucket", uri)
		} else if _, ok := tap.LocationOf("", uri); !ok {
			k.add(at, "%q climbs with . or ..; write the path that is meant", uri)
		}
	}
}

// origins checks the stores behind us.
func (k *checker) origins(all []OriginConfig) {
	seen := map[string]bool{}
	if len(all) == 0 {
		k.add("storage.origins", "is empty; name the store behind Laketap, or leave the setting out for AWS")
	}
	// A request names a bucket and nothing else, so each bucket must belong to
	// one origin, and "all others" to one at most.
	owner := map[string]string{} // of a bucket; "": the origin of all others
	for i, o := range all {
		at := item("storage.origins", i, o.Name)
		k.name(at, o.Name)
		if seen[o.Name] {
			k.add(at, "two origins have the name %q; rename one", o.Name)
		}
		seen[o.Name] = true
		if o.Endpoint != "" {
			k.baseURL(at+".endpoint", o.Endpoint, false)
		}
		if (o.AccessKeyID == "") != (o.SecretFile == "") {
			k.add(at, "access_key_id and secret_file go together; set both, or neither for the AWS chain")
		}
		buckets := o.Buckets
		if len(buckets) == 0 {
			buckets = []string{""}
		}
		for _, b := range buckets {
			other, taken := owner[b]
			switch {
			case taken && b == "":
				k.add(at+".buckets", "is empty as in origin %q; name the buckets of one of them", other)
			case taken:
				k.add(at+".buckets", "%q belongs to origin %q too; remove one", b, other)
			}
			owner[b] = o.Name
		}
	}
}

// keys checks the keys of clients without a catalog; the files that hold their
// secrets are read at the start.
func (k *checker) keys(all []KeyConfig) {
	seen := map[string]bool{}
	for i, key := range all {
		at := item("keys", i, key.ID)
		switch {
		case key.ID == "":
			k.add(at+".id", "is missing; choose an access key id")
		// Session keys are opened by their own contents and never looked up.
		case strings.HasPrefix(key.ID, "LT"):
			k.add(at+".id", "%q begins with LT, as the keys of sessions do; choose another", key.ID)
		case seen[key.ID]:
			k.add(at+".id", "two keys have the id %q; rename one", key.ID)
		}
		seen[key.ID] = true
		if key.SecretFile == "" {
			k.add(at+".secret_file", "is missing; name a file that holds the secret")
		}
		if key.Principal == "" {
			k.add(at+".principal", "is missing; say who uses the key, it is what accesses are recorded under")
		}
		if key.Scope != "" {
			k.oneOf(at+".scope", key.Scope, "all")
		}
		// Neither would be a key that opens nothing, both one whose prefixes look as
		// if they counted.
		if (key.Scope == "all") == (len(key.Prefixes) > 0) {
			k.add(at+".prefixes", "or scope: all, exactly one of them, says what the key may read")
		}
		k.prefixes(at+".prefixes", key.Prefixes)
	}
}

// tls checks the certificate's setting; its files are read at the start.
func (k *checker) tls(c *TLSConfig) {
	if (c.Cert == "") != (c.Key == "") {
		k.add("tls", "cert and key go together; set both, or neither for plain http")
	}
	for _, port := range c.Ports {
		k.oneOf("tls.ports", port, "catalog", "storage", "admin")
	}
	if c.Cert != "" && len(c.Ports) == 0 {
		k.add("tls.ports", "is empty; name the ports that have TLS, such as [catalog, storage]")
	}
}

// cache checks the block cache. Less than a few extents would only be churned.
func (k *checker) cache(c *CacheConfig) {
	for _, size := range []struct {
		setting, text string
		least         int64
		zero          bool
	}{{"cache.disk", c.Disk, 64 << 20, true}, {"cache.memory", c.Memory, 16 << 20, false}} {
		n, err := parseSize(size.text)
		switch {
		case err != nil:
			k.add(size.setting, "%v", err)
		case n == 0 && size.zero, n >= size.least:
		case size.zero:
			k.add(size.setting, "is %s; name at least 64MiB, or 0 to keep nothing on disk", size.text)
		default:
			k.add(size.setting, "is %s; name at least 16MiB, or set mode: observe to keep nothing", size.text)
		}
	}
	k.oneOf("cache.proof", c.Proof, "prefix", "object")
}

// oneOf checks a word, and tells all that are known: they are few.
func (k *checker) oneOf(at, value string, known ...string) {
	if !slices.Contains(known, value) {
		k.add(at, "%q is not known; use %s", value, strings.Join(known, ", "))
	}
}

// item names an entry of a list.
func item(list string, i int, name string) string {
	if name == "" {
		return fmt.Sprintf("%s[%d]", list, i)
	}
	return fmt.Sprintf("%s[%s]", list, name)
}

// memory checks what bounds the memory.
func (k *checker) memory(m *MemoryConfig) {
	if m.History <= 0 || m.Idle <= 0 {
		k.add("memory", "history is %v and idle is %v; name how long to keep, such as 2160h", m.History, m.Idle)
	}
	if m.Files <= 0 || m.Habits <= 0 {
		k.add("memory", "files is %d and habits is %d; name how many to keep, such as 200000", m.Files, m.Habits)
	}
}
