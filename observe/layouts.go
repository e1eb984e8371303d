package observe

import (
	"container/list"
	"errors"
	"sync/atomic"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/iceberg"
	"github.com/laketap/laketap/lake/parquet"
)

const (
	layoutBytes = 64 << 20 // of all layouts that are kept
	layoutCost  = 512      // of one, beside what it counts itself
	maxFooter   = 8 << 20  // a longer one is not read
	retryAfter  = time.Second
)

// layouts are the maps of Parquet files, the least lately used ones forgotten.
// They belong to one goroutine.
type layouts struct {
	held  Held
	max   int
	bytes int // INVARIANT: the sum of the costs of all, ≤ max unless there is one
	byKey map[layoutKey]*list.Element
	order *list.List // of *layoutEntry, the latest used first

	malformed atomic.Int64
}

// A layoutKey is a version of a file.
type layoutKey struct {
	name laketap.ObjectName
	etag string
	size int64
}

// A layoutEntry is what is known of a file.
type layoutEntry struct {
	key    layoutKey
	layout *parquet.Layout
	opaque laketap.PartKind // of a file that was read and has no map: what its bytes are
	done   bool             // one of the two is set
	retry  time.Time        // not before, if the footer was not at hand
	cost   int
}

func newLayouts(held Held) *layouts {
	return &layouts{held: held, max: layoutBytes, byKey: map[layoutKey]*list.Element{}, order: list.New()}
}

// of returns what is known of a file, reading its footer if that is at hand.
// passed says that the end of the file has just passed, so that it may be.
func (l *layouts) of(key layoutKey, names *iceberg.NameMapping, passed bool, now time.Time) *layoutEntry {
	if e, ok := l.byKey[key]; ok {
		l.order.MoveToFront(e)
		entry, _ := e.Value.(*layoutEntry)
		if entry.done || !passed && now.Before(entry.retry) {
			return entry
		}
		l.read(entry, names, now)
		return entry
	}
	entry := &layoutEntry{key: key, cost: layoutCost}
	l.byKey[key] = l.order.PushFront(entry)
	l.bytes += entry.cost
	l.read(entry, names, now)
	return entry
}

// read reads a file's footer, if it is at hand.
func (l *layouts) read(entry *layoutEntry, names *iceberg.NameMapping, now time.Time) {
	layout, err := l.parse(entry.key, names)
	switch {
	case errors.Is(err, errNotHeld):
		entry.retry = now.Add(retryAfter)
	case errors.Is(err, parquet.ErrEncrypted):
		entry.done, entry.opaque = true, laketap.DataPart
	case err != nil:
		l.malformed.Add(1)
		entry.done, entry.opaque = true, laketap.UnknownPart
	default:
		entry.done, entry.layout = true, layout
		l.bytes -= entry.cost
		entry.cost = layoutCost + layout.Memory()
		l.bytes += entry.cost
	}
	for l.bytes > l.max && l.order.Len() > 1 {
		oldest, _ := l.order.Remove(l.order.Back()).(*layoutEntry)
		delete(l.byKey, oldest.key)
		l.bytes -= oldest.cost
	}
}

// parse reads a footer from what is at hand: first how long it is, then no more
// than that.
func (l *layouts) parse(key layoutKey, names *iceberg.NameMapping) (*parquet.Layout, error) {
	const end = 8 // length and magic number
	tail, err := l.tail(key, min(end, key.size))
	if err != nil {
		return nil, err
	}
	n, err := parquet.FooterLength(tail)
	if err != nil {
		return nil, err
	}
	if n > min(key.size, maxFooter) {
		return nil, parquet.ErrMalformed
	}
	if tail, err = l.tail(key, n); err != nil {
		return nil, err
	}
	return parquet.ParseFooter(tail, key.size, parquet.Options{Names: names.Field, MaxFooter: maxFooter, DropFooter: true})
}

// tail returns the last n bytes of a file, if they are at hand and of the
// version that is meant.
func (l *layouts) tail(key layoutKey, n int64) ([]byte, error) {
	b, o, ok := l.held(key.name, key.size-n, n)
	if !ok || o.Size != key.size || key.etag != "" && o.ETag != "" && o.ETag != key.etag {
		return nil, errNotHeld
	}
	return b, nil
}
