package catalog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
)

// Modes of authority to read the store.
const (
	ModeUpstream = "upstream" // only with credentials that the catalog vends
	ModeCatalog  = "catalog"  // also with the configured keys, below Roots
	ModeSigner   = "signer"   // also with signatures that the catalog makes, request by request
)

// catalogSession is how long a session of [ModeCatalog] and [ModeSigner] lives: some engines go
// on using the first key they got.
const catalogSession = 12 * time.Hour

// Authority says what gives a client of the storage tap its right to read.
// The zero value asks for upstream credentials.
type Authority struct {
	Mode  string   // one of the modes; "" is ModeUpstream
	Roots []string // ModeCatalog: the S3 URIs below which a catalog's yes counts
	Write bool     // ModeCatalog: also for writes
}

// A reason says why an answer passed byte for byte; "" is that it did not. It
// is a metric label: the set is closed.
type reason string

const (
	notATable     reason = "not_a_table"
	notS3         reason = "not_s3"
	foreignBucket reason = "foreign_bucket"
	foreignKeys   reason = "foreign_credentials"
	manyOrigins   reason = "several_origins"
	badLocation   reason = "climbing_location"
	noAuthority   reason = "no_authority"
	signsItself   reason = "remote_signing"
	outsideRoots  reason = "outside_roots"
	tooManyKeys   reason = "too_many_credentials"
	tooLarge      reason = "too_large"
	unreadable    reason = "unreadable_encoding"
	trouble       reason = "internal"
)

// reasons lists every reason and what a person can do about it.
var reasons = map[reason]string{
	notATable:     "the answer is not JSON with one table in it, or says one thing twice",
	notS3:         "the table is not on s3, s3a or s3n: engines reach such stores directly, as without Laketap",
	foreignBucket: "the table's bucket or endpoint belongs to no origin: name it under storage.origins",
	foreignKeys:   "the catalog vends a credential for a place that belongs to no origin: name it under storage.origins",
	manyOrigins:   "the table is spread over several origins",
	badLocation:   `the table's location has a "." or ".." segment, or a second slash behind the bucket`,
	noAuthority:   "the catalog vends no credentials for the table and storage.authority is upstream: let the catalog vend, or set storage.authority to catalog with roots",
	signsItself:   "the catalog signs its clients' requests to the store (s3.remote-signing-enabled, s3.signer.uri) and vends no credentials for the table: engines go on as without Laketap; switch vended credentials on in the catalog (Nessie: nessie.catalog.service.s3.default-options.client-iam.enabled with an STS), or set storage.authority to signer, or to catalog with roots",
	outsideRoots:  "the catalog vends no credentials for the table and it, or one of its paths, is below no root of storage.authority: add the root",
	tooManyKeys:   "the catalog vends more credentials for the table than fit into a session token",
	tooLarge:      "the answer is larger than the limit for editing",
	unreadable:    "the upstream sent an encoding that was not asked for",
	trouble:       "a session key could not be made; see the log",
}

// A grant is what a session for a table may be made of.
type grant struct {
	origin   tap.Origin
	scope    []tap.Location // the table's location first
	upstream []tap.Vended
	signer   *tap.Signer // where the catalog signs, if it vends nothing
	write    bool
	expires  time.Time // zero: the catalog did not say
	// Where the catalog told the expiry, in milliseconds; "" if it did not.
	inConfig, inCredential string
	// refresh is where engines renew their keys: as the catalog said, through
	// us; "" if it did not say or vends nothing to renew.
	refresh string
}

// judge decides whether an answer may be edited: its places must belong to one
// origin of ours and there must be authority to read. endpoint is what
// /v1/config said as s3.endpoint, "" if nothing.
func (h *Handler) judge(l loaded, endpoint string) (grant, reason) {
	if e, ok := l.config.text("s3.endpoint"); ok {
		endpoint = e
	}
	g := grant{}
	if why := h.place(&g, l, endpoint); why != "" {
		return grant{}, why
	}
	if why := h.checkCredentials(g.origin, l.credentials, endpoint); why != "" {
		return grant{}, why
	}
	g.take(l)
	switch {
	case len(g.upstream) > 0:
		g.write = true // the store decides, by the keys
		return g, ""
	case l.signer != nil:
		g.write, g.signer = true, l.signer // the catalog decides, request by request
		g.expires = l.signs
		return g, ""
	case h.opts.Authority.Mode != ModeCatalog:
		// Also "remote signing: no" tells a catalog that can do it: so Nessie
		// answers whoever asks for credentials that it does not vend.
		if slices.ContainsFunc(l.config.members, func(m member) bool { return fits(signing, m.name) }) {
			return grant{}, signsItself
		}
		return grant{}, noAuthority
	}
	// Our own keys open every table of the store, so here the scope is all that
	// keeps a session to its table: every place in it must be one that a person
	// named, also those that the table's owner set.
	for _, l := range g.scope {
		if !h.belowRoot(l) {
			return grant{}, outsideRoots
		}
	}
	g.write = h.opts.Authority.Write
	g.expires = h.opts.Now().Add(catalogSession)
	g.inConfig, g.inCredential = "", ""
	return g, ""
}

// place finds the origin of a table and the scope of a session for it.
func (h *Handler) place(g *grant, l loaded, endpoint string) reason {
	places := []string{l.location}
	if l.metadataLocation != "" {
		places = append(places, directoryOf(l.metadataLocation))
	}
	places = append(places, l.writePaths...)
	for i, uri := range places {
		bucket, _, ok := laketap.SplitS3(uri)
		if !ok {
			return notS3
		}
		origin, ok := tap.OriginOf(h.opts.Origins, bucket, endpoint)
		switch {
		case !ok:
			return foreignBucket
		case i == 0:
			g.origin = origin
		case origin.Name != g.origin.Name:
			return manyOrigins
		}
		place, ok := tap.LocationOf(origin.Name, uri)
		if !ok {
			return badLocation
		}
		if i == 0 || !above(place, g.scope[0]) && !slices.Contains(g.scope, place) {
			g.scope = append(g.scope, place)
		}
	}
	return ""
}

// above reports whether a place is the table's location or lies around it. A
// metadata file or a write path beside the table must not widen the scope to
// the table's neighbours.
func above(place, table tap.Location) bool {
	return place.Contains(laketap.ObjectName{Origin: table.Origin, Bucket: table.Bucket, Key: table.Path})
}

// belowRoot reports whether a place lies below a root of the authority.
func (h *Handler) belowRoot(l tap.Location) bool {
	return slices.ContainsFunc(h.roots, func(root tap.Location) bool { return above(root, l) })
}

// checkCredentials reports whether every vended prefix is ours.
func (h *Handler) checkCredentials(origin tap.Origin, all []credential, endpoint string) reason {
	for _, c := range all {
		if everywhere(c.prefix) {
			continue
		}
		bucket, _, ok := laketap.SplitS3(c.prefix)
		if !ok {
			return foreignKeys
		}
		at := endpoint
		if e, ok := c.config.text("s3.endpoint"); ok {
			at = e
		}
		if o, ok := tap.OriginOf(h.opts.Origins, bucket, at); !ok || o.Name != origin.Name {
			return foreignKeys
		}
	}
	return ""
}

// everywhere reports whether a credential's prefix names no bucket: some
// catalogs say "s3" or nothing where they mean every object.
func everywhere(prefix string) bool {
	switch strings.TrimSuffix(strings.ToLower(prefix), "://") {
	case "", "s3", "s3a", "s3n":
		return true
	}
	return false
}

// take collects the keys that the catalog vended, those of config first: they
// are what engines use where no prefix fits. Keys that are vended in both
// places are kept once, since all of them travel in each request.
func (g *grant) take(l loaded) {
	if keys, ok := keysIn(l.config); ok {
		g.upstream = append(g.upstream, tap.Vended{Keys: keys})
		g.inConfig = g.ends(l.config)
	}
	for _, c := range l.credentials {
		if keys, ok := keysIn(c.config); ok {
			prefix := c.prefix
			if everywhere(prefix) {
				prefix = ""
			}
			vended := tap.Vended{Prefix: prefix, Keys: keys}
			if len(g.upstream) > 0 && g.upstream[0].Keys == keys {
				g.upstream[0] = vended // still first, so still the fallback
			} else {
				g.upstream = append(g.upstream, vended)
			}
			if at := g.ends(c.config); at != "" {
				g.inCredential = at
			}
		}
	}
}

// lastExpiry is the end of the year 9999 in milliseconds. What is said to end
// later does not end, and no date format has a place for it.
const lastExpiry = 253_402_300_799_999

// ends notes when the keys of a config end; the session ends with the first.
func (g *grant) ends(config object) string {
	value, ok := config.text(expiryKey)
	ms, err := strconv.ParseInt(value, 10, 64)
	if !ok || err != nil || ms > lastExpiry {
		return ""
	}
	if at := time.UnixMilli(ms); g.expires.IsZero() || at.Before(g.expires) {
		g.expires = at
	}
	return value
}

// keysIn returns the key pair of a config; a session token is not needed.
func keysIn(config object) (sigv4.Credentials, bool) {
	id, _ := config.text("s3.access-key-id")
	secret, _ := config.text("s3.secret-access-key")
	token, _ := config.text("s3.session-token")
	return sigv4.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: token}, id != "" && secret != ""
}
