package market

import (
	"errors"
	"strings"
	"testing"
	"time"

	"wick/internal/limit"
)

func TestParseInterval(t *testing.T) {
	for text, want := range map[string]Interval{
		"1m": Minute1, "15m": Minute15, "15 min": Minute15, "15": Minute15, "15T": Minute15, "m15": Minute15, "M15": Minute15,
		"60": Hour1, "60m": Hour1, "1H": Hour1, "1 hour": Hour1, "hourly": Hour1, "h": Hour1, "240": Hour4, "H4": Hour4, "4-hours": Hour4,
		"D": Day1, "1D": Day1, "daily": Day1, "24h": Day1, "1440": Day1, "72h": Day3, "3d": Day3,
		"1w": Week1, "W": Week1, "1wk": Week1, "7d": Week1, "weekly": Week1, "W1": Week1,
		"1M": Month1, "M": Month1, "1mo": Month1, "1MO": Month1, "month": Month1, "MN1": Month1, "30d": Month1, " 8h ": Hour8,
	} {
		if got, err := ParseInterval(text); got != want {
			t.Errorf("ParseInterval(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "15M", "3M", "0m", "0", "7m", "3h", "1y", "2mo", "4wk", "tomorrow", "-", "m-15m", "1h1h",
		"99999999999999999999", "4611686018427387905h", "²h", strings.Repeat("9", 5000),
	} {
		if got, err := ParseInterval(text); !errors.Is(err, errInterval) || len(err.Error()) > 300 {
			t.Errorf("ParseInterval(%q) = %q, %v; want a short errInterval", limit.Clip(text), got, err)
		}
	}
	// A model that means minutes must learn how to write them.
	if _, err := ParseInterval("15M"); err == nil || !strings.Contains(err.Error(), "15m") {
		t.Errorf("the refusal of 15M does not say 15m: %v", err)
	}
}

func FuzzParseInterval(f *testing.F) {
	f.Add("15m")
	f.Add("15M")
	f.Add("h4")
	f.Fuzz(func(t *testing.T, text string) {
		iv, err := ParseInterval(text)
		if err != nil {
			if !errors.Is(err, errInterval) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if again, err := ParseInterval(string(iv)); again != iv || err != nil {
			t.Errorf("%q gives %q, which gives %q, %v", text, iv, again, err)
		}
	})
}

// Borders by hand, from a calendar.
func TestIntervalBorders(t *testing.T) {
	for _, c := range []struct {
		iv              Interval
		at, start, next string
	}{
		{Minute15, "2024-02-29T23:59:59Z", "2024-02-29T23:45:00Z", "2024-03-01T00:00:00Z"},
		{Hour4, "2024-02-29T23:59:59Z", "2024-02-29T20:00:00Z", "2024-03-01T00:00:00Z"},
		{Hour4, "1969-12-31T23:00:00Z", "1969-12-31T20:00:00Z", "1970-01-01T00:00:00Z"},
		{Day1, "2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
		{Day3, "1970-01-06T12:00:00Z", "1970-01-04T00:00:00Z", "1970-01-07T00:00:00Z"},
		{Week1, "2026-11-15T02:43:57Z", "2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z"}, // a Sunday
		{Week1, "2026-11-16T00:00:00Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"},
		{Month1, "2024-02-29T12:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"},
		{Month1, "2024-12-31T12:00:00Z", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z"},
	} {
		at, _ := time.Parse(time.RFC3339, c.at)
		start := c.iv.Start(at.Unix())
		if got := time.Unix(start, 0).UTC().Format(time.RFC3339); got != c.start {
			t.Errorf("%s bar at %s starts %s, want %s", c.iv, c.at, got, c.start)
		}
		if got := time.Unix(c.iv.Next(start), 0).UTC().Format(time.RFC3339); got != c.next {
			t.Errorf("%s bar at %s ends %s, want %s", c.iv, c.at, got, c.next)
		}
	}
	if Minute5.Duration() != 5*time.Minute || Interval("7m").Valid() || !Week1.Valid() {
		t.Error("lengths are wrong")
	}
}

func TestNearest(t *testing.T) {
	coinbase := []Interval{Minute1, Minute5, Minute15, Hour1, Hour6, Day1}
	for to, want := range map[Interval]Interval{
		Minute3: Minute1, Minute30: Minute15, Hour4: Hour1, Hour8: Hour1, Hour12: Hour6, Day3: Day1, Week1: Day1, Month1: Day1, Hour6: Hour6,
	} {
		if got, ok := to.nearest(coinbase); got != want || !ok {
			t.Errorf("%s comes from %s, want %s", to, got, want)
		}
	}
	for _, c := range []struct{ to, fine Interval }{{Minute1, Minute5}, {Minute5, Minute3}, {Week1, Day3}, {Month1, Week1}, {Day1, Day3}} {
		if _, ok := c.to.nearest([]Interval{c.fine}); ok {
			t.Errorf("%s cannot be made of %s", c.to, c.fine)
		}
	}
}
