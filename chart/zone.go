package chart

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // 450 KB: a container from scratch has no zones of its own
)

// ParseZone returns the zone that name stands for: a name of the IANA table such as
// "Europe/Berlin", or an offset such as "+05:30". An empty name and "UTC" give
// nil, which Options.Zone takes for UTC. The table is in the binary, so a name
// means the same on every machine.
func ParseZone(name string) (*time.Location, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "" || strings.EqualFold(name, "UTC"):
		return nil, nil
	// The zone of this machine would mean something else on another.
	case len(name) > 64 || strings.EqualFold(name, "local"):
		return nil, badZone(name)
	case name[0] == '+' || name[0] == '-':
		at, err := time.Parse("-07:00", name)
		if err != nil {
			return nil, badZone(name)
		}
		_, offset := at.Zone()
		return time.FixedZone("UTC"+name, offset), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, badZone(name)
	}
	return zone, nil
}

// badZone reports a name that is no zone.
func badZone(name string) error {
	return fmt.Errorf("%w: timezone %q, want a name such as America/New_York or an offset such as +05:30", ErrOption, printable(name, 40))
}

// ParseTime reads a time as people write it: "2026-01-31", "2026-01-31 14:30",
// RFC 3339, or unix seconds or milliseconds. A text without a time zone is read in
// zone, nil for UTC. A date alone is its first second, or with end its last, so
// that a range "to" a date includes it.
func ParseTime(text string, zone *time.Location, end bool) (int64, error) {
	if zone == nil {
		zone = time.UTC
	}
	text = strings.TrimSpace(text)
	if t, err := time.ParseInLocation("2006-01-02", text, zone); err == nil {
		if end {
			// Not 24 hours: days have 23 or 25 where clocks change.
			t = t.AddDate(0, 0, 1).Add(-time.Second)
		}
		return t.Unix(), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t.Unix(), nil
		}
	}
	// Numbers from 1e11 on can only be milliseconds: in seconds they are beyond the
	// year 5000.
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n < 1e14 {
		if n >= 1e11 {
			n /= 1000
		}
		return n, nil
	}
	return 0, fmt.Errorf("%w: time %q, want 2026-01-31, 2026-01-31 14:30, RFC 3339 or unix seconds", ErrOption, printable(text, 40))
}
