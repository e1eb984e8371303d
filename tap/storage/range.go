package storage

import (
	"strconv"
	"strings"

	"github.com/laketap/laketap"
)

// parseRange reads a Range header that names one part of an object. ok is
// false for everything else: what S3 ignores (another unit, several ranges,
// "bytes=33-10", letters) and what only the origin should judge ("bytes=-0",
// numbers beyond 63 bits). Such headers are forwarded as they came.
func parseRange(header string) (r laketap.Range, ok bool) {
	rest, ok := strings.CutPrefix(header, "bytes=")
	if !ok {
		return laketap.Range{}, false
	}
	first, last, ok := strings.Cut(rest, "-")
	if !ok {
		return laketap.Range{}, false
	}
	if first == "" {
		n, ok := digits(last)
		if !ok || n == 0 {
			return laketap.Range{}, false
		}
		return laketap.Range{Suffix: n, Set: true}, true
	}
	from, ok := digits(first)
	if !ok {
		return laketap.Range{}, false
	}
	if last == "" {
		return laketap.Range{From: from, To: -1, Set: true}, true
	}
	to, ok := digits(last)
	if !ok || to < from {
		return laketap.Range{}, false
	}
	return laketap.Range{From: from, To: to, Set: true}, true
}

// totalOf returns the size of the object out of a Content-Range header, such
// as "bytes 0-9/100" or "bytes */100"; -1 if it does not say.
func totalOf(contentRange string) int64 {
	i := strings.LastIndexByte(contentRange, '/')
	if i < 0 {
		return -1
	}
	n, ok := digits(contentRange[i+1:])
	if !ok {
		return -1
	}
	return n
}

// digits reads a number of decimal digits only: no sign, no space. A number
// beyond int64 is no number: cut short it would name other bytes.
func digits(s string) (int64, bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
