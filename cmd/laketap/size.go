package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are what a size may be written in. Those of ten are what disks are sold
// in, and those of two what memory is.
var units = []struct { //nolint:gochecknoglobals // a lookup table
	name  string
	bytes int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// parseSize reads a number of bytes, such as 10GiB, 1.5 TB or 0.
func parseSize(text string) (int64, error) {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, u := range units {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = strings.TrimSpace(n), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v < 0 || math.IsNaN(v) || v*float64(factor) >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is no size; write a number with a unit (B, KiB, MiB, GiB, TiB, KB, MB, GB, TB), such as 10GiB", text)
	}
	return int64(v * float64(factor)), nil
}
