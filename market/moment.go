package market

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
)

// moments are the layouts of a day with a time.
var moments = []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05"}

// ParseTime reads a time as people write it: "2026-01-31", "20260131", "2026-01-31 14:30",
// RFC 3339, or unix seconds or milliseconds. A text without a time zone is read in zone, nil
// for UTC. A date alone is its first second, or with end its last, so that a range "to" a
// date includes it.
//
// Eight digits are a date, as in CSV files. A shorter number, such as a year, is refused:
// as seconds it would be in the first years after 1970, which nobody means.
func ParseTime(text string, zone *time.Location, end bool) (int64, error) {
	if zone == nil {
		zone = time.UTC
	}
	text = strings.TrimSpace(text)
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
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && n >= 1e8 && n < 1e11: // from 1973 to the year 5138
		return n, nil
	// Milliseconds have 13 digits. Twelve or fourteen are a date with its time, run together.
	case err == nil && n >= 1e12 && n < 1e13:
		return n / 1000, nil
	}
	return 0, fmt.Errorf("time %q, want 2026-01-31, 2026-01-31 14:30, RFC 3339 or unix seconds from 1973 on", limit.Clip(text))
}
