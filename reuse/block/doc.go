// Package block is the persistent cache of object extents: it answers a
// repeated read from memory or from a local disk, for any engine and over
// restarts. It owns what it holds and nothing else: every byte in it can be
// deleted at any moment and costs only time.
//
// # What it promises
//
// A version of an object is its name, ETag and size ([laketap.Object]). Bytes
// are kept as they were asked for, in extents of one version that do not
// overlap; bytes of two versions never meet in one answer. What is held is
// given out only if it is known to be what the origin would give: an object
// that a table's live snapshot names is immutable by the format's contract
// ([Contract]); of every other one the origin is asked, in the same request
// that would fetch it, whether it is still the same. A change through
// [Cache.Forget] is seen at once. Bytes from disk are checked against their
// CRC32C each time they are read.
//
// It refuses to be in the way: a disk that is full, read-only or gone turns
// into plain fetching, counted and told by [Cache.Stats], and an origin's
// error is the origin's answer.
//
// # Locks
//
// Cache.mu guards the index: records, extents, fills in flight. fill.mu
// guards the bytes of one fill on their way. disk.mu guards the files'
// ends. They are taken in this order, and no I/O happens under Cache.mu but
// the few bytes that make a Forget outlive the process.
package block
