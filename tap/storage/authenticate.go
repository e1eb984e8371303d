package storage

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
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
	opened  openedSessions
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
	who := &caller{keyID: auth.AccessKeyID}
	if k, ok := a.static[auth.AccessKeyID]; ok {
		who.static, who.secret = k, k.Secret
	} else if secret, ok := a.keys.Secret(auth.AccessKeyID); ok {
		who.secret = secret
	} else {
		return nil, errUnknownKey.with(keyElement, auth.AccessKeyID)
	}
	if who.static != nil && auth.SessionToken != "" {
		return nil, errInvalidToken
	}
	now := a.now()
	if err := auth.Verify(&r.sig, who.secret, a.region(auth.Region), now); err != nil {
		if e := asAPIError(err); e.code == "SignatureDoesNotMatch" {
			return nil, e.with(keyElement, auth.AccessKeyID)
		}
		return nil, err
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

func (a *authenticator) open(keyID, token string) (*tap.Session, error) {
	if s, ok := a.opened.get(keyID, token); ok {
		return s, nil
	}
	s, err := a.keys.Open(keyID, token)
	if err != nil {
		return nil, err
	}
	a.opened.put(keyID, token, &s)
	return &s, nil
}

// openedSessions remembers tokens that were opened, since an engine sends the
// same one with thousands of requests. It holds at most two generations.
type openedSessions struct {
	mu       sync.Mutex
	now, old map[sessionKey]*tap.Session // INVARIANT: len(each) <= sessionGeneration
}

type sessionKey struct{ keyID, token string }

const sessionGeneration = 2048

func (o *openedSessions) get(keyID, token string) (*tap.Session, bool) {
	k := sessionKey{keyID, token}
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.now[k]; ok {
		return s, true
	}
	s, ok := o.old[k]
	if ok {
		o.add(k, s)
	}
	return s, ok
}

func (o *openedSessions) put(keyID, token string, s *tap.Session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(sessionKey{keyID, token}, s)
}

// add remembers a session; the caller holds the lock.
func (o *openedSessions) add(k sessionKey, s *tap.Session) {
	if o.now == nil || len(o.now) >= sessionGeneration {
		o.now, o.old = make(map[sessionKey]*tap.Session), o.now
	}
	o.now[k] = s
}

// looped reports whether a request came from ourselves: it asks for an
// origin's own host, with the origin's own key. Either alone can be meant so.
func (s *Server) looped(ctx context.Context, r *request, keyID string) bool {
	for _, o := range s.opts.Origins {
		if hostOf(o.Endpoint) == "" || !strings.EqualFold(hostOf(o.Endpoint), r.sig.Host) {
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
