//go:build !unobserved

package main

// observed says that accesses are recorded. `make bench-observe` builds a
// program in which they are not, and measures what that saves; it is no setting.
const observed = true
