package laketap

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
)

// A Get asks for an object or a part of it. Head asks for everything but the
// body. Table, Right and Proven say for whom: the table of the session that
// asks, whose word counts on what never changes (zero: nobody's does), the
// credentials and the prefix that the origin is asked with, and whether the
// origin has let them in lately. Nothing is answered without the origin to
// who is not proven, and nothing fetched with one right serves another that is not.
// Scope and Engine let who has a right be met again: the right is to all of the
// bucket's keys below Scope, and a [Fetch] that came with it gets those too.
// Background says that no client waits: those for whom one does go first.
type Get struct {
	Name      ObjectName
	Head      bool
	Range     Range
	Cond      Cond
	Checksums bool // x-amz-checksum-mode: ENABLED
	Table     TableID
	Right     string // opaque, no secret; "" is a right like any other
	Scope     string // a path by whole segments, or the key itself; "" is the whole bucket
	Proven    bool
	Engine    Engine // that asks

	Background bool
}

// A Range is a part of an object as a client may name it (RFC 9110 §14.1.2);
// the zero value is the whole object.
type Range struct {
	From, To int64 // inclusive; To < 0: to the end
	Suffix   int64 // the last Suffix bytes, if > 0; From and To are then unused
	Set      bool
}

// String spells the range as a Range header does; "" is the whole object.
func (r Range) String() string {
	switch {
	case !r.Set:
		return ""
	case r.Suffix > 0:
		return "bytes=-" + strconv.FormatInt(r.Suffix, 10)
	case r.To < 0:
		return "bytes=" + strconv.FormatInt(r.From, 10) + "-"
	}
	return "bytes=" + strconv.FormatInt(r.From, 10) + "-" + strconv.FormatInt(r.To, 10)
}

// Resolve returns which bytes of an object of size bytes the range names, as
// far as the object has them.
func (r Range) Resolve(size int64) Extent {
	switch {
	case !r.Set:
		return Extent{Off: 0, Len: size}
	case r.Suffix > 0:
		n := min(r.Suffix, size)
		return Extent{Off: size - n, Len: n}
	case r.From >= size:
		return Extent{Off: size}
	case r.To < 0 || r.To >= size:
		return Extent{Off: r.From, Len: size - r.From}
	}
	return Extent{Off: r.From, Len: r.To + 1 - r.From}
}

// Cond holds a request's validators as sent; the zero value has none.
type Cond struct{ IfMatch, IfNoneMatch string }

// A Reply is the answer to a Get, from wherever it came. Whoever receives it
// closes its body.
type Reply struct {
	Status int
	Object Object
	Header []Field
	Length int64 // of the body, bytes; -1: unknown
	Body   Body
	Served Served
}

// A Field is one header line to send on.
type Field struct{ Name, Value string }

// A Body has at most one of its fields set; the zero value is empty.
type Body struct {
	Bytes  []byte        // immutable
	File   *os.File      // positioned, owned by the reply
	Stream io.ReadCloser // a fill being tailed, or the origin itself
}

// Close releases what the body holds.
func (b Body) Close() error {
	switch {
	case b.File != nil:
		return b.File.Close()
	case b.Stream != nil:
		return b.Stream.Close()
	}
	return nil
}

// A Fetch gets from the origin with the credentials of the session that asks.
// It may be kept: it refuses what the session's right is not to, and whatever
// is asked of it once the session has ended, by [ErrNoRight].
type Fetch func(context.Context, Get) (*Reply, error)

// ErrNoRight is what a [Fetch] says of what its session may not read.
var ErrNoRight = errors.New("session has no right to the object")
