package storage

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
)

// An authenticator finds out who signed a request. It keeps no state that
// matters: a session is what its token says.
type authenticator struct {
	keys    *tap.Keyring
	static  map[string]*StaticKey
	regions []string // that a client may sign for; the first is the answer to others
	now     func() time.Time
	opened  recent[sessionKey, *tap.Session]
	signers recent[signerKey, signer]
}

func newAuthenticator(o *Options) *authenticator {
	a := &authenticator{keys: o.Keys, static: map[string]*StaticKey{}, regions: []string{o.Region}, now: o.Now}
	for i := range o.Static {
		a.static[o.Static[i].ID] = &o.Static[i]
	}
	for _, origin := range o.Origins {
		a.regions = append(a.regions, cmp.Or(origin.Region, "us-east-1"))
	}
	return a
}

// keyElement names the key in an error document, as S3 does.
const keyElement = "AWSAccessKeyId"

// authenticate proves who sent the request. The signature comes first, so
// that nobody learns anything about a token without its secret.
func (a *authenticator) authenticate(auth *sigv4.Auth, r *request) (*caller, error) {
	key := signerKey{auth.AccessKeyID, auth.Day(), auth.Region, a.keys.Generation()}
	by, kept := a.signers.get(key)
	if !kept {
		var ok bool
		if by, ok = a.signer(auth); !ok {
			return nil, errUnknownKey.with(keyElement, auth.AccessKeyID)
		}
	}
	who := &caller{keyID: auth.AccessKeyID, static: by.static, secret: by.secret}
	if who.static != nil && auth.SessionToken != "" {
		return nil, errInvalidToken
	}
	now := a.now()
	if err := auth.VerifyBy(&r.sig, by.key, a.region(auth.Region), now); err != nil {
		if e := asAPIError(err); e.code == "SignatureDoesNotMatch" {
			return nil, e.with(keyElement, auth.AccessKeyID)
		}
		return nil, err
	}
	if !kept { // only now: anybody can claim a key
		key.keyID, key.day, key.region = strings.Clone(key.keyID), strings.Clone(key.day), strings.Clone(key.region) // not all of the head
		a.signers.put(key, by)
	}
	if who.static != nil {
		return who, nil
	}
	if auth.SessionToken == "" {
		return nil, errUnknownKey.because("a vended key was used without its session token")
	}
	session, err := a.open(auth.AccessKeyID, auth.SessionToken)
	if err != nil {
		if errors.Is(err, tap.ErrUnknownKey) {
			return nil, errUnknownKey
		}
		return nil, errInvalidToken
	}
	if session.Expired(now) {
		return nil, errExpiredToken
	}
	who.session = session
	return who, nil
}

// A signer is who may have signed a request: a static key, or one that was vended.
type signer struct {
	static *StaticKey // nil: vended
	secret string
	key    sigv4.SigningKey
}

// A signerKey is what a signing key is made for, and of which cluster keys.
type signerKey struct {
	keyID, day, region string
	generation         uint64
}

// signer finds the secret of the key that is claimed; ok is false if there is no
// such key.
func (a *authenticator) signer(auth *sigv4.Auth) (s signer, ok bool) {
	if k, known := a.static[auth.AccessKeyID]; known {
		s = signer{static: k, secret: k.Secret}
	} else if s.secret, ok = a.keys.Secret(auth.AccessKeyID); !ok {
		return s, false
	}
	s.key = auth.SigningKey(s.secret)
	return s, true
}

// region returns the region to verify for: the one claimed, if it is one of
// ours.
func (a *authenticator) region(claimed string) string {
	for _, r := range a.regions {
		if r == claimed {
			return r
		}
	}
	return a.regions[0]
}

// open returns the session of a token. Those that were opened are remembered,
// since an engine sends the same one with thousands of requests.
func (a *authenticator) open(keyID, token string) (*tap.Session, error) {
	if s, ok := a.opened.get(sessionKey{keyID, token}); ok {
		return s, nil
	}
	s, err := a.keys.Open(keyID, token)
	if err != nil {
		return nil, err
	}
	a.opened.put(sessionKey{keyID, token}, &s)
	return &s, nil
}

type sessionKey struct{ keyID, token string }

// looped reports whether a request came from ourselves: it asks for an
// origin's own host, with the origin's own key. Either alone can be meant so.
func (s *Server) looped(ctx context.Context, r *request, keyID string) bool {
	for _, o := range s.opts.Origins {
		if host := s.hosts[o.Name]; host == "" || !strings.EqualFold(host, r.sig.Host) {
			continue
		}
		own, err := s.opts.Send.OwnKeys(ctx, o.Name)
		if err == nil && own.AccessKeyID == keyID {
			return true
		}
	}
	return false
}

// hostOf returns host and port of an endpoint as a client writes them into
// its Host header.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || endpoint == "" {
		return ""
	}
	return u.Host
}
