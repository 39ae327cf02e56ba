package indicators

import (
	"strings"
	"testing"
	"time"

	"wick/market"
)

func at(t *testing.T, text string) int64 {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when.Unix()
}

// TestSessionHours: summer time began on 9 March 2025 in New York and on 30 March
// in London; Tokyo has none.
func TestSessionHours(t *testing.T) {
	forex, stocks := sessionHours["forex"], sessionHours["stocks"]
	for _, test := range []struct {
		what string
		c    clockSession
		when string
		want bool
	}{
		{"London at 8, winter", forex[1], "2025-03-28T08:00:00Z", true},
		{"London at 7, winter", forex[1], "2025-03-28T07:00:00Z", false},
		{"London at 8, summer", forex[1], "2025-03-31T07:00:00Z", true},
		{"London at 17", forex[1], "2025-03-31T16:00:00Z", false},
		{"New York at 8, winter", forex[2], "2025-03-07T13:00:00Z", true},
		{"New York at 8, summer", forex[2], "2025-03-10T12:00:00Z", true},
		{"New York on Saturday", forex[2], "2025-03-08T15:00:00Z", false},
		{"New York's exchange at 9:29", stocks[2], "2025-03-10T13:29:00Z", false},
		{"New York's exchange at 9:30", stocks[2], "2025-03-10T13:30:00Z", true},
		{"Tokyo at 9", forex[0], "2025-07-01T00:00:00Z", true},
		{"Asia on Sunday evening, which is Monday's", killZones[0], "2025-03-10T00:00:00Z", true},
		{"Asia on Friday evening, which is Saturday's", killZones[0], "2025-03-08T01:00:00Z", false},
		{"London open at 2 in New York", killZones[1], "2025-03-10T06:00:00Z", true},
		{"New York open at 10 in New York", killZones[2], "2025-03-10T14:00:00Z", false},
	} {
		if got := test.c.covers(time.Unix(at(t, test.when), 0).In(place(test.c.zone))); got != test.want {
			t.Errorf("%s, %s: %t, want %t", test.what, test.when, got, test.want)
		}
	}
}

// TestTradingSessions: hourly bars of a Tuesday that rise by 1 an hour from 100. London
// is open from 8 to 17, so its range is 107.5 to 117.5 and the close of the bar
// that begins at 17 is beyond it.
func TestTradingSessions(t *testing.T) {
	s := &market.Series{Interval: market.Hour1}
	for i := range 24 {
		p := 100 + float64(i)
		s.Append(market.Bar{Time: at(t, "2025-01-14T00:00:00Z") + int64(i)*3600, Open: p, High: p + 1.5, Low: p - 0.5, Close: p + 1, Volume: 1})
	}
	r := compute(t, s, "sessions", `{"session":"London"}`)
	high, low := line(t, r, "London high"), line(t, r, "London low")
	if high[7] == high[7] || high[8] != 109.5 || high[16] != 117.5 || low[16] != 107.5 || high[17] == high[17] {
		t.Errorf("high %v, low %v", high[7:18], low[7:18])
	}
	if got, want := strings.Join(events(r), ", "), "17 breakout_up, 17 session_close, 8 session_open"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if r := compute(t, s, "sessions", `{}`); len(r.Lines) != 6 {
		t.Errorf("%d lines of all three", len(r.Lines))
	}
	// In winter 2 to 5 o'clock in New York is 7 to 10 in Greenwich.
	zone := compute(t, s, "kill_zones", `{"zone":"london_open"}`)
	high, low = line(t, zone, "London open high"), line(t, zone, "London open low")
	if high[6] == high[6] || high[7] != 108.5 || high[9] != 110.5 || low[9] != 106.5 || high[10] == high[10] {
		t.Errorf("kill zone: high %v, low %v", high[6:11], low[6:11])
	}
	// Bars of an exchange have no bar after its close: the next one begins a
	// session of its own.
	days := s.Slice(14, 17)
	for i := range 3 {
		b := days.Bar(i)
		b.Time, b.High = b.Time+86400, 90
		days.Append(b)
	}
	if got := line(t, compute(t, days, "sessions", `{"session":"new_york"}`), "New York high"); got[2] != 117.5 || got[3] != 90 {
		t.Errorf("two days in New York: highs %v", got)
	}
	daily := &market.Series{Interval: market.Day1}
	daily.Append(s.Bar(0))
	if r := compute(t, daily, "sessions", `{}`); len(r.Signals) != 0 || r.Lines[0].Values[0] == r.Lines[0].Values[0] {
		t.Errorf("daily bars have sessions: %+v", r)
	}
}

// TestSessionProfilesOfDays: a profile of daily bars is one of the month, not of
// each bar, and by name whatever was asked for.
func TestSessionProfilesOfDays(t *testing.T) {
	s := &market.Series{Interval: market.Day1}
	for i := range 40 { // 20 January to 28 February
		p := 100 + float64(i)
		s.Append(market.Bar{Time: at(t, "2025-01-20T00:00:00Z") + int64(i)*86400, Open: p, High: p + 1, Low: p, Close: p + 1, Volume: 1})
	}
	for params, want := range map[string]int{`{}`: 2, `{"session":"daily"}`: 40, `{"session":"yearly"}`: 1} {
		if got := len(compute(t, s, "session_vp", params).Sessions); got != want {
			t.Errorf("%s: %d sessions, want %d", params, got, want)
		}
	}
}
