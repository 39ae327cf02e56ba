package chart

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // 450 KB: a container from scratch has no zones of its own

	"wick/market"
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
	}
	if at, err := time.Parse("-07:00", name); err == nil {
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

// ParseTime is like [market.ParseTime], with ErrOption in its error.
func ParseTime(text string, zone *time.Location, end bool) (int64, error) {
	at, err := market.ParseTime(text, zone, end)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrOption, err)
	}
	return at, nil
}
