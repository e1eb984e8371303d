package main

import (
	"fmt"
	"time"
)

// bytesText spells a number of bytes for people.
func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, i := float64(n)/unit, 0
	// One decimal is shown, so what would round to 1024.0 is one of the next unit.
	for ; value >= unit-0.05 && i < 4; i++ {
		value /= unit
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[i])
}

// ago spells how long something is past.
func ago(now, then time.Time) string {
	if then.IsZero() {
		return "never"
	}
	d := now.Sub(then).Round(time.Second)
	switch {
	// Also what lies ahead: the server's clock may be a little fast.
	case d < time.Second:
		return "now"
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
	return d.String() + " ago"
}

// engineText spells an engine and its version.
func engineText(name, version string) string {
	if version == "" {
		return name
	}
	return name + "/" + version
}

// yesNo spells a truth for a table.
func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}

// counted spells how many there are of something.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// orDash fills a cell that would be empty.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
