package indicators

import (
	"slices"
	"testing"

	"wick/indicators/shape"
	"wick/market"
)

func TestCVD(t *testing.T) {
	s := &market.Series{}
	s.Append(market.Bar{Time: 0, Open: 10, High: 12, Low: 8, Close: 12, Volume: 100}) // closed at its high: all bought
	s.Append(market.Bar{Time: 1, Open: 12, High: 12, Low: 8, Close: 9, Volume: 200})  // a quarter up: half of it more sold
	s.Append(market.Bar{Time: 2, Open: 9, High: 9, Low: 9, Close: 9, Volume: 50})     // no range
	s.Append(market.Bar{Time: 3, Open: 9, High: 9, Low: 5, Close: 5, Volume: 10})     // at its low: all sold
	r := compute(t, s, "cvd", `{}`)
	if want := []float64{100, 0, 0, -10}; !slices.Equal(r.Lines[0].Values, want) {
		t.Errorf("CVD %v, want %v", r.Lines[0].Values, want)
	}
	if want := []Signal{shape.Mark(1, 0, shape.ZeroDown, Down)}; !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}
