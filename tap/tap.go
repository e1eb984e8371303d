// Package tap is where engine traffic enters. Its subpackages speak one
// protocol each and do not know each other; what they share is here: which
// engine a client is (engine.go), which table lies at a location (tables.go,
// location.go), which store a bucket belongs to (origin.go), and the sealed
// session that the catalog tap hands out and the storage tap takes back
// (session.go, keyring.go). It refuses to talk on the network.
package tap
