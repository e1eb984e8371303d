package side

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Median returns the middle one.
func Median(all []time.Duration) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// Millis spells a duration in milliseconds.
func Millis(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d.Nanoseconds())/1e6) }

// Size spells a number of bytes that is whole KiB or MiB.
func Size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Verdict is the last word of a line.
func Verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "short"
}

// Machine describes where the figures are from.
func Machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	load := ""
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(text), " ")
	}
	return fmt.Sprintf("%d cores (%s), load %s, %s, %s", runtime.NumCPU(), model, load, runtime.GOOS, runtime.Version())
}
