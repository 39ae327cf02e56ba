package indicators

import (
	"slices"
	"testing"

	"wick/indicators/shape"
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
	want := []Signal{shape.Mark(2, r1, shape.LevelTouch, Muted), shape.Mark(4, r1, shape.BreakUp, Up)}
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
