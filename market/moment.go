package market

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
)

// moments are the layouts of a day with a time.
var moments = []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00"}

// ParseTime reads a time as people and files write it: "2026-01-31", "20260131", "2026-01-31 14:30",
// RFC 3339, or unix seconds or milliseconds. A text without a time zone is read in zone, nil
// for UTC. A date alone is its first second, or with end its last, so that a range "to" a
// date includes it.
//
// A number that is not surely a time is refused: one shorter than eight digits, such as a year,
// would be seconds in the first years after 1970, and a date with its time run together
// would be milliseconds in 1976.
func ParseTime(text string, zone *time.Location, end bool) (int64, error) {
	if zone == nil {
		zone = time.UTC
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) != len("20060102") {
		_, together := time.Parse("200601021504", text)
		switch {
		case n >= 1e8 && n < 1e11: // from 1973 to the year 5138
			return n, nil
		case n >= 1e11 && n < 1e13 && together != nil:
			return n / 1000, nil
		}
	}
	for _, layout := range []string{time.DateOnly, "20060102"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			if end {
				// Not 24 hours: days have 23 or 25 where clocks change.
				t = t.AddDate(0, 0, 1).Add(-time.Second)
			}
			return t.Unix(), nil
		}
	}
	for _, layout := range moments {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t.Unix(), nil
		}
	}
	return 0, fmt.Errorf("time %q, want 2026-01-31, 2026-01-31 14:30, RFC 3339 or unix seconds from 1973 on", limit.Clip(text))
}
