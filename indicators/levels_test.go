package indicators

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wick/market"
)

// pivotDays is a day with open 10, high 12, low 8 and close 11 in two bars, and
// three bars of the day after, which opens at 11.5.
func pivotDays() *market.Series {
	const day, hour = 86400, 3600
	s := &market.Series{Interval: market.Hour1}
	s.Append(market.Bar{Time: 22 * hour, Open: 10, High: 12, Low: 9, Close: 11.5, Volume: 10})
	s.Append(market.Bar{Time: 23 * hour, Open: 11.5, High: 11.8, Low: 8, Close: 11, Volume: 30})
	s.Append(market.Bar{Time: day, Open: 11.5, High: 13, Low: 11, Close: 12.7, Volume: 5})
	s.Append(market.Bar{Time: day + hour, Open: 12.7, High: 12.8, Low: 12, Close: 12.2, Volume: 5})
	s.Append(market.Bar{Time: day + 2*hour, Open: 12.2, High: 13, Low: 12.1, Close: 12.9, Volume: 0})
	return s
}

// TestPivots holds every kind against levels worked out by hand.
func TestPivots(t *testing.T) {
	const p = 31. / 3
	tests := []struct {
		name string
		want []float64 // P, R1, S1, R2, S2 and so on
	}{
		{"pivot", []float64{p, 2*p - 8, 2*p - 12, p + 4, p - 4, 12 + 2*(p-8), 8 - 2*(12-p)}},
		{"pivot_fibonacci", []float64{p, p + 1.528, p - 1.528, p + 2.472, p - 2.472, p + 4, p - 4}},
		{"pivot_camarilla", []float64{p, 11 + 4.4/12, 11 - 4.4/12, 11 + 4.4/6, 11 - 4.4/6, 12.1, 9.9, 13.2, 8.8}},
		{"pivot_woodie", []float64{10.75, 13.5, 9.5, 14.75, 6.75, 17.5, 5.5}},
		{"pivot_demark", []float64{10.75, 13.5, 9.5}}, // it rose, so the high counts twice: X = 43
	}
	for _, test := range tests {
		r := compute(t, pivotDays(), test.name, `{"period":"day"}`)
		if len(r.Lines) != len(test.want) {
			t.Errorf("%s has %d lines, want %d", test.name, len(r.Lines), len(test.want))
			continue
		}
		for k, want := range test.want {
			if l := r.Lines[k]; !same(l.Values, []float64{nan, nan, want, want, want}) {
				t.Errorf("%s %s: %v, want %v on the second day", test.name, l.Label, l.Values, want)
			}
		}
	}
}

// TestPivotSignals: the first bar of the day reaches R1 and closes above it,
// but the level came to the price; later a close comes from below.
func TestPivotSignals(t *testing.T) {
	r1 := 2*31./3 - 8
	got := compute(t, pivotDays(), "pivot", `{"period":"day"}`).Signals
	want := []Signal{Mark(2, r1, LevelTouch, Muted), Mark(4, r1, BreakUp, Up)}
	if !slices.EqualFunc(got, want, func(a, b Signal) bool {
		return a.Bar == b.Bar && a.Label == b.Label && a.Tone == b.Tone && same([]float64{a.Y}, []float64{b.Y})
	}) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestPeriods checks where calendar periods begin.
func TestPeriods(t *testing.T) {
	times := []int64{
		1703894400, // Saturday 2023-12-30
		1703980800, // Sunday, the last day of the year
		1704067200, // Monday 2024-01-01
		1704070800, // an hour later
		1704153600, // Tuesday
		1706745600, // Thursday 2024-02-01
	}
	tests := map[string][]bool{
		"day":   {true, true, true, false, true, true},
		"week":  {true, false, true, false, false, true},
		"month": {true, false, true, false, false, true},
		"year":  {true, false, true, false, false, false},
		"none":  {true, false, false, false, false, false},
	}
	for period, want := range tests {
		if got := periodStarts(&market.Series{Time: times}, period); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", period, got, want)
		}
	}
	for iv, want := range map[market.Interval]string{
		market.Minute1: "day", market.Minute15: "day", market.Minute30: "week", market.Hour12: "week",
		market.Day1: "month", market.Day3: "month", market.Week1: "year", market.Month1: "year", "": "day",
	} {
		if got := periodOf("auto", iv); got != want {
			t.Errorf("auto at %q: %s, want %s", iv, got, want)
		}
	}
}

// TestVWAPAnchors works out the averages by hand: typical prices 10.8333,
// 10.2667, 12.2333, 12.3333, 12.6667, and a last bar without volume.
func TestVWAPAnchors(t *testing.T) {
	a := (10*(32.5/3) + 30*(30.8/3)) / 40
	b := (5*(36.7/3) + 5*(37./3)) / 10
	c := (40*a + 10*b) / 50
	tests := map[string][]float64{
		"day":  {32.5 / 3, a, 36.7 / 3, b, b},
		"none": {32.5 / 3, a, (40*a + 5*(36.7/3)) / 45, c, c},
		"week": {32.5 / 3, a, (40*a + 5*(36.7/3)) / 45, c, c},
	}
	for anchor, want := range tests {
		r := compute(t, pivotDays(), "vwap", `{"anchor":"`+anchor+`"}`)
		if got := r.Lines[0].Values; !same(got, want) {
			t.Errorf("%s: got %v, want %v", anchor, got, want)
		}
	}
}

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
		if got := test.c.covers(time.Unix(at(t, test.when), 0).In(test.c.zone)); got != test.want {
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

// TestResetsCrossNothing: at the first bar of a day the lines jump to the price,
// which closes far from where they stood. That is no cross; one later in the day
// is.
func TestResetsCrossNothing(t *testing.T) {
	s := &market.Series{Interval: market.Hour1}
	for i := range 240 {
		price := 100 + 10*float64(i/24%2) + float64(i%24%3)
		s.Append(market.Bar{Time: int64(i) * 3600, Open: price, High: price + 1, Low: price - 1, Close: price - 0.5, Volume: 10})
	}
	for _, name := range []string{"vwap", "twap", "vwap_bands"} {
		signals := compute(t, s, name, `{}`).Signals
		for _, sig := range signals {
			if sig.Bar%24 == 0 {
				t.Errorf("%s: %s on bar %d, where it starts anew", name, sig.Label, sig.Bar)
			}
		}
		if name != "vwap_bands" && len(signals) == 0 {
			t.Errorf("%s crosses nothing within the days", name)
		}
	}
}

// TestAnchorOfDailyBars: on daily bars the average of a day would be the bar's
// own price.
func TestAnchorOfDailyBars(t *testing.T) {
	s := &market.Series{Interval: market.Day1}
	for i := range 40 { // from 1 January 1970
		price := 100 + float64(i)
		s.Append(market.Bar{Time: int64(i) * 86400, Open: price, High: price, Low: price, Close: price, Volume: 1})
	}
	line := compute(t, s, "vwap", `{}`).Lines[0].Values
	for bar, want := range map[int]float64{0: 100, 30: 115, 31: 131, 33: 132} {
		if line[bar] != want {
			t.Errorf("bar %d: %v, want %v", bar, line[bar], want)
		}
	}
}
