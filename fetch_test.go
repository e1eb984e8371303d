package laketap_test

import (
	"testing"

	"github.com/laketap/laketap"
)

// What a range names of an object is what RFC 9110 says.
func TestRangeResolve(t *testing.T) {
	for _, c := range []struct {
		r    laketap.Range
		size int64
		want laketap.Extent
	}{
		{laketap.Range{}, 10, laketap.Extent{Off: 0, Len: 10}},
		{laketap.Range{}, 0, laketap.Extent{}},
		{laketap.Range{Set: true, From: 0, To: 0}, 10, laketap.Extent{Off: 0, Len: 1}},
		{laketap.Range{Set: true, From: 3, To: 5}, 10, laketap.Extent{Off: 3, Len: 3}},
		{laketap.Range{Set: true, From: 3, To: 50}, 10, laketap.Extent{Off: 3, Len: 7}},
		{laketap.Range{Set: true, From: 3, To: -1}, 10, laketap.Extent{Off: 3, Len: 7}},
		{laketap.Range{Set: true, From: 10, To: 12}, 10, laketap.Extent{Off: 10, Len: 0}},
		{laketap.Range{Set: true, Suffix: 4}, 10, laketap.Extent{Off: 6, Len: 4}},
		{laketap.Range{Set: true, Suffix: 40}, 10, laketap.Extent{Off: 0, Len: 10}},
	} {
		if got := c.r.Resolve(c.size); got != c.want {
			t.Errorf("%s of %d: got %+v, want %+v", c.r, c.size, got, c.want)
		}
	}
}
