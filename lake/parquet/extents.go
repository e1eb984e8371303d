package parquet

import (
	"cmp"
	"slices"

	"github.com/laketap/laketap"
)

// A Selection says which parts of a file are wanted. The zero value is the
// pages of every column.
type Selection struct {
	Fields    []int // field ids; a struct's stands for all in it; nil: every column
	RowGroups []int // nil: every one; numbers that the file lacks are passed over
	Indexes   bool  // page indexes and Bloom filters too
	Gap       int64 // merge extents at most so many bytes apart, and read the gap
}

// Extents returns what to read for the columns of these fields: whole column
// chunks, ascending, adjacent ones merged. It never goes by the page index,
// which is not to be trusted for that.
func (l *Layout) Extents(fields []int) []laketap.Extent {
	if fields == nil {
		fields = []int{}
	}
	return l.Select(Selection{Fields: fields})
}

// Select returns the extents of a selection, ascending, no two of them
// touching.
func (l *Layout) Select(sel Selection) []laketap.Extent {
	want := make([]bool, len(l.chunks))
	l.mark(want, sel)
	last := partChunk
	if sel.Indexes {
		last = parts - 1
	}
	var out []laketap.Extent
	for p := partChunk; p <= last; p++ {
		for k := range l.placed[p].n {
			if i := l.placed[p].at(k); want[i] {
				off, n := l.chunks[i].location(p)
				out = merge(out, laketap.Extent{Off: off, Len: n}, sel.Gap)
			}
		}
	}
	if !sel.Indexes {
		return out
	}
	slices.SortFunc(out, func(a, b laketap.Extent) int { return cmp.Compare(a.Off, b.Off) })
	merged := out[:0]
	for _, e := range out {
		merged = merge(merged, e, sel.Gap)
	}
	return merged
}

// mark marks the chunks of a selection.
func (l *Layout) mark(want []bool, sel Selection) {
	columns := len(l.schema.leaves)
	in := l.selected(sel.Fields)
	for g := range l.groups {
		if sel.RowGroups != nil && !slices.Contains(sel.RowGroups, g) {
			continue
		}
		for c := range columns {
			want[g*columns+c] = sel.Fields == nil || in[c]
		}
	}
}

// merge adds an extent, which starts no earlier than the last one unless a new
// kind of part begins, to a list.
func merge(list []laketap.Extent, e laketap.Extent, gap int64) []laketap.Extent {
	if len(list) > 0 {
		last := &list[len(list)-1]
		end := last.Off + last.Len
		if e.Off >= last.Off && e.Off-end <= gap {
			last.Len = max(end, e.Off+e.Len) - last.Off
			return list
		}
	}
	return append(list, e)
}
