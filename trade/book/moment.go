package book

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/internal/limit"
	"wick/market"
)

// Moment is what an alert at a time waits for: that the clocks of a place show a time, on one day
// or on every day, or on some days of the week.
//
// Where clocks change there are times that they never show and times that they show twice. What
// waits for the first kind is told at the moment at which they are put forward over it, what
// waits for the second kind the first time.
type Moment struct {
	Time     string   // as it was asked for: a time with its date, or of a daily alert 15:30
	Zone     string   // as package market reads it; empty means UTC
	Weekdays []string // of a daily alert: mon to sun, in this order; none for every day
}

// weekdays are the days of a week as a Moment has them.
var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// maxMoment bounds what a client writes of a time, in bytes.
const maxMoment = 64

// badTime refuses a moment.
func badTime(format string, args ...any) error { return Refuse("bad_time", format, args...) }

// readMoment reads what a client wrote of a moment.
func readMoment(at, zone, days json.RawMessage) (m Moment, err error) {
	if json.Unmarshal(at, &m.Time) != nil || zone != nil && json.Unmarshal(zone, &m.Zone) != nil || len(m.Time) > maxMoment || len(m.Zone) > maxMoment {
		return m, badTime(`write {"at": "2026-11-20T15:30", "timezone": "America/New_York"} or {"daily": "15:30", "timezone": "America/New_York", "weekdays": ["mon", "fri"]}`)
	}
	var named []string
	if one := ""; days != nil && json.Unmarshal(days, &named) != nil { // models write one string for a list
		if json.Unmarshal(days, &one) != nil {
			return m, badTime("weekdays is %s, a list such as [\"mon\", \"fri\"] is right", limit.Clip(string(days)))
		}
		named = strings.Split(one, ",")
	}
	chosen := make(map[string]bool)
	for _, name := range named {
		day := strings.ToLower(strings.TrimSpace(name))
		if day = day[:min(len(day), 3)]; !slices.Contains(weekdays, day) {
			return m, badTime("weekday %q is not one of %s", limit.Clip(name), strings.Join(weekdays, ", "))
		}
		chosen[day] = true
	}
	for _, day := range weekdays {
		if chosen[day] {
			m.Weekdays = append(m.Weekdays, day)
		}
	}
	return m, nil
}

// zone returns the place of m.
func (m Moment) zone() (*time.Location, error) {
	zone, err := market.ParseZone(m.Zone)
	if err != nil {
		return nil, badTime("%v", err)
	}
	if zone == nil {
		zone = time.UTC
	}
	return zone, nil
}

// check refuses what cannot be read. The kind is AtTime or Daily.
func (m Moment) check(kind ConditionType) error {
	if _, err := m.zone(); err != nil {
		return err
	}
	if kind == Daily {
		if _, _, ok := m.minute(); !ok {
			return badTime("daily %q: a time of day such as 15:30", limit.Clip(m.Time))
		}
		return nil
	}
	if len(m.Weekdays) > 0 {
		return badTime("weekdays go with daily, not with at")
	}
	if _, err := market.ParseTime(m.Time, nil, false); err != nil {
		return badTime("at: %v", err)
	}
	if m.instant() != nil && m.Zone != "" {
		return badTime("at %q says where it is meant itself: leave out timezone, or the part of the time that says it", limit.Clip(m.Time))
	}
	return nil
}

// minute reads the time of day of a daily alert.
func (m Moment) minute() (hour, minute int, ok bool) {
	t, err := time.Parse("15:04", m.Time)
	return t.Hour(), t.Minute(), err == nil
}

// instant returns the time of m if it says itself which it is, wherever it is read, and else nil.
func (m Moment) instant() *time.Time {
	here, err := market.ParseTime(m.Time, nil, false)
	elsewhere, _ := market.ParseTime(m.Time, time.FixedZone("", 3600), false)
	if err != nil || here != elsewhere {
		return nil
	}
	t := time.Unix(here, 0).UTC()
	return &t
}

// around returns when the clocks show what m waits for, on its day or on each of so many days from
// a day before the one of an instant on.
func (m Moment) around(kind ConditionType, at time.Time, from, days int) (all []time.Time) {
	zone, err := m.zone()
	if err != nil {
		return nil // it was read when it was set
	}
	if kind == AtTime {
		if t := m.instant(); t != nil {
			return []time.Time{*t}
		}
		wall, _ := market.ParseTime(m.Time, nil, false)
		return []time.Time{shows(time.Unix(wall, 0).UTC(), zone)}
	}
	hour, minute, _ := m.minute()
	year, month, day := at.In(zone).Date()
	for i := range days {
		wall := time.Date(year, month, day+from+i, hour, minute, 0, 0, time.UTC)
		if len(m.Weekdays) == 0 || slices.Contains(m.Weekdays, weekdays[(wall.Weekday()+6)%7]) {
			all = append(all, shows(wall, zone))
		}
	}
	return all
}

// Next returns the first time after an instant at which the clocks show what m waits for, zero if
// there is none.
func (m Moment) Next(kind ConditionType, after time.Time) time.Time {
	for _, t := range m.around(kind, after, -1, 10) {
		if t.After(after) {
			return t
		}
	}
	return time.Time{}
}

// Newest returns the last time not after an instant at which the clocks showed what m waits for,
// zero if there is none.
func (m Moment) Newest(kind ConditionType, at time.Time) (newest time.Time) {
	for _, t := range m.around(kind, at, -8, 10) {
		if !t.After(at) {
			newest = t
		}
	}
	return newest
}

// sentence says what time it is, or was, when an alert fires for it.
func (m Moment) sentence(t Trigger) string {
	is, zone := "is", time.UTC
	if t.Late {
		is = "was"
	}
	if there, err := m.zone(); err == nil {
		zone = there
	}
	return fmt.Sprintf("It %s %s.", is, time.UnixMilli(t.At).In(zone).Format("15:04 on Monday, 2006-01-02, MST"))
}

// shows returns when the clocks of a place first show a time, which is given as if the place were
// at Greenwich, or at which they are put forward over it.
func shows(wall time.Time, zone *time.Location) time.Time {
	read := func(t time.Time) time.Time {
		_, offset := t.Zone()
		return t.UTC().Add(time.Duration(offset) * time.Second)
	}
	// In a gap Date is an hour beside it, on either side, and of two times it may be either.
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	start, end := t.ZoneBounds()
	switch shown := read(t); {
	case shown.After(wall):
		return start
	case shown.Before(wall):
		return end
	case start.IsZero():
		return t
	}
	// Before the clocks were put back they may have shown it, too.
	last := start.Add(-time.Second)
	if earlier := last.Add(wall.Sub(read(last))); earlier.Before(start) {
		return earlier
	}
	return t
}
