// Package laketap holds the vocabulary of the system: the nouns that travel
// from an engine's request to a decision and back. It does no I/O and imports
// only the standard library, so every other package can speak it.
package laketap

// An ObjectName is where an object lives. Origin is the configured name of the
// store, Bucket and Key are as S3 spells them, the key decoded.
type ObjectName struct{ Origin, Bucket, Key string }

// An Object is one immutable version of one stored object.
type Object struct {
	ObjectName
	ETag string // as the store sent it, quotes included
	Size int64  // bytes
}

// An Extent is a half-open byte range [Off, Off+Len) within an object.
type Extent struct{ Off, Len int64 }

// An Engine is a client program kind and its version, such as {"spark",
// "4.1"}. The zero value is an unknown client.
type Engine struct{ Name, Version string }

// String returns "name/version", or "unknown".
func (e Engine) String() string {
	switch {
	case e.Name == "":
		return "unknown"
	case e.Version == "":
		return e.Name
	}
	return e.Name + "/" + e.Version
}

// A TableID identifies a table for as long as it exists. Names are aliases and
// may be reused; the UUID of the table's metadata is not. Catalog is the
// configured name of the upstream, Prefix the {prefix} of its paths ("" for
// none) and Ref a branch of catalogs that have them (Nessie; "" elsewhere).
type TableID struct{ Catalog, Prefix, Ref, UUID string }
