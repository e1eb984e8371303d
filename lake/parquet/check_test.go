package parquet_test

import (
	"math"
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
)

// checkLayout holds every layout, however odd its file, to what callers rely
// on: parts lie in the file, none is empty, they follow one another without
// end, and everything can be asked for.
func checkLayout(t *testing.T, l *parquet.Layout) {
	t.Helper()
	whole := laketap.Extent{Len: math.MaxInt64}
	off := int64(0)
	for p := range l.Parts(whole) {
		checkPart(t, l, p, off)
		off = p.Extent.Off + p.Extent.Len
	}
	if off != l.Size() {
		t.Errorf("parts end at %d of %d", off, l.Size())
	}
	for g := range l.NumRowGroups() {
		l.RowGroup(g)
		for c := range l.NumColumns() {
			checkChunk(t, l, g, c)
		}
	}
	for c := range l.NumColumns() {
		l.Column(c)
		if len(l.Path(c)) == 0 {
			t.Errorf("column %d has no path", c)
		}
	}
	for range l.KeyValues() {
		continue
	}
	checkExtents(t, l, l.Select(parquet.Selection{}))
	checkExtents(t, l, l.Select(parquet.Selection{Indexes: true, Gap: 10}))
}

// checkPart checks a part that follows another one, which ended at off.
func checkPart(t *testing.T, l *parquet.Layout, p parquet.Part, off int64) {
	t.Helper()
	e := p.Extent
	if e.Len <= 0 || e.Off < 0 || e.Off > off || e.Off+e.Len <= off || e.Off+e.Len > l.Size() {
		t.Errorf("%v at %d", p, off)
	}
	if got := l.PartAt(e.Off + e.Len - 1); got.Extent.Off+got.Extent.Len != e.Off+e.Len || got.RowGroup != p.RowGroup {
		t.Errorf("last byte of %v is of %v", p, got)
	}
	switch p.Kind {
	case parquet.Unknown, parquet.Magic, parquet.Footer:
		if p.RowGroup != -1 || p.Column != -1 || p.Field != -1 {
			t.Errorf("%v of a chunk", p)
		}
	default:
		if p.RowGroup >= l.NumRowGroups() || p.Column >= l.NumColumns() {
			t.Errorf("%v of no chunk", p)
		}
	}
}

// checkChunk checks that a chunk and its parts are found where it says.
func checkChunk(t *testing.T, l *parquet.Layout, g, c int) {
	t.Helper()
	k := l.Chunk(g, c)
	for kind, e := range map[parquet.Kind]laketap.Extent{
		parquet.ColumnIndex: k.ColumnIndex,
		parquet.OffsetIndex: k.OffsetIndex,
		parquet.BloomFilter: k.Bloom,
		parquet.Dictionary:  k.Dictionary,
	} {
		want := parquet.Part{Kind: kind, RowGroup: g, Column: c, Field: l.Column(c).Field, Extent: e}
		if got := l.PartAt(e.Off); e.Len > 0 && got != want {
			t.Errorf("at %d: %v, want %v", e.Off, got, want)
		}
	}
	if e := k.Extent; e.Len > k.Dictionary.Len {
		want := parquet.Part{Kind: parquet.ColumnChunk, RowGroup: g, Column: c, Field: l.Column(c).Field, Extent: e}
		if got := l.PartAt(e.Off + e.Len - 1); got != want {
			t.Errorf("at %d: %v, want %v", e.Off, got, want)
		}
	}
	if s, err := l.Stats(g, c); err != nil && (s.Min != nil || s.Nulls != -1) {
		t.Errorf("statistics %v beside %v", s, err)
	}
	if lo, hi, err := l.Bounds(g, c); err != nil && (lo != nil || hi != nil) {
		t.Errorf("bounds %q and %q beside %v", lo, hi, err)
	}
}

// checkExtents checks that extents lie in the file, apart and ascending.
func checkExtents(t *testing.T, l *parquet.Layout, extents []laketap.Extent) {
	t.Helper()
	end := int64(3)
	for _, e := range extents {
		if e.Len <= 0 || e.Off <= end || e.Off+e.Len > l.Footer().Off {
			t.Errorf("extents %v", extents)
			return
		}
		end = e.Off + e.Len
	}
}
