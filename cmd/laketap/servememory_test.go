package main

import "testing"

// A hash is the same for the same value under the same keys, and no other.
func TestLiteralHash(t *testing.T) {
	a, again, other := literalHash([]byte("k1")), literalHash([]byte("k1")), literalHash([]byte("k2"))
	if a("2026-12-01") != again("2026-12-01") {
		t.Error("one value has two hashes")
	}
	if a("2026-12-01") == a("2026-12-02") || a("2026-12-01") == other("2026-12-01") {
		t.Error("two values, or keys, have one hash")
	}
}
