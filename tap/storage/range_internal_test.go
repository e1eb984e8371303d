package storage

import (
	"testing"

	"github.com/laketap/laketap"
)

func TestParseRange(t *testing.T) {
	for _, c := range []struct {
		header string
		want   laketap.Range
		ok     bool
	}{
		{"bytes=0-0", laketap.Range{From: 0, To: 0, Set: true}, true},
		{"bytes=50-1000", laketap.Range{From: 50, To: 1000, Set: true}, true},
		{"bytes=100-", laketap.Range{From: 100, To: -1, Set: true}, true},
		{"bytes=-500", laketap.Range{Suffix: 500, Set: true}, true},
		{"bytes=6442450944-6442451000", laketap.Range{From: 6442450944, To: 6442451000, Set: true}, true},
		// For the origin alone.
		{"bytes=-0", laketap.Range{}, false},
		{"bytes=0-99999999999999999999", laketap.Range{}, false},
		{"bytes=0-1,3-4", laketap.Range{}, false},
		// Not a range: the whole object.
		{"", laketap.Range{}, false},
		{"bytes=abc", laketap.Range{}, false},
		{"bytes=33-10", laketap.Range{}, false},
		{"bytes=-", laketap.Range{}, false},
		{"bytes=", laketap.Range{}, false},
		{"bytes=1", laketap.Range{}, false},
		{"bytes=+1-2", laketap.Range{}, false},
		{"bytes= 1-2", laketap.Range{}, false},
		{"bytes=1-2 ", laketap.Range{}, false},
		{"bytes=1--2", laketap.Range{}, false},
		{"bytes=0x1-2", laketap.Range{}, false},
		{"Bytes=1-2", laketap.Range{}, false},
		{"items=1-2", laketap.Range{}, false},
	} {
		got, ok := parseRange(c.header)
		if got != c.want || ok != c.ok {
			t.Errorf("parseRange(%q) = %+v, %v, want %+v, %v", c.header, got, ok, c.want, c.ok)
		}
	}
}

func TestTotalOf(t *testing.T) {
	for header, want := range map[string]int64{
		"bytes 0-9/100": 100, "bytes */100": 100, "bytes 0-9/*": -1, "": -1, "bytes 0-9/": 0, "bytes 0-9/-5": -1, "bytes 0-9/x": -1,
	} {
		if header == "bytes 0-9/" {
			want = -1
		}
		if got := totalOf(header); got != want {
			t.Errorf("totalOf(%q) = %d, want %d", header, got, want)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"bytes=0-0", "bytes=5-", "bytes=-5", "bytes=-0", "bytes=9-1", "bytes=1-2,3-4", "bytes=99999999999999999999-", "x=1-2", "bytes=-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		r, ok := parseRange(header)
		if !ok {
			if r != (laketap.Range{}) {
				t.Errorf("%q: refused, but %+v", header, r)
			}
			return
		}
		if !r.Set || r.From < 0 || r.Suffix < 0 || r.Suffix == 0 && r.To >= 0 && r.To < r.From {
			t.Errorf("%q: %+v", header, r)
		}
		again, ok := parseRange(r.String())
		if !ok || again != r {
			t.Errorf("%q: %+v is spelled %q and read back as %+v", header, r, r.String(), again)
		}
	})
}
