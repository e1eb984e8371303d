package block

import (
	"container/heap"
	"strings"

	"github.com/laketap/laketap"
)

// A Subject is an extent as it is judged: which bytes of which version.
type Subject struct {
	laketap.Object
	Off, Len int64
}

// Prior is what an extent is worth by its place in the format alone, against
// column data. Metadata is read by every query, a file's tail by every reader
// of the file, and a column by those who want the column.
func Prior(s Subject) float64 {
	key := s.Key
	switch {
	case strings.HasSuffix(key, ".metadata.json"), strings.HasSuffix(key, ".avro") && strings.Contains(key, "/metadata/"):
		return 16
	case strings.HasSuffix(key, ".puffin"), strings.Contains(key, "/metadata/"):
		return 8
	case s.Off+s.Len == s.Size && s.Off > 0:
		return 8 // a footer, or what was read with one
	}
	return 1
}

// requestCost is what a request to the origin costs beside its bytes, in bytes
// that the origin would have sent in the time (some 10 ms at 50 MB/s).
const requestCost = 512 << 10

// A value is what an extent is worth, as GreedyDual-Size-Frequency has it
// (Cherkasova, HP Labs 1998): the chance that it is read again × what it costs
// to fetch again ÷ what it takes up, on a scale that rises with what was
// evicted last, so that the past fades.
type value struct {
	weight float64
	since  float64 // the scale when it was last judged
	worth  float64
	hits   uint32 // since it was added
	judged uint32 // hits that worth knows of
	index  int    // in the heap; 0 is not in it, else one more
}

// values orders all extents by worth. It is lazy: a hit only counts, and the
// order is put right when an extent comes up for eviction. Guarded by Cache.mu.
type values struct {
	scale float64 // worth of what was evicted last
	heap  worths
}

func (v *values) add(e *extent, weight float64) {
	e.value = value{weight: weight}
	v.judge(e)
	heap.Push(&v.heap, e)
}

func (v *values) remove(e *extent) {
	if e.value.index > 0 {
		heap.Remove(&v.heap, e.value.index-1)
	}
}

// judge works an extent's worth out anew.
func (v *values) judge(e *extent) {
	x := &e.value
	x.judged, x.since = x.hits, v.scale
	cost := float64(requestCost+e.len) / float64(e.len)
	x.worth = x.since + x.weight*float64(1+x.hits)*cost
}

// least returns the extent of least worth, nil if there is none. Pinned ones
// are passed over.
func (v *values) least() *extent {
	for range len(v.heap) + 1 {
		if len(v.heap) == 0 {
			return nil
		}
		e := v.heap[0]
		switch {
		case e.value.judged != e.value.hits, e.o.pinned:
			v.judge(e)
			if e.o.pinned {
				e.value.worth += v.heap[len(v.heap)-1].value.worth + 1
			}
			heap.Fix(&v.heap, 0)
		default:
			v.scale = max(v.scale, e.value.worth)
			return e
		}
	}
	return nil
}

// worths is a heap of extents, the least worth first.
type worths []*extent

func (h worths) Len() int           { return len(h) }
func (h worths) Less(i, j int) bool { return h[i].value.worth < h[j].value.worth }
func (h worths) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].value.index, h[j].value.index = i+1, j+1
}

func (h *worths) Push(x any) {
	e := x.(*extent) //nolint:forcetypeassert // the heap holds nothing else
	*h = append(*h, e)
	e.value.index = len(*h)
}

func (h *worths) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.value.index = 0
	return e
}
