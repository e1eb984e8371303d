package iceberg

import "strings"

// sanitized reports whether a text is what Java's ExpressionUtil.sanitize puts
// in the place of a literal: "(2-digit-int)", "(hash-1a2b3c4d)", "(date)",
// "(date-3-days-ago)", "(timestamp-about-now)", "(time)" and their like.
func sanitized(text string) bool {
	inner, ok := cutAround(text, "(", ")")
	if !ok || len(inner) > 64 {
		return false
	}
	kind, rest, more := strings.Cut(inner, "-")
	switch kind {
	case "time":
		return !more
	case "hash":
		return len(rest) == 8 && strings.Trim(rest, "0123456789abcdef") == ""
	case "date":
		return !more || rest == "today" || isAway(rest, "days")
	case "timestamp":
		return !more || rest == "about-now" || isAway(rest, "hours") || isAway(rest, "days")
	}
	_, isNumber := number(kind)
	what, isDigits := strings.CutPrefix(rest, "digit-")
	return isNumber && isDigits && what != "" && strings.Trim(what, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// isAway reports whether a text is a distance in time: "3-days-ago".
func isAway(text, unit string) bool {
	count, rest, _ := strings.Cut(text, "-")
	_, ok := number(count)
	return ok && (rest == unit+"-ago" || rest == unit+"-from-now")
}
