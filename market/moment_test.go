package market

import (
	"strings"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		zone *time.Location
		end  bool
		want string
	}{
		{"2026-01-31", nil, false, "2026-01-31T00:00:00Z"},
		{"2026-01-31", nil, true, "2026-01-31T23:59:59Z"},
		{"2026-01-31", newYork, false, "2026-01-31T05:00:00Z"},
		{"20260131", nil, false, "2026-01-31T00:00:00Z"},
		{"20260131", newYork, true, "2026-02-01T04:59:59Z"},
		{"1928-10-01", nil, false, "1928-10-01T00:00:00Z"},
		{"2026-01-31 14:30", newYork, true, "2026-01-31T19:30:00Z"},
		{"2026-01-31T14:30:05+01:00", newYork, true, "2026-01-31T13:30:05Z"},
		{"1971-02-03T00:00:00.000Z", newYork, false, "1971-02-03T00:00:00Z"},
		{"1769869800", nil, false, "2026-01-31T14:30:00Z"},
		{"100000000", nil, false, "1973-03-03T09:46:40Z"},
		{"1769869800000", nil, false, "2026-01-31T14:30:00Z"},
		{"946684800000", nil, false, "2000-01-01T00:00:00Z"},
		{"2026-01-31 14:30:00Z", newYork, false, "2026-01-31T14:30:00Z"},
	} {
		got, err := ParseTime(c.text, c.zone, c.end)
		if err != nil || time.Unix(got, 0).UTC().Format(time.RFC3339) != c.want {
			t.Errorf("ParseTime(%q) = %v, %v, want %s", c.text, time.Unix(got, 0).UTC(), err, c.want)
		}
	}
}

// TestNoTime: what is not a time, or a number that can hardly be meant as seconds, is
// refused. Without that "2026" would be half an hour after midnight in 1970, and a chart or
// a backtest would silently begin with its oldest bar; "202601311430" would be in 1976.
func TestNoTime(t *testing.T) {
	for _, text := range []string{
		"", "yesterday", "2026-13-01", "-5", "12 monkeys", "99999999999999999999", "0", "86400", "2026", "202601", "20261301", "99999999",
		"202601311430", "20260131143000", "2026-01", "1.7e9",
	} {
		if got, err := ParseTime(text, nil, false); err == nil || !strings.HasSuffix(err.Error(), "want 2026-01-31, 2026-01-31 14:30, RFC 3339 or unix seconds from 1973 on") {
			t.Errorf("ParseTime(%q) = %v, %v", text, got, err)
		}
	}
}

// TestParseZone: names of the table and offsets are zones, on every machine the same.
func TestParseZone(t *testing.T) {
	at := time.Date(2025, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		want int // seconds east of UTC on that day
	}{{"America/New_York", -4 * 3600}, {"Asia/Kolkata", 19800}, {"+05:30", 19800}, {"-08:00", -8 * 3600}} {
		zone, err := ParseZone(c.name)
		if err != nil {
			t.Errorf("ParseZone(%q): %v", c.name, err)
			continue
		}
		if _, offset := at.In(zone).Zone(); offset != c.want {
			t.Errorf("ParseZone(%q) is %d seconds east, want %d", c.name, offset, c.want)
		}
	}
	for _, name := range []string{"Local", "../../etc/passwd", "Mars/Base", "+5", "+25:00", "/etc/localtime"} {
		if zone, err := ParseZone(name); err == nil {
			t.Errorf("ParseZone(%q) = %v, %v, want an error", name, zone, err)
		}
	}
}
