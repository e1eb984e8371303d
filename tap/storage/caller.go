package storage

import (
	"cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

// A caller is who signed a request: a vended session or a static key. Exactly
// one of the two is set, and none for who did not sign.
type caller struct {
	keyID   string
	secret  string
	session *tap.Session
	static  *StaticKey

	anonymous bool
}

// all reports whether the caller may do everything.
func (c *caller) all() bool { return c.static != nil && c.static.All }

// upstream reports whether the store itself knows the caller's rights: the
// catalog vended credentials, which every request of the session goes out
// with, or it signs each of them. Then a request outside our scope is the store's to decide.
func (c *caller) upstream() bool {
	return c.session != nil && (len(c.session.Upstream) > 0 || c.session.Signer != nil)
}

// signer is where the catalog signs the caller's requests; nil if it does not.
func (c *caller) signer() *tap.Signer {
	if c.session == nil || len(c.session.Upstream) > 0 {
		return nil
	}
	return c.session.Signer
}

// mayWrite reports whether the caller may change objects in its scope.
func (c *caller) mayWrite() bool {
	if c.session != nil {
		return c.session.Write
	}
	return !c.static.ReadOnly
}

func (c *caller) engine() laketap.Engine {
	if c.session != nil {
		return c.session.Engine
	}
	return laketap.Engine{}
}

func (c *caller) principal() string {
	switch {
	case c.session != nil:
		return c.session.Principal
	case c.anonymous:
		return ""
	}
	return cmp.Or(c.static.Principal, c.static.ID)
}

// covers reports whether an object lies in the caller's scope.
func (c *caller) covers(name laketap.ObjectName, tables *tap.Tables) bool {
	if c.session != nil {
		return c.session.Covers(name, tables)
	}
	if c.static.All {
		return true
	}
	for _, l := range c.static.Prefixes {
		if l.Contains(name) {
			return true
		}
	}
	return false
}

// coversPrefix reports whether every key below a prefix lies in the scope.
func (c *caller) coversPrefix(origin, bucket, prefix string, tables *tap.Tables) bool {
	if c.session != nil {
		return origin == c.session.Origin && c.session.CoversPrefix(bucket, prefix, tables)
	}
	if c.static.All {
		return true
	}
	for _, l := range c.static.Prefixes {
		if l.ContainsPrefix(origin, bucket, prefix) {
			return true
		}
	}
	return false
}

// scope returns the locations that the caller is let into by name.
func (c *caller) scope() []tap.Location {
	if c.session != nil {
		return c.session.Scope
	}
	return c.static.Prefixes
}

// touches reports whether some of a bucket lies in the scope.
func (c *caller) touches(origin, bucket string) bool {
	if c.all() {
		return true
	}
	for _, l := range c.scope() {
		if l.Origin == origin && l.Bucket == bucket {
			return true
		}
	}
	return false
}
