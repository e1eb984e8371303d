package tap

import (
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// A Session is what a vended key pair stands for: who it was handed to, what
// it may touch, and the rights of the store behind it. It travels sealed in
// the session token (see [Keyring]), so that no node has to remember it.
type Session struct {
	AccessKeyID string          `json:"-"` // set by [Keyring.Open]
	Catalog     string          `json:"catalog"`
	Table       laketap.TableID `json:"table"`
	TableName   string          `json:"name"`
	Engine      laketap.Engine  `json:"engine"`
	Principal   string          `json:"principal,omitempty"`
	Plan        string          `json:"plan,omitempty"`
	Origin      string          `json:"origin"`
	Scope       []Location      `json:"scope"` // the table's location, metadata directory, write paths
	// Upstream is what the catalog vended. Empty: the origin's own keys are
	// used under storage.authority: catalog, and the scope is all there is.
	Upstream []Vended `json:"upstream,omitempty"`
	// Signer signs the session's requests to the store, one by one, where the
	// catalog does that instead of vending keys. nil: it does not.
	Signer  *Signer   `json:"signer,omitempty"`
	Write   bool      `json:"write"` // may change objects in the scope
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"` // zero: as long as upstream's keys live
}

// Vended is one storage credential of the upstream catalog and the prefix it
// is for, as the catalog wrote it ("" is everything).
type Vended struct {
	Prefix string            `json:"prefix"`
	Keys   sigv4.Credentials `json:"keys"`
}

// A Signer is where a catalog signs requests to the store for its clients
// (Iceberg's s3-signer-open-api), and what the client of the session shows it.
type Signer struct {
	URL           string `json:"url"` // below the catalog's own
	Authorization string `json:"authorization,omitempty"`
}

// Expired reports whether the session has ended.
func (s *Session) Expired(now time.Time) bool { return !s.Expires.IsZero() && !now.Before(s.Expires) }

// Covers reports whether an object lies in the session's scope. tables takes
// the locations of other known tables out of it; nil takes nothing.
func (s *Session) Covers(name laketap.ObjectName, tables *Tables) bool {
	for _, l := range s.Scope {
		if l.Contains(name) {
			return !s.others(name, l, tables)
		}
	}
	return false
}

// CoversPrefix reports whether every key below prefix lies in the scope.
// tables takes out prefixes in the locations of other known tables; nil takes
// nothing.
func (s *Session) CoversPrefix(bucket, prefix string, tables *Tables) bool {
	for _, l := range s.Scope {
		if l.ContainsPrefix(s.Origin, bucket, prefix) {
			return !s.others(laketap.ObjectName{Origin: s.Origin, Bucket: bucket, Key: prefix}, l, tables)
		}
	}
	return false
}

// others reports whether another table nested below l owns the object.
func (s *Session) others(name laketap.ObjectName, l Location, tables *Tables) bool {
	if tables == nil {
		return false
	}
	owner, ok := tables.At(name)
	if !ok || owner.ID == s.Table {
		return false
	}
	for _, theirs := range owner.locations() {
		// A table that shares the whole location, or lies around it, takes
		// nothing away: the session was vended for this place by the catalog.
		if theirs != l && theirs.within(l) {
			return true
		}
	}
	return false
}

// KeysFor returns the upstream credential for an object: the one with the
// longest prefix, else the first. ok is false if the catalog vended none.
func (s *Session) KeysFor(name laketap.ObjectName) (keys sigv4.Credentials, ok bool) {
	if len(s.Upstream) == 0 {
		return sigv4.Credentials{}, false
	}
	best := s.Upstream[0]
	length := -1
	for _, v := range s.Upstream {
		l, ok := LocationOf(name.Origin, v.Prefix)
		if ok && l.Contains(name) && len(l.Path) > length {
			best, length = v, len(l.Path)
		}
	}
	return best.Keys, true
}
