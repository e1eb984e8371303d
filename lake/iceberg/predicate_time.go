package iceberg

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// spellTime spells a date or a time: in ISO 8601 if its year has four digits,
// else as the number that it is stored as.
func spellTime(text string, quoted bool, kind Kind) (string, bool) {
	n, ok := storedTime(text, quoted, kind)
	if !ok {
		return "", false
	}
	iso := ""
	switch kind {
	case Date:
		if n > -1e6 && n < 4e6 { // days; the rest is not in these years
			iso = isoTime(time.Unix(n*86400, 0), "2006-01-02")
		}
	case Time:
		if n >= 0 && n < 86400e6 {
			iso = isoTime(time.UnixMicro(n), "15:04:05.999999")
		}
	case Timestamp:
		iso = isoTime(time.UnixMicro(n), "2006-01-02T15:04:05.999999")
	case TimestampTZ:
		iso = isoTime(time.UnixMicro(n), "2006-01-02T15:04:05.999999+00:00")
	case TimestampNS:
		iso = isoTime(time.Unix(0, n), "2006-01-02T15:04:05.999999999")
	case TimestampTZNS:
		iso = isoTime(time.Unix(0, n), "2006-01-02T15:04:05.999999999+00:00")
	}
	if iso == "" {
		return strconv.FormatInt(n, 10), true
	}
	return `"` + iso + `"`, true
}

// isoTime formats a time in UTC, "" if its year has not four digits.
func isoTime(t time.Time, layout string) string {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return ""
	}
	return t.Format(layout)
}

// storedTime returns the number that a date or time is stored as: of days, of
// microseconds or of nanoseconds. A number in an expression is one of days or
// microseconds, as Java takes it.
func storedTime(text string, quoted bool, kind Kind) (int64, bool) {
	nanos := kind == TimestampNS || kind == TimestampTZNS
	if !quoted {
		n, err := strconv.ParseInt(text, 10, 64)
		if nanos {
			if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
				return 0, false
			}
			n *= 1000
		}
		return n, err == nil
	}
	if i := strings.IndexAny(text, ".,"); i >= 0 && digitsFrom(text[i+1:]) > 9 {
		return 0, false // time.Parse would cut the rest off
	}
	for _, layout := range timeLayouts[kind] {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		t = t.UTC()
		switch {
		case kind == Date:
			return t.Unix() / 86400, true
		case nanos:
			return t.UnixNano(), t.Year() > 1677 && t.Year() < 2262
		case t.Nanosecond()%1000 != 0:
			return 0, false // there is no such value; it would have to be rounded
		case kind == Time:
			return int64(t.Hour()*3600+t.Minute()*60+t.Second())*1e6 + int64(t.Nanosecond()/1000), true
		}
		return t.UnixMicro(), true
	}
	return 0, false
}

// digitsFrom counts the digits that a text begins with.
func digitsFrom(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }

// timeLayouts are the forms of dates and times. A fraction may follow seconds;
// without seconds they are 0.
var timeLayouts = map[Kind][]string{
	Date:          {"2006-01-02"},
	Time:          {"15:04:05", "15:04"},
	Timestamp:     {"2006-01-02T15:04:05", "2006-01-02T15:04"},
	TimestampNS:   {"2006-01-02T15:04:05", "2006-01-02T15:04"},
	TimestampTZ:   {"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00"},
	TimestampTZNS: {"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00"},
}
