package catalog

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// anonymous is who comes without credentials.
const anonymous = "anonymous"

// clientsMax bounds how many bearer tokens are remembered by their client.
const clientsMax = 10_000

// clients remembers which client_id got which bearer token at the upstream's
// token endpoint. Tokens are kept as hashes; the oldest go first.
type clients struct {
	mu    sync.Mutex
	byKey map[[sha256.Size]byte]string // INVARIANT: the keys are those in order
	order [][sha256.Size]byte
}

func newClients() *clients { return &clients{byKey: map[[sha256.Size]byte]string{}} }

// put notes that a client got a token.
func (c *clients) put(token, client string) {
	key := sha256.Sum256([]byte(token))
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.byKey[key]; !known {
		if len(c.order) >= clientsMax {
			delete(c.byKey, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, key)
	}
	c.byKey[key] = client
}

// of returns the client that got a token, "" if it is not known.
func (c *clients) of(token string) string {
	key := sha256.Sum256([]byte(token))
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byKey[key]
}

// principalOf names who a request claims to come from. Nothing is verified
// here: the claim counts once the upstream has let the request in.
func (h *Handler) principalOf(catalog string, header http.Header) string {
	authorization := strings.TrimSpace(header.Get("Authorization"))
	scheme, token, _ := strings.Cut(authorization, " ")
	token = strings.TrimSpace(token)
	bearer := strings.EqualFold(scheme, "Bearer")
	switch {
	case authorization == "", bearer && (token == "" || token == "None"): // PyIceberg without credentials
		return anonymous
	case bearer:
		if who := subjectOf(token); who != "" {
			return catalog + ":" + who
		}
		if client := h.clients.of(catalog + " " + token); client != "" {
			return catalog + ":" + clip(client)
		}
	}
	return catalog + ":" + hashed(authorization)
}

// subjectOf returns "sub@iss" of a JWT, "sub" if it names no issuer, and ""
// if it is no JWT or has no subject.
func subjectOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(parts[1]) > 64<<10 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return ""
	}
	var claims struct {
		Issuer  string `json:"iss"`
		Subject string `json:"sub"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Subject == "" {
		return ""
	}
	if claims.Issuer == "" {
		return clip(claims.Subject)
	}
	return clip(claims.Subject + "@" + claims.Issuer)
}

// clip bounds a name that a client chose.
func clip(name string) string {
	const limit = 200
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
	if len(name) > limit {
		name = strings.ToValidUTF8(name[:limit], "")
	}
	return name
}

// learnToken reads an exchange at the token endpoint: who asked and what it got.
func (h *Handler) learnToken(catalog string, header http.Header, form, answer []byte) {
	values, err := url.ParseQuery(string(form))
	if err != nil {
		return
	}
	client := h.granteeOf(catalog, header, values)
	var got struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
	}
	if client == "" || json.Unmarshal(answer, &got) != nil || got.AccessToken == "" {
		return
	}
	h.clients.put(catalog+" "+got.AccessToken, client)
	if got.RefreshToken != "" {
		h.clients.put(catalog+" "+got.RefreshToken, client)
	}
}

// granteeOf names whom a token is for: whoever the token that is exchanged or
// refreshed is of, since a service may exchange the tokens of its users, else
// the client that asks, by form or Basic authorization. A token that says
// nothing, from a client that says nothing, stays the principal it was.
func (h *Handler) granteeOf(catalog string, header http.Header, form url.Values) string {
	unknown := ""
	for _, field := range []string{"subject_token", "refresh_token"} {
		token := form.Get(field)
		if token == "" {
			continue
		}
		if who := subjectOf(token); who != "" {
			return who
		}
		if client := h.clients.of(catalog + " " + token); client != "" {
			return client
		}
		unknown = hashed("Bearer " + token)
	}
	if client := form.Get("client_id"); client != "" {
		return client
	}
	if user, _, ok := (&http.Request{Header: header}).BasicAuth(); ok && user != "" {
		return user
	}
	return unknown
}

// hashed names whoever shows credentials that say nothing.
func hashed(authorization string) string {
	sum := sha256.Sum256([]byte(authorization))
	return "key-" + hex.EncodeToString(sum[:8])
}
