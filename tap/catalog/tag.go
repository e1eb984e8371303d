package catalog

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/laketap/laketap/tap"
)

const (
	tagMark    = "lt-" // begins the text of every ETag of ours
	tagPurpose = "etag"
	// tagMargin is how long a session must live for a client to be told that
	// the table it holds, with the keys in it, is still good. Iceberg's own
	// cache keeps a table for five minutes.
	tagMargin = 10 * time.Minute
)

// A tag is what our ETag seals: an edited answer is another representation
// than the upstream's, for one client, with keys that end.
type tag struct {
	ETag      string `json:"e"` // the upstream's
	Variant   string `json:"v"`
	Principal string `json:"p"`
	Expires   int64  `json:"x,omitempty"` // Unix seconds; 0: unknown
}

// variantOf names everything but table and principal that an edited answer
// depends on.
func variantOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// seal spells a tag as an ETag.
func (t tag) seal(keys *tap.Keyring, random io.Reader) (string, error) {
	plain, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	sealed, err := keys.Seal(tagPurpose, plain, random)
	if err != nil {
		return "", err
	}
	return `"` + tagMark + sealed + `"`, nil
}

// openTag reads an ETag of ours; mine is false for any other, ok is false if
// it is damaged or sealed by a key that is gone.
func openTag(keys *tap.Keyring, etag string) (t tag, mine, ok bool) {
	text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(etag, "W/"), `"`), `"`)
	sealed, mine := strings.CutPrefix(text, tagMark)
	if !mine {
		return tag{}, false, false
	}
	plain, err := keys.Unseal(tagPurpose, sealed)
	if err != nil || json.Unmarshal(plain, &t) != nil {
		return tag{}, true, false
	}
	return t, true, true
}

// goodFor reports whether a client that holds the answer behind a tag may go
// on using it.
func (t tag) goodFor(principal, variant string, now time.Time) bool {
	return t.Principal == principal && t.Variant == variant && t.ETag != "" &&
		(t.Expires == 0 || now.Add(tagMargin).Before(time.Unix(t.Expires, 0)))
}

// condition is what a client's If-None-Match means upstream.
type condition struct {
	upstream []string          // ETags to send
	ours     map[string]string // upstream's ETag → the client's, which was ours
}

// translate reads If-None-Match. Tags of ours become the upstream's if they
// are good for this client and variant, and vanish if not; others are the
// upstream's own and stay.
func translate(header http.Header, keys *tap.Keyring, principal, variant string, now time.Time) condition {
	c := condition{ours: map[string]string{}}
	for _, line := range header.Values("If-None-Match") {
		for _, etag := range splitTags(line) {
			t, mine, ok := openTag(keys, etag)
			switch {
			case !mine:
				c.upstream = append(c.upstream, etag)
			case ok && t.goodFor(principal, variant, now):
				c.upstream = append(c.upstream, t.ETag)
				c.ours[t.ETag] = etag
			}
		}
	}
	return c
}

// splitTags splits a list of ETags at commas outside of quotes.
func splitTags(line string) (tags []string) {
	quoted := false
	for _, part := range strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ',' && !quoted
	}) {
		if part = strings.TrimSpace(part); part != "" {
			tags = append(tags, part)
		}
	}
	return tags
}

// set writes the condition into a request to the upstream.
func (c condition) set(header http.Header) {
	header.Del("If-None-Match")
	if len(c.upstream) > 0 {
		header.Set("If-None-Match", strings.Join(c.upstream, ", "))
	}
}

// foreign returns the part of a condition that was never ours.
func (c condition) foreign() condition { return c.part(false) }

// part returns what of a condition was ours, or what was not.
func (c condition) part(ours bool) condition {
	p := condition{ours: map[string]string{}}
	for _, etag := range c.upstream {
		its, was := c.ours[etag]
		if was == ours {
			p.upstream = append(p.upstream, etag)
		}
		if was && ours {
			p.ours[etag] = its
		}
	}
	return p
}

// ask304 sets what a load may be answered 304 to. An ETag that is not ours is
// of a body without our keys: of the answer to a commit (whose ETag is the one
// of a load in the specification), or of a load before Laketap was there. A
// 304 to it would leave the engine without a way to the storage tap, so it
// goes upstream only while loads like this one pass byte for byte. That is
// also why a date does not go: what we edit has none.
func (x *exchange) ask304(header http.Header, c condition) {
	if x.up.remembers(x.passMemo(), x.access.At) {
		c.set(header)
		return
	}
	c.part(true).set(header)
	header.Del("If-Modified-Since")
}

// notePass remembers whether a load passed, for the next one like it.
func (x *exchange) notePass(passed bool) {
	if passed {
		x.up.remember(x.passMemo(), x.access.At.Add(refusalKept), x.access.At)
		return
	}
	x.up.forget(x.passMemo())
}

// passMemo names loads that are answered alike: it has all that decides
// whether an answer is edited but the answer itself.
func (x *exchange) passMemo() string { return "pass " + x.variant(x.in) + " " + x.loadMemo() }

// answer gives a 304 of the upstream the client's own ETag back.
func (c condition) answer(header http.Header) {
	if ours, ok := c.ours[header.Get("ETag")]; ok {
		header.Set("ETag", ours)
		return
	}
	if header.Get("ETag") == "" && len(c.ours) == 1 && len(c.upstream) == 1 {
		header.Set("ETag", c.ours[c.upstream[0]])
	}
}
