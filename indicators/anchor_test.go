package indicators

import (
	"testing"

	"wick/market"
)

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
