package main

import "testing"

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "64 KiB": 64 << 10, "10GiB": 10 << 30, "1.5MB": 1_500_000, " 2TiB ": 2 << 40, "7B": 7, "500GB": 5e11,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GiB", "10 gigs", "10gib", "-1", "NaN", "1e30TB", "0x10", "Inf"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
